//! Controls: what is wrong is found. Collectives that are right but for one message, and single things
//! that a rank must not do.

use super::case::{Case, Failure, carry_out, in_rounds, shuffled};
use super::net::{Desk, Load, Net, RootedOp, bytes_of};
use super::packets::{GATHER, SCATTER};
use rondo::engine::rooted::{RootedTree, RootedWire};
use rondo::topology::Topology;
use std::cell::RefCell;

/// Collectives with messages of all kinds.
fn cases() -> Vec<Case> {
    let mut cases = vec![];
    for op in [RootedOp::Gather, RootedOp::Scatter] {
        for (shape, long) in [
            (RootedTree::Star, 1),
            (RootedTree::Binomial, 12),
            (RootedTree::Adaptive, 12),
        ] {
            for window in [2, 64] {
                for p in [4, 5, 8, 13] {
                    let sizes = (0..p).map(|rank| 1 + rank * 5 % 17).collect();
                    cases.push(Case {
                        op,
                        shape,
                        root: 2,
                        long,
                        window,
                        sizes,
                        other: None,
                        nodes: None,
                    });
                    // The same on nodes.
                    if let (RootedTree::Binomial, Some(last)) = (shape, cases.last()) {
                        let names: Vec<u64> = (0..p).map(|rank| rank % 3).collect();
                        let nodes = Some(Topology::new(&names));
                        cases.push(Case {
                            nodes,
                            ..last.clone()
                        });
                    }
                }
            }
        }
    }
    cases
}

/// Does something to each message of each collective in turn, once it is sent, if `change` wants to;
/// each time this must be found. How often it was done.
fn spoil(change: impl Fn(&mut Net, usize) -> bool) -> usize {
    let mut changed = 0;
    for case in cases() {
        let Ok(right) = carry_out(&case, &mut vec![], in_rounds) else {
            panic!("{case:?} is right");
        };
        for victim in 0..right.log.len() {
            let (mut spoilt, mut done) = (false, false);
            let mut order = shuffled(victim as u64);
            let outcome = carry_out(&case, &mut vec![], |net: &mut Net| {
                let sent = net.log.len();
                if sent > victim && !done {
                    // All that was sent since the last time is still under way.
                    let at = net.under_way.len() - (sent - victim);
                    spoilt = change(net, at);
                    done = true;
                }
                order(net)
            });
            let found = outcome.is_err();
            assert_eq!(found, spoilt, "{case:?}: message {victim}");
            changed += usize::from(spoilt);
        }
    }
    changed
}

#[test]
fn a_lost_message_is_found() {
    let lost = spoil(|net, at| {
        net.tell_sender(at);
        net.under_way.remove(at);
        true
    });
    assert!(lost > 300, "{lost}");
}

#[test]
fn a_message_that_comes_twice_is_found() {
    let doubled = spoil(|net, at| {
        net.tell_sender(at);
        net.under_way.insert(at, net.under_way[at].clone());
        true
    });
    assert!(doubled > 300, "{doubled}");
}

/// But a packet of a scatter may be passed on by anybody, to anybody whose block it has.
#[test]
fn a_message_from_or_to_another_rank_is_found() {
    for from in [true, false] {
        let moved = spoil(|net, at| {
            if matches!(&net.under_way[at].load, Load::Packet(packet) if packet[0] == SCATTER) {
                return false;
            }
            net.tell_sender(at);
            let message = &mut net.under_way[at];
            let (rank, other) = match from {
                true => (&mut message.from, message.to),
                false => (&mut message.to, message.from),
            };
            *rank = (0..4).find(|new| new != rank && *new != other).unwrap();
            true
        });
        assert!(moved > 200, "{moved}");
    }
}

