//! Reductions, exchanges and gates through the slots of a node's ring, on a ring that is stricter than memory: every
//! rank gets what it wants, each element by exactly the expression that its order of evaluation says, whatever the
//! order of things is and whoever is late.

mod ring;
mod world;

use crate::case::rng;
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::decide::SLOT_UNIT_MAX;
use rondo::engine::node::{Groups, Operand, Tree, Want};
use rondo::script::{Fold, share};
use std::ops::Range;
use world::{Call, Case, Order as First, attempt, run};

fn every_p() -> impl Iterator<Item = u32> {
    (1..=33).chain([64, 65, 100])
}

/// Bytes of a ring: the least that a segment has for so many ranks, a little more, and far more; of many ranks, two of
/// these.
fn capacities(p: u32) -> Vec<u64> {
    let least = (256 * u64::from(p)).max(4096);
    let all = [least, least + 64, 3 * least + 192, 64 << 10].map(|bytes| bytes.max(least));
    let every = if p <= 8 { 1 } else { 2 };
    all.into_iter()
        .skip(p as usize % every)
        .step_by(every)
        .collect()
}

/// Bytes of an element, among them some that no cache line is a multiple of, and the most.
const UNITS: [u64; 10] = [1, 2, 4, 8, 12, 16, 40, 64, 100, SLOT_UNIT_MAX];

/// Numbers of elements: none, one, fewer than ranks, one for each and a few, and many groups.
fn counts(p: u32) -> [u64; 7] {
    let p = u64::from(p);
    // The least ring of many ranks has one element of each in a group.
    let many = if p <= 16 { 1500 + 7 * p } else { 200 + p };
    [0, 1, p / 2, p, p + 1, 3 * p + 2, many]
}

fn one_of<T: Copy>(all: &[T], rng: &mut TestRng) -> T {
    all[rng.random_range(0..all.len())]
}

/// Where a vector is cut into so many parts, some of which may be empty.
fn cuts(elements: u64, parts: usize, rng: &mut TestRng) -> Vec<u64> {
    let mut cuts: Vec<u64> = (0..=parts)
        .map(|_| rng.random_range(0..=elements))
        .collect();
    (cuts[0], cuts[parts]) = (0, elements);
    cuts.sort_unstable();
    cuts
}

/// Orders of evaluation.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// From one rank on.
    From,
    /// A part for every rank, as an allreduce has them.
    Even,
    /// A part for every rank, as a reduce-scatter may have them.
    Uneven,
    /// Parts with any orders.
    Any,
}

const ORDERS: [Order; 4] = [Order::From, Order::Even, Order::Uneven, Order::Any];

fn trees(p: u32, elements: u64, order: Order, rng: &mut TestRng) -> Vec<Tree> {
    let halving = |(owner, end)| Tree {
        end,
        fold: Fold::Halving(owner),
    };
    match order {
        Order::From => {
            let fold = Fold::From(rng.random_range(0..p));
            let end = elements;
            vec![Tree { end, fold }]
        }
        Order::Even => {
            let parts = (0..p).map(|i| share(elements, p, i));
            let ends = parts.scan(0, |end, part| {
                *end += part;
                Some(*end)
            });
            (0..).zip(ends).map(halving).collect()
        }
        Order::Uneven => {
            let cuts = cuts(elements, p as usize, rng);
            (0..).zip(cuts.into_iter().skip(1)).map(halving).collect()
        }
        Order::Any => {
            let parts = rng.random_range(1..=2 * p as usize + 3);
            let cuts = cuts(elements, parts, rng);
            let tree = |end| {
                let rank = rng.random_range(0..p);
                let fold = one_of(&[Fold::From(rank), Fold::Halving(rank)], rng);
                Tree { end, fold }
            };
            cuts.into_iter().skip(1).map(tree).collect()
        }
    }
}

/// What a rank wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    All,
    Nothing,
    /// A part of its own, at the beginning of its memory.
    Part,
    /// Some parts, which change places.
    Parts,
}

