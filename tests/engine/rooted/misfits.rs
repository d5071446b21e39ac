//! What cannot be right is noticed: counts that do not match, packets of other calls, bytes of any
//! kind.

use super::case::{Case, Failure, carry_out, hear, hear_with, shuffled};
use super::net::{Net, RootedOp, Stop, bytes_of};
use super::packets::{GATHER, GO, JOIN, SCATTER, STATE, numbers, packet};
use proptest::prelude::*;
use rondo::engine::rooted::{Misfit, RootedTree, Scratch};

/// Blocks are long from here on.
const LONG: u64 = 10;

fn case(op: RootedOp, shape: RootedTree<'static>, root: u32, sizes: &[u64]) -> Case {
    Case {
        op,
        shape,
        root,
        long: if shape == RootedTree::Star { 1 } else { LONG },
        window: 64,
        sizes: sizes.to_vec(),
        other: None,
        nodes: None,
    }
}

/// One rank has another count for its block than the root. By a packet with its size this is always
/// noticed; two long blocks differ on the network; otherwise ranks wait for each other, and it is for
/// the wire to notice.
#[test]
fn a_count_that_is_not_the_roots_is_noticed() {
    let counts = [0, 1, 9, 10, 11];
    for p in [2, 3, 4, 7, 9] {
        for seed in 0..6u64 {
            let root = seed as u32 % p;
            for rank in (0..p).filter(|rank| *rank != root) {
                for (own, at_root) in counts.iter().flat_map(|a| counts.map(|b| (*a, b))) {
                    for op in [RootedOp::Gather, RootedOp::Scatter] {
                        for shape in [RootedTree::Star, RootedTree::Binomial, RootedTree::Adaptive]
                        {
                            let mut case = case(op, shape, root, &vec![7; p as usize]);
                            case.window = [1, 64][seed as usize % 2];
                            case.sizes[rank as usize] = at_root;
                            case.other = Some((rank, own));
                            if own != at_root {
                                check(&case, rank, own, seed);
                            }
                        }
                    }
                }
            }
        }
    }
}

fn check(case: &Case, rank: u32, own: u64, seed: u64) {
    let root = case.sizes[rank as usize];
    let failure = match carry_out(case, &mut vec![], shuffled(seed)) {
        Ok(_) => panic!("{case:?} is not noticed"),
        Err(failure) => failure,
    };
    let misfit = Misfit::Block { rank, own, root };
    let [small, large] = [own.min(root), own.max(root)];
    let by_packet = match case.op {
        RootedOp::Gather => case.shape != RootedTree::Star,
        RootedOp::Scatter => small > 0 && large < case.long,
    };
    let sees = if case.op == RootedOp::Gather {
        case.root
    } else {
        rank
    };
    // If the root asks a rank that has nothing to send, the rank may notice it while it looks for its
    // place.
    let asked = Failure::Misfit(rank, Misfit::Stranger(case.root));
    if failure == asked && case.asks() && case.shape == RootedTree::Adaptive && own < case.long {
        return;
    }
    let Failure::Fault(fault) = &failure else {
        assert!(by_packet, "{case:?}: {failure:?}");
        assert_eq!(failure, Failure::Misfit(sees, misfit), "{case:?}");
        return;
    };
    let right = if small >= case.long {
        fault.contains("receives")
    } else {
        !by_packet && (fault == "no rank can go on" || fault.contains("nobody takes"))
    };
    assert!(right, "{case:?}: {fault}");
}

/// What `rank` says of a packet from one rank.
fn says(case: &Case, rank: u32, from: u32, packet: &[u8]) -> Stop {
    let (done, _) = hear(case, rank, &[(from, packet)]);
    done.expect_err("it cannot be done by this")
}

fn stranger(from: u32) -> Stop {
    Stop::Misfit(Misfit::Stranger(from))
}

fn data(blocks: &[(u32, u64)]) -> Vec<u8> {
    let all = blocks.iter().flat_map(|(rank, len)| bytes_of(*rank, *len));
    all.collect()
}

