//! The pieces of an arena: each is one communicator's at a time, and nothing of the one before shows.

use crate::maps;
use crate::node::{COMM, arenas, as_another, piece_for, pieces_of, view_of, views_of};
use crate::process::start;
use crate::segment::{alone, descriptors, limit, mappings};
use rondo::shm::{Arena, Division, Piece, Segment, Shared, Side, pieces};
use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;
use std::thread;

const MIB: u64 = 1 << 20;
const BYTES: u64 = 64 << 10;

/// All pieces that are free.
fn rest(arena: &Arc<Arena>) -> Vec<Piece> {
    std::iter::from_fn(|| arena.reserve()).collect()
}

/// Leaves no word and no byte of a piece as a new one has it: the last thing that a communicator does.
fn use_all(mut views: impl AsMut<[Shared]>) {
    let views = views.as_mut();
    for (me, view) in (0..).zip(&mut *views) {
        let capacity = view.ring.capacity();
        let bytes = vec![0xff; capacity as usize];
        assert!(view.ring.has_room(capacity), "rank {me}");
        // SAFETY: the ring is empty, and no other rank uses it meanwhile.
        unsafe { view.ring.write(0, bytes.as_ptr(), bytes.len()) };
    }
    for (me, view) in (0..).zip(&*views) {
        let packet = vec![0xff; view.mailboxes.room()];
        for side in [Side::Up, Side::Down] {
            assert!(view.mailboxes.put(side, me, 0, 7, Some(&packet)));
        }
        view.ring.publish(100);
        view.ring.publish_joined(100);
        view.ring.release(100);
        view.ring.enter(7);
    }
}

/// Is every word as in a new piece?
#[track_caller]
fn is_new(mut views: impl AsMut<[Shared]>, what: &str) {
    let views = views.as_mut();
    let n = views.len() as u32;
    for view in &mut *views {
        for rank in 0..n {
            assert_eq!(view.ring.written(rank), 0, "{what}");
            assert_eq!(view.ring.joined(rank), 0, "{what}");
            assert_eq!(view.ring.call_of(rank), 0, "{what}");
            for side in [Side::Up, Side::Down] {
                assert_eq!(view.mailboxes.latest(side, rank), 0, "{what}");
            }
        }
        let capacity = view.ring.capacity();
        assert!(view.ring.has_room(capacity), "{what}");
        assert!(!view.ring.has_room(capacity + 1), "{what}: who read that?");
    }
    // What was never used was emptied in call 0.
    for (rank, view) in (0..).zip(&*views) {
        for side in [Side::Up, Side::Down] {
            assert!(view.mailboxes.put(side, rank, 0, 1, None), "{what}");
            view.mailboxes.take(side, rank, 1, &mut vec![]).unwrap();
        }
    }
}

#[test]
fn what_one_process_writes_another_one_reads() {
    let (piece, offer) = piece_for(BYTES, 2);
    start(|_| view_of(&offer, 2, 1).ring.enter(77)).succeeds();
    let shared = Shared::new(Arc::new(piece), 2, 0).unwrap();
    assert_eq!(shared.ring.call_of(1), 77);
    assert_eq!(shared.ring.call_of(0), 0, "a new piece has zeros");
}

/// Another process has it, and its ranks count as those of this one do.
#[test]
fn a_piece_is_shared_by_processes_to_its_end() {
    let (arena, offer) = Arena::create(BYTES).unwrap();
    let arena = Arc::new(arena);
    let piece = arena.reserve().unwrap();
    let mut child = start(|parent| {
        let arena = Arc::new(Arena::open(&offer).unwrap());
        let found = |lowest| arena.find(lowest, 9).is_some().into();
        parent.tell(&[arena.pieces(), found(4)]);
        parent.wait();
        parent.tell(&[found(4), found(5)]);
        let piece = arena.find(4, 9).unwrap();
        parent.wait();
        piece.leave(2, true);
        parent.tell(&[piece.is_of(4, 9).into()]);
    });
    assert_eq!(child.hear(), [arena.pieces(), 0], "not named yet");
    piece.name(4, 9, 2);
    child.ring();
    assert_eq!(child.hear(), [1, 0]);
    piece.leave(2, true);
    assert!(piece.is_of(4, 9), "the other one has it still");
    child.ring();
    assert_eq!(child.hear(), [0]);
    assert!(!piece.is_of(4, 9));
    assert!(arena.find(4, 9).is_none());
    child.succeeds();
}

