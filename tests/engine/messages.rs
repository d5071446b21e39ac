//! Which pieces share a message.

use crate::case::{Case, How, Outcome, in_rounds, run};

/// Messages that each rank receives.
fn messages(outcome: &Outcome) -> Vec<u64> {
    outcome.ports.iter().map(|port| port.received.0).collect()
}

fn case(sizes: &[u64], how: How, n: u32, message: u64) -> Case {
    let mut case = Case::new(sizes.to_vec(), how, n);
    case.limits.message = message;
    case
}

/// Four ranks with 10 bytes each. By Bruck's way the second round has the parts of two ranks: 20 bytes.
#[test]
fn whole_parts_share_a_message_up_to_its_limit() {
    for (message, expected) in [(20, 2), (19, 3), (10, 3), (0, 3)] {
        let case = case(&[10; 4], How::Bruck(2), 1, message);
        assert_eq!(messages(&run(&case, in_rounds)), [expected; 4], "{message}");
    }
}

/// Three ranks with 40 bytes each in 4 blocks: by Bruck's way two rounds, each with 4 pieces of 10 bytes. On the ring
/// every block is a message, so that the next rank can pass it on.
#[test]
fn blocks_of_a_part_share_a_message_up_to_its_limit() {
    for (message, expected) in [(40, 2), (39, 4), (20, 4), (19, 8), (9, 8)] {
        let bruck = case(&[40; 3], How::Bruck(2), 4, message);
        assert_eq!(
            messages(&run(&bruck, in_rounds)),
            [expected; 3],
            "{message}"
        );
        let ring = case(&[40; 3], How::Ring, 4, message);
        assert_eq!(messages(&run(&ring, in_rounds)), [8; 3], "{message}");
    }
}

/// A message is filled before the next one begins, even where a piece alone exceeds the limit.
#[test]
fn a_long_piece_travels_alone() {
    let case = case(&[5, 50, 5, 5, 5, 5, 5, 5], How::Bruck(2), 1, 10);
    let outcome = run(&case, in_rounds);
    let sent = outcome.ports.iter().flat_map(|port| &port.log);
    for (_, pieces) in sent {
        let long = pieces.iter().any(|piece| piece.span.len == 50);
        assert!(pieces.len() == 1 || !long, "{pieces:?}");
        assert!(pieces.len() <= 2, "{pieces:?}");
    }
    // 0 has everything but its own: from 7 (1 part), from 6 (2 parts: 10 bytes), from 4 (4 parts: 5 4 3
    // 2 1 behind each other, descending: 4 and 3, 2, and 1 with its 50 bytes).
    assert_eq!(outcome.ports[0].received.0, 1 + 1 + 3);
}

/// On the circulant graph the pieces of a message never lie side by side. One of 8 KiB is long enough to
/// be worth a message of its own, before and behind shorter ones.
#[test]
fn pieces_of_8_kib_travel_alone_on_the_circulant_graph() {
    const LONG: u64 = 8 << 10;
    for (size, shared) in [(LONG - 1, true), (LONG, false), (LONG + 1, false)] {
        for how in [How::Table, How::RootSchedules] {
            let sizes = [size, 10, 10, size, 10, 10, size, size];
            let case = case(&sizes, how, 1, u64::MAX);
            let outcome = run(&case, in_rounds);
            let sent = outcome.ports.iter().flat_map(|port| &port.log);
            let mixed = sent.filter(|(_, pieces)| {
                pieces.len() > 1 && pieces.iter().any(|piece| piece.span.len == size)
            });
            assert_eq!(mixed.count() > 0, shared, "{size}, {how:?}");
            let more = outcome.ports.iter().any(|port| port.received.0 > 3);
            assert_eq!(more, !shared, "{size}, {how:?}");
        }
        // Whole parts of neighbours do lie side by side.
        let case = case(&[size; 8], How::Bruck(2), 1, u64::MAX);
        assert_eq!(messages(&run(&case, in_rounds)), [3; 8]);
    }
}

/// Within a message pieces go in the order of ascending ranks, round the ring, so that a receive buffer
/// in the order of ranks takes them as they come.
#[test]
fn whole_parts_come_in_the_order_of_ranks() {
    for p in 2..=40u32 {
        let case = case(&vec![6; p as usize], How::Bruck(2), 2, u64::MAX);
        for port in run(&case, in_rounds).ports {
            for (_, pieces) in port.log {
                let parts: Vec<u32> = pieces.iter().map(|piece| piece.root).collect();
                let follows = |pair: &[u32]| pair[0] == pair[1] || (pair[0] + 1) % p == pair[1];
                assert!(parts.windows(2).all(follows), "p = {p}: {parts:?}");
            }
        }
    }
}