const WISHES: [Wish; 4] = [Wish::All, Wish::Nothing, Wish::Part, Wish::Parts];

/// These elements of the reduction of all, to the place `to`.
fn of_all(elements: Range<u64>, to: u64) -> Want {
    let of = Operand::All;
    Want { elements, to, of }
}

fn wants(wish: Wish, rank: u32, p: u32, elements: u64, rng: &mut TestRng) -> Vec<Want> {
    match wish {
        Wish::All => vec![of_all(0..elements, 0)],
        Wish::Nothing => vec![],
        Wish::Part => {
            let from: u64 = (0..rank).map(|i| share(elements, p, i)).sum();
            let elements = from..from + share(elements, p, rank);
            vec![of_all(elements, 0)]
        }
        Wish::Parts => {
            let parts = rng.random_range(1..8);
            let cuts = cuts(elements, parts, rng);
            let parts = cuts.windows(2).map(|cut| cut[0]..cut[1]);
            let mut parts: Vec<Range<u64>> = parts.filter(|_| rng.random()).collect();
            for i in 1..parts.len() {
                parts.swap(i, rng.random_range(0..=i));
            }
            let mut to = rng.random_range(0..3);
            let mut wants = vec![];
            for elements in parts {
                let len = elements.end - elements.start;
                wants.push(of_all(elements, to));
                to += len + rng.random_range(0..3);
            }
            wants.sort_unstable_by_key(|want| (want.elements.start, want.elements.end));
            wants
        }
    }
}

/// What is reduced first.
fn first(elements: u64, rng: &mut TestRng) -> First {
    match rng.random_range(0..3) {
        0 => First::Usual,
        1 => First::Backwards,
        _ => First::Before(rng.random_range(0..=elements)),
    }
}

/// A reduction in which all ranks want something alike, or each something else.
fn reduction(p: u32, unit: u64, elements: u64, rng: &mut TestRng) -> Call {
    let order = one_of(&ORDERS, rng);
    let common = one_of(&WISHES, rng);
    let alike = rng.random_range(0..3) > 0;
    let wish = |rng: &mut TestRng| match alike {
        true => common,
        false => one_of(&WISHES, rng),
    };
    let wishes: Vec<Wish> = (0..p).map(|_| wish(rng)).collect();
    // What moves is not asked for in place: see `mistakes`.
    let stays = |wish: &Wish| matches!(wish, Wish::All | Wish::Nothing);
    Call::Reduce {
        unit,
        elements,
        trees: trees(p, elements, order, rng),
        in_place: wishes.iter().all(stays) && rng.random(),
        by_calls: rng.random(),
        order: first(elements, rng),
        wants: (0..)
            .zip(&wishes)
            .map(|(rank, &wish)| wants(wish, rank, p, elements, rng))
            .collect(),
    }
}

/// A scan, inclusive or exclusive.
fn scan(p: u32, unit: u64, elements: u64, rng: &mut TestRng) -> Call {
    let exclusive: bool = rng.random();
    let prefix = |rank: u32| match rank.checked_sub(exclusive.into()) {
        Some(last) => vec![Want {
            of: Operand::Upto(last),
            ..of_all(0..elements, 0)
        }],
        None => vec![],
    };
    Call::Reduce {
        unit,
        elements,
        trees: vec![Tree {
            end: elements,
            fold: Fold::From(0),
        }],
        in_place: rng.random(),
        by_calls: rng.random(),
        order: first(elements, rng),
        wants: (0..p).map(prefix).collect(),
    }
}

/// Parts of the ranks: of any lengths, alike, or of one rank alone; in the order of ranks or in another one.
fn exchange(p: u32, unit: u64, most: u64, rng: &mut TestRng) -> Call {
    let (kind, one) = (rng.random_range(0..4), rng.random_range(0..p));
    let len = |rank| match kind {
        0 => most,
        1 => most * u64::from(rank == one),
        2 => [0, rng.random_range(0..=most)][rng.random_range(0..2)],
        _ => rng.random_range(0..=most),
    };
    let lens: Vec<u64> = (0..p).map(len).collect();
    let (first, mut end) = (rng.random_range(0..p), 0);
    let mut parts = vec![0..0; p as usize];
    for rank in (first..p).chain(0..first) {
        let rank = rank as usize;
        parts[rank] = end..end + lens[rank];
        end += lens[rank];
    }
    Call::Exchange { unit, parts }
}

