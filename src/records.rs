//! What each process of a job tells `rondo check`: a file for each process, written anew whenever there is more to
//! tell. Other jobs write nothing.

#![forbid(unsafe_code)]

mod kind;

pub use kind::Kind;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// What is known of a process with the library.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Its number on its machine.
    pub pid: u32,
    /// The kernel that it runs on: the number of its last start. The same in all containers of a machine.
    pub machine: String,
    /// The machine's name.
    pub name: String,
    /// The program's file.
    pub program: String,
    /// The library's.
    pub library: String,
    /// Which build that is.
    pub build: String,
    /// The MPI library's file, if it was there when the process began, or when it exited.
    pub mpi: Option<String>,
    /// The rank, and how many there are, as the launcher says.
    pub place: (Option<u32>, Option<u32>),
    /// Seconds since 1970 at the start.
    pub began: f64,
    /// The first call that came to Rondo.
    pub called: Option<Called>,
    /// Did a call come without `MPI_Init`, and so with sessions?
    pub sessions: bool,
    /// Does it wait at the beginning of the job, for longer than that takes?
    pub waiting: bool,
    /// Did `MPI_Finalize` come?
    pub finalized: bool,
}

/// What a process knows at its first call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Called {
    /// Its rank in `MPI_COMM_WORLD`, negative if not known.
    pub rank: i32,
    /// Why Rondo can only pass calls on, if that is so.
    pub trouble: Option<Trouble>,
    /// The name of its node: the processes of a node share it.
    pub node: String,
    /// Is that name `RONDO_NODE`?
    pub node_is_given: bool,
    /// Is Rondo switched on?
    pub enabled: bool,
    /// Is shared memory wanted?
    pub shm: bool,
    /// Why a segment of shared memory cannot be made here.
    pub no_memory: Option<String>,
    /// What this process was warned of.
    pub warnings: Vec<Warning>,
}

/// What a process was warned of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// In words.
    pub text: String,
    /// What would help against it depends on this.
    pub kind: Concern,
}

/// What a process may be warned of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Concern {
    /// An option does not exist, or cannot have its value.
    Option,
    /// Not all ranks have the same options.
    OptionsDiffer,
    /// A file of rules is of no use.
    RulesIgnored,
}

/// Why Rondo can only pass calls on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trouble {
    /// What would help against it depends on this.
    pub kind: Obstacle,
    /// In words.
    pub text: String,
}

/// What keeps Rondo from working with an MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The library was built for another ABI.
    OtherAbi,
    /// There is no build for this ABI.
    UnknownAbi,
    /// The MPI library lacks something.
    Lacks,
    /// The job is to outlive failed processes.
    Outlives,
}

/// The file and the record of this process.
static OWN: Mutex<Option<(PathBuf, Record)>> = Mutex::new(None);

/// This process begins, with this place in its job. Nothing is written for a program that is one with the library.
pub fn begin(folder: PathBuf, build: &str, place: (Option<u32>, Option<u32>)) {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let program = fs::read_link("/proc/self/exe").unwrap_or_default();
    let program = program.display().to_string();
    let library = file_at(&maps, begin as *const () as usize).unwrap_or_default();
    if library == program {
        return;
    }
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let kernel = |name: &str| read(&format!("/proc/sys/kernel/{name}")).trim().to_owned();
    let record = Record {
        pid: std::process::id(),
        machine: kernel("random/boot_id"),
        name: kernel("hostname"),
        program,
        library,
        build: build.to_owned(),
        place,
        began: now(),
        ..Record::default()
    };
    let file = folder.join(format!(
        "{}-{}-{:.9}.json",
        record.machine, record.pid, record.began
    ));
    *OWN.lock() = Some((file, record));
    change(Record::find_mpi);
}

impl Record {
    /// Looks whether the MPI library is there.
    pub fn find_mpi(&mut self) {
        let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let found = files(&maps).find(|path| is_mpi(path)).map(str::to_owned);
        self.mpi = self.mpi.take().or(found);
    }
}

/// There is more to tell.
pub fn change(add: impl FnOnce(&mut Record)) {
    let mut own = OWN.lock();
    let Some((file, record)) = own.as_mut() else {
        return;
    };
    // A copy of a process, which goes on without another program, is not the process.
    if record.pid != std::process::id() {
        return;
    }
    add(record);
    let text = serde_json::to_string(record).expect("names and numbers are always JSON");
    // Whole or not at all, whenever the process is killed. A folder that is not there is the reader's to find out.
    let unfinished = file.with_extension("new");
    let _ = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, &file));
}

/// Is there a record to be written?
pub fn wanted() -> bool {
    OWN.lock().is_some()
}

/// Seconds since 1970.
pub fn now() -> f64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH);
    time.map_or(0.0, |time| time.as_secs_f64())
}

/// The files in the text of `/proc/self/maps`.
fn files(maps: &str) -> impl Iterator<Item = &str> {
    maps.lines()
        .filter_map(|line| Some(&line[line.find('/')?..]))
}

/// The file that is mapped at an address.
fn file_at(maps: &str, address: usize) -> Option<String> {
    let line = maps.lines().find(|line| {
        let range = line
            .split(' ')
            .next()
            .and_then(|range| range.split_once('-'));
        let number = |text| usize::from_str_radix(text, 16).ok();
        range.is_some_and(|(start, end)| {
            number(start).is_some_and(|start| start <= address)
                && number(end).is_some_and(|end| address < end)
        })
    })?;
    files(line).next().map(str::to_owned)
}

/// How the file names of MPI libraries begin, with the ABI that each has if its name tells; vendors have one for each
/// compiler. The first one that fits counts.
pub const MPI_LIBRARIES: &[(&str, Option<&str>)] = &[
    ("libmpi_abi.so", Some("standard")),
    // MPICH of distributions, and Intel MPI.
    ("libmpi.so.12", Some("mpich")),
    ("libmpich.so", Some("mpich")),
    ("libmpi.so.", Some("openmpi")),
    ("libmpi.so", None),
    // Cray MPICH.
    ("libmpi_gnu", Some("mpich")),
    ("libmpi_cray", Some("mpich")),
    ("libmpi_intel", Some("mpich")),
    ("libmpi_nvidia", Some("mpich")),
    ("libmpi_amd", Some("mpich")),
    ("libmpi_aocc", Some("mpich")),
    ("libmpich_gnu", Some("mpich")),
    ("libmpich_cray", Some("mpich")),
    ("libmpich_intel", Some("mpich")),
    // Spectrum MPI.
    ("libmpi_ibm.so", None),
];

/// Is it an MPI library, by its name?
pub fn is_mpi(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MPI_LIBRARIES
        .iter()
        .any(|(start, _)| name.starts_with(start))
}