/// `rank` takes `packet`, then waits for more; and nothing else that is like it: no beginning of it,
/// nothing longer, no other kind or root, not from another rank, and not twice.
fn only_this(case: &Case, rank: u32, from: u32, packet: &[u8]) {
    let what = format!("{case:?}: rank {rank}, {packet:?} from {from}");
    assert_eq!(says(case, rank, from, packet), Stop::Idle, "{what}");
    for end in 0..packet.len() {
        assert_eq!(
            says(case, rank, from, &packet[..end]),
            stranger(from),
            "{what} up to {end}"
        );
    }
    let longer = [packet, &[0]].concat();
    assert_eq!(says(case, rank, from, &longer), stranger(from), "{what}");
    for (at, right) in [(0, packet[0]), (1, packet[1])] {
        for other in (0..=255).filter(|byte| *byte != right) {
            let mut packet = packet.to_vec();
            packet[at] = other;
            assert_eq!(
                says(case, rank, from, &packet),
                stranger(from),
                "{what}: {other}"
            );
        }
    }
    let other = (0..case.p()).find(|other| ![rank, from, case.root].contains(other));
    if let (Some(other), RootedOp::Gather, RootedTree::Binomial) = (other, case.op, case.shape) {
        assert_eq!(says(case, rank, other, packet), stranger(other), "{what}");
    }
    let (twice, _) = hear(case, rank, &[(from, packet), (from, packet)]);
    assert_eq!(twice, Err(stranger(from)), "{what} twice");
}

/// Sizes of four ranks: two short, one long, one empty.
const SIZES: [u64; 4] = [3, 4, 12, 0];

/// With root 0, rank 3 is the parent of 2, and 0 that of 1 and 3.
#[test]
fn only_packets_of_children_are_taken() {
    let case = case(RootedOp::Gather, RootedTree::Binomial, 0, &SIZES);
    let from_1 = packet(GATHER, &[0, 4], &data(&[(1, 4)]));
    let from_3 = packet(GATHER, &[0, 12, 0], &[]);
    only_this(&case, 0, 1, &from_1);
    only_this(&case, 0, 3, &from_3);
    // Then rank 3 writes its own packet.
    let (done, net) = hear(&case, 3, &[(2, &packet(GATHER, &[0, 12], &[]))]);
    assert_eq!((done, net.log.len()), (Err(Stop::Idle), 1));
    for from in [0, 1] {
        assert_eq!(says(&case, 3, from, &from_1), stranger(from));
    }
    // The wrong bytes of a block are nothing that a rank could see.
    let (done, net) = hear(&case, 0, &[(1, &packet(GATHER, &[0, 4], &[0; 4]))]);
    assert_eq!(done, Err(Stop::Idle));
    assert!(net.fault.unwrap().contains("wrong bytes as block 1"));
}

#[test]
fn sizes_in_packets_are_compared_with_the_roots() {
    let case = case(RootedOp::Gather, RootedTree::Binomial, 0, &SIZES);
    let block = |rank, own, root| Stop::Misfit(Misfit::Block { rank, own, root });
    let short = packet(GATHER, &[0, 5], &[1; 5]);
    assert_eq!(says(&case, 0, 1, &short), block(1, 5, 4));
    let long = packet(GATHER, &[0, 40], &[]);
    assert_eq!(says(&case, 0, 1, &long), block(1, 40, 4));
    let second = packet(GATHER, &[0, 12, 1], &[1]);
    assert_eq!(says(&case, 0, 3, &second), block(3, 1, 0));
    let first = packet(GATHER, &[0, 13, 0], &[]);
    assert_eq!(says(&case, 0, 3, &first), block(2, 13, 12));
}

