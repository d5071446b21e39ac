//! Files that a user names for the statistics: whatever the name leads to, and whoever reads it.

#![forbid(unsafe_code)]

mod pipe;

use rondo::files::write;
use std::{
    fs::{self, File},
    io::Read,
    os::unix::fs::{FileTypeExt, PermissionsExt, symlink},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

/// An empty folder.
fn folder(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("build/files-test").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names
}

#[test]
fn a_reader_finds_the_old_text_or_the_new_one() {
    let folder = folder("whole");
    let path = folder.join("file");
    let texts = ["a", "b"].map(|text| text.repeat(1 << 20));
    write(&path, &texts[0]).unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            loop {
                let is_last = is_over.load(Relaxed);
                let text = fs::read_to_string(&path).unwrap();
                assert!(texts.contains(&text), "{} bytes", text.len());
                reads += 1;
                if is_last {
                    break reads;
                }
            }
        });
        for i in 0..100 {
            write(&path, &texts[i % 2]).unwrap();
        }
        is_over.store(true, Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(names(&folder), ["file"]);
}

#[test]
fn a_file_keeps_its_permissions() {
    let path = folder("permissions").join("file");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    write(&path, "new").unwrap();
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o640
    );
}

#[test]
fn a_link_stays_one_also_if_nothing_is_there() {
    let folder = folder("links");
    fs::create_dir(folder.join("other")).unwrap();
    fs::write(folder.join("other/there"), "old").unwrap();
    for (target, name) in [("other/there", "to-file"), ("other/missing", "to-nothing")] {
        let link = folder.join(name);
        symlink(target, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "{name}");
        assert_eq!(fs::read_to_string(folder.join(target)).unwrap(), "new");
    }
    assert_eq!(names(&folder.join("other")), ["missing", "there"]);
}

/// Nothing can be made beside a file with the longest name of all; as where one may change the file alone.
#[test]
fn where_nothing_can_be_made_beside_it_a_file_is_written_in_its_place() {
    let path = folder("alone").join("x".repeat(255));
    for text in ["a longer text", "new"] {
        write(&path, text).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn what_is_no_file_stays_what_it_is() {
    write(Path::new("/dev/null"), "new").unwrap();
    assert!(
        fs::metadata("/dev/null")
            .unwrap()
            .file_type()
            .is_char_device()
    );
    let folder = folder("folder");
    assert!(write(&folder, "new").is_err());
    assert!(write(&folder.join("missing/file"), "new").is_err());
    assert!(names(&folder).is_empty());
}

#[test]
fn a_full_disk_is_an_error() {
    assert!(write(Path::new("/dev/full"), "new").is_err());
}

#[test]
fn a_pipe_that_nobody_reads_is_an_error_at_once() {
    let path = folder("unread").join("pipe");
    pipe::make(&path);
    let begin = Instant::now();
    let error = write(&path, "new").unwrap_err();
    assert_eq!(error.to_string(), "nobody reads it");
    assert!(begin.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_pipe_that_nobody_empties_is_an_error_after_a_while() {
    let path = folder("full").join("pipe");
    pipe::make(&path);
    let reader = File::options().read(true).write(true).open(&path).unwrap();
    assert!(write(&path, &"x".repeat(1 << 20)).is_err());
    drop(reader);
}

#[test]
fn a_pipe_gets_all_of_a_text_that_it_does_not_hold_at_once() {
    let path = folder("read").join("pipe");
    pipe::make(&path);
    let text = "0123456789abcdef".repeat(1 << 14);
    // A reader that a busy machine keeps from reading for seconds is given up.
    let is_whole = (0..5).any(|_| {
        let reader = thread::spawn({
            let path = path.clone();
            move || {
                let mut text = String::new();
                File::open(path).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        let mut done = write(&path, &text);
        while done.is_err() && !reader.is_finished() {
            done = write(&path, &text); // it does not read yet
        }
        reader.join().unwrap() == text && done.is_ok()
    });
    assert!(is_whole);
    assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
}

/// What a shell may have led to a file: that file is written on, and goes on behind it.
#[test]
fn the_standard_output_goes_on_behind_the_text() {
    for name in ["/dev/stdout", "/dev/stderr", "/proc/self/fd/1"] {
        let path = folder("output").join("file");
        let file = File::create(&path).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "writes_to_a_descriptor",
            "--ignored",
            "--nocapture",
        ]);
        child.env("NAME", name);
        match name {
            "/dev/stderr" => child.stdout(Stdio::null()).stderr(file),
            _ => child.stdout(file).stderr(Stdio::null()),
        };
        assert!(child.status().unwrap().success(), "{name}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("before\nTEXT\nbehind\n"), "{name}: {text}");
    }
}

#[test]
#[ignore = "the test above starts it"]
fn writes_to_a_descriptor() {
    let name = std::env::var("NAME").unwrap();
    let say = |text: &str| match name.as_str() {
        "/dev/stderr" => eprintln!("{text}"),
        _ => println!("{text}"),
    };
    say("before");
    write(Path::new(&name), "TEXT\n").unwrap();
    say("behind");
}