#[test]
fn a_sealed_arena_works_on_but_nobody_can_map_it() {
    alone(|| {
        let (mut first, offer) = Arena::create(BYTES).unwrap();
        let other = Arena::open(&offer).unwrap();
        assert_eq!((descriptors(), mappings()), (1, 2));
        first.seal();
        assert_eq!((descriptors(), mappings()), (0, 2));
        assert!(Arena::open(&offer).is_err());
        let both = [first, other].map(Arc::new);
        let views = views_of(pieces_of(&both, COMM));
        drop(both);
        assert_eq!(mappings(), 2, "a piece keeps it");
        views[1].ring.enter(5);
        assert_eq!(views[0].ring.call_of(1), 5);
        drop(views);
        assert_eq!(mappings(), 0);
    });
}

#[test]
fn a_piece_is_found_by_its_key_and_by_no_other() {
    let [arena, other] = &arenas(BYTES, 2)[..] else {
        panic!("two");
    };
    let numbers = [1, 2, 1023, 2047];
    let ranks = [0, 1, 77, u32::MAX - 1];
    let keys = || ranks.iter().flat_map(|&rank| numbers.map(|n| (rank, n)));
    for (lowest, number) in keys() {
        let piece = arena.reserve().unwrap();
        assert!(keys().all(|(lowest, number)| other.find(lowest, number).is_none()));
        piece.name(lowest, number, 1);
        for key in keys() {
            let is_it = key == (lowest, number);
            assert_eq!(other.find(key.0, key.1).is_some(), is_it, "{key:?}");
            assert_eq!(piece.is_of(key.0, key.1), is_it, "{key:?}");
        }
        assert!(other.find(number, lowest).is_none() || lowest == number);
        other.find(lowest, number).unwrap().leave(1, false);
    }
    // All of them at once: each has its own.
    let all: Vec<_> = keys()
        .map(|key| pieces_of(std::slice::from_ref(arena), key))
        .collect();
    for (call, (lowest, number)) in (1..).zip(keys()) {
        let piece = Arc::new(other.find(lowest, number).unwrap());
        Shared::new(piece, 1, 0).unwrap().ring.enter(call);
    }
    for (call, piece) in (1..).zip(all) {
        assert_eq!(views_of(piece)[0].ring.call_of(0), call);
    }
}

#[test]
fn a_piece_is_free_again_when_all_its_ranks_have_left() {
    let arenas = arenas(BYTES, 3);
    let taken = rest(&arenas[0]);
    assert_eq!(taken.len() as u64, arenas[0].pieces());
    assert!(
        arenas.iter().all(|arena| arena.reserve().is_none()),
        "all are taken"
    );
    for round in 0..10 {
        let last = &taken[taken.len() / 2];
        // It is nobody's at first, and then of three ranks, who leave in any order.
        last.name(1, 5, 3);
        let found = arenas.iter().map(|arena| arena.find(1, 5).unwrap());
        let found: Vec<_> = found.collect();
        for i in 0..3 {
            assert!(arenas.iter().all(|arena| arena.reserve().is_none()));
            assert!(found.iter().all(|piece| piece.is_of(1, 5)));
            found[(round + 2 * i) % 3].leave(3, round % 2 == 0);
        }
        assert!(found.iter().all(|piece| !piece.is_of(1, 5)));
        assert!(arenas.iter().all(|arena| arena.find(1, 5).is_none()));
        // Whoever wants it has it now, but one of them.
        let again = arenas[round % 3].reserve().unwrap();
        assert!(arenas.iter().all(|arena| arena.reserve().is_none()));
        if round % 4 == 0 {
            again.give_back();
            assert_eq!(rest(&arenas[1]).len(), 1, "nobody was to find it");
        }
    }
}

#[test]
fn ranks_that_reserve_at_the_same_time_get_pieces_of_their_own() {
    let arenas = arenas(BYTES, 4);
    for round in 0..3 {
        let reserve_all = |me: u32| {
            let mine = rest(&arenas[me as usize]);
            let named = (1..).zip(&mine);
            named.for_each(|(number, piece)| piece.name(me, number, 1));
            mine
        };
        let all: Vec<_> = thread::scope(|scope| {
            let ranks: Vec<_> = (0..4)
                .map(|me| scope.spawn(move || reserve_all(me)))
                .collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        });
        let sum: usize = all.iter().map(Vec::len).sum();
        assert_eq!(sum as u64, arenas[0].pieces(), "round {round}");
        for (me, mine) in (0..).zip(&all) {
            for (number, piece) in (1..).zip(mine) {
                // It would have another name if somebody else had it too.
                assert!(piece.is_of(me, number), "rank {me}, round {round}");
                piece.leave(1, false);
            }
        }
    }
}

