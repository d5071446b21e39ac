//! The ring: everybody reads what anybody writes, in order, whatever the sizes and whoever is slow.

use crate::node::{Wait, piece_for, run, view_of, views};
use crate::process::{Child, start};
use proptest::prelude::*;
use rondo::shm::{Division, Ring, Shared};
use std::sync::Arc;

/// The byte at a position.
fn byte(at: u64) -> u8 {
    (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}

/// What one rank writes in a call: ranks may write at the same time, at positions that follow each other.
type Part = (u32, u64);

/// How a rank goes about it.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// Bytes that it copies at a time.
    chunk: u64,
    /// Passes over every so many-th chunk instead of reading it; 0: reads all.
    passes: u64,
    /// Sleeps for a moment after about every so many-th chunk; 0: never.
    naps: u64,
}

/// Takes part in calls, and compares every byte that it reads with what must be at that position.
fn take_part(ring: &mut Ring, calls: &[Vec<Part>], habits: &[Habits]) {
    let me = ring.me();
    let Habits {
        chunk,
        passes,
        naps,
    } = habits[me as usize];
    let chunk = chunk.min(ring.capacity());
    let (mut base, mut chunks) = (0, 0u64);
    let mut buffer = vec![0u8; chunk as usize];
    for (call, parts) in (1..).zip(calls) {
        ring.enter(call);
        assert_eq!(ring.call_of(me), call);
        let ends: Vec<u64> = parts
            .iter()
            .scan(base, |end, (_, len)| {
                *end += len;
                Some(*end)
            })
            .collect();
        let end = ends.last().copied().unwrap_or(base);
        let mut mine = parts
            .iter()
            .zip(&ends)
            .filter(|((writer, _), _)| *writer == me)
            .map(|((_, len), end)| end - len..*end)
            .collect::<std::collections::VecDeque<_>>();
        let (mut part, mut read, mut wait) = (0, base, Wait::new());
        while read < end || !mine.is_empty() {
            let mut moved = false;
            if let Some(range) = mine.front_mut() {
                let until = range.end.min(range.start + chunk);
                if until == range.start || ring.has_room(until) {
                    let bytes: Vec<u8> = (range.start..until).map(byte).collect();
                    // SAFETY: only this rank writes its part, there is room, and it is not published.
                    unsafe { ring.write(range.start, bytes.as_ptr(), bytes.len()) };
                    ring.publish(until);
                    range.start = until;
                    if range.is_empty() {
                        mine.pop_front();
                    }
                    moved = true;
                }
            }
            while part < parts.len() && ends[part] <= read {
                part += 1;
            }
            if read < end {
                // Takes what is there: waiting for a whole chunk, it might hold up a writer that waits for room
                // for a whole chunk of its own.
                let passed = passes > 0 && chunks.is_multiple_of(passes);
                let there = if passed {
                    mine.front().map_or(end, |range| range.start)
                } else {
                    ring.written(parts[part].0)
                };
                let until = ends[part].min(read + chunk).min(there);
                if until > read {
                    let len = until - read;
                    if !passed {
                        // SAFETY: the buffer has room for a chunk; these bytes are written and not released.
                        unsafe { ring.read(read, buffer.as_mut_ptr(), len as usize) };
                        let expected = (read..until).map(byte);
                        assert!(
                            buffer.iter().copied().take(len as usize).eq(expected),
                            "rank {me}, call {call}: positions {read} to {until}"
                        );
                    }
                    (read, chunks, moved) = (until, chunks + 1, true);
                    if naps > 0 && u64::from(byte(chunks + u64::from(me))).is_multiple_of(naps) {
                        std::thread::sleep(std::time::Duration::from_micros(50));
                    }
                    ring.release(read);
                }
            }
            if moved {
                wait = Wait::new();
            } else {
                wait.idle(&format!("rank {me}, call {call}, position {read}"));
            }
        }
        base = end;
    }
}

/// Bytes of the smallest piece, which is of whole pages: its ring has one page at least, and less than two.
fn smallest(n: u32) -> u64 {
    (0..)
        .map(|pages| pages * 4096)
        .find(|bytes| Division::new(*bytes, n).is_some())
        .unwrap()
}

fn plain(n: u32, chunk: u64) -> Vec<Habits> {
    let habits = Habits {
        chunk,
        passes: 0,
        naps: 0,
    };
    vec![habits; n as usize]
}

fn check(bytes: u64, n: u32, calls: &[Vec<Part>], habits: &[Habits]) {
    run(views(bytes, n), |mut shared| {
        take_part(&mut shared.ring, calls, habits);
    });
}

