//! What a launcher writes to its standard error output: it goes on to where it would have gone, and its last lines are
//! kept.

#![forbid(unsafe_code)]

use std::{
    collections::VecDeque,
    io::{self, Write},
    process::ChildStderr,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

/// So many lines are kept: launchers explain themselves at length.
const LINES: usize = 40;

/// So many bytes of each.
const BYTES: usize = 300;

/// Processes that outlive the launcher may keep the output open: nobody waits for them longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The words of a launcher.
pub struct Words {
    last: Arc<Mutex<Last>>,
    /// Nothing comes by this; it ends with the words.
    end: Receiver<()>,
}

impl Words {
    /// Passes on what comes `from` a launcher, as long as something comes.
    pub fn pass_on(mut from: ChildStderr) -> Words {
        let last = Arc::new(Mutex::new(Last::default()));
        let (ends, end) = mpsc::channel::<()>();
        let mut to = Passing(Arc::clone(&last));
        thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            drop(ends);
        });
        Words { last, end }
    }

    /// The last lines, when the launcher has ended.
    pub fn last(self) -> Vec<String> {
        let _ = self.end.recv_timeout(PATIENCE);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.end_line();
        last.lines.iter().cloned().collect()
    }
}

/// The way from the launcher to the standard error output.
struct Passing(Arc<Mutex<Last>>);

impl Write for Passing {
    /// That nobody reads it there is not the launcher's trouble.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Last {
    lines: VecDeque<String>,
    /// What has come of the next one.
    begun: Vec<u8>,
}

impl Last {
    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            match byte {
                b'\n' | b'\r' => self.end_line(),
                _ if self.begun.len() < BYTES => self.begun.push(byte),
                _ => {}
            }
        }
    }

    /// Empty lines, and those that are drawn around others, say nothing.
    fn end_line(&mut self) {
        let line = String::from_utf8_lossy(&self.begun).trim().to_owned();
        self.begun.clear();
        if line.chars().any(char::is_alphanumeric) {
            self.lines.push_back(line);
        }
        if self.lines.len() > LINES {
            self.lines.pop_front();
        }
    }
}
