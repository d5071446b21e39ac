//! The ranks of a node in one process: every rank has mapped the arena for itself.

use rondo::shm::{Arena, Offer, Piece, Shared};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any test may wait for something.
const PATIENCE: Duration = Duration::from_secs(30);

/// The lowest rank and the number of a communicator.
pub const COMM: (u32, u32) = (0, 1);

/// The arena as another rank has it.
#[cfg(not(tsan))]
pub fn as_another(_first: &Arena, offer: &Offer) -> Arena {
    Arena::open(offer).unwrap()
}

/// ThreadSanitizer does not see that two mappings are the same memory.
#[cfg(tsan)]
pub fn as_another(first: &Arena, _offer: &Offer) -> Arena {
    first.alias()
}

/// A new arena with pieces of so many bytes, as each of `n` ranks has it.
pub fn arenas(piece_bytes: u64, n: u32) -> Vec<Arc<Arena>> {
    let (mut first, offer) = Arena::create(piece_bytes).unwrap();
    let others: Vec<_> = (1..n).map(|_| as_another(&first, &offer)).collect();
    first.seal();
    std::iter::once(first).chain(others).map(Arc::new).collect()
}

/// A piece that the first rank takes for a communicator of all, as each of them has it.
pub fn pieces_of(arenas: &[Arc<Arena>], (lowest, number): (u32, u32)) -> Vec<Arc<Piece>> {
    let first = arenas[0].reserve().unwrap();
    first.name(lowest, number, arenas.len() as u32);
    let find = |arena: &Arc<Arena>| arena.find(lowest, number).unwrap();
    let others: Vec<_> = arenas[1..].iter().map(find).collect();
    std::iter::once(first).chain(others).map(Arc::new).collect()
}

/// The views of all ranks on a piece.
pub fn views_of(pieces: Vec<Arc<Piece>>) -> Vec<Shared> {
    let n = pieces.len() as u32;
    let shared = |(me, piece)| Shared::new(piece, n, me).unwrap();
    (0..n).zip(pieces).map(shared).collect()
}

/// The views of `n` ranks on a piece of so many bytes, in an arena of their own.
pub fn views(bytes: u64, n: u32) -> Vec<Shared> {
    views_of(pieces_of(&arenas(bytes, n), COMM))
}

/// What a process of its own does first: the view of rank `me` of `n` on the piece of [`COMM`].
pub fn view_of(offer: &Offer, n: u32, me: u32) -> Shared {
    let arena = Arc::new(Arena::open(offer).unwrap());
    let piece = arena.find(COMM.0, COMM.1).unwrap();
    Shared::new(Arc::new(piece), n, me).unwrap()
}

/// The piece of [`COMM`], of `n` ranks, in a new arena that others may map.
pub fn piece_for(bytes: u64, n: u32) -> (Piece, Offer) {
    let (arena, offer) = Arena::create(bytes).unwrap();
    let piece = Arc::new(arena).reserve().unwrap();
    piece.name(COMM.0, COMM.1, n);
    (piece, offer)
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
