//! Making, finding and losing segments.

use crate::maps;
use crate::process::{Child, start};
use rondo::shm::{Offer, Segment};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

const BYTES: usize = 64 << 10;

/// How many mappings of segments this process has.
pub fn mappings() -> usize {
    maps::segments().len()
}

/// How many descriptors of segments this process has.
pub fn descriptors() -> usize {
    let entries = fs::read_dir("/proc/self/fd").unwrap();
    let targets = entries.filter_map(|entry| fs::read_link(entry.unwrap().path()).ok());
    targets
        .filter(|target| target.to_string_lossy().contains("memfd:rondo"))
        .count()
}

fn dev_shm() -> BTreeSet<String> {
    let entries = fs::read_dir("/dev/shm").unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}

/// Processes that have a segment with this inode mapped or open, of all that this one may look into.
fn holders(inode: u64) -> Vec<u32> {
    let numbers = fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.unwrap().file_name();
        name.to_string_lossy().parse().ok()
    });
    let holds = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten()
            .flatten()
            // Other file systems have the same numbers.
            .filter(|entry| {
                let target = fs::read_link(entry.path());
                target.is_ok_and(|target| target.to_string_lossy().contains("memfd:rondo"))
            })
            .any(|entry| fs::metadata(entry.path()).is_ok_and(|found| found.ino() == inode));
        open || maps::has(*pid, inode)
    };
    numbers.filter(holds).collect()
}

/// An attempt in a process of its own, in which nobody else makes segments.
pub fn alone(work: impl FnOnce()) {
    start(|_| work()).succeeds();
}

#[test]
fn a_sealed_segment_stays_but_nobody_can_map_it() {
    alone(|| {
        let (mut segment, offer) = Segment::create(BYTES).unwrap();
        let other = Segment::open(&offer).unwrap();
        assert_eq!((descriptors(), mappings()), (1, 2));
        segment.seal();
        assert_eq!((descriptors(), mappings()), (0, 2));
        assert!(Segment::open(&offer).is_err());
        assert_eq!((segment.bytes(), other.bytes()), (BYTES, BYTES));
        drop((segment, other));
        assert_eq!(mappings(), 0);
    });
}

/// However the system shows them: here it splits one, as a rule, and puts another beside it.
#[test]
fn mappings_are_counted_and_not_the_lines_of_the_system() {
    alone(|| {
        let (segment, offer) = Segment::create(BYTES).unwrap();
        let [mapping] = &maps::segments()[..] else {
            panic!("{:?}", maps::segments());
        };
        let start = mapping.start as *mut libc::c_void;
        // SAFETY: the first page of the segment's mapping; the advice changes no byte.
        let advised = unsafe { libc::madvise(start, 4096, libc::MADV_DODUMP) };
        assert_eq!((advised, mappings()), (0, 1));
        let other = Segment::open(&offer).unwrap();
        assert_eq!(mappings(), 2);
        drop(segment);
        assert_eq!(mappings(), 1, "both parts are gone");
        drop(other);
        assert_eq!(mappings(), 0);
    });
}

/// Descriptors are given out anew: an offer that comes late finds another file under its number.
#[test]
fn a_stale_offer_is_refused() {
    alone(|| {
        let (first, offer) = Segment::create(BYTES).unwrap();
        drop(first);
        assert!(Segment::open(&offer).is_err(), "nothing is there");
        let (_second, newer) = Segment::create(BYTES).unwrap();
        assert_eq!(offer.0[..3], newer.0[..3], "the same place and size");
        assert!(Segment::open(&offer).is_err(), "another segment is there");
        let Offer([pid, fd, bytes, inode, _, _]) = newer;
        let mixed = Offer([pid, fd, bytes, inode, offer.0[4], offer.0[5]]);
        assert!(
            Segment::open(&mixed).is_err(),
            "with the token of the old one"
        );
        assert_eq!(mappings(), 1, "refused ones are not mapped");
        assert_eq!(descriptors(), 1, "nor open");
        assert!(Segment::open(&newer).is_ok());
    });
}

#[test]
fn an_offer_that_differs_in_any_word_is_refused() {
    // Its neighbours among processes do not have copies of its descriptors.
    alone(|| {
        let (_segment, offer) = Segment::create(BYTES).unwrap();
        for word in 0..6 {
            for other in [
                0,
                1,
                offer.0[word] + 1,
                offer.0[word] - 1,
                offer.0[word] ^ 1 << 63,
                u64::MAX,
            ] {
                let mut changed = offer;
                changed.0[word] = other;
                if changed != offer {
                    assert!(Segment::open(&changed).is_err(), "{changed:?}");
                }
            }
        }
        assert!(Segment::open(&offer).is_ok());
    });
}

#[test]
fn an_offer_of_a_process_that_has_ended_is_refused() {
    let mut child = start(|parent| {
        let (_segment, offer) = Segment::create(BYTES).unwrap();
        parent.tell(&offer.0);
        std::thread::sleep(Duration::from_secs(60));
    });
    let offer = Offer(child.hear());
    assert!(Segment::open(&offer).is_ok());
    child.kill();
    child.wait();
    assert!(Segment::open(&offer).is_err());
}