/// Other ranks have their words elsewhere: where there were bytes, or words of more ranks or of fewer.
#[test]
fn a_used_piece_has_zeros_in_all_words_of_the_next_ranks() {
    let widths = [1, 2, 3, 5, 8, 16];
    let arenas = arenas(BYTES, 16);
    for before in widths {
        for after in widths {
            let what = format!("{after} ranks after {before}");
            let [before, after] = [before, after].map(|n| &arenas[..n]);
            let pieces = pieces_of(before, (0, 3));
            let place = Arc::clone(&pieces[0]);
            use_all(views_of(pieces.clone()));
            for piece in &pieces {
                piece.leave(before.len() as u32, true);
            }
            let next = pieces_of(after, (0, 4));
            assert!(place.is_of(0, 4), "the first that is free is taken");
            is_new(views_of(next.clone()), &what);
            (next.iter()).for_each(|piece| piece.leave(after.len() as u32, true));
        }
    }
}

/// The others were refused all calls that it made, perhaps.
#[test]
fn a_piece_was_used_if_any_of_its_ranks_used_it() {
    let arenas = arenas(BYTES, 3);
    for user in 0..3 {
        for leaves_last in 0..3 {
            let pieces = pieces_of(&arenas, (0, 3));
            use_all(views_of(pieces.clone()));
            for i in 1..=3 {
                let me = (leaves_last + i) % 3;
                pieces[me].leave(3, me == user);
            }
            // Nobody uses it in between; it is not forgotten for that.
            let unused = pieces_of(&arenas[..1], (0, 6));
            unused[0].leave(1, false);
            let what = format!("{user} used it, {leaves_last} left last");
            let next = pieces_of(&arenas[..2], (0, 4));
            is_new(views_of(next.clone()), &what);
            next.iter().for_each(|piece| piece.leave(2, true));
        }
    }
}

#[test]
fn a_piece_that_is_given_back_is_not_counted_out() {
    let arenas = arenas(BYTES, 2);
    for _ in 0..3 {
        arenas[0].reserve().unwrap().give_back();
    }
    let pieces = pieces_of(&arenas, (0, 3));
    pieces[1].leave(2, true);
    assert!(pieces[0].is_of(0, 3));
    pieces[0].leave(2, true);
    assert!(!pieces[0].is_of(0, 3));
}

#[test]
fn pieces_have_no_byte_in_common() {
    let arenas = arenas(BYTES, 2);
    let all = (1..6).map(|number| views_of(pieces_of(&arenas, (0, number))));
    let mut all: Vec<_> = all.collect();
    use_all(&mut all[1]);
    use_all(&mut all[3]);
    for (number, is_used) in [(0, false), (1, true), (2, false), (3, true), (4, false)] {
        let views = &mut all[number];
        let capacity = views[0].ring.capacity() as usize;
        let mut bytes = vec![7; capacity];
        // SAFETY: the array is as long, and nobody writes meanwhile.
        unsafe { views[0].ring.read(0, bytes.as_mut_ptr(), capacity) };
        let there = if is_used { 0xff } else { 0 };
        assert!(bytes.iter().all(|byte| *byte == there), "{number}");
        assert_eq!(views[1].ring.call_of(0) != 0, is_used, "{number}");
        if !is_used {
            is_new(views, &format!("piece {number}"));
        }
    }
}

/// All of them together take a quarter of what is left, and are no more than communicators have numbers.
#[test]
fn pieces_take_a_quarter_of_the_memory_that_is_left() {
    for (piece, left, expected) in [
        (4 * MIB, 0, 0),
        (4 * MIB, 16 * MIB - 1, 0),
        (4 * MIB, 16 * MIB, 1),
        (4 * MIB, 32 * MIB - 1, 1),
        (4 * MIB, 1000 * MIB, 62),
        (4 * MIB, 4 * 2048 * 4 * MIB - 1, 2047),
        (4 * MIB, 4 * 2048 * 4 * MIB, 2048),
        (4 * MIB, u64::MAX, 2048),
        (4096, MIB, 64),
        (1 << 30, (4 << 30) - 1, 0),
        (1 << 30, 4 << 30, 1),
        (u64::MAX, u64::MAX, 0),
    ] {
        assert_eq!(pieces(piece, left), expected, "{piece} of {left}");
    }
    let (arena, _) = Arena::create(MIB).unwrap();
    let left = rondo::shm::available("/".as_ref()).unwrap();
    // Others take and give memory meanwhile.
    let about = pieces(MIB, left / 2)..=pieces(MIB, left * 2);
    assert!(about.contains(&arena.pieces()), "{}", arena.pieces());
}

