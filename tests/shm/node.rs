//! The ranks of a node in one process: every rank has mapped the segment for itself.

use rondo::shm::{Offer, Segment, Shared};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any test may wait for something.
const PATIENCE: Duration = Duration::from_secs(30);

/// The segment as another rank has it.
#[cfg(not(tsan))]
fn as_another(_first: &Segment, offer: &Offer) -> Segment {
    Segment::open(offer).unwrap()
}

/// ThreadSanitizer does not see that two mappings are the same memory.
#[cfg(tsan)]
fn as_another(first: &Segment, _offer: &Offer) -> Segment {
    first.alias()
}

/// The views of `n` ranks on a segment of so many bytes.
pub fn views(bytes: usize, n: u32) -> Vec<Shared> {
    let (first, offer) = Segment::create(bytes).unwrap();
    let others: Vec<_> = (1..n).map(|_| as_another(&first, &offer)).collect();
    let mut segments = vec![first];
    segments.extend(others);
    segments[0].seal();
    let shared = |(me, segment)| Shared::new(segment, n, me).unwrap();
    (0..n).zip(segments).map(shared).collect()
}

/// Runs `rank` for every view, each on a thread of its own.
pub fn run(views: Vec<Shared>, rank: impl Fn(Shared) + Sync) {
    thread::scope(|scope| {
        for view in views {
            scope.spawn(|| rank(view));
        }
    });
}

/// Something that must happen, in time.
pub struct Wait(Instant);

impl Wait {
    pub fn new() -> Wait {
        Wait(Instant::now())
    }

    /// Nothing happened: lets others go ahead.
    pub fn idle(&self, what: &str) {
        assert!(self.0.elapsed() < PATIENCE, "waited too long: {what}");
        thread::yield_now();
    }

    /// Waits until `done`.
    pub fn until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
        let wait = Wait::new();
        loop {
            if let Some(result) = done() {
                return result;
            }
            wait.idle(what);
        }
    }
}