/// Vectors of any lengths up to `most`, of which ranks want any parts that do not overlap where they get to.
fn shuffle(p: u32, unit: u64, most: u64, rng: &mut TestRng) -> Call {
    let even = rng.random();
    let lens: Vec<u64> = (0..p)
        .map(|_| {
            if even {
                most
            } else {
                rng.random_range(0..=most)
            }
        })
        .collect();
    let of_one = |rng: &mut TestRng| {
        let mut to = 0;
        let of_rank = |&len: &u64| {
            let parts = rng.random_range(1..6);
            let cuts = cuts(len, parts, rng);
            let mut wants = vec![];
            for cut in cuts.windows(2).filter(|cut| cut[0] < cut[1]) {
                if rng.random() {
                    let elements = cut[0]..cut[1];
                    to += rng.random_range(0..3);
                    let of = Operand::All;
                    wants.push(Want { elements, to, of });
                    to += cut[1] - cut[0];
                }
            }
            wants
        };
        lens.iter().map(of_rank).collect()
    };
    let wants = (0..p).map(|_| of_one(rng)).collect();
    Call::Shuffle { unit, lens, wants }
}

/// Any call that the ring has room for.
fn any_call(p: u32, capacity: u64, rng: &mut TestRng) -> Call {
    let unit = one_of(&UNITS, rng);
    let most = [1, 30, 400][rng.random_range(0..3)];
    match rng.random_range(0..7) {
        0 | 1 => reduction(p, unit, rng.random_range(0..=most), rng),
        2 => scan(p, unit, rng.random_range(0..=most), rng),
        3 => exchange(p, unit, rng.random_range(0..=most / 4 + 1), rng),
        4 => shuffle(p, unit, rng.random_range(0..=most / 4 + 1), rng),
        5 => Call::Gate {
            leader: rng.random_range(0..p),
            between: rng.random_range(0..3),
        },
        _ => Call::Bytes {
            writer: rng.random_range(0..p),
            bytes: one_of(&[64, 128, 640, capacity / 128 * 64, capacity], rng),
        },
    }
}

fn case(ranks: u32, capacity: u64, calls: Vec<Call>, rng: &mut TestRng) -> Case {
    Case {
        ranks,
        capacity,
        calls,
        late: rng.random::<bool>().then(|| rng.random_range(0..ranks)),
        seed: rng.random(),
    }
}

#[test]
fn every_rank_gets_what_it_wants() {
    let mut rng = rng(1);
    for p in every_p() {
        for capacity in capacities(p) {
            let mut calls = vec![];
            // Of many ranks every third number of elements, another third for each number of them.
            let (first, every) = if p <= 8 { (0, 1) } else { (p as usize % 3, 3) };
            for count in counts(p).into_iter().skip(first).step_by(every) {
                for _ in 0..if p <= 8 { 3 } else { 1 } {
                    calls.push(reduction(p, one_of(&UNITS, &mut rng), count, &mut rng));
                }
                calls.push(scan(p, one_of(&UNITS, &mut rng), count, &mut rng));
            }
            for most in [0, 1, 3, 40, 3000 / u64::from(p)] {
                calls.push(exchange(p, one_of(&UNITS, &mut rng), most, &mut rng));
                calls.push(shuffle(p, one_of(&UNITS, &mut rng), most, &mut rng));
            }
            for call in calls {
                run(&case(p, capacity, vec![call], &mut rng));
            }
        }
    }
}

