//! A set-user-id program that is linked with Rondo: files that its user names are not its owner's business.

#![forbid(unsafe_code)]

mod mpirun;

use mpirun::{Ended, MPIS, compile, ctest, folder, library, untested::not_tested};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Users without an account who have nothing: the program's owner, and who runs it.
const OWNER: u32 = 61_616;
const USER: u32 = 61_717;

/// A folder for everybody, with the program in it.
struct Place {
    folder: PathBuf,
    program: PathBuf,
}

impl Place {
    fn new(folder: PathBuf, mpi: &str) -> Place {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o777)).unwrap();
        let there = |name: &str| folder.join(name);
        fs::copy(library(mpi), there("librondo.so")).unwrap();
        fs::copy(library(mpi), there("librondo.so.0")).unwrap();
        let linked = [
            format!("-L{}", folder.display()),
            format!("-Wl,--no-as-needed,-rpath,{}", folder.display()),
            "-lrondo".to_owned(),
        ];
        let program = compile(
            Some(mpi),
            &ctest("rights.c"),
            there("rights"),
            &linked.each_ref().map(String::as_str),
        );
        Place { folder, program }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Has the program the rights of its owner?
    fn set_user_id(&self, set: bool) {
        chown(&self.program, Some(OWNER), Some(OWNER)).unwrap();
        let mode = if set { 0o4755 } else { 0o755 };
        fs::set_permissions(&self.program, Permissions::from_mode(mode)).unwrap();
    }

    /// A job of one rank, without a launcher, which would run it as another user; with variables that name files.
    fn run(&self) -> Ended {
        let path = |name: &str| self.file(name).display().to_string();
        let output = Command::new("timeout")
            .args(["-k", "5", "60"])
            .arg(&self.program)
            .current_dir(&self.folder)
            .env("TMPDIR", &self.folder)
            .env("HOME", &self.folder)
            .env("RONDO_STATS", format!("json:{}", path("stats.json")))
            .env("RONDO_LEARN", format!("save:{}", path("learnt.json")))
            .env("RONDO_RULES", path("rules.json"))
            .env("RONDO_BCAST", "nonsense")
            .uid(USER)
            .gid(USER)
            .output();
        Ended::of(&output.expect("timeout starts"))
    }

    /// Were statistics written? (Of one rank, nothing is learnt.)
    fn written(&self) -> bool {
        fs::exists(self.file("stats.json")).unwrap()
    }
}

/// Warnings of Rondo's about a variable.
fn warnings(ended: &Ended, variable: &str) -> usize {
    let start = format!("rondo: rank 0: {variable}=");
    let lines = ended.stderr.lines();
    lines.filter(|line| line.starts_with(&start)).count()
}

/// False where the system gives such programs no rights: not by root, on a file system without, in some containers.
fn files_are_ignored(mpi: &str, folder: &Path) -> bool {
    let place = Place::new(
        folder.join(format!("rondo-rights-{mpi}-{}", std::process::id())),
        mpi,
    );
    let all = ["RONDO_RULES", "RONDO_LEARN", "RONDO_STATS", "RONDO_BCAST"];

    place.set_user_id(false);
    let plain = place.run();
    if !plain.stdout.contains("secure: 0") {
        println!(
            "{mpi}: no user but root can run it in {}: {plain:?}",
            folder.display()
        );
        return false;
    }
    assert_eq!(plain.status, Some(0), "{mpi}: {plain:?}");
    assert!(place.written(), "{mpi}: {plain:?}");
    assert_eq!(
        all.map(|variable| warnings(&plain, variable)),
        [0, 0, 0, 1],
        "{mpi}: {plain:?}"
    );
    fs::remove_file(place.file("stats.json")).unwrap();

    place.set_user_id(true);
    let secure = place.run();
    let tested = secure.stdout.contains("secure: 1");
    if tested {
        assert_eq!(secure.status, Some(0), "{mpi}: {secure:?}");
        assert!(!place.written(), "{mpi}: {secure:?}");
        assert_eq!(
            all.map(|variable| warnings(&secure, variable)),
            [1; 4],
            "{mpi}: {secure:?}"
        );
    } else {
        println!(
            "{mpi}: no set-user-id programs in {}: {secure:?}",
            folder.display()
        );
    }
    fs::remove_dir_all(&place.folder).unwrap();
    tested
}

#[test]
fn a_set_user_id_program_opens_no_files_of_its_user() {
    // Only root can make programs of others, and run them as somebody else.
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return not_tested("set-user-id programs, because this is not root");
    }
    for mpi in MPIS {
        let tested = [folder("rights"), std::env::temp_dir()]
            .iter()
            .any(|folder| files_are_ignored(mpi, folder));
        if !tested {
            not_tested(&format!("set-user-id programs on {mpi}"));
        }
    }
}
