//! Memory that several processes have mapped: making it, finding it, and access within its bounds.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Error, ErrorKind};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the token lies: at the beginning, in two words. It keeps its line to itself (see `Division`).
const TOKEN: [u64; 2] = [0, 8];

/// A segment has a token at least.
const BYTES_MIN: usize = 64;

/// The size stays as it is, which makes access safe, and so does this rule.
const SEALS: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// What the other ranks of the node need to map a segment: the process that made it, its descriptor there,
/// bytes, inode, and two words of token. Plain words: it travels in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer(pub [u64; 6]);

/// Memory shared with other processes. Unmapped when dropped.
pub struct Segment {
    start: NonNull<u8>,
    bytes: usize,
    /// At the maker, before the segment is sealed.
    file: Option<File>,
}

// SAFETY: the mapping belongs to the process, not to a thread. Words are accessed as atomics, and who
// copies bytes states that nobody else touches them, in whatever process or thread.
unsafe impl Send for Segment {}
// SAFETY: as above.
unsafe impl Sync for Segment {}

impl Segment {
    /// Makes a segment of zeros. The system provides a page of it when it is first used.
    pub fn create(bytes: usize) -> io::Result<(Segment, Offer)> {
        if bytes < BYTES_MIN {
            return Err(ErrorKind::InvalidInput.into());
        }
        may_have_files_of(bytes as u64)?;
        let file = nameless_file()?;
        file.set_len(bytes as u64)?;
        let mut segment = Segment::map(&file, bytes)?;
        // SAFETY: the call takes no memory.
        check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, SEALS) })?;
        let token = random_words()?;
        let (fd, inode) = (file.as_raw_fd() as u64, file.metadata()?.ino());
        segment.file = Some(file);
        for (at, word) in TOKEN.into_iter().zip(token) {
            // The offer, which is a message, publishes this.
            segment.word(at).store(word, Ordering::Release);
        }
        let pid = u64::from(std::process::id());
        let offer = [pid, fd, bytes as u64, inode, token[0], token[1]];
        Ok((segment, Offer(offer)))
    }

    /// Maps the segment of an offer. An error if it is not there any more, or something else is in its
    /// place: an offer may be of a process that has ended, or of one on another machine or in another
    /// container, where the same numbers mean something else.
    pub fn open(offer: &Offer) -> io::Result<Segment> {
        let Offer([pid, fd, bytes, inode, token @ ..]) = *offer;
        let stranger = || Error::from(ErrorKind::NotFound);
        let fits =
            |found: &Metadata| found.is_file() && (found.len(), found.ino()) == (bytes, inode);
        let path = format!("/proc/{pid}/fd/{fd}");
        // To open what is not a plain file may have effects: look first.
        if bytes < BYTES_MIN as u64 || !fits(&std::fs::metadata(&path)?) {
            return Err(stranger());
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(&path)?;
        // It is another one by now, perhaps. Where files cannot be sealed, this is an error, too.
        // SAFETY: the call takes no memory.
        let seals = check(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) })?;
        if seals & SEALS != SEALS || !fits(&file.metadata()?) {
            return Err(stranger());
        }
        let segment = Segment::map(&file, bytes as usize)?;
        // Acquire is for form: the message with the offer came later than the token.
        let found = TOKEN.map(|at| segment.word(at).load(Ordering::Acquire));
        if found == token {
            Ok(segment)
        } else {
            Err(stranger())
        }
    }

    /// The maker closes its descriptor: from here on nobody else can map the segment.
    pub fn seal(&mut self) {
        self.file = None;
    }

    /// Size of the segment.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// See `Arena::alias`.
    #[cfg(tsan)]
    pub(super) fn alias(&self) -> Segment {
        Segment {
            start: self.start,
            bytes: self.bytes,
            file: None,
        }
    }

    fn map(file: &File, bytes: usize) -> io::Result<Segment> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping, at an address that the system chooses.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or(ErrorKind::OutOfMemory)?;
        let segment = Segment {
            start,
            bytes,
            file: None,
        };
        // A program that this process starts, and that outlives it, does not keep the memory.
        // SAFETY: the mapping just made; no child process of a rank may use MPI.
        check(unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_DONTFORK) })?;
        // It is long, and most of it is never used.
        // SAFETY: as above. What is not dumped is only missed in a dump.
        unsafe { libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_DONTDUMP) };
        Ok(segment)
    }

    /// The word of control at this byte.
    pub(super) fn word(&self, at: u64) -> &AtomicU64 {
        let start = self.place(at, 8);
        assert!(start.cast::<u64>().is_aligned(), "a word at {at}");
        // SAFETY: within the mapping, which lives as long as `self`, and aligned. Words of control lie
        // where no bytes are copied (see `Division`): everybody accesses them as atomics only.
        unsafe { AtomicU64::from_ptr(start.cast()) }
    }

    /// Copies bytes into the segment.
    ///
    /// # Safety
    /// `from` has `len` bytes, outside of the segment. In the segment, no thread of any process reads or
    /// writes these bytes at the same time, and no words of control lie there.
    pub(super) unsafe fn write(&self, at: u64, from: *const u8, len: usize) {
        let to = self.place(at, len);
        // SAFETY: the caller's word for `from` and for being alone; `to` is in bounds.
        unsafe { ptr::copy_nonoverlapping(from, to, len) }
    }

    /// Copies bytes out of the segment.
    ///
    /// # Safety
    /// `to` has room for `len` bytes, outside of the segment. In the segment, no thread of any process
    /// writes these bytes at the same time, and no words of control lie there.
    pub(super) unsafe fn read(&self, at: u64, to: *mut u8, len: usize) {
        let from = self.place(at, len);
        // SAFETY: the caller's word for `to` and that nobody writes; `from` is in bounds.
        unsafe { ptr::copy_nonoverlapping(from.cast_const(), to, len) }
    }

    /// The address of byte `at`, from which `len` bytes lie within the segment.
    pub(super) fn place(&self, at: u64, len: usize) -> *mut u8 {
        let end = at.checked_add(len as u64);
        assert!(
            end.is_some_and(|end| end <= self.bytes as u64),
            "{len} bytes at {at} of a segment of {}",
            self.bytes
        );
        // SAFETY: within the mapping, by the line above.
        unsafe { self.start.as_ptr().add(at as usize) }
    }
}