/// A plain file may shrink while it is mapped, which ends the process that touches it.
#[test]
fn a_file_that_is_no_segment_is_refused_even_with_the_right_token() {
    let path = std::env::temp_dir().join(format!("rondo-test-{}", std::process::id()));
    let mut options = OpenOptions::new();
    let plain = options
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    fs::remove_file(&path).unwrap();
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(c"rondo".as_ptr(), libc::MFD_CLOEXEC) };
    assert!(fd >= 0);
    // SAFETY: a descriptor just made, which nobody else owns.
    let nameless = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    let token = [3u64, 4];
    let offer_of = |file: &File| {
        let found = file.metadata().unwrap();
        let (pid, fd) = (std::process::id().into(), file.as_raw_fd() as u64);
        Offer([pid, fd, found.len(), found.ino(), token[0], token[1]])
    };
    for mut file in [plain, nameless] {
        file.write_all(&token.map(u64::to_ne_bytes).concat())
            .unwrap();
        file.set_len(BYTES as u64).unwrap();
        assert!(Segment::open(&offer_of(&file)).is_err());
    }
    let null = File::open("/dev/null").unwrap();
    assert!(Segment::open(&offer_of(&null)).is_err());
}

#[test]
fn sizes_need_not_be_whole_pages_but_must_hold_a_token() {
    for bytes in [0, 63] {
        assert!(Segment::create(bytes).is_err(), "{bytes}");
    }
    for bytes in [64, 4097] {
        let (segment, offer) = Segment::create(bytes).unwrap();
        assert_eq!(segment.bytes(), bytes);
        assert_eq!(Segment::open(&offer).unwrap().bytes(), bytes);
    }
}

/// Sets a limit of this process, both soft and hard.
pub fn limit(resource: libc::__rlimit_resource_t, value: u64) {
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // SAFETY: the limit is a value of the right type.
    assert_eq!(unsafe { libc::setrlimit(resource, &limit) }, 0);
}

/// Each limit is first one that just suffices or does not matter, so that it is the limit that refuses.
#[test]
fn limits_of_the_process_are_errors_and_no_signals() {
    alone(|| {
        limit(libc::RLIMIT_FSIZE, BYTES as u64);
        assert!(Segment::create(BYTES).is_ok());
        assert!(
            Segment::create(BYTES + 1).is_err(),
            "larger than files may be"
        );
    });
    alone(|| {
        let large = 4 << 20;
        assert!(Segment::create(large).is_ok());
        limit(libc::RLIMIT_AS, large as u64);
        assert!(Segment::create(large).is_err(), "more than may be mapped");
        assert_eq!(descriptors(), 0);
    });
    alone(|| {
        let (_segment, offer) = Segment::create(8 << 20).unwrap();
        limit(libc::RLIMIT_AS, 4 << 20);
        assert!(Segment::open(&offer).is_err(), "more than may be mapped");
        assert_eq!((descriptors(), mappings()), (1, 1));
    });
    alone(|| {
        let (_segment, offer) = Segment::create(BYTES).unwrap();
        limit(libc::RLIMIT_NOFILE, 3);
        assert!(Segment::create(BYTES).is_err(), "no descriptor left");
        assert!(Segment::open(&offer).is_err(), "no descriptor left");
    });
}

/// Whether the segment is sealed or not, and whoever ends last.
#[test]
fn nothing_stays_after_processes_that_were_killed() {
    for seal in [false, true] {
        let before = dev_shm();
        let mut maker = start(|parent| {
            let (mut segment, offer) = Segment::create(1 << 20).unwrap();
            parent.tell(&offer.0);
            if seal {
                parent.wait();
                segment.seal();
                parent.tell(&[1]);
            }
            std::thread::sleep(Duration::from_secs(60));
        });
        let offer = Offer(maker.hear());
        let inode = offer.0[3];
        let mut openers: Vec<Child> = (0..2)
            .map(|_| {
                start(|parent| {
                    let _segment = Segment::open(&offer).unwrap();
                    parent.tell(&[1]);
                    std::thread::sleep(Duration::from_secs(60));
                })
            })
            .collect();
        for opener in &mut openers {
            opener.hear::<1>();
        }
        if seal {
            maker.ring();
            maker.hear::<1>();
        }
        let mut expected: Vec<u32> = openers.iter().map(Child::pid).collect();
        expected.push(maker.pid());
        expected.sort();
        let mut found = holders(inode);
        found.sort();
        assert_eq!(found, expected, "all have it before");
        let made: Vec<String> = dev_shm().difference(&before).cloned().collect();
        assert!(
            !made.iter().any(|name| name.starts_with("rondo")),
            "{made:?}"
        );
        maker.kill();
        maker.wait();
        assert_eq!(holders(inode).len(), 2, "the others keep it");
        for opener in openers {
            opener.kill();
            opener.wait();
        }
        assert!(holders(inode).is_empty(), "nobody has it");
    }
}

/// A program that a rank starts in the background, and that outlives it, does not keep the memory.
#[test]
fn children_of_a_rank_do_not_have_the_segment() {
    let (_segment, _) = Segment::create(BYTES).unwrap();
    let child = start(|_| assert_eq!(mappings(), 0));
    child.succeeds();
}
