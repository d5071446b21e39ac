//! What a program's file says: for which MPI it is built, by the libraries that it needs, and whether anything can be
//! preloaded into it.

use object::{Object, ObjectKind, ObjectSymbol};
use rondo::records::MPI_LIBRARIES;
use std::{
    env,
    ffi::OsString,
    fs,
    io::Read,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// How the names begin of what belongs to an MPI library, with its ABI: what is for Fortran, and what old versions of
/// MPICH have beside it.
const BINDINGS: &[(&str, Option<&str>)] = &[
    ("libmpifort_abi.so", Some("standard")),
    ("libmpifort.so.12", Some("mpich")),
    ("libmpich", Some("mpich")),
    ("libmpifort_gnu", Some("mpich")),
    ("libmpifort_cray", Some("mpich")),
    ("libmpifort_intel", Some("mpich")),
    ("libmpifort_nvidia", Some("mpich")),
    ("libmpifort_amd", Some("mpich")),
    ("libmpifort_aocc", Some("mpich")),
    ("libmpi_mpifh.so.", Some("openmpi")),
    ("libmpi_usempif08.so.", Some("openmpi")),
];

/// The ABI of the first MPI program in the arguments of a launcher, if there is one that says it.
pub fn abi(arguments: &[OsString]) -> Option<&'static str> {
    let words = arguments.iter().map(Path::new);
    words.filter_map(found).find_map(|path| abi_of(&path))
}

/// Is this a library, and all of it there? The table of sections, which is checked, comes last.
pub fn is_whole(library: &Path) -> bool {
    fs::read(library).is_ok_and(|data| object::File::parse(&*data).is_ok())
}

/// Is it Rondo, by what it exports?
pub fn is_rondo(library: &Path) -> bool {
    fs::read(library).is_ok_and(|data| {
        let file = object::File::parse(&*data);
        let is_own = |it: object::Symbol| it.is_definition() && it.name() == Ok("rondo_calls");
        file.is_ok_and(|file| file.dynamic_symbols().any(is_own))
    })
}

/// The file that a launcher would start by this name.
fn found(name: &Path) -> Option<PathBuf> {
    if name.parent().is_some_and(|folder| folder != Path::new("")) {
        return name.is_file().then(|| name.to_owned());
    }
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// What of a program's file keeps a library out of its process, or calls away from it.
#[derive(Default)]
pub struct Program {
    /// The file.
    pub path: PathBuf,
    /// It has the rights of somebody else than who runs it: the loader does not preload by a path then.
    pub has_other_rights: bool,
    /// No loader is asked to start it.
    pub is_static: bool,
    /// It has the MPI library in itself.
    pub has_mpi: bool,
    /// It is linked with one.
    pub needs_mpi: bool,
    /// It is none itself, but may start one.
    pub is_script: bool,
}

/// The programs among the arguments of a launcher.
pub fn all(arguments: &[OsString]) -> Vec<Program> {
    let words = arguments.iter().map(Path::new);
    let files = words.filter_map(found);
    let programs = files.filter_map(|path| {
        let about = fs::metadata(&path).ok()?;
        let mode = about.permissions().mode();
        if mode & 0o111 == 0 {
            return None;
        }
        let Some(data) = elf(&path) else {
            return Some(Program {
                path,
                is_script: true,
                ..Program::default()
            });
        };
        let file = object::File::parse(&*data).ok()?;
        let user = fs::metadata("/proc/self").ok()?;
        let others = [
            (0o4000, about.uid() != user.uid()),
            (0o2000, about.gid() != user.gid()),
        ];
        let mut symbols = file.symbols().chain(file.dynamic_symbols());
        Some(Program {
            has_other_rights: others.iter().any(|(bit, other)| mode & bit != 0 && *other),
            // One that can be anywhere in memory looks like a shared library, which may be a word of the command.
            is_static: file.kind() == ObjectKind::Executable
                && file.section_by_name(".interp").is_none(),
            has_mpi: symbols.any(|it| it.is_definition() && it.name() == Ok("PMPI_Init")),
            needs_mpi: needed_abi(&file).is_some(),
            is_script: false,
            path,
        })
    });
    programs.collect()
}

/// What is in a program or a library. Other files among arguments may be data, and very long.
fn elf(path: &Path) -> Option<Vec<u8>> {
    let mut magic = [0; 4];
    fs::File::open(path).ok()?.read_exact(&mut magic).ok()?;
    (magic == *b"\x7fELF")
        .then(|| fs::read(path).ok())
        .flatten()
}

fn abi_of(path: &Path) -> Option<&'static str> {
    let data = elf(path)?;
    needed_abi(&object::File::parse(&*data).ok()?)
}

/// The ABI of the MPI library that a program is linked with.
fn needed_abi(file: &object::File) -> Option<&'static str> {
    let libraries = file.import_libraries().ok()?;
    let mut names = libraries.filter_map(|library| Some(library.ok()?.name().to_owned()));
    names.find_map(|name| {
        let name = String::from_utf8_lossy(&name);
        let mut libraries = MPI_LIBRARIES.iter().chain(BINDINGS);
        libraries.find(|(start, _)| name.starts_with(start))?.1
    })
}