// Whose mapping it is is not known where there are aliases.
#[cfg(not(tsan))]
impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: the mapping that `map` made; everything that refers to it borrows `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// A file that has no name, of zero bytes.
///
/// Called by number: the C library's function is newer than some C libraries in use, and a name that it
/// lacks would keep the whole of Rondo from loading.
fn nameless_file() -> io::Result<File> {
    let make = |flags: u32| {
        // SAFETY: the name is a C string.
        let fd = unsafe { libc::syscall(libc::SYS_memfd_create, c"rondo".as_ptr(), flags) };
        check(fd as i32)
    };
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // Systems may demand that such files cannot be executed; older ones do not know the flag.
    let fd = match make(flags | libc::MFD_NOEXEC_SEAL) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => make(flags)?,
        other => other?,
    };
    // SAFETY: a descriptor just made, which nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) }.into())
}

/// May this process make files so large? Where it may not, trying would raise a signal.
fn may_have_files_of(bytes: u64) -> io::Result<()> {
    if bytes > limit(libc::RLIMIT_FSIZE)? || i64::try_from(bytes).is_err() {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(())
}

/// How much this process may have of a resource.
pub(super) fn limit(resource: libc::__rlimit_resource_t) -> io::Result<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the limit is a place of the right type.
    check(unsafe { libc::getrlimit(resource, &mut limit) })?;
    Ok(limit.rlim_cur)
}

fn random_words() -> io::Result<[u64; 2]> {
    let mut words = [0u64; 2];
    let bytes = size_of_val(&words);
    // By number: see `nameless_file`. So few bytes come at once or, early in the life of a machine, not yet.
    // SAFETY: the words have so many bytes, and any bytes are words.
    let got = unsafe {
        libc::syscall(
            libc::SYS_getrandom,
            words.as_mut_ptr(),
            bytes,
            libc::GRND_NONBLOCK,
        )
    };
    if check(got as i32)? as usize == bytes {
        Ok(words)
    } else {
        Err(ErrorKind::UnexpectedEof.into())
    }
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(Error::last_os_error())
    } else {
        Ok(result)
    }
}
