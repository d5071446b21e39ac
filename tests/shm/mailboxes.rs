//! Mailboxes: every packet arrives once, whole, in its call.

use crate::node::{Wait, piece_for, run, view_of, views};
use crate::process::{Child, start};
use rondo::shm::{Found, Mailboxes, Shared, Side};
use std::sync::Arc;

const BYTES: u64 = 32 << 10;

/// The packet of `from` in `call`: one of every length around what is short, and around the room.
fn packet(from: u32, call: u64, room: usize) -> Vec<u8> {
    let lengths = [
        0,
        1,
        7,
        8,
        39,
        40,
        41,
        104,
        105,
        room - 1,
        room,
        room + 1,
        3 * room,
    ];
    let len = lengths[(call as usize + from as usize) % lengths.len()];
    (0..len)
        .map(|i| (i as u64 * 31 + call * 7 + u64::from(from)) as u8)
        .collect()
}

/// What fits goes into the mailbox.
fn inline(packet: &[u8], room: usize) -> Option<&[u8]> {
    (packet.len() <= room).then_some(packet)
}

fn put(mailboxes: &Mailboxes, side: Side, rank: u32, previous: u64, call: u64, packet: &[u8]) {
    let packet = inline(packet, mailboxes.room());
    Wait::until("an empty mailbox", || {
        mailboxes
            .put(side, rank, previous, call, packet)
            .then_some(())
    });
}

/// Takes a packet, which must be this one.
fn expect(mailboxes: &Mailboxes, side: Side, rank: u32, call: u64, packet: &[u8]) {
    let mut into = b"before".to_vec();
    let found = Wait::until("a packet", || mailboxes.take(side, rank, call, &mut into));
    let (expected, bytes) = match inline(packet, mailboxes.room()) {
        Some(packet) => (Found::Packet(packet.len()), packet),
        None => (Found::Elsewhere, &[][..]),
    };
    assert_eq!(found, expected, "rank {rank}, call {call}");
    assert_eq!(
        into,
        [b"before", bytes].concat(),
        "rank {rank}, call {call}"
    );
}

#[test]
fn a_packet_of_any_length_arrives() {
    let views = views(BYTES, 2);
    let (writer, reader) = (&views[0].mailboxes, &views[1].mailboxes);
    let room = writer.room();
    assert_eq!(room, reader.room());
    for (call, len) in (1..).zip(0..=room) {
        let packet: Vec<u8> = (0..len).map(|i| (i + call as usize) as u8).collect();
        for side in [Side::Up, Side::Down] {
            assert!(writer.put(side, 1, call - 1, call, Some(&packet)));
            expect(reader, side, 1, call, &packet);
        }
    }
}

#[test]
#[should_panic(expected = "bytes in a mailbox")]
fn a_packet_that_is_too_long_is_a_mistake_of_the_caller() {
    let views = views(BYTES, 2);
    let packet = vec![0; views[0].mailboxes.room() + 1];
    views[0].mailboxes.put(Side::Up, 0, 0, 1, Some(&packet));
}

#[test]
fn a_packet_is_taken_once_and_in_its_call_only() {
    let views = views(BYTES, 2);
    let (writer, reader) = (&views[0].mailboxes, &views[1].mailboxes);
    let mut into = Vec::new();
    assert_eq!(
        reader.take(Side::Up, 0, 5, &mut into),
        None,
        "nothing there"
    );
    assert!(writer.put(Side::Up, 0, 0, 5, Some(b"five")));
    assert_eq!(reader.take(Side::Up, 0, 4, &mut into), None, "another call");
    assert_eq!(reader.take(Side::Up, 0, 6, &mut into), None, "another call");
    assert_eq!(
        reader.take(Side::Down, 0, 5, &mut into),
        None,
        "another side"
    );
    assert_eq!(reader.take(Side::Up, 1, 5, &mut into), None, "another rank");
    assert_eq!(
        reader.take(Side::Up, 0, 5, &mut into),
        Some(Found::Packet(4))
    );
    assert_eq!(
        reader.take(Side::Up, 0, 5, &mut into),
        None,
        "taken already"
    );
    assert_eq!(into, b"five");
}