/// In packets with blocks there is no byte that does not matter.
#[test]
fn a_wrong_byte_is_found() {
    for from_end in [false, true] {
        for at_byte in 0..12 {
            let changed = spoil(|net, at| match &mut net.under_way[at].load {
                Load::Packet(packet) if [GATHER, SCATTER].contains(&packet[0]) => {
                    let place = match from_end {
                        false => Some(at_byte),
                        true => packet.len().checked_sub(1 + at_byte),
                    };
                    let byte = place.and_then(|place| packet.get_mut(place));
                    byte.map(|byte| *byte ^= 1).is_some()
                }
                _ => false,
            });
            assert!(changed > 50, "{changed}");
        }
    }
}

#[test]
fn a_packet_that_is_cut_short_is_found() {
    for keep in [0, 1, 2] {
        let cut = spoil(|net, at| match &mut net.under_way[at].load {
            Load::Packet(packet) if packet.len() > keep => {
                packet.truncate(keep);
                true
            }
            _ => false,
        });
        assert!(cut > 100, "{cut}");
    }
}

#[test]
fn a_block_of_another_rank_or_size_is_found() {
    for size in [false, true] {
        let changed = spoil(|net, at| match &mut net.under_way[at].load {
            Load::Block(block, bytes) => {
                *bytes += u64::from(size);
                *block = (*block + u32::from(!size)) % 4;
                true
            }
            Load::Packet(_) => false,
        });
        assert!(changed > 50, "{changed}");
    }
}

/// Nothing that can be delivered is delivered.
#[test]
fn a_network_that_stands_still_is_found() {
    for case in cases() {
        let outcome = carry_out(&case, &mut vec![], |net| {
            (!net.awake.is_empty()).then(|| net.wake(0))
        });
        let fault = Failure::Fault("no rank can go on".into());
        assert_eq!(outcome.err(), Some(fault), "{case:?}");
    }
}

/// Three ranks with 4 bytes each and the root 0; what the network says of what `act` does on `rank`.
fn said_of(op: RootedOp, rank: u32, act: impl Fn(&mut Desk)) -> String {
    let net = RefCell::new(Net::new(op, 0, vec![4, 4, 0], vec![4, 4, 0]));
    act(&mut Desk { net: &net, rank });
    net.into_inner().fault.unwrap_or_default()
}

/// The engine may do that.
fn allowed(op: RootedOp, rank: u32, act: impl Fn(&mut Desk)) {
    assert_eq!(said_of(op, rank, act), "");
}

fn refused(what: &str, op: RootedOp, rank: u32, act: impl Fn(&mut Desk)) {
    let fault = said_of(op, rank, act);
    assert!(fault.contains(what), "{fault:?}, not {what:?}");
}

#[test]
fn the_network_notices_blocks_that_are_not_a_ranks_business() {
    use RootedOp::{Gather, Scatter};
    let right: Vec<u8> = bytes_of(1, 4).collect();
    allowed(Gather, 1, |desk| desk.send(1, 0).unwrap());
    allowed(Gather, 0, |desk| desk.recv(1, 1).unwrap());
    allowed(Gather, 1, |desk| desk.read(1, &mut vec![]).unwrap());
    allowed(Gather, 0, |desk| desk.write(1, &right).unwrap());
    allowed(Scatter, 0, |desk| desk.send(1, 1).unwrap());
    allowed(Scatter, 1, |desk| desk.recv(1, 0).unwrap());
    allowed(Scatter, 0, |desk| desk.read(1, &mut vec![]).unwrap());
    allowed(Scatter, 1, |desk| desk.write(1, &right).unwrap());

    let business = "no business with block";
    for (rank, block) in [(0, 0), (0, 1), (1, 0), (1, 2), (2, 2)] {
        refused(business, Gather, rank, |desk| {
            desk.read(block, &mut vec![]).unwrap()
        });
        refused(business, Gather, rank, |desk| desk.send(block, 0).unwrap());
        refused(business, Scatter, rank, |desk| {
            desk.write(block, &[]).unwrap()
        });
        refused(business, Scatter, rank, |desk| desk.recv(block, 0).unwrap());
    }
    for (rank, block) in [(0, 0), (0, 2), (1, 0), (1, 1), (2, 2)] {
        refused(business, Gather, rank, |desk| {
            desk.write(block, &[]).unwrap()
        });
        refused(business, Gather, rank, |desk| desk.recv(block, 0).unwrap());
        refused(business, Scatter, rank, |desk| {
            desk.read(block, &mut vec![]).unwrap()
        });
        refused(business, Scatter, rank, |desk| {
            desk.send(block, block).unwrap()
        });
    }
    refused("wrong bytes as block 1", Gather, 0, |desk| {
        desk.write(1, &right[..3]).unwrap()
    });
    refused("wrong bytes as block 1", Scatter, 1, |desk| {
        desk.write(1, &[0; 4]).unwrap()
    });
    refused("sends block 1 to 2", Gather, 1, |desk| {
        desk.send(1, 2).unwrap()
    });
    refused("receives block 1 from 2", Gather, 0, |desk| {
        desk.recv(1, 2).unwrap()
    });
    refused("handles block 1 twice", Gather, 1, |desk| {
        desk.read(1, &mut vec![]).unwrap();
        desk.send(1, 0).unwrap();
    });
    refused("handles block 1 twice", Gather, 0, |desk| {
        desk.write(1, &right).unwrap();
        desk.recv(1, 1).unwrap();
    });
}

