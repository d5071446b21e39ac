//! Where the sources of the MPI programs are: each in a folder of `ctests`, by what it tests, and found by its name
//! alone.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of folders.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ctests")
}

/// Where headers, helpers and libraries are that programs share.
pub fn support() -> PathBuf {
    root().join("support")
}

/// The file of this name, in whichever folder; `tests/tidy` sees to it that there is one only.
pub fn find(name: &str) -> Option<PathBuf> {
    let folders = fs::read_dir(root()).ok()?.flatten();
    let mut files = folders.map(|folder| folder.path().join(name));
    files.find(|file| file.is_file())
}