#[test]
fn a_mailbox_is_filled_only_when_it_was_emptied_in_the_previous_call() {
    let views = views(BYTES, 2);
    let (writer, reader) = (&views[0].mailboxes, &views[1].mailboxes);
    assert!(
        !writer.put(Side::Down, 1, 3, 4, None),
        "call 3 was not here"
    );
    assert!(writer.put(Side::Down, 1, 0, 4, Some(b"four")));
    assert!(!writer.put(Side::Down, 1, 0, 5, None), "it is full");
    assert!(!writer.put(Side::Down, 1, 4, 5, None), "it is still full");
    reader.pass(Side::Down, 1, 5);
    expect(reader, Side::Down, 1, 4, b"four");
    assert!(!writer.put(Side::Down, 1, 0, 5, None), "emptied in call 4");
    reader.pass(Side::Down, 1, 5);
    assert!(!writer.put(Side::Down, 1, 4, 6, None), "emptied in call 5");
    assert!(writer.put(Side::Down, 1, 5, 6, None));
    expect(reader, Side::Down, 1, 6, &vec![0; writer.room() + 1]);
    assert!(writer.put(Side::Down, 1, 6, 7, Some(b"")));
}

#[test]
fn the_newest_packet_is_known_until_the_next() {
    let views = views(BYTES, 2);
    let (writer, reader) = (&views[0].mailboxes, &views[1].mailboxes);
    assert_eq!(reader.latest(Side::Up, 1), 0);
    assert!(writer.put(Side::Up, 1, 0, 8, None));
    assert_eq!(reader.latest(Side::Up, 1), 8);
    expect(reader, Side::Up, 1, 8, &vec![0; writer.room() + 1]);
    reader.pass(Side::Up, 1, 9);
    assert_eq!(reader.latest(Side::Up, 1), 8, "passing brings no packet");
    assert_eq!(reader.latest(Side::Down, 1), 0);
}

/// In every call, some rank leads: it takes a packet from everybody's up mailbox and puts one into the down
/// mailboxes of some; the others pass. Nobody waits for anybody between calls.
fn take_part(mailboxes: &Mailboxes, n: u32, me: u32, calls: u64) {
    let leader = |call: u64| (call * call % u64::from(n)) as u32;
    let gets =
        |rank: u32, call: u64| rank != leader(call) && !(call + u64::from(rank)).is_multiple_of(3);
    let room = mailboxes.room();
    for call in 1..=calls {
        put(
            mailboxes,
            Side::Up,
            me,
            call - 1,
            call,
            &packet(me, call, room),
        );
        if me == leader(call) {
            for rank in 0..n {
                expect(mailboxes, Side::Up, rank, call, &packet(rank, call, room));
            }
            for rank in (0..n).filter(|rank| gets(*rank, call)) {
                put(
                    mailboxes,
                    Side::Down,
                    rank,
                    call - 1,
                    call,
                    &packet(rank + 5, call, room),
                );
            }
        }
        if gets(me, call) {
            expect(mailboxes, Side::Down, me, call, &packet(me + 5, call, room));
        } else {
            mailboxes.pass(Side::Down, me, call);
        }
    }
}

#[test]
fn packets_go_up_and_down_while_leaders_change() {
    for n in [1, 2, 3, 5] {
        let ranks = views(BYTES, n);
        run(ranks, |shared| {
            take_part(&shared.mailboxes, n, shared.ring.me(), 1000)
        });
    }
}

#[test]
fn processes_send_packets_as_threads_do() {
    let n = 3;
    let (piece, offer) = piece_for(BYTES, n);
    let others: Vec<Child> = (1..n)
        .map(|me| {
            start(|_| {
                take_part(&view_of(&offer, n, me).mailboxes, n, me, 500);
            })
        })
        .collect();
    let shared = Shared::new(Arc::new(piece), n, 0).unwrap();
    take_part(&shared.mailboxes, n, 0, 500);
    others.into_iter().for_each(Child::succeeds);
}