#[test]
fn a_piece_has_whole_pages_and_fits_as_many_ranks_as_they_are_for() {
    for (bytes, whole) in [(1, 4096), (4096, 4096), (4097, 8192), (BYTES + 64, 69632)] {
        let (arena, offer) = Arena::create(bytes).unwrap();
        let other = as_another(&arena, &offer);
        assert_eq!(arena.pieces(), other.pieces());
        let both = [arena, other].map(Arc::new);
        let named = pieces_of(&both, COMM);
        for (arena, piece) in both.iter().zip(named) {
            assert_eq!(piece.bytes(), whole);
            for n in [0, 1, 2, 3, 5, 8, 9, 50, 200] {
                let fits = Division::new(whole as u64, n).is_some();
                assert_eq!(arena.fits(n), fits, "{n} ranks");
                if n > 0 {
                    let shared = Shared::new(piece.clone(), n, n - 1);
                    assert_eq!(shared.is_some(), fits, "{n} ranks");
                }
            }
        }
    }
    let refused = Arena::create(0).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
}

/// Neither a message from elsewhere nor an offer with one word wrong opens anything.
#[test]
fn an_arena_is_opened_by_its_offer_alone() {
    alone(|| {
        let (arena, offer) = Arena::create(BYTES).unwrap();
        for word in 0..6 {
            let mut changed = offer;
            changed.0[word] ^= 1 << 7;
            assert!(Arena::open(&changed).is_err(), "{changed:?}");
        }
        assert!(Arena::open(&offer).is_ok());
        drop(arena);
        assert!(Arena::open(&offer).is_err());
        assert_eq!((descriptors(), mappings()), (0, 0));
    });
}

/// The system would kill processes. The limit is there in case that Rondo would let it come to that.
#[test]
fn more_memory_than_there_is_is_refused_before_the_system_is_asked() {
    alone(|| {
        limit(libc::RLIMIT_FSIZE, 4 << 20);
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap();
        let kilobytes = meminfo.split_whitespace().nth(1).unwrap();
        let all = kilobytes.parse::<u64>().unwrap() * 1024;
        for bytes in [all / 4 + 1024, all, 1 << 46, isize::MAX as u64] {
            let refused = Arena::create(bytes).err().unwrap();
            assert_eq!(refused.kind(), ErrorKind::OutOfMemory, "{bytes}");
        }
        // What is mapped is addresses, of a file: they are bounded too.
        let refused = Arena::create(4 << 20).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::OutOfMemory);
        assert_eq!(Arena::create(64 << 10).unwrap().0.pieces(), 16);
        assert!(Segment::create(4 << 20).is_ok());
        let refused = Segment::create((4 << 20) + 1).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::FileTooLarge);
        assert_eq!((descriptors(), mappings()), (0, 0));
    });
}

/// It has its addresses from the start, and its memory when it is used.
#[test]
fn an_arena_takes_no_memory_before_it_is_used() {
    alone(|| {
        let kilobytes = || {
            let status = fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find(|line| line.starts_with("RssShmem:"));
            let word = line.unwrap().split_whitespace().nth(1).unwrap();
            word.parse::<u64>().unwrap()
        };
        let before = kilobytes();
        let (arena, _) = Arena::create(4 * MIB).unwrap();
        let arena = Arc::new(arena);
        assert!(maps::segments()[0].bytes() >= arena.pieces() * 4 * MIB);
        assert!(kilobytes() <= before + 128, "{} kB", kilobytes());
        let pieces = pieces_of(std::slice::from_ref(&arena), COMM);
        use_all(views_of(pieces.clone()));
        let used = kilobytes() - before;
        assert!((3 << 10..6 << 10).contains(&used), "{used} kB");
        // The next communicator takes none beside it.
        pieces[0].leave(1, true);
        let next = pieces_of(&[arena], (0, 2));
        use_all(views_of(next));
        assert!(kilobytes() - before < used + 128, "{} kB", kilobytes());
    });
}

#[test]
fn two_thousand_communicators_in_turn_leave_nothing() {
    alone(|| {
        let count = || {
            let entries = fs::read_dir("/proc/self/fd").unwrap().count();
            (entries, maps::bytes())
        };
        // The first round is for the allocator, which may need a little more later: less than a page for each.
        let mut before = None;
        for round in 0..2000 {
            let both = arenas(BYTES, 2);
            for number in 1..4 {
                let pieces = pieces_of(&both, (0, number));
                let views = views_of(pieces.clone());
                assert_eq!(mappings(), 2, "round {round}");
                drop(views);
                pieces.iter().for_each(|piece| piece.leave(2, true));
            }
            drop(both);
            before = before.or(Some(count()));
        }
        let ((entries, bytes), (entries_before, bytes_before)) = (count(), before.unwrap());
        assert_eq!(entries, entries_before);
        assert!(
            bytes < bytes_before + (1 << 20),
            "{bytes_before} and then {bytes}"
        );
        assert_eq!((descriptors(), mappings()), (0, 0));
    });
}