#[test]
fn the_network_notices_what_is_wrong_with_packets() {
    let gather = RootedOp::Gather;
    allowed(gather, 1, |desk| {
        let mut packet = desk.memory(2).unwrap();
        packet.extend([1, 2]);
        desk.send_packet(2, packet).unwrap();
        let memory = desk.memory(2).unwrap();
        desk.give_back(memory);
        desk.give_back(vec![]);
        desk.expect(None);
        desk.expect(Some(2));
    });
    let fits = "in memory for";
    refused(fits, gather, 1, |desk| {
        desk.send_packet(2, vec![1]).unwrap()
    });
    refused(fits, gather, 1, |desk| {
        let memory = desk.memory(2).unwrap();
        desk.send_packet(2, memory).unwrap();
    });
    refused(fits, gather, 1, |desk| {
        let mut memory = desk.memory(2).unwrap();
        memory.extend([1; 3]);
        desk.send_packet(2, memory).unwrap();
    });
    for to in [1, 3] {
        refused("rank 1 sends to", gather, 1, |desk| {
            let mut memory = desk.memory(1).unwrap();
            memory.push(1);
            desk.send_packet(to, memory).unwrap();
        });
        refused("expects a packet", gather, 1, |desk| desk.expect(Some(to)));
    }
    refused("gives back what it does not have", gather, 1, |desk| {
        desk.give_back(vec![1]);
    });
}

#[test]
fn the_network_notices_what_is_open_at_the_end() {
    let done = |desk: &mut Desk| desk.net.borrow_mut().finish(desk.rank);
    allowed(RootedOp::Gather, 1, done);
    let open = "is done with";
    refused(open, RootedOp::Gather, 1, |desk| {
        desk.send(1, 0).unwrap();
        done(desk);
    });
    refused(open, RootedOp::Gather, 0, |desk| {
        desk.recv(1, 1).unwrap();
        done(desk);
    });
    refused(open, RootedOp::Gather, 1, |desk| {
        desk.expect(None);
        done(desk);
    });
    refused(open, RootedOp::Gather, 1, |desk| {
        desk.net.borrow_mut().inject(0, 1, &[1]);
        done(desk);
    });
    refused(open, RootedOp::Gather, 1, |desk| {
        let _lost = desk.memory(1).unwrap();
        done(desk);
    });
    refused(open, RootedOp::Gather, 1, |desk| {
        desk.net.borrow_mut().inject(0, 1, &[1]);
        assert!(desk.poll().unwrap().is_some(), "and keeps the packet");
        done(desk);
    });
}