#[test]
fn chunks_of_every_size_come_through_a_ring_far_smaller_than_the_message() {
    let bytes = smallest(3);
    let capacity = views(bytes, 3)[0].ring.capacity();
    assert!((4096..8192).contains(&capacity), "{capacity}");
    let small = [1, 7, 63, 64, 65, 512, 1000, 1024, 1365, 2048, 4032, 4095];
    let large = [4096, capacity - 64, capacity - 1, capacity];
    for chunk in small.into_iter().chain(large) {
        let len = if chunk < 500 { 40_000 } else { 2 << 20 };
        check(
            bytes,
            3,
            &[vec![(1, len)], vec![(2, len / 3)]],
            &plain(3, chunk),
        );
    }
}

#[test]
fn ranks_write_their_parts_at_the_same_time() {
    for n in [2, 3, 5, 8] {
        let all: Vec<Part> = (0..n)
            .map(|rank| (rank, 1000 + 777 * u64::from(rank)))
            .collect();
        let calls = vec![all.clone(), vec![(n - 1, 10_000)], vec![], all.clone(), all];
        for bytes in [smallest(n), 64 << 10] {
            check(bytes, n, &calls, &plain(n, 700));
        }
    }
}

#[test]
fn a_rank_alone_reads_what_it_writes() {
    check(smallest(1), 1, &[vec![(0, 50_000)]], &plain(1, 4096));
}

#[test]
fn there_is_room_when_every_rank_has_released_what_lies_there() {
    let mut views = views(smallest(3), 3);
    let capacity = views[0].ring.capacity();
    assert!(views[0].ring.has_room(capacity));
    assert!(!views[0].ring.has_room(capacity + 1));
    for slow in 0..3 {
        let (base, at) = (capacity * slow, capacity * (slow + 1));
        for rank in (0..3).filter(|rank| *rank != slow) {
            views[rank as usize].ring.release(at);
        }
        assert!(!views[0].ring.has_room(at + 1), "rank {slow} needs all");
        views[slow as usize].ring.release(base + 10);
        assert!(views[0].ring.has_room(at + 10));
        assert!(!views[0].ring.has_room(at + 11));
        views[slow as usize].ring.release(at);
        assert!(views[0].ring.has_room(at + capacity));
        assert!(!views[0].ring.has_room(at + capacity + 1));
    }
}

/// Others would take them for free, and it would write over theirs.
#[test]
#[should_panic(expected = "released before it was written")]
fn a_rank_must_not_write_what_it_has_released() {
    let views = views(smallest(2), 2);
    views[1].ring.release(100);
    // SAFETY: only this rank writes, and the ring is empty; the mistake is found before the copy.
    unsafe { views[1].ring.write(99, [0].as_ptr(), 1) };
}

#[test]
fn ranks_see_what_each_other_has_written_and_which_call_it_is_in() {
    let views = views(smallest(3), 3);
    for (me, view) in (0..).zip(&views) {
        assert_eq!((view.ring.me(), view.ring.ranks()), (me, 3));
        view.ring.publish(100 + u64::from(me));
        view.ring.release(200 + u64::from(me));
        view.ring.enter(300 + u64::from(me));
    }
    for view in &views {
        for rank in 0..3 {
            assert_eq!(view.ring.written(rank), 100 + u64::from(rank));
            assert_eq!(view.ring.call_of(rank), 300 + u64::from(rank));
        }
    }
}

#[test]
fn ranks_see_how_far_each_other_has_joined_whatever_else_it_says() {
    let views = views(smallest(3), 3);
    for (me, view) in (0..).zip(&views) {
        view.ring.publish(100 + me);
        view.ring.publish_joined(400 + me);
        view.ring.release(200 + me);
        view.ring.enter(300 + me);
    }
    for view in &views {
        for rank in 0..3 {
            assert_eq!(view.ring.joined(rank), 400 + u64::from(rank));
            assert_eq!(view.ring.written(rank), 100 + u64::from(rank));
        }
    }
}

/// What one rank writes at an address the others read there, in whatever lap.
#[test]
fn an_address_is_that_of_a_position() {
    let views = views(smallest(2), 2);
    let (writer, reader) = (&views[0].ring, &views[1].ring);
    let capacity = writer.capacity();
    for at in [0, 64, capacity - 8, capacity, 3 * capacity + 128] {
        let mut bytes = [0; 8];
        // SAFETY: nobody else uses the ring, the bytes lie in it, and the array has room for them.
        unsafe {
            writer
                .address(at, 8)
                .cast::<[u8; 8]>()
                .write(at.to_ne_bytes());
            reader.read(at, bytes.as_mut_ptr(), 8);
        }
        assert_eq!(u64::from_ne_bytes(bytes), at);
        let same_place = reader.address(at % capacity, 8);
        assert_eq!(reader.address(at, 8), same_place, "position {at}");
    }
}

#[test]
#[should_panic(expected = "wrap")]
fn an_address_has_no_bytes_beyond_the_end_of_the_ring() {
    let views = views(smallest(2), 2);
    let capacity = views[0].ring.capacity();
    views[0].ring.address(capacity - 8, 9);
}

