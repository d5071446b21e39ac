//! Running the job, for no longer than it may.

#![forbid(unsafe_code)]

use super::ranks::Ranks;
use crate::{Failure, run::Launch};
use rondo::host;
use std::{
    fs, io,
    os::{fd::AsFd, unix::process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this status.
    Status(i32),
    /// The launcher was ended by this signal.
    Signal(i32),
    /// It took longer than it might.
    Limit(Duration),
    /// Ranks waited for others that lack the library.
    Waiting,
}

/// So long ranks may wait for others that seem to lack the library, before the job is ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// So long a launcher may take to end by a signal that it got by itself.
const GRACE: Duration = Duration::from_secs(5);

/// Between two looks at the job, and at what its ranks wrote.
const INTERVALS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A batch system or `kill`, a user's Ctrl-C, and a terminal that is closed.
const SIGNALS: [i32; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP];

/// The launcher, and the folder that its ranks write to: both go with this process if that is asked to end.
static UNDER_WAY: OnceLock<(u32, PathBuf)> = OnceLock::new();

/// Was this process asked to end?
static ENDING: AtomicBool = AtomicBool::new(false);

/// Runs the job to its end. What it writes comes out on the standard error output.
pub fn run(launch: &Launch, limit: Duration, folder: &Path) -> Result<End, Failure> {
    let mut command = launch.command();
    let out = io::stderr().as_fd().try_clone_to_owned()?;
    let started = command.stdout(Stdio::from(out)).spawn();
    let mut job = started.map_err(|error| launch.not_started(&error))?;
    let _ = UNDER_WAY.set((job.id(), folder.to_owned()));
    let _ = host::before_termination(&SIGNALS, end_with_tool);
    watch(&mut job, limit, folder)
}

/// Waits for the end of the job, or makes it.
fn watch(job: &mut Child, limit: Duration, folder: &Path) -> Result<End, Failure> {
    let start = Instant::now();
    let (mut looked, mut waiting) = (start, None);
    loop {
        if let Some(status) = job.try_wait()? {
            // Of a process that was asked to end there is no report.
            while ENDING.load(Relaxed) {
                thread::park();
            }
            return Ok(ended(status));
        }
        if start.elapsed() >= limit {
            end(job)?;
            return Ok(End::Limit(limit));
        }
        if looked.elapsed() >= INTERVALS.1 {
            looked = Instant::now();
            waiting = match Ranks::read(folder).wait_in_vain() {
                true => waiting.or(Some(looked)),
                false => None,
            };
        }
        if waiting.is_some_and(|since: Instant| since.elapsed() >= PATIENCE) {
            end(job)?;
            return Ok(End::Waiting);
        }
        thread::sleep(INTERVALS.0);
    }
}

fn ended(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Status(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

/// Ends a job: asks its launcher to, who has to end the ranks, and does so itself if that takes too long.
fn end(job: &mut Child) -> Result<(), Failure> {
    ask_to_end(job.id());
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if job.try_wait()?.is_some() {
            return Ok(());
        }
        thread::sleep(INTERVALS.0);
    }
    job.kill()?;
    job.wait()?;
    Ok(())
}

/// This process was asked to end. The launcher was too, if the signal was for the whole process group, as that of batch
/// systems is; a second one would make some launchers leave their ranks behind.
fn end_with_tool() {
    ENDING.store(true, Relaxed);
    let Some((launcher, folder)) = UNDER_WAY.get() else {
        return;
    };
    let start = Instant::now();
    while Path::new(&format!("/proc/{launcher}")).exists() {
        if start.elapsed() >= GRACE {
            ask_to_end(*launcher);
            break;
        }
        thread::sleep(INTERVALS.0);
    }
    let _ = fs::remove_dir_all(folder);
}

fn ask_to_end(process: u32) {
    // That of a shell: not every system has a program of this name.
    let _ = Command::new("sh")
        .args(["-c", &format!("kill {process}")])
        .status();
}
