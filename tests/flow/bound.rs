//! What a rank leaves unacknowledged over calls, and when it asks for an answer.

use rondo::flow::{
    EDGE_BYTES, Flow, MESSAGE_BYTES, RANK_BYTES, SMALL_WINDOW, Verdict, bound_among,
};

/// Nobody receives: what is sent without an acknowledgement stays bounded, over calls of all sizes, and whoever sends
/// waits then. The bound of a rank is shared by those that send to it.
#[test]
fn a_rank_that_sleeps_is_not_flooded() {
    for (senders, bound) in [(1, 4 << 20), (4, 4 << 20), (16, 1 << 20)] {
        for bytes in [0, 64, 4000, 8 << 10, 32 << 10, 1 << 20] {
            let (mut flow, mut sent) = (Flow::default(), 0u64);
            let mut stopped = false;
            for _ in 0..1_000_000 {
                flow.reserve(64, senders).unwrap();
                flow.begin();
                match flow.ask(1, bytes, 0) {
                    Verdict::Wait => unreachable!("the first message of a call never waits"),
                    // The call does not end before this is received.
                    Verdict::Synchronous => {
                        stopped = true;
                        break;
                    }
                    Verdict::Standard => {
                        flow.sent(1, bytes, None, false);
                        sent += bytes;
                    }
                }
            }
            assert!(stopped, "{bytes} bytes");
            assert!(sent + bytes <= bound, "{sent} and {bytes} bytes of {bound}");
        }
    }
}

/// Many ranks send to one that sleeps, as up a tree, and each of them to that one alone: what they leave there together
/// is bounded as well, but for a small window each.
#[test]
fn a_rank_that_many_send_to_is_not_flooded() {
    for (senders, bound) in [
        (0, EDGE_BYTES),
        (4, EDGE_BYTES),
        (63, RANK_BYTES / 63),
        (256, SMALL_WINDOW),
        (100_000, SMALL_WINDOW),
    ] {
        let (mut flow, mut sent) = (Flow::default(), 0);
        // So long that fewer than 128 of them are half of the bound.
        let bytes = (bound / 200).max(4000);
        loop {
            flow.reserve(64, 1).unwrap();
            flow.crowd(senders);
            flow.begin();
            if flow.ask(1, bytes, 0) != Verdict::Standard {
                break;
            }
            flow.sent(1, bytes, None, false);
            sent += bytes;
        }
        let whole = bound / 2 / bytes * bytes;
        assert!(sent <= whole, "{senders} senders: {sent} of {bound}");
        assert!(2 * sent >= whole, "{senders} senders: {sent} of {bound}");
    }
}

/// All ranks of a node of 16 are the root of calls, one after the other. Each sends for the node to the leader of
/// another one, as one of three that do, and that one sleeps. What they leave there together is bounded as well.
#[test]
fn a_rank_that_many_roots_of_a_node_send_to_is_not_flooded() {
    const WIDTH: u32 = 16;
    const BYTES: u64 = 8 << 10;
    let mut left = 0;
    let mut flows: Vec<Flow> = (0..WIDTH).map(|_| Flow::default()).collect();
    for root in 0..WIDTH {
        for (rank, flow) in (0..).zip(&mut flows) {
            // The others of the node neither send nor make room.
            if rank == root {
                flow.reserve(64, 3).unwrap();
            }
            flow.lean_on(root, 3 * WIDTH);
            flow.begin();
        }
        let flow = &mut flows[root as usize];
        while flow.ask(77, BYTES, 0) == Verdict::Standard {
            flow.sent(77, BYTES, None, false);
            left += BYTES;
        }
    }
    assert!(left <= RANK_BYTES, "{left} bytes");
}

/// Calls from one root have the bound of those that send in one call.
#[test]
fn a_single_root_keeps_its_bound() {
    let mut flow = Flow::default();
    for (root, verdict) in [
        (3, Verdict::Standard),
        (3, Verdict::Standard),
        (4, Verdict::Synchronous),
    ] {
        flow.reserve(64, 1).unwrap();
        flow.lean_on(root, 63);
        flow.begin();
        assert_eq!(flow.ask(1, 1 << 19, 0), verdict, "root {root}");
    }
}

/// The calls behind one with many senders have their own bound.
#[test]
fn a_crowd_is_that_of_a_single_call() {
    let mut flow = Flow::default();
    for (senders, verdict) in [(256, Verdict::Synchronous), (0, Verdict::Standard)] {
        flow.reserve(64, 1).unwrap();
        flow.crowd(senders);
        flow.begin();
        assert_eq!(flow.ask(1, 1 << 19, 0), verdict, "{senders} senders");
    }
}

/// What an edge owes is remembered where a call sends to more ranks than are remembered otherwise; and calls that are
/// alike allocate once.
#[test]
fn edges_to_many_ranks_are_remembered() {
    const RANKS: u32 = 3000;
    // Messages in pairs, and a script, for which fewer receivers share the window.
    for receivers in [RANKS - 1, 64] {
        edges_are_remembered(RANKS, receivers);
    }
}

