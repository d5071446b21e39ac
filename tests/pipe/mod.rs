//! Named pipes.

#![forbid(unsafe_code)]

use std::path::Path;
use std::process::Command;

/// Makes one.
pub fn make(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}