/// Numbers that no block has: their sum is too large, or they have too many bytes.
#[test]
fn numbers_without_sense_are_refused() {
    let mut gather = case(RootedOp::Gather, RootedTree::Binomial, 0, &SIZES);
    gather.long = u64::MAX;
    for huge in [u64::MAX - 1, 1 << 63] {
        let sizes = packet(GATHER, &[0, huge, huge], &[]);
        assert_eq!(says(&gather, 0, 3, &sizes), stranger(3));
    }
    let endless = [&[GATHER, 0][..], &[128; 10], &[0]].concat();
    assert_eq!(says(&gather, 0, 1, &endless), stranger(1));
    let no_rank = packet(GATHER, &[1 << 32, 4], &data(&[(1, 4)]));
    assert_eq!(says(&gather, 0, 1, &no_rank), stranger(1));

    let scatter = case(RootedOp::Scatter, RootedTree::Binomial, 0, &[3, 4, 5, 6]);
    for huge in [u64::MAX, u64::MAX - 3, 1 << 63] {
        for numbers in [
            [0, 2, 2, huge, 1, 0],
            [0, 2, 2, huge, 1, 6],
            [0, 2, 2, huge, 1, huge],
        ] {
            let packet = packet(SCATTER, &numbers, &[1; 6]);
            assert_eq!(says(&scatter, 3, 0, &packet), stranger(0), "{numbers:?}");
        }
    }
}

/// Rank 1 has a long block, and the root asks for it.
#[test]
fn only_the_root_asks() {
    let mut case = case(RootedOp::Gather, RootedTree::Star, 0, &[0, 12, 12]);
    let go = packet(GO, &[0], &[]);
    case.window = 1;
    let (done, net) = hear(&case, 1, &[(0, &go)]);
    assert_eq!((done, net.log.len()), (Err(Stop::Idle), 1));
    let (_, net) = hear(&case, 1, &[]);
    assert_eq!(net.log.len(), 0, "not asked");
    assert_eq!(says(&case, 1, 2, &go), stranger(2));
    assert_eq!(says(&case, 1, 0, &packet(GO, &[1], &[])), stranger(0));
    assert_eq!(says(&case, 1, 0, &packet(JOIN, &[0], &[])), stranger(0));
    assert_eq!(says(&case, 1, 0, &[]), stranger(0));
    let (twice, _) = hear(&case, 1, &[(0, &go), (0, &go)]);
    assert_eq!(twice, Err(stranger(0)));
    // With room for all it does not.
    case.window = 2;
    let (_, net) = hear(&case, 1, &[]);
    assert_eq!(net.log.len(), 1);
    assert_eq!(says(&case, 1, 0, &go), stranger(0));
}