fn edges_are_remembered(ranks: u32, receivers: u32) {
    let mut flow = Flow::default();
    flow.reserve(64, 1).unwrap();
    flow.begin();
    // Half of the bound has room for two of them, with what a message takes besides.
    let message = bound_among(receivers) / 5 - MESSAGE_BYTES;
    flow.sent(77, message, None, false);
    let mut bytes = Vec::new();
    for call in 0..4 {
        flow.reserve(64, receivers).unwrap();
        flow.meet(0..ranks).unwrap();
        flow.begin();
        for to in 1..ranks {
            // Of two messages on an edge the second is to be acknowledged.
            let is_second = (call % 2 == 1) != (to == 77);
            let verdict = flow.ask(to, message, 0);
            assert_eq!(
                verdict == Verdict::Synchronous,
                is_second,
                "{to} in call {call}"
            );
            flow.sent(to, message, is_second.then_some(0), false);
            if is_second {
                flow.acknowledged(to, 1000);
            }
        }
        bytes.push(flow.bytes());
    }
    assert!(bytes[1..].iter().all(|&it| it == bytes[1]), "{bytes:?}");
}

/// What is under way, and what has been answered, is of the call at hand, also on an edge that the calls in between did
/// not use.
#[test]
fn an_edge_begins_with_the_call_that_uses_it() {
    let mut flow = Flow::default();
    let begin = |flow: &mut Flow| {
        flow.reserve(64, 2).unwrap();
        flow.begin();
    };
    begin(&mut flow);
    // Never answered: the call failed.
    flow.sent(1, 3 << 20, Some(0), false);
    for _ in 0..2 {
        begin(&mut flow);
        flow.sent(2, 8, None, false);
    }
    begin(&mut flow);
    // Of what is open on the edge nothing is under way that could be waited for.
    assert_eq!(flow.ask(1, 2 << 20, 0), Verdict::Synchronous);
    flow.sent(1, 2 << 20, Some(1000), false);
    assert_eq!(flow.ask(1, 8, 0), Verdict::Wait);
    flow.acknowledged(1, 2000);
    assert_eq!(flow.ask(1, 8, 0), Verdict::Standard);
}

/// A call of one message pays no round trip; one in 128 is acknowledged.
#[test]
fn short_calls_are_acknowledged_now_and_then() {
    let mut flow = Flow::default();
    let mut synchronous = Vec::new();
    for call in 1..=1000 {
        flow.reserve(64, 3).unwrap();
        flow.begin();
        let verdict = flow.ask(1, 800, 0);
        flow.sent(
            1,
            800,
            (verdict == Verdict::Synchronous).then_some(0),
            false,
        );
        if verdict == Verdict::Synchronous {
            synchronous.push(call);
            flow.acknowledged(1, 5000);
        }
    }
    assert_eq!(synchronous, [128, 256, 384, 512, 640, 768, 896]);
}

/// The last messages of a call are not synchronous: it does not end by waiting for an answer.
#[test]
fn no_call_waits_for_an_answer_at_its_end() {
    let mut flow = Flow::default();
    flow.reserve(64, 3).unwrap();
    flow.begin();
    let blocks = 100u32;
    let mut answered = 0;
    let mut last_synchronous = 0;
    for i in 0..blocks {
        let verdict = loop {
            match flow.ask(1, 8192, 8192 * u64::from(blocks - 1 - i)) {
                Verdict::Wait => {
                    answered += 1;
                    flow.acknowledged(1, 1000 * u64::from(i));
                }
                verdict => break verdict,
            }
        };
        flow.sent(
            1,
            8192,
            (verdict == Verdict::Synchronous).then_some(0),
            false,
        );
        if verdict == Verdict::Synchronous {
            last_synchronous = i;
        }
    }
    assert!(answered > 0, "a window holds the sender up");
    assert!(
        last_synchronous < blocks - 3,
        "{last_synchronous} of {blocks}"
    );
}

/// Where the wire holds a message, it may go ahead of others, while there is room for one in its turn. That one does
/// not wait for what went ahead: the receiver of that may wait for it.
#[test]
fn what_goes_ahead_keeps_nothing_waiting() {
    let mut flow = Flow::default();
    flow.reserve(64, 2).unwrap();
    flow.begin();
    assert!(!flow.wire_holds(100), "nothing is known of the wire");
    // 50 KB on the way at a time, and a window of 264 KB.
    flow.expect(2000.0, 25.0);
    let window = flow.window();
    assert!(flow.wire_holds(49_000));
    assert!(!flow.wire_holds(51_000));
    let mut went = 0;
    while flow.has_room(1, 49_000) {
        flow.sent(1, 49_000, Some(0), true);
        went += 49_000;
    }
    assert!(
        went > window / 2 && went + 49_000 < window,
        "{went} of {window}"
    );
    for _ in 0..4 {
        assert_ne!(flow.ask(2, 49_000, 1 << 20), Verdict::Wait);
        flow.sent(2, 49_000, None, false);
    }
    // What is in its turn waits as ever.
    flow.sent(2, 49_000, Some(0), false);
    assert_eq!(flow.ask(2, 49_000, 1 << 20), Verdict::Wait);
}
