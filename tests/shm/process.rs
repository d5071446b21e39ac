//! Processes: copies of this one that do one thing and end.

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A child process. Killed when dropped.
pub struct Child {
    pid: libc::pid_t,
    said: PipeReader,
    bell: PipeWriter,
}

/// How a child talks to its parent.
pub struct Parent {
    tell: PipeWriter,
    bell: PipeReader,
}

impl Parent {
    /// Sends words.
    pub fn tell(&mut self, words: &[u64]) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.tell.write_all(&bytes).unwrap();
    }

    /// Waits until the parent rings.
    pub fn wait(&mut self) {
        self.bell.read_exact(&mut [0]).unwrap();
    }
}

/// Starts a process that does `work`: it has the calling thread only, and a copy of its memory.
pub fn start(work: impl FnOnce(&mut Parent)) -> Child {
    let (said, tell) = pipe().unwrap();
    let (heard, bell) = pipe().unwrap();
    // SAFETY: the child uses no lock of another thread: the C library sees to those of its own, and the
    // work is that of a test, which shares nothing with other tests. It ends by `_exit`.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork: {}", std::io::Error::last_os_error());
    if pid == 0 {
        close_all_but([tell.as_raw_fd(), heard.as_raw_fd()]);
        let mut parent = Parent { tell, bell: heard };
        let done = catch_unwind(AssertUnwindSafe(|| work(&mut parent)));
        // SAFETY: ends the process, without handlers of the parent's.
        unsafe { libc::_exit(i32::from(done.is_err())) };
    }
    Child { pid, said, bell }
}

/// A child has copies of all descriptors, those of other tests among them: keeps only these and the
/// standard ones.
fn close_all_but(kept: [i32; 2]) {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    let open: Vec<i32> = entries
        .map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()
                .unwrap()
                .parse()
                .unwrap()
        })
        .collect();
    for fd in open.into_iter().filter(|fd| *fd > 2 && !kept.contains(fd)) {
        // SAFETY: no value that owns one of them is used or dropped in the child.
        unsafe { libc::close(fd) };
    }
}

impl Child {
    /// Number of the process.
    pub fn pid(&self) -> u32 {
        self.pid as u32
    }

    /// Waits for `N` words from the child.
    pub fn hear<const N: usize>(&mut self) -> [u64; N] {
        [(); N].map(|()| {
            let mut word = [0; 8];
            self.said
                .read_exact(&mut word)
                .expect("the child said nothing");
            u64::from_ne_bytes(word)
        })
    }

    /// Lets a child go on that waits.
    pub fn ring(&mut self) {
        self.bell.write_all(&[1]).unwrap();
    }

    /// Ends the child at once, as `kill -9` does.
    pub fn kill(&self) {
        // SAFETY: a process that this one started and has not waited for.
        unsafe { libc::kill(self.pid, libc::SIGKILL) };
    }

    /// Waits for the end: the status of the system.
    pub fn wait(mut self) -> i32 {
        let mut status = 0;
        // SAFETY: the status is a place of the right type, the process as in `kill`.
        let waited = unsafe { libc::waitpid(self.pid, &mut status, 0) };
        assert_eq!(waited, self.pid);
        self.pid = 0;
        status
    }

    /// Waits for the end, which must be a good one.
    pub fn succeeds(self) {
        let status = self.wait();
        assert_eq!(status, 0, "the child failed or was ended by a signal");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if self.pid != 0 {
            self.kill();
            // SAFETY: as in `kill`; its status is of no interest.
            unsafe { libc::waitpid(self.pid, std::ptr::null_mut(), 0) };
        }
    }
}
