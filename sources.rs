//! A number for the sources that a build is of. Part of the build (`build.rs`) and of its test (`tests/sources.rs`).

use std::path::{Path, PathBuf};
use std::{fs, io};

#[path = "src/hash.rs"]
mod hash;

/// What a library is built from, besides the packages, which `Cargo.lock` names with their contents.
pub const SOURCES: [&str; 5] = ["Cargo.toml", "Cargo.lock", "build.rs", "sources.rs", "src"];

/// A number for the names and contents of all sources below `root`, wherever that is. Packages for distribution may
/// come without some of them.
pub fn number(root: &Path) -> io::Result<u64> {
    let mut files = Vec::new();
    for source in SOURCES {
        let path = root.join(source);
        if path.exists() {
            collect(path, &mut files)?;
        }
    }
    files.sort();
    let mut numbers = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap_or(&file);
        numbers.push(hash::of_bytes(name.as_os_str().as_encoded_bytes()));
        numbers.push(hash::of_bytes(&fs::read(&file)?));
    }
    Ok(hash::of_words(numbers))
}

/// This file, or all files in this folder.
fn collect(path: PathBuf, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(entry?.path(), files)?;
    }
    Ok(())
}
