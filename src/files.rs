//! Files that readers find whole: the old one or the new one, whatever happens while it is written.

#![forbid(unsafe_code)]

use crate::report;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A new file beside the one whose place it is to take. It is removed if it does not.
pub struct Beside {
    file: File,
    own: PathBuf,
    place: PathBuf,
}

impl Beside {
    /// Makes it. The error may be that one may not make files in this folder.
    pub fn new(place: &Path) -> io::Result<Beside> {
        let mut own = place.to_owned().into_os_string();
        // Other jobs may write it at the same time, on other machines too.
        let moment = SystemTime::now().duration_since(UNIX_EPOCH);
        let moment = moment.map_or(0, |time| time.as_nanos());
        own.push(format!(".{}-{moment}.new", process::id()));
        let (own, place) = (own.into(), place.to_owned());
        let file = File::create_new(&own)?;
        Ok(Beside { file, own, place })
    }

    /// Writes all of its text.
    pub fn fill(&mut self, text: &str) -> io::Result<()> {
        self.file.write_all(text.as_bytes())?;
        match self.file.sync_all() {
            // It is written all the same where this cannot be asked for.
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(libc::EINVAL | libc::ENOSYS | libc::ENOTSUP)
                ) =>
            {
                Ok(())
            }
            synced => synced,
        }
    }

    /// Lets it take its place. The error may be that what is there has to stay, as what is mounted there has.
    pub fn take_place(self) -> io::Result<()> {
        fs::rename(&self.own, &self.place)
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.own); // not there any more if it took its place
    }
}

/// How long a pipe may be full.
const PATIENCE: Duration = Duration::from_secs(2);

/// Links that follow each other at the most.
const LINKS: u32 = 40;

/// Writes a text to `path`, for which a user may have named anything. Of a file, readers find the old text or the new
/// one, unless only the file itself may be changed. A link stays one. A pipe that nobody reads is an error.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    let place = match behind_links(path)? {
        Named::Place(place) => place,
        // The program goes on behind it there.
        Named::Descriptor(name) if name == "1" => return print(io::stdout(), text),
        Named::Descriptor(name) if name == "2" => {
            report::block(text);
            return Ok(());
        }
        // Whatever else is open there: what it has already stays.
        Named::Descriptor(_) => return in_place(OpenOptions::new().append(true), path, text),
    };
    match fs::metadata(&place) {
        Ok(there) if !there.is_file() => in_place(OpenOptions::new().write(true), &place, text),
        there => {
            if let Ok(mut new) = Beside::new(&place) {
                if let Ok(there) = there {
                    // Some file systems have none.
                    let _ = new.file.set_permissions(there.permissions());
                }
                new.fill(text)?;
                if new.take_place().is_ok() {
                    return Ok(());
                }
            }
            let mut options = OpenOptions::new();
            in_place(
                options.write(true).create(true).truncate(true),
                &place,
                text,
            )
        }
    }
}

/// What a path leads to.
enum Named {
    /// A place for a file, in which there need not be one.
    Place(PathBuf),
    /// A descriptor of this process, of this number: `/dev/stdout` is a link to one.
    Descriptor(OsString),
}

fn behind_links(path: &Path) -> io::Result<Named> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let folder = fs::canonicalize(folder.unwrap_or(Path::new(".")))?;
        let Some(name) = path.file_name() else { break };
        let is_own = |fd| fs::canonicalize(fd).is_ok_and(|own| own == folder);
        if is_own("/proc/self/fd") || is_own("/proc/thread-self/fd") {
            return Ok(Named::Descriptor(name.into()));
        }
        path = folder.join(name);
        match fs::read_link(&path) {
            Ok(next) => path = folder.join(next),
            Err(_) => break, // no link, or nothing
        }
    }
    Ok(Named::Place(path))
}

fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// Writes to what is there. A pipe is not waited for, neither for one who reads it nor for long until it is emptied.
fn in_place(options: &mut OpenOptions, path: &Path, text: &str) -> io::Result<()> {
    let opened = options.custom_flags(libc::O_NONBLOCK).open(path);
    let mut file = opened.map_err(|error| match error.raw_os_error() {
        Some(libc::ENXIO) => io::Error::other("nobody reads it"),
        _ => error,
    })?;
    let (mut rest, mut begin) = (text.as_bytes(), Instant::now());
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => (rest, begin) = (&rest[written..], Instant::now()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock && begin.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