/// Ranks 0 and 1 of four tell each other; 0 has more, so that it is the current root and 1 the fixed
/// one.
#[test]
fn only_the_packets_of_its_round_lead_a_rank_to_the_tree() {
    let mut case = case(RootedOp::Gather, RootedTree::Adaptive, 3, &[9, 2, 5, 5]);
    let state = |numbers: &[u64]| packet(STATE, &[&[3, 0], numbers].concat(), &[]);
    only_this(&case, 0, 1, &state(&[1, 2, 2]));
    let wrong = [
        [0, 2, 2],
        [2, 2, 2],
        [1 << 32 | 1, 2, 2],
        [u64::MAX, 2, 2],
        [1, 3, 2],
        [1, u64::MAX, 0],
    ];
    for numbers in wrong {
        assert_eq!(
            says(&case, 0, 1, &state(&numbers)),
            stranger(1),
            "{numbers:?}"
        );
    }
    let late = packet(STATE, &[3, 1, 1, 2, 2], &[]);
    assert_eq!(says(&case, 0, 1, &late), stranger(1));

    // Then 1 tells 0 what to do with the group of 2 and 3.
    let first = state(&[1, 2, 2]);
    let then = |numbers: &[u64]| {
        let join = packet(JOIN, numbers, &[]);
        hear(&case, 0, &[(1, &first), (1, &join)])
    };
    for (sends, children) in [(1, 0), (0, 1)] {
        // After these two it waits for its children's packets: that of 1, and that of 3 unless this is
        // its parent.
        let (done, net) = then(&[3, 1, 3, sends, 0]);
        assert_eq!((done, net.log.len()), (Err(Stop::Idle), 1));
        let from = net.ports[0].expected();
        assert_eq!(from[..3], [Some(1); 3]);
        assert_eq!(from[3..], [Some(3)][..children]);
    }
    for numbers in [
        [3, 1, 1, 1, 0],
        [3, 1, 4, 1, 0],
        [3, 0, 3, 1, 0],
        [2, 1, 3, 1, 0],
    ] {
        assert_eq!(then(&numbers).0, Err(stranger(1)), "{numbers:?}");
    }
    assert_eq!(then(&[3, 1, 3, 1]).0, Err(stranger(1)));

    // What came besides is looked at when the tree is there: 1 sends to 0 at once.
    let leaf = packet(STATE, &[3, 0, 0, 9, 9], &[]);
    assert_eq!(
        hear(&case, 1, &[(2, &first), (0, &leaf)]).0,
        Err(Stop::Idle)
    );
    case.sizes[3] = 0;
    let over = [
        (0, &leaf[..]),
        (3, &packet(STATE, &[3, 1, 3, 5, 5], &[])),
        (2, &first),
    ];
    assert_eq!(hear(&case, 1, &over).0, Err(stranger(2)));
    let mut scratch: Vec<_> = (0..4).map(|_| Scratch::default()).collect();
    let packets = [over[2], over[0], over[1]];
    let (done, _) = hear_with(&case, 1, &packets, &mut scratch[1]);
    assert_eq!(done, Err(stranger(2)));
    // It is forgotten when the next collective begins.
    let next = carry_out(&case, &mut scratch, shuffled(1));
    assert_eq!(next.err(), None);

    // However much a group says that it has.
    case.sizes = vec![0; 4];
    for numbers in [[0, 0, u64::MAX], [0, u64::MAX, u64::MAX]] {
        let (done, _) = hear(
            &case,
            1,
            &[
                (0, &state(&numbers)),
                (3, &packet(STATE, &[3, 1, 3, 0, u64::MAX], &[])),
            ],
        );
        assert_eq!(done, Err(Stop::Idle));
    }
}

/// Rank 3 gets its block and that of 2, which it sends on.
#[test]
fn only_packets_with_the_receivers_block_are_taken() {
    let case = case(RootedOp::Scatter, RootedTree::Binomial, 0, &[3, 4, 5, 6]);
    let blocks = data(&[(2, 5), (3, 6)]);
    let right = packet(SCATTER, &[0, 2, 2, 5, 1, 6], &blocks);
    only_this(&case, 3, 0, &right);
    let (_, net) = hear(&case, 3, &[(0, &right)]);
    assert_eq!((net.log.len(), net.placed[3], net.fault), (1, 1, None));
    let others: [&[u64]; 9] = [
        &[0, 1, 2, 11],       // not its own
        &[0, 0],              // none
        &[0, 2, 3, 6, 0, 5],  // its own twice
        &[0, 2, 3, 6, 1, 5],  // no such rank
        &[0, 2, 2, 5, 1, 7],  // less than it says
        &[0, 2, 2, 4, 1, 6],  // more than it says
        &[0, 3, 2, 5, 1, 6],  // one more
        &[0, 1 << 40, 2, 11], // many more
        &[0, 2, 3, 6, u32::MAX as u64, 5],
    ];
    for numbers in others {
        let packet = packet(SCATTER, numbers, &blocks);
        assert_eq!(says(&case, 3, 0, &packet), stranger(0), "{numbers:?}");
    }
    for own in [5, 7] {
        let packet = packet(SCATTER, &[0, 1, 3, own], &data(&[(3, own)]));
        let misfit = Misfit::Block {
            rank: 3,
            own: 6,
            root: own,
        };
        assert_eq!(says(&case, 3, 0, &packet), Stop::Misfit(misfit));
    }
}

