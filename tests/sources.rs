//! Libraries that were built from different sources are not taken for equal.

#![forbid(unsafe_code)]

mod mpirun;
#[path = "../sources.rs"]
mod sources;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, mpirun};
use rondo::job::BUILD;
use std::fs;
use std::path::{Path, PathBuf};

/// Sources that are removed when dropped.
struct Tree(PathBuf);

impl Tree {
    fn new(name: &str) -> Tree {
        let name = format!("rondo-test-{}-{name}", std::process::id());
        let tree = Tree(std::env::temp_dir().join(name));
        tree.write("Cargo.toml", "version = 1");
        tree.write("src/lib.rs", "mod comm;");
        tree.write("src/comm/words.rs", "fn words() {}");
        tree
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn number(&self) -> u64 {
        sources::number(&self.0).unwrap()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn one_byte_makes_another_build() {
    let (tree, copy) = (Tree::new("a"), Tree::new("b"));
    let number = tree.number();
    assert_eq!(copy.number(), number, "wherever they are");
    for (file, text) in [
        ("src/comm/words.rs", "fn words() {]"),
        ("src/comm/words.rs", "fn words() {}\n"),
        ("src/comm/words.rs", ""),
        ("src/new.rs", ""),
        ("Cargo.toml", "version = 2"),
        ("Cargo.lock", ""),
    ] {
        let other = Tree::new("c");
        other.write(file, text);
        assert_ne!(other.number(), number, "{file}: {text}");
    }
    let moved = Tree::new("d");
    fs::rename(moved.0.join("src/lib.rs"), moved.0.join("src/bil.rs")).unwrap();
    assert_ne!(moved.number(), number, "another name");
    copy.write("docs/new.md", "");
    copy.write("tests/new.rs", "");
    assert_eq!(copy.number(), number, "not what it is built from");
}

/// What ranks compare has the number of the sources as they are.
#[test]
fn the_build_has_the_number_of_its_sources() {
    let number = sources::number(mpirun::root()).unwrap();
    let end = format!(" of sources {number:016x}");
    assert!(BUILD.ends_with(&end), "{BUILD}, and not{end}");
}

/// A copy of the library of an MPI, with another number of its sources if it is to be of others.
fn copy(mpi: &str, folder: &Path, others: bool) -> PathBuf {
    let mut bytes = fs::read(library(mpi)).unwrap();
    if others {
        let text = BUILD.rsplit_once(' ').unwrap().0.as_bytes();
        let mut places = bytes.windows(text.len());
        let place = places.position(|bytes| bytes == text).expect("the build") + text.len() + 1;
        bytes[place] = if bytes[place] == b'0' { b'1' } else { b'0' };
    }
    let path = folder.join(if others { "others.so" } else { "same.so" });
    fs::write(&path, bytes).unwrap();
    path
}

/// One rank of three has another file of the library.
#[test]
fn ranks_with_another_build_are_told_and_left_alone() {
    let choose = "[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} != 2 ] || library=$other; \
                  LD_PRELOAD=$LD_PRELOAD:$library exec $program";
    for mpi in MPIS {
        let folder = folder(&format!("sources/{mpi}"));
        let source = ctest("rights.c");
        let program = compile(Some(mpi), &source, folder.join("program"), &[]);
        for others in [false, true] {
            let (library, other) = (library(mpi), copy(mpi, &folder, others));
            let mut command = mpirun(mpi, 3, 300, &[("RONDO_STATS", "json")]);
            command.args(["env"]);
            for (name, path) in [
                ("library", &library),
                ("other", &other),
                ("program", &program),
            ] {
                command.arg(format!("{name}={}", path.display()));
            }
            command.args(["sh", "-c", choose]);
            let ended = Ended::of(&command.output().expect("the launcher starts"));
            assert_eq!(ended.status, Some(0), "{mpi}: {ended:?}");
            let reason = ended.stderr.contains("versions or builds of Rondo differ");
            assert_eq!(reason, others, "{mpi}: {ended:?}");
            if others {
                assert_eq!(
                    ended.complaint(),
                    "rondo: rank 0: 3 ranks loaded different versions or builds of Rondo; all calls go to the \
                     MPI library. Let all ranks load the same librondo.so ('rondo check' names the files)"
                );
            } else {
                assert!(!ended.stderr.contains("rondo: "), "{mpi}: {ended:?}");
            }
        }
    }
}
