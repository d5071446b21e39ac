//! For which MPI a program is built, by the libraries that it needs.

use object::Object;
use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

/// Names of MPI libraries begin like this, with the ABI that they have. Intel MPI's has MPICH's.
const LIBRARIES: &[(&str, &str)] = &[
    ("libmpi_abi.so", "standard"),
    ("libmpifort_abi.so", "standard"),
    ("libmpi.so.12", "mpich"),
    ("libmpich", "mpich"),
    ("libmpifort.so.12", "mpich"),
    ("libmpi.so.", "openmpi"),
    ("libmpi_mpifh.so.", "openmpi"),
    ("libmpi_usempif08.so.", "openmpi"),
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

/// The file that a launcher would start by this name.
fn found(name: &Path) -> Option<PathBuf> {
    if name.parent().is_some_and(|folder| folder != Path::new("")) {
        return name.is_file().then(|| name.to_owned());
    }
    let folders = env::var_os("PATH")?;
    let mut files = env::split_paths(&folders).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

fn abi_of(path: &Path) -> Option<&'static str> {
    let data = fs::read(path).ok()?;
    let file = object::File::parse(&*data).ok()?;
    let libraries = file.import_libraries().ok()?;
    let mut names = libraries.filter_map(|library| Some(library.ok()?.name().to_owned()));
    names.find_map(|name| {
        let name = String::from_utf8_lossy(&name);
        let known = LIBRARIES.iter().find(|(start, _)| name.starts_with(start));
        known.map(|(_, abi)| *abi)
    })
}
