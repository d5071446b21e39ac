//! One run of a command: its output, and a limit on its time.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How a run ended.
pub struct Outcome {
    /// The exit status, or 128 + signal as a shell would say; `None` when it was stopped at the limit.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// Where its processes were when it was stopped at the limit.
    pub stacks: String,
    /// What it left behind: Rondo's files in /dev/shm, and processes, which may have Rondo's memory mapped.
    pub left: Vec<String>,
}

/// The variable by which processes of a run are recognised. Ranks leave the launcher's process group, but
/// not its environment.
const MARK: &str = "RONDO_TEST_RUN";

/// Runs the command with nothing on its standard input, for at most `limit`.
///
/// Its output goes to files in `directory` first: a rank that outlives its launcher would keep a pipe open
/// and with it this function waiting.
pub fn run(command: &mut Command, limit: Duration, directory: &Path) -> io::Result<Outcome> {
    let (stdout, stderr) = (directory.join("stdout"), directory.join("stderr"));
    let mark = format!("{}.{:?}", std::process::id(), Instant::now());
    command
        .env(MARK, &mark)
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0);
    let mut child = command.spawn()?;
    let mut stacks = String::new();
    let status = match wait(&mut child, limit)? {
        Some(status) => status.code().or(status.signal().map(|signal| 128 + signal)),
        None => {
            stacks = marked(&mark).into_iter().map(stack).collect();
            stop(&mut child)?;
            None
        }
    };
    let left = leftovers(&mark);
    kill_marked(&mark);
    let read =
        |path: &Path| Ok::<_, io::Error>(String::from_utf8_lossy(&std::fs::read(path)?).into());
    Ok(Outcome {
        status,
        stdout: read(&stdout)?,
        stderr: read(&stderr)?,
        stacks,
        left,
    })
}

/// Waits for the end of the process, `None` when the time is over first.
fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() > limit {
            return Ok(None);
        }
        sleep(Duration::from_millis(3));
    }
}

/// The functions that a process is in, innermost first, one line for each thread.
fn stack(id: u32) -> String {
    let mut command = Command::new("timeout");
    command.args(["-k", "1", "10", "eu-stack", "-p", &id.to_string()]);
    let Ok(output) = command.output() else {
        return String::new();
    };
    let mut text = format!("process {id}:");
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        // "#1  0x00007f0f29526f36 epoll_wait", in sections of threads: "TID 12:".
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["TID", _] => text.push_str("\n  "),
            [_, _, function, ..] => text.push_str(&format!(" {function}")),
            _ => {}
        }
    }
    text + "\n"
}

/// Asks the launcher to end its job, and ends its process group if it does not.
fn stop(child: &mut Child) -> io::Result<()> {
    let group = format!("-{}", child.id());
    kill("TERM", &group);
    if wait(child, Duration::from_secs(3))?.is_none() {
        kill("KILL", &group);
        child.wait()?;
    }
    Ok(())
}

fn kill(signal: &str, target: &str) {
    let _ = Command::new("kill")
        .args(["-s", signal, "--", target])
        .status();
}

/// Ends the ranks that a failed run left behind, and only those: they carry the run's mark.
fn kill_marked(mark: &str) {
    for id in marked(mark) {
        kill("KILL", &id.to_string());
    }
}

/// The processes that carry the run's mark.
fn marked(mark: &str) -> Vec<u32> {
    let wanted = format!("{MARK}={mark}");
    let ids = entries("/proc").filter_map(|name| name.parse::<u32>().ok());
    ids.filter(|id| {
        let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == wanted.as_bytes())
    })
    .collect()
}

/// How long the ranks of a job that ends may still be seen after their launcher's end.
const GRACE: Duration = Duration::from_secs(60);

/// What is still there of a run, some time after its end. Other runs go on meanwhile: their files are gone in time, and
/// what comes new is theirs.
fn leftovers(mark: &str) -> Vec<String> {
    let start = Instant::now();
    let mut files = shared_files();
    loop {
        let now = shared_files();
        files.retain(|file| now.contains(file));
        let processes: Vec<u32> = marked(mark);
        if (files.is_empty() && processes.is_empty()) || start.elapsed() > GRACE {
            let files = files.iter().map(|file| format!("/dev/shm/{file}"));
            let processes = processes.into_iter().map(|id| {
                let maps = std::fs::read_to_string(format!("/proc/{id}/maps")).unwrap_or_default();
                // One may be in several lines, and the library's own file is none.
                let lines = maps.lines().filter(|line| line.contains("memfd:rondo"));
                let segments: BTreeSet<_> =
                    lines.map(|line| line.split_whitespace().nth(4)).collect();
                format!("process {id}, which maps {} segments", segments.len())
            });
            return files.chain(processes).collect();
        }
        sleep(Duration::from_millis(50));
    }
}

/// Rondo's files in /dev/shm, by their names. What the host leaves there after an abort is not ours, though it may have
/// the name of the machine or of the user in it.
fn shared_files() -> Vec<String> {
    entries("/dev/shm")
        .filter(|name| name.starts_with("rondo"))
        .collect()
}

/// The names in a directory.
fn entries(directory: &str) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
}
