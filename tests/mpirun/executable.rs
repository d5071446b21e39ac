//! Scripts that tests write and start.

use std::{path::Path, process::Command};

/// Another process writes the file, so that no child that a thread forks meanwhile holds it open for writing. The file
/// could not be executed then.
pub fn executable(path: impl AsRef<Path>, script: &str) {
    let write = "printf %s \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let done = Command::new("sh")
        .args(["-c", write])
        .arg(path.as_ref())
        .arg(script)
        .status();
    assert!(done.expect("a shell").success());
}
