//! Which librondo.so is installed with this tool.

#![forbid(unsafe_code)]

use crate::program;
use std::{
    env::{self, consts::ARCH},
    path::{Path, PathBuf},
};

/// The ABI that this tool, and the library that was installed with it, is built for.
pub const ABI: &str = env!("RONDO_ABI");

/// The library for an ABI that is installed with this tool (`bin` and `lib`), or as built (one directory for each ABI).
/// If nobody knows which ABI, the one for every MPI goes before that of this tool's ABI, which may not fit. Fails with
/// a message if there is none, or if it is damaged: the loader would end a program by a signal.
pub fn find_library(abi: Option<&str>) -> Result<PathBuf, String> {
    let tool = env::current_exe()
        .map_err(|error| format!("cannot find out where this tool is: {error}"))?;
    let folder = tool.parent().unwrap_or(Path::new("/"));
    let multiarch = format!("../lib/{ARCH}-linux-gnu");
    let packaged = format!("{multiarch}/rondo");
    let libraries = ["../lib", "../lib64", &multiarch, &packaged].map(|place| folder.join(place));
    let for_every = libraries.clone().map(|place| place.join("rondo"));
    let for_every = [&for_every[..], &[folder.join("../one")]].concat();
    let wanted = abi.unwrap_or(ABI);
    let named = libraries.clone().map(|place| place.join(wanted));
    let mut places: Vec<PathBuf> = [named, libraries].concat();
    places.extend([folder.join("..").join(wanted), folder.to_owned()]);
    if wanted != ABI {
        // What has no name is this tool's own.
        places.retain(|place| place.ends_with(wanted));
    }
    let places = match abi {
        Some(_) => [places, for_every].concat(),
        None => [for_every, places].concat(),
    };
    let found = places
        .iter()
        .find_map(|place| place.join("librondo.so").canonicalize().ok());
    let library = found.ok_or_else(|| {
        let places: Vec<String> = places
            .iter()
            .map(|place| place.display().to_string())
            .collect();
        let places = places.join(", ");
        format!("no librondo.so for {wanted} in {places}; name it with --lib PATH")
    })?;
    match program::is_whole(&library) {
        true => Ok(library),
        false => Err(format!("{} is damaged", library.display())),
    }
}
