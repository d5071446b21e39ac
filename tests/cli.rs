//! The command line tool, run as a user runs it.

#[path = "mpirun/executable.rs"]
mod executable;

use executable::executable;
use std::{
    fs,
    io::Read,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// The tool, with nothing of Rondo in its environment.
fn tool() -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"));
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command
}

fn rondo(args: &[&str]) -> Output {
    tool().args(args).output().expect("the tool starts")
}

/// The standard output of a run that succeeds without a word on the other one.
fn stdout(command: &mut Command) -> String {
    let output = command.output().expect("the tool starts");
    assert_eq!(text(&output.stderr), "");
    assert!(output.status.success());
    text(&output.stdout)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// The message of a run that ends with `status` and prints nothing else.
fn error(output: &Output, status: i32) -> String {
    assert_eq!(
        output.status.code(),
        Some(status),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(text(&output.stdout), "");
    text(&output.stderr)
}

/// The example of the paper, arXiv 2205.10072, for 9 ranks: a line for each round.
const RECV_9: &str = "\
    -2  0 -4 -3 -2 -4 -1 -4 -3
    -3 -2  1 -4 -3 -2 -2 -1 -4
    -1 -3 -2  2  0 -3 -3 -2 -1
    -4 -1 -1 -1 -1  3  0  1  2";
const SEND_9: &str = "\
     0 -4 -3 -2 -4 -1 -4 -3 -2
     1 -4 -3 -2 -2 -1 -4 -3 -2
     2  0 -3 -3 -2 -1 -1 -3 -2
     3  0  1  2 -4 -1 -1 -1 -1";

fn numbers(text: &str) -> Vec<i64> {
    text.split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect()
}

/// The rows of a printed table whose labels begin with `name`, joined over all parts of the table.
fn rows(table: &str, name: &str) -> Vec<Vec<i64>> {
    let mut rows: Vec<Vec<i64>> = Vec::new();
    for line in table.lines() {
        let Some(rest) = line.strip_prefix(name) else {
            continue;
        };
        let numbers = numbers(rest);
        let k = usize::try_from(numbers[0]).expect("a round");
        rows.resize(rows.len().max(k + 1), Vec::new());
        rows[k].extend(&numbers[1..]);
    }
    rows
}

#[test]
fn the_schedule_of_9_ranks_is_the_table_of_the_paper() {
    let table = stdout(tool().args(["schedule", "-p", "9"]));
    assert!(
        table.starts_with("p = 9, q = 4, skips 1 2 3 5 9\n"),
        "{table}"
    );
    let expected = |text: &str| text.lines().map(numbers).collect::<Vec<_>>();
    assert_eq!(rows(&table, "recv"), expected(RECV_9));
    assert_eq!(rows(&table, "send"), expected(SEND_9));
}

#[test]
fn the_schedule_of_20_ranks_has_the_base_blocks_of_the_paper() {
    let table = stdout(tool().args(["schedule", "-p", "20"]));
    assert!(
        table.starts_with("p = 20, q = 5, skips 1 2 3 5 10 20\n"),
        "{table}"
    );
    let row = |name: &str| {
        let line = table
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("the row");
        numbers(line)
    };
    assert_eq!(row("rank"), (0..20).collect::<Vec<i64>>());
    assert_eq!(
        row("base"),
        [5, 0, 1, 2, 0, 3, 0, 1, 2, 0, 4, 0, 1, 2, 0, 3, 0, 1, 2, 0]
    );
    assert_eq!(rows(&table, "recv").len(), 5);
}

/// FNV-1a with 64 bits over the entries as bytes, rank by rank: the check of a whole table.
fn hash(rows: &[Vec<i64>]) -> u64 {
    let ranks = 0..rows[0].len();
    let entries = ranks.flat_map(|rank| rows.iter().map(move |row| row[rank]));
    entries.fold(0xcbf2_9ce4_8422_2325, |hash, entry| {
        (hash ^ u64::from(entry as u8)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// However many parts of 100 columns they are broken into.
#[test]
fn whole_tables_are_those_of_the_paper() {
    let known = [
        (9, 0x5d62_9cb0_5434_46e5, 0x96e9_2fbd_bd31_e355),
        (20, 0xcf60_aac5_d236_c700, 0x12a1_2b96_b838_7664),
        (100, 0x0346_e072_f84d_2942, 0x7de4_b02b_92d1_c778),
    ];
    for (p, recv, send) in known {
        let table = stdout(tool().args(["schedule", "-p", &p.to_string()]));
        assert!(table.lines().all(|line| line.len() <= 100));
        let hashes = ["recv", "send"].map(|name| hash(&rows(&table, name)));
        assert_eq!(hashes, [recv, send], "p = {p}");
    }
}

#[test]
fn the_schedule_of_one_rank_is_its_column() {
    let all = stdout(tool().args(["schedule", "-p", "9"]));
    let one = stdout(tool().args(["schedule", "-p", "9", "-r", "4"]));
    for name in ["recv", "send"] {
        let column: Vec<Vec<i64>> = rows(&all, name).iter().map(|row| vec![row[4]]).collect();
        assert_eq!(rows(&one, name), column);
    }
    assert!(one.contains("rank      4\nbase      0\n"), "{one}");
}

/// One rank alone has no rounds, and the last rank of the largest communicator has 31.
#[test]
fn the_least_and_the_largest_communicator_have_schedules() {
    assert!(stdout(tool().args(["schedule", "-p", "1"])).starts_with("p = 1, q = 0, skips 1\n"));
    let table = stdout(tool().args(["schedule", "-p", "2147483647", "-r", "2147483646"]));
    assert!(
        table.starts_with("p = 2147483647, q = 31, skips 1 2 4 8 "),
        "{table}"
    );
    assert_eq!(table.lines().count(), 4 + 2 * 31);
}

#[test]
fn a_schedule_that_cannot_be_is_refused() {
    let refused: [(&[&str], &str); 6] = [
        (&["-p", "0"], "0 is not in 1..=2147483647"),
        (&["-p", "2147483648"], "2147483648 is not in 1..=2147483647"),
        (&["-p", "x"], "invalid value 'x'"),
        (
            &["-p", "9", "-r", "9"],
            "there is no rank 9: the ranks of 9 are 0 to 8",
        ),
        (&["-p", "9", "-r", "-1"], "unexpected argument '-1'"),
        (&["-p", "65537"], "add -r RANK for a single one"),
    ];
    for (args, message) in refused {
        let output = rondo(&[&["schedule"], args].concat());
        let error = error(&output, 2);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}

#[test]
fn a_reader_that_stops_early_is_no_error() {
    let mut run = tool();
    run.args(["schedule", "-p", "60000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut run = run.spawn().expect("the tool starts");
    let mut start = [0; 9];
    let mut pipe = run.stdout.take().expect("a pipe");
    pipe.read_exact(&mut start).expect("a line");
    drop(pipe);
    let output = run.wait_with_output().expect("it ends");
    assert_eq!((&start, text(&output.stderr).as_str()), (b"p = 60000", ""));
    assert!(output.status.success());
}

#[test]
fn output_that_is_lost_is_an_error() {
    let full = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .expect("a full device");
    let output = tool()
        .arg("info")
        .stdout(full)
        .output()
        .expect("the tool starts");
    assert!(error(&output, 1).contains("cannot write the output"));
}

#[test]
fn info_shows_the_build_and_every_option() {
    let info = stdout(tool().arg("info").env("RONDO_BLOCK_BYTES", "65536"));
    assert!(
        info.starts_with(&format!(
            "version  {}\nabi      ",
            env!("CARGO_PKG_VERSION")
        )),
        "{info}"
    );
    for opt in rondo::config::OPTIONS {
        let variable = opt.variable();
        let row = info
            .lines()
            .find(|line| line.split_whitespace().next() == Some(&variable));
        assert!(row.is_some(), "{variable} in {info}");
    }
    let row = info
        .lines()
        .find(|line| line.starts_with("RONDO_BLOCK_BYTES"))
        .expect("a row");
    let cells: Vec<&str> = row.split_whitespace().take(3).collect();
    assert_eq!(cells, ["RONDO_BLOCK_BYTES", "64K", "environment"]);
}

#[test]
fn info_warns_beside_its_output() {
    let output = tool()
        .arg("info")
        .env("RONDO_WINDOW", "abc")
        .env("RONDO_STAT", "1")
        .output();
    let output = output.expect("the tool starts");
    assert!(output.status.success() && text(&output.stdout).contains("RONDO_WINDOW"));
    assert_eq!(
        text(&output.stderr),
        "rondo: RONDO_WINDOW=\"abc\" is not a whole number; using the default 0\n\
         rondo: unknown variable RONDO_STAT; did you mean RONDO_STATS?\n"
    );
}

#[test]
fn info_says_what_is_wrong_with_a_file_of_rules() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("info-rules.json");
    let path = path.display().to_string();
    let info = |text: &str| {
        fs::write(&path, text).expect("a file");
        let output = tool().arg("info").env("RONDO_RULES", &path).output();
        self::text(&output.expect("the tool starts").stderr)
    };
    assert_eq!(info(r#"{"rules": []}"#), "");
    assert_eq!(
        info("3"),
        format!("rondo: RONDO_RULES={path}: it is no object of JSON; all of it is ignored\n")
    );
    let wrong = info(r#"{"rules": [{"collective": "bcats", "algorithm": "host"}]}"#);
    assert!(wrong.contains("rule 1: collective"), "{wrong}");
}

#[test]
fn a_collective_that_is_none_is_told_of_all() {
    for args in [
        &["run", "--off", "foo", "mpirun"][..],
        &["bench", "foo"],
        &["tune", "foo"],
    ] {
        let all = error(&rondo(args), 2);
        assert!(all.contains("barrier") && all.contains("bcast"), "{all}");
    }
}

/// A directory with a library to preload and launchers that do no more than say what they are, or
/// what they were asked to do.
struct Launchers(PathBuf);

/// A shared library with a name of Rondo's in it.
fn some_library() -> &'static [u8] {
    static LIBRARY: LazyLock<Vec<u8>> = LazyLock::new(|| {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("some_library.so");
        let script = "echo 'void rondo_calls(void) {}' | cc -shared -fPIC -xc - -o \"$0\"";
        let made = Command::new("sh").args(["-c", script]).arg(&path).status();
        assert!(made.expect("a shell").success());
        fs::read(path).expect("it is made")
    });
    &LIBRARY
}

impl Launchers {
    fn new() -> Launchers {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("launchers-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(path.join("lib")).expect("a new directory");
        fs::write(path.join("librondo.so"), some_library()).expect("a new file");
        Launchers(path.canonicalize().expect("it exists"))
    }

    /// A launcher that answers `--version` with `version` and anything else with its arguments and
    /// the variables that it was itself started with.
    fn add(&self, name: &str, version: &str) -> String {
        let path = self.0.join(name);
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version}'; exit 0; fi\n\
             printf '[%s]' \"$@\" \"$LD_PRELOAD\"; exit 7\n"
        );
        executable(&path, &script);
        path.display().to_string()
    }

    fn library(&self) -> String {
        self.0.join("librondo.so").display().to_string()
    }

    /// `rondo run` with the library of this directory.
    fn run(&self, args: &[&str]) -> Command {
        let mut command = tool();
        command.args(["run", "--lib", &self.library()]).args(args);
        command
    }
}

impl Drop for Launchers {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What mpirun of each MPI says when it is asked for its version.
const OPEN_MPI: [&str; 3] = [
    "mpirun (Open MPI) 5.0.7",
    "mpirun.openmpi (OpenRTE) 4.1.4",
    "prterun (PRRTE) 3.0.8",
];
const HYDRA: [&str; 2] = [
    "HYDRA build details:\n    Version:   4.0.2",
    "Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20250101",
];

/// Two lines each. The first has a launcher's name, what it says of itself, Rondo's options and variables in front of
/// `rondo run`, and the words behind the launcher. The second is the command: L is the launcher, LIB the library, and
/// MPMD=on is RONDO_MPMD=on.
const COMMANDS: &str = "
mpirun | mpirun (Open MPI) 5.0.7 | | -n 4 ./app -x 'a b'
    L -x LD_PRELOAD=LIB -n 4 ./app -x 'a b'
mpirun.openmpi | mpirun.openmpi (OpenRTE) 4.1.4 | --stats | ./app
    L -x LD_PRELOAD=LIB -x RONDO_STATS=text ./app
# Each program of several has its own.
prterun | prterun (PRRTE) 3.0.8 | --off bcast | ./a : -n 2 ./b
    L -x LD_PRELOAD=LIB -x RONDO_BCAST=host -x MPMD=on ./a : -x LD_PRELOAD=LIB -x RONDO_BCAST=host -x MPMD=on -n 2 ./b
mpiexec | mpiexec version 1.8.0 revision 1234567 | | -n 8 --ppn 4 ./a : -n 1 ./b --env x
    L --env LD_PRELOAD=LIB --env MPMD=on -n 8 --ppn 4 ./a : --env LD_PRELOAD=LIB --env MPMD=on -n 1 ./b --env x
mpirun | HYDRA build details: | --off bcast | -n 1 ./a : ./b
    L -genv LD_PRELOAD LIB -genv RONDO_BCAST host -genv RONDO_MPMD on -n 1 ./a : ./b
mpiexec | Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 20250101 | | ./app
    L -genv LD_PRELOAD LIB ./app
# By their names, which nobody else has: they are not started to be asked.
aprun | | --trace | -n 8 ./a : ./b
    L -e LD_PRELOAD=LIB -e MPMD=on -e RONDO_TRACE=on -n 8 ./a : -e LD_PRELOAD=LIB -e MPMD=on -e RONDO_TRACE=on ./b
# These hand their own environment on, in which a value may have commas. The library is not for them.
flux | libflux-core: 0.60.0 | --trace | run -n 9 ./app
    env RONDO_TRACE=on L run --env=LD_PRELOAD=LIB -n 9 ./app
flux | libflux-core: 0.60.0 | LD_PRELOAD=libm.so.6 | submit ./app
    env -u LD_PRELOAD L submit --env=LD_PRELOAD=libm.so.6:LIB ./app
srun | slurm 22.05.8 | --stats=json:a,b | -n 9 ./app
    env RONDO_STATS=json:a,b L --export=ALL,LD_PRELOAD=LIB -n 9 ./app
# What is in the environment already is handed on as it is, and arguments go before it.
srun | slurm 22.05.8 | RONDO_SHM=off RONDO_BCAST=circulant --off bcast | ./app
    env RONDO_BCAST=host L --export=ALL,LD_PRELOAD=LIB ./app
# With ALL in the list, what srun has itself would go before what is in the list.
srun | slurm 22.05.8 | LD_PRELOAD=libm.so.6 | ./app
    env -u LD_PRELOAD L --export=ALL,LD_PRELOAD=libm.so.6:LIB ./app
";

#[test]
fn each_launcher_is_told_to_set_the_variables_in_its_own_way() {
    let lines = COMMANDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines: Vec<&str> = lines.collect();
    for row in lines.chunks(2) {
        let [name, version, options, rest] =
            row[0].split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{row:?}");
        };
        let launchers = Launchers::new();
        let launcher = launchers.add(name, version);
        let is_set = |word: &&str| !word.starts_with("--") && word.contains('=');
        let (set, options): (Vec<&str>, Vec<&str>) = options.split(' ').partition(is_set);
        let options = options.iter().filter(|option| !option.is_empty());
        let mut run = launchers.run(&["-n"]);
        run.args(options)
            .arg(&launcher)
            .args(shlex::split(rest).expect("words"));
        run.envs(set.iter().filter_map(|set| set.split_once('=')));
        let output = run.output().expect("the tool starts");
        let words = shlex::split(&text(&output.stdout)).expect("words that a shell would accept");
        let place = |word: String| match &*word {
            "L" => launcher.clone(),
            word => word.replace("LIB", &launchers.library()),
        };
        let expected = row[1].replace("MPMD=", "RONDO_MPMD=");
        let expected = shlex::split(&expected)
            .expect("words")
            .into_iter()
            .map(place);
        assert_eq!(words, expected.collect::<Vec<_>>(), "{row:?}");
    }
}

/// Of several settings of a variable, each launcher has its own way to choose one.
#[test]
fn what_may_keep_the_library_out_is_said() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun", OPEN_MPI[1]);
    let srun = launchers.add("srun", "slurm 22.05.8");
    for (words, word) in [
        (&[&*mpirun, "-x", "LD_PRELOAD"][..], "LD_PRELOAD"),
        (&[&mpirun, "env", "LD_PRELOAD=a.so"], "LD_PRELOAD=a.so"),
        (&[&srun, "--export=ALL,X=1"], "--export=ALL,X=1"),
        (&[&srun, "--export", "NONE"], "--export"),
    ] {
        let output = launchers
            .run(&[&["-n"], words, &["./app"]].concat())
            .output();
        let output = output.expect("the tool starts");
        let said = format!("rondo: {word} may replace the LD_PRELOAD");
        assert!(
            output.status.success() && text(&output.stderr).starts_with(&said),
            "{output:?}"
        );
    }
    let other = launchers.run(&["-n", &mpirun, "--export=X", "./app"]);
    assert_eq!(
        text(&{ other }.output().expect("the tool starts").stderr),
        ""
    );
}

#[test]
fn what_starts_a_script_is_no_launcher() {
    let launchers = Launchers::new();
    let sbatch = launchers.add("sbatch", "slurm 22.05.8");
    for command in ["run", "check"] {
        let mut tool = tool();
        tool.current_dir(&launchers.0);
        tool.args([command, "--lib", &launchers.library(), &sbatch, "./script"]);
        let said = error(&tool.output().expect("the tool starts"), 2);
        assert!(
            said.contains("is no launcher that Rondo knows")
                && said.contains("write 'rondo run' there")
        );
    }
}

#[test]
fn the_environment_is_handed_on_and_arguments_go_before_it() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun", HYDRA[0]);
    let args = [
        "-n",
        "--off",
        "MPI_Bcast",
        "--stats=json:my stats",
        &mpirun,
        "./app",
    ];
    let mut run = launchers.run(&args);
    run.env("RONDO_BCAST", "circulant")
        .env("RONDO_STATS", "text")
        .env("RONDO", "on");
    run.env("RONDO_UNKNOWN", "it's")
        .env("RONDO_WINDOW", "")
        .env("OTHER", "1");
    let words = shlex::split(&stdout(&mut run)).expect("words");
    let variables = words[1..words.len() - 1]
        .chunks(3)
        .map(|set| (&*set[1], &*set[2]));
    assert_eq!(
        variables.collect::<Vec<_>>(),
        [
            ("LD_PRELOAD", &*launchers.library()),
            ("RONDO", "on"),
            ("RONDO_BCAST", "host"),
            ("RONDO_STATS", "json:my stats"),
            ("RONDO_UNKNOWN", "it's"),
        ]
    );
}

#[test]
fn what_is_preloaded_already_stays_in_front_but_mpi_libraries() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun", HYDRA[0]);
    let mut run = launchers.run(&["-n", &mpirun, "./app"]);
    // The loader is to find each: they are a library that this test has loaded itself.
    let maps = fs::read_to_string("/proc/self/maps").expect("its own");
    let mut files = maps.lines().filter_map(|line| line.split(' ').next_back());
    let file = files.find(|file| file.contains("/libgcc_s.so"));
    let other = launchers.0.join("other");
    fs::create_dir_all(&other).expect("a new directory");
    let [mpi, profiler, rondo] = ["libmpi.so.40", "libmpiP.so", "librondo.so"].map(|name| {
        let path = other.join(name);
        symlink(file.expect("it is loaded"), &path).expect("a new link");
        path.display().to_string()
    });
    let before = format!("{mpi} {profiler}:{rondo}:libm.so.6");
    let words = shlex::split(&stdout(run.env("LD_PRELOAD", before))).expect("words");
    let own = launchers.library();
    let expected = format!("{profiler}:libm.so.6:{own}:{mpi}:{rondo}");
    assert_eq!(words[3], expected);
}

#[test]
fn the_launcher_is_started_without_rondo_in_it_and_decides_the_status() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun.x", HYDRA[0]);
    let output = launchers
        .run(&[&mpirun, "-n", "2", "a b"])
        .output()
        .expect("the tool starts");
    let expected = format!("[-genv][LD_PRELOAD][{}][-n][2][a b][]", launchers.library());
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(7));
}

/// A copy of the tool in `bin`, and an empty library in `place`.
fn installed(launchers: &Launchers, place: &str) -> (Command, String) {
    let bin = launchers.0.join("bin");
    fs::create_dir_all(launchers.0.join(place)).expect("a new directory");
    fs::create_dir_all(&bin).expect("a new directory");
    let tool = bin.join("rondo");
    if !tool.exists() {
        // As for executable(): another process makes the copy.
        let copy = Command::new("cp")
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/build/openmpi/rondo"))
            .arg(&tool)
            .status();
        assert!(copy.expect("cp starts").success());
    }
    let library = launchers.0.join(place).join("librondo.so");
    fs::write(&library, some_library()).expect("a new file");
    (
        Command::new(&tool),
        format!("LD_PRELOAD={}", library.display()),
    )
}

/// A launcher and a program, both of the MPI that this tool is built for, and both of the other one.
fn own_and_other(launchers: &Launchers) -> [(&'static str, String); 2] {
    let openmpi = ("openmpi", launchers.add("mpirun.openmpi", OPEN_MPI[0]));
    let mpich = ("mpich", launchers.add("mpirun.mpich", HYDRA[0]));
    match env!("RONDO_ABI") {
        "openmpi" => [openmpi, mpich],
        _ => [mpich, openmpi],
    }
}

#[test]
fn the_library_is_found_in_the_places_of_an_installation() {
    let own = env!("RONDO_ABI");
    for place in [
        "lib",
        "lib64",
        "bin",
        &format!("lib/{own}"),
        &format!("lib64/{own}"),
        &format!("lib/{}-linux-gnu/rondo/{own}", std::env::consts::ARCH),
        own,
    ] {
        let launchers = Launchers::new();
        let [(_, mpirun), _] = own_and_other(&launchers);
        let (mut tool, preload) = installed(&launchers, place);
        let run = tool.args(["run", "-n", &mpirun, "./app"]).output();
        let printed = text(&run.expect("the copy starts").stdout);
        assert!(
            printed
                .replace("LD_PRELOAD ", "LD_PRELOAD=")
                .contains(&preload),
            "{place}: {printed}"
        );
    }
}

#[test]
fn the_library_fits_the_mpi_of_the_launcher() {
    let launchers = Launchers::new();
    let [_, (other, mpirun)] = own_and_other(&launchers);
    let (mut tool, _) = installed(&launchers, "lib");
    let output = tool
        .args(["check", &mpirun, "./app"])
        .output()
        .expect("the copy starts");
    let message = error(&output, 1);
    assert!(
        message.contains(&format!("no librondo.so for {other} in ")),
        "{message}"
    );
    // At first there is the library for every MPI alone, and then one for this MPI too.
    for place in ["lib/rondo", &format!("lib/{other}")] {
        let (mut tool, preload) = installed(&launchers, place);
        let output = tool
            .args(["run", "-n", &mpirun, "./app"])
            .output()
            .expect("the copy starts");
        let printed = text(&output.stdout).replace("LD_PRELOAD ", "LD_PRELOAD=");
        assert!(printed.contains(&preload), "{printed}");
    }
}

/// It is no fault of the user's, and no reason to lose a job.
#[test]
fn a_program_runs_without_a_library_that_is_damaged_or_missing() {
    let launchers = Launchers::new();
    let [(own, mpirun), _] = own_and_other(&launchers);
    let (mut tool, _) = installed(&launchers, "lib");
    let library = launchers.0.join("lib/librondo.so");
    let mut said = |command: &[&str]| {
        tool.env("RONDO_BCAST", "host");
        let output = tool.args(command).args([&mpirun, "./app"]).output();
        let output = output.expect("the tool starts");
        tool = Command::new(tool.get_program());
        let lines = text(&output.stderr);
        assert_eq!(lines.lines().count(), 1, "{lines}");
        (output.status.code(), text(&output.stdout), lines)
    };
    let damaged = format!("rondo: {} is damaged", library.display());
    let missing = format!("rondo: no librondo.so for {own} in ");
    let half = some_library().len() / 2;
    for (bytes, why) in [
        (Some(40), &damaged),
        (Some(half), &damaged),
        (None, &missing),
    ] {
        match bytes {
            Some(bytes) => fs::write(&library, &some_library()[..bytes]),
            None => fs::remove_file(&library),
        }
        .expect("a file less, or a shorter one");
        let (status, printed, line) = said(&["run", "-n"]);
        assert_eq!(status, Some(0), "{line}");
        assert!(printed.contains("mpirun") && printed.contains("./app"));
        assert!(!printed.contains("LD_PRELOAD"), "{printed}");
        assert!(line.starts_with(why), "{line}");
        assert!(line.ends_with("; the program runs without Rondo\n"));
        // There is nothing to be checked.
        let (status, _, line) = said(&["check"]);
        assert_eq!(status, Some(1), "{line}");
        assert!(line.starts_with(why), "{line}");
    }
}

#[test]
fn under_slurm_and_flux_the_library_fits_the_mpi_of_the_program() {
    let launchers = Launchers::new();
    let libraries = ["openmpi", "mpich"].map(|abi| {
        let (_, preload) = installed(&launchers, &format!("lib/{abi}"));
        (abi, preload)
    });
    installed(&launchers, "lib");
    for (needed, abi) in [
        ("libmpi.so.40", "openmpi"),
        ("libmpi.so.12", "mpich"),
        ("libmpich.so.12", "mpich"),
        // Cray's.
        ("libmpi_gnu_123.so.12", "mpich"),
        ("libmpi_amd.so.12", "mpich"),
        ("libmpifort_cray.so.12", "mpich"),
    ] {
        // A program that needs an MPI library of this name, which has nothing in it.
        let script = format!(
            "cd {} && echo | cc -shared -xc -o {needed} -Wl,-soname,{needed} - && \
             echo 'int main(void) {{ return 0; }}' | cc -xc -o app-{needed} - -Wl,--no-as-needed -L. -l:{needed}",
            launchers.0.display()
        );
        assert!(
            Command::new("sh")
                .args(["-c", &script])
                .status()
                .expect("a shell")
                .success()
        );
        let app = launchers
            .0
            .join(format!("app-{needed}"))
            .display()
            .to_string();
        let srun = launchers.add("srun", "slurm 22.05.8");
        let flux = launchers.add("flux", "libflux-core: 0.60.0");
        let preload = &libraries
            .iter()
            .find(|(name, _)| *name == abi)
            .expect("installed")
            .1;
        for words in [
            vec![&*srun, "-n", "3", &app, "-x"],
            vec![&*flux, "run", "-n", "3", &app],
        ] {
            let (mut tool, _) = installed(&launchers, "bin");
            let output = tool
                .args(["run", "-n"])
                .args(&words)
                .output()
                .expect("the copy starts");
            let printed = text(&output.stdout);
            assert!(printed.contains(preload), "{words:?}: {printed}");
        }
    }
}

/// A script says nothing of its MPI, and neither does Slurm: the MPI of the tool may be another one.
#[test]
fn where_nobody_knows_the_mpi_the_library_for_every_mpi_is_taken() {
    let launchers = Launchers::new();
    let script = launchers.0.join("app.sh");
    executable(&script, "#!/bin/sh\n");
    let script = script.display().to_string();
    let srun = launchers.add("srun", "slurm 22.05.8");
    let [(own, mpirun), _] = own_and_other(&launchers);
    let preloads = |launcher: &str, preload: &str| {
        let (mut tool, _) = installed(&launchers, "bin");
        let output = tool.args(["run", "-n", launcher, &script]).output();
        let printed = text(&output.expect("the copy starts").stdout);
        let printed = printed.replace("LD_PRELOAD ", "LD_PRELOAD=");
        assert!(printed.contains(preload), "{preload}: {printed}");
    };
    let (_, of_tool) = installed(&launchers, &format!("lib/{own}"));
    preloads(&srun, &of_tool);
    let (_, every) = installed(&launchers, "lib/rondo");
    preloads(&srun, &every);
    preloads(&mpirun, &of_tool);
}

#[test]
fn a_library_of_the_users_that_is_missing_or_wrong_is_an_error() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun", OPEN_MPI[0]);
    let output = rondo(&["run", "--lib", "/nowhere/librondo.so", &mpirun, "./app"]);
    assert!(error(&output, 1).contains("/nowhere/librondo.so: No such file"));
    let damaged = launchers.0.join("damaged.so").display().to_string();
    fs::write(&damaged, &some_library()[..400]).expect("a shorter file");
    let maps = fs::read_to_string("/proc/self/maps").expect("its own");
    let mut files = maps.lines().filter_map(|line| line.split(' ').next_back());
    let other = files
        .find(|file| file.contains("/libgcc_s.so"))
        .expect("it is loaded");
    for command in ["run", "check"] {
        for (library, why) in [
            ("/", "is not a library"),
            (&damaged, "or is damaged"),
            (other, "is not Rondo"),
        ] {
            let output = rondo(&[command, "--lib", library, &mpirun, "./app"]);
            let said = error(&output, 1);
            assert!(
                said.contains(&format!("{library}: is")) && said.contains(why),
                "{said}"
            );
        }
    }
}

#[test]
fn a_library_that_the_loader_could_not_name_is_refused() {
    let launchers = Launchers::new();
    let mpirun = launchers.add("mpirun", OPEN_MPI[0]);
    for name in ["with blank.so", "with:colon.so"] {
        let library = launchers.0.join(name);
        fs::write(&library, some_library()).expect("a new file");
        let mut run = tool();
        let output = run
            .args(["run", "--lib"])
            .arg(&library)
            .args([&mpirun, "./app"])
            .output();
        assert!(error(&output.expect("a start"), 1).contains("its path: install Rondo, or copy"));
    }
}

#[test]
fn an_unknown_launcher_is_refused_and_not_started() {
    let launchers = Launchers::new();
    // A program that is named where the launcher belongs would run: it must not.
    let mark = launchers.0.join("started");
    let app = launchers.0.join("app");
    executable(&app, &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    let output = launchers
        .run(&[&app.display().to_string()])
        .output()
        .expect("the tool starts");
    let message = error(&output, 2);
    assert!(
        message.contains("app is no launcher that Rondo knows (mpirun, "),
        "{message}"
    );
    assert!(
        message.contains(&format!("LD_PRELOAD={}", launchers.library())),
        "{message}"
    );
    assert!(!mark.exists());
    let known = message.split(['(', ')']).nth(1).expect("a list");
    let help = stdout(tool().args(["run", "--help"]));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/first-steps.md");
    let page = fs::read_to_string(page).expect("there is such a page");
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    for name in known.split(", ") {
        assert!(help.contains(name), "{name}: {help}");
        let is_named = |row: &&str| row.contains(&format!("`{name}"));
        assert!(
            rows.iter().any(is_named),
            "{name}: docs/first-steps.md has no row for it"
        );
    }
}

/// All that follows the options is the launcher's, so a mistake in an option must not be taken for one.
#[test]
fn an_option_that_is_misspelt_is_no_launcher() {
    for (args, message) in [
        (&["run", "--sats", "mpirun", "./app"][..], "'--sats' found"),
        (&["run", "--np", "4", "./app"], "'--np' found"),
        (
            &["run", "--stats", "json:s", "mpirun", "./app"],
            "json:s is no launcher",
        ),
        (
            &["check", "--limits=3", "mpirun", "./app"],
            "'--limits' found",
        ),
    ] {
        let said = error(&rondo(args), 2);
        assert!(said.contains(message), "{args:?}: {said}");
    }
}

#[test]
fn a_launcher_of_another_mpi_is_refused() {
    let launchers = Launchers::new();
    let mpiexec = launchers.add("mpiexec", "mpiexec 1.2.0 of somebody");
    let output = launchers
        .run(&[&mpiexec, "./app"])
        .output()
        .expect("the tool starts");
    let message = error(&output, 2);
    assert!(
        message.contains("says \"mpiexec 1.2.0 of somebody\", which is neither"),
        "{message}"
    );
}

#[test]
fn a_launcher_that_does_not_exist_gives_the_status_of_a_shell() {
    let launchers = Launchers::new();
    let output = launchers
        .run(&["mpirun-of-nobody", "./app"])
        .output()
        .expect("the tool starts");
    assert!(error(&output, 127).contains("cannot run mpirun-of-nobody: No such file"));
}

#[test]
fn arguments_of_rondo_that_make_no_sense_are_refused() {
    let launchers = Launchers::new();
    let refused: [(&[&str], &str); 3] = [
        (
            &["--off", "alltosome", "mpirun", "./app"],
            "take one of bcast, ",
        ),
        (
            &["--stats=xml", "mpirun", "./app"],
            "is not off, text or json",
        ),
        (&[], "required arguments were not provided"),
    ];
    for (args, message) in refused {
        let output = launchers.run(args).output().expect("the tool starts");
        let error = error(&output, 2);
        assert!(error.contains(message), "{args:?}: {error}");
    }
}