/// Ranks join a share each of what all have put in, and read the shares of the others: no sooner than these are
/// there.
#[test]
fn what_a_rank_has_joined_the_others_read() {
    const CALLS: u64 = 300;
    let n = 3;
    let slot = 64;
    run(views(smallest(n), n), |shared| {
        let mut ring = shared.ring;
        let me = ring.me();
        for call in 0..CALLS {
            let begin = call * 256;
            let at = |rank: u32, share: u32| begin + u64::from(rank) * slot + u64::from(share) * 8;
            let wait = Wait::new();
            while !ring.has_room(begin + 256) {
                wait.idle("room");
            }
            for share in 0..n {
                let own = (call * 100 + u64::from(me * 10 + share)).to_ne_bytes();
                // SAFETY: the slot is this rank's, there is room, and it is not published.
                unsafe { ring.write(at(me, share), own.as_ptr(), 8) };
            }
            ring.publish(begin + 1);
            Wait::until("slots", || {
                (0..n).all(|rank| ring.written(rank) > begin).then_some(())
            });
            let mut sum = 0;
            for rank in 0..n {
                // SAFETY: all have published their slots, and only this rank uses this share of them.
                sum += unsafe { ring.address(at(rank, me), 8).cast::<u64>().read() };
            }
            // SAFETY: the same.
            unsafe { ring.address(at(0, me), 8).cast::<u64>().write(sum) };
            ring.publish_joined(begin + 1);
            for share in 0..n {
                Wait::until("sums", || (ring.joined(share) > begin).then_some(()));
                let mut got = [0; 8];
                // SAFETY: who joined this share has published it, and this rank has not released it.
                unsafe { ring.read(at(0, share), got.as_mut_ptr(), 8) };
                let want = 3 * (call * 100 + u64::from(share)) + 30;
                assert_eq!(u64::from_ne_bytes(got), want, "rank {me}, call {call}");
            }
            ring.release(begin + 256);
        }
    });
}

#[test]
fn processes_pass_bytes_as_threads_do() {
    let n = 3;
    let calls = [vec![(0, 300_000)], vec![(2, 5), (1, 99_999), (0, 4096)]];
    let habits = plain(n, 1500);
    let (piece, offer) = piece_for(smallest(n), n);
    let others: Vec<Child> = (1..n)
        .map(|me| {
            start(|_| {
                let mut shared = view_of(&offer, n, me);
                take_part(&mut shared.ring, &calls, &habits);
            })
        })
        .collect();
    let mut shared = Shared::new(Arc::new(piece), n, 0).unwrap();
    take_part(&mut shared.ring, &calls, &habits);
    others.into_iter().for_each(Child::succeeds);
}

/// Calls, each with a few parts of some ranks, and the habits of each rank.
fn scripts() -> impl Strategy<Value = (u32, u64, Vec<Vec<Part>>, Vec<Habits>)> {
    (1u32..=4, prop_oneof![Just(0u64), 0u64..20_000]).prop_flat_map(|(n, more)| {
        let part = (0..n, prop_oneof![0u64..100, 0u64..20_000]);
        let calls = prop::collection::vec(prop::collection::vec(part, 0..4), 1..6);
        let chunk = prop_oneof![30u64..200, 30u64..5000];
        let habits = (chunk, 0u64..5, prop_oneof![Just(0u64), 5u64..50]);
        let habits = habits.prop_map(|(chunk, passes, naps)| Habits {
            chunk,
            passes,
            naps,
        });
        let habits = prop::collection::vec(habits, n as usize);
        (Just(n), Just(smallest(n) + more), calls, habits)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_calls_come_through_with_any_habits((n, bytes, calls, habits) in scripts()) {
        check(bytes, n, &calls, &habits);
    }
}

/// Controls, mailboxes and ring follow each other; the shares are as promised.
#[test]
fn a_division_keeps_its_promises() {
    for n in [1, 2, 3, 8, 32, 64, 128, 1000] {
        let mut found = false;
        for bytes in (0..1 << 20)
            .step_by(1000)
            .chain([4 << 20, 64 << 20, 1 << 30])
        {
            let Some(division) = Division::new(bytes, n) else {
                assert!(!found, "more bytes are not worse: {bytes}");
                continue;
            };
            found = true;
            let (ring, room) = (division.ring_bytes(), division.mailbox_bytes() as u64);
            assert!(ring >= 4096 && ring.is_multiple_of(64), "{ring}");
            assert!((64..=16 << 10).contains(&room), "{room}");
            let mailboxes = u64::from(n) * 2 * room;
            assert!(
                mailboxes <= bytes / 8 || room < 256,
                "{n} ranks: {mailboxes} of {bytes}"
            );
            assert!(ring + mailboxes + u64::from(n) * 128 <= bytes);
            let (views, piece) = (u64::from(n) * (128 + 2 * 64), ring + mailboxes);
            assert!(
                piece + views + 2 * 64 * u64::from(n) > bytes - bytes / 8,
                "little is lost"
            );
        }
        assert!(found);
    }
    assert_eq!(Division::new(4 << 20, 0), None);
}