/// Slots do not grow with the ring for ever, and are full.
#[test]
fn vectors_go_through_a_large_ring_in_groups() {
    let mut rng = rng(2);
    for (p, capacity) in [(1, 512 << 10), (2, 600 << 10), (3, 1 << 20)] {
        for unit in [40, 64] {
            let call = reduction(p, unit, 9000, &mut rng);
            run(&case(p, capacity, vec![call], &mut rng));
        }
    }
    // Many ranks join whole lines where a slot has some for each of them.
    for p in [17, 32, 33, 65] {
        for unit in [8, 16] {
            let calls = (0..3).map(|_| reduction(p, unit, 1000, &mut rng)).collect();
            run(&case(p, 1 << 20, calls, &mut rng));
        }
    }
}

/// Vectors that the ring has room for go through it at once, others in groups that fill it: each rank joins all ranks'
/// pieces of one by a call each.
#[test]
fn a_function_of_the_programs_is_called_few_times() {
    let groups = |p, elements| Groups::striped_for_calls(p, 8, elements, 4 << 20).count();
    assert_eq!(groups(4, 100_000), 1);
    assert_eq!(groups(32, 1 << 17), 9);
    assert_eq!(groups(256, 1 << 17), 65);
    let joins = |by_calls| {
        let tree = Tree {
            end: 20_000,
            fold: Fold::From(0),
        };
        let call = Call::Reduce {
            unit: 8,
            elements: 20_000,
            trees: vec![tree],
            wants: vec![vec![of_all(0..20_000, 0)]; 4],
            in_place: false,
            by_calls,
            order: First::Usual,
        };
        let seen = attempt(&case(4, 1 << 20, vec![call], &mut rng(8)));
        seen.unwrap().joins
    };
    assert_eq!(joins(true), 4 * 3);
    assert!(joins(false) > 4 * 3 * 9, "{}", joins(false));
}

/// Others may use the first pieces of a result while the last ones are reduced.
#[test]
fn a_result_is_there_piece_by_piece() {
    for order in [First::Usual, First::Backwards, First::Before(3000)] {
        let tree = Tree {
            end: 20_000,
            fold: Fold::Halving(1),
        };
        let call = Call::Reduce {
            unit: 8,
            elements: 20_000,
            trees: vec![tree],
            wants: vec![vec![of_all(0..20_000, 0)]; 4],
            in_place: false,
            by_calls: false,
            order,
        };
        let seen = attempt(&case(4, 1 << 16, vec![call], &mut rng(9))).unwrap();
        assert!(seen.early > 100, "{order:?}: {}", seen.early);
    }
}

#[test]
fn nobody_passes_a_gate_before_all_have_come_and_the_leader_is_ready() {
    let mut rng = rng(5);
    for p in every_p() {
        for late in (0..p).map(Some).chain([None]) {
            let leaders = match p {
                0..=8 => (0..p).collect(),
                _ => vec![0, rng.random_range(0..p)],
            };
            for leader in leaders {
                let gate = |between| Call::Gate { leader, between };
                let mut case = case(p, 256 * 100, vec![gate(0), gate(4), gate(1)], &mut rng);
                case.late = late;
                run(&case);
            }
        }
    }
}

/// No rank waits for the others between two calls: what one still reads, another one must not write over.
#[test]
fn calls_follow_each_other_on_one_ring() {
    let mut rng = rng(6);
    for p in every_p() {
        for capacity in capacities(p) {
            let calls = (0..if p <= 8 { 12 } else { 5 }).map(|_| any_call(p, capacity, &mut rng));
            let calls = calls.collect();
            run(&case(p, capacity, calls, &mut rng));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_calls_of_any_ranks_in_any_ring(
        p in 1u32..12, lines in 0u64..200, calls in 1usize..10, seed in any::<u64>(),
    ) {
        let mut rng = rng(seed);
        let capacity = (256 * u64::from(p)).max(4096) + 64 * lines;
        let calls = (0..calls).map(|_| any_call(p, capacity, &mut rng)).collect();
        run(&case(p, capacity, calls, &mut rng));
    }
}