/// The root, a rank with a long block and one with none get no packets.
#[test]
fn who_gets_no_packet_takes_none() {
    let case = case(RootedOp::Scatter, RootedTree::Binomial, 0, &SIZES);
    for (rank, from) in [(0, 1), (2, 0), (3, 0)] {
        let bytes = SIZES[rank as usize];
        let packet = packet(
            SCATTER,
            &[0, 1, rank.into(), bytes],
            &data(&[(rank, bytes)]),
        );
        assert_eq!(says(&case, rank, from, &packet), stranger(from));
    }
}

/// Two calls that differ in their roots: nobody takes a packet of the other one for its own.
#[test]
fn packets_about_another_root_are_refused() {
    for p in 3..=9u32 {
        for (ours, theirs) in [(0, 1), (1, 0), (p - 1, 0), (0, p - 1)] {
            let mut case = case(
                RootedOp::Gather,
                RootedTree::Binomial,
                theirs,
                &vec![4; p as usize],
            );
            for rank in 0..p {
                // What this rank writes there, when it has all its packets.
                let sent = alone(&case, rank);
                let Some((to, packet)) = sent else { continue };
                case.root = ours;
                let children = rondo::tree::Groups::new(p, ours).children(to);
                if children.into_iter().any(|(child, _)| child == rank) {
                    assert_eq!(says(&case, to, rank, &packet), stranger(rank));
                }
                case.root = theirs;
            }
        }
    }
}

/// The packet of a leaf, and to whom it goes.
fn alone(case: &Case, rank: u32) -> Option<(u32, Vec<u8>)> {
    let (_, mut net): (_, Net) = hear(case, rank, &[]);
    let (_, to, load) = net.log.pop()?;
    match load {
        super::net::Load::Packet(packet) => Some((to, packet)),
        super::net::Load::Block(..) => None,
    }
}

/// May a rank have taken this for a gather's packet of the root 0 with `ranks` sizes?
fn is_gather(packet: &[u8], ranks: usize) -> bool {
    let Some((sizes, rest)) = numbers(packet, 1 + ranks) else {
        return false;
    };
    let short = sizes[1..].iter().filter(|size| **size < LONG);
    packet[0] == GATHER && sizes[0] == 0 && short.sum::<u64>() == rest.len() as u64
}

fn garbage() -> impl Strategy<Value = Vec<u8>> {
    let byte = || prop_oneof![4 => 0u8..12, 1 => 126u8..130, 1 => any::<u8>()];
    let any = prop::collection::vec(byte(), 0..30);
    let packet_type = (1u8..=5, any.clone())
        .prop_map(|(packet_type, rest)| [&[packet_type, 0][..], &rest].concat());
    prop_oneof![1 => any, 4 => packet_type]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever bytes come, a rank refuses them or takes them for what they might be.
    #[test]
    fn garbage_does_no_harm(
        packet in garbage(), from in 0u32..4, rank in 0u32..4,
        shape in prop_oneof![Just(RootedTree::Star), Just(RootedTree::Binomial), Just(RootedTree::Adaptive)],
        window in prop_oneof![Just(1u32), Just(64)],
    ) {
        if from == rank {
            return Ok(());
        }
        let ranks = if from == 3 { 2 } else { 1 }; // the children of 0 are 1, and 3 with 2
        for op in [RootedOp::Gather, RootedOp::Scatter] {
            let mut case = case(op, shape, 0, &[3, 4, 12, 6]);
            case.window = window;
            let (done, net) = hear(&case, rank, &[(from, &packet)]);
            let taken = net.placed.iter().sum::<u32>() > net.ports[rank as usize].most_receives as u32;
            match done {
                Err(Stop::Misfit(Misfit::Stranger(stranger))) => prop_assert_eq!(stranger, from),
                Err(Stop::Misfit(Misfit::Block { own, root, .. })) => prop_assert_ne!(own, root),
                _ if taken && op == RootedOp::Gather => prop_assert!(is_gather(&packet, ranks)),
                _ if taken => prop_assert_eq!(packet[..2].to_vec(), vec![SCATTER, 0]),
                _ => {}
            }
        }
    }
}
