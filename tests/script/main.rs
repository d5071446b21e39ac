//! Scripts on a network in one thread: every rank ends, and every result has the operands that it is to have, in the
//! order that is promised, whatever the order is in which messages come; in the number of messages that is claimed.

mod exchanges;
mod fold;
mod latency;
mod node_exchanges;
mod nodes;
mod reductions;
mod trees;
mod wire;

use proptest::prelude::*;
use rondo::engine::{self, Execution, ScriptWire};
use rondo::schedule::{self, Circulant, Grid, Steps, TreeNeighbors};
use rondo::script::*;
use std::iter::{Once, once, repeat_n};
use std::ops::Range;
use wire::{Network, Outcome, Rank, Rules, Term, joined, limits, rng, run};

/// How something is carried out.
#[derive(Clone, Debug)]
struct Variant {
    /// Blocks of every rank's part.
    segments: u32,
    /// Elements of a message.
    most: u64,
    radix: u32,
    rules: Rules,
}

/// Some of all variants, other ones for another seed.
fn variants(p: u32, some: usize, seed: u64) -> Vec<Variant> {
    let mut rng = rng(u64::from(p) << 32 | seed);
    let mut all = vec![];
    for (segments, most) in [(1, 2), (3, 2), (1, u64::MAX), (3, u64::MAX)] {
        for (radix, window) in [(2, 1), (2, 8), (3, 1), (3, 8), (p, 1), (p, 8)] {
            for eager in [false, true] {
                let rules = Rules {
                    window,
                    eager,
                    room: [1, 2, usize::MAX][rng.random_range(0..3)],
                    late: None,
                    gradual: rng.random(),
                    seed: rng.random(),
                };
                all.push(Variant {
                    segments,
                    most,
                    radix,
                    rules,
                });
            }
        }
    }
    let some = some.min(all.len());
    for i in 0..some {
        let other = rng.random_range(i..all.len());
        all.swap(i, other);
    }
    all.truncate(some);
    all
}

/// Many variants for few ranks, one for many.
fn variants_for(p: u32, seed: u64) -> Vec<Variant> {
    let some = match p {
        0..=6 => 24,
        7..=24 => 4,
        _ => 1,
    };
    variants(p, some, seed)
}

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 81, 129, 161])
}

/// Numbers of elements worth trying: none, one, fewer than ranks, as many, and more.
fn counts(p: u32) -> Vec<u64> {
    let p = u64::from(p);
    let mut counts = match p {
        0..=64 => vec![0, 1, p / 2, p, 2 * p + 1],
        _ => vec![1, p + 1],
    };
    counts.sort_unstable();
    counts.dedup();
    counts
}

/// A vector in `n` parts that are about the same.
fn even(count: u64, n: u32) -> Vec<u64> {
    (0..n).map(|i| share(count, n, i)).collect()
}

fn even_cases(p: u32) -> impl Iterator<Item = (Vec<u64>, Variant)> {
    let of = move |count| variants_for(p, count).into_iter().map(move |v| (count, v));
    let all = counts(p).into_iter().flat_map(of);
    all.map(move |(count, variant)| (even(count, p), variant))
}

/// Parts of any size, some of which are empty; nearly all empty; and one rank has all.
fn uneven_cases(p: u32) -> impl Iterator<Item = (Vec<u64>, Variant)> {
    let mut rng = rng(p.into());
    let any = (0..p).map(|_| rng.random_range(0..5)).collect();
    let few = (0..p).map(|_| [0, 0, 0, 1 + p / 8][rng.random_range(0..4)].into());
    let few = few.collect();
    let mut one = vec![0; p as usize];
    one[rng.random_range(0..p as usize)] = u64::from(p) + 2;
    let parts = [any, few, one];
    let with_variants = move |(i, parts): (u64, Vec<u64>)| {
        let all = variants_for(p, 1000 + i).into_iter();
        all.map(move |variant| (parts.clone(), variant))
    };
    (0..).zip(parts).flat_map(with_variants)
}

/// The blocks of parts.
fn cut(parts: &[u64], segments: u32) -> impl Iterator<Item = u64> + Clone {
    let of = move |&part| (0..segments).map(move |i| share(part, segments, i));
    parts.iter().flat_map(of)
}

/// The same, to ask for elements.
fn cut_of(parts: &[u64], segments: u32) -> Cut {
    Cut::of(cut(parts, segments))
}

/// The blocks of a range of members, each of which has `segments` of them.
fn blocks_of(segments: u32) -> impl Fn(Range<u32>) -> Once<Range<u32>> + Copy {
    move |members: Range<u32>| once(members.start * segments..members.end * segments)
}

/// The blocks of one rank's part.
fn part_of(segments: u32) -> impl Fn(u32) -> Range<u32> {
    move |rank| rank * segments..(rank + 1) * segments
}

/// The elements of one rank's part.
fn elements(parts: &[u64], rank: u32) -> Range<u64> {
    let start = parts[..rank as usize].iter().sum();
    start..start + parts[rank as usize]
}

/// The scripts of all ranks.
fn scripts(p: u32, write: impl Fn(&mut Script, u32)) -> Vec<Script> {
    let script = |rank| {
        let mut script = Script::default();
        write(&mut script, rank);
        script
    };
    (0..p).map(script).collect()
}

/// Carries scripts out and checks what holds for all of them.
fn carry_out<'a>(scripts: &'a [Script], own: u64, variant: &Variant) -> Outcome<'a> {
    let outcome = run(scripts, own, variant.rules.clone()).unwrap_or_else(|fault| {
        let (p, first) = (scripts.len(), scripts[0].cut());
        panic!("p = {p}, {variant:?}, rank 0 has {first:?}: {fault}")
    });
    for (port, script) in outcome.ports.iter().zip(scripts) {
        for (to, blocks) in &port.sent {
            let count = script.cut().count(blocks);
            let is_short = count <= variant.most || blocks.len() == 1;
            let is_told = count <= script.longest();
            assert!(is_short && is_told, "{count} elements to {to}: {variant:?}");
        }
    }
    outcome
}

/// Elements with their operands in the order of `ranks`.
fn terms<'a>(elements: Range<u64>, ranks: impl Fn(u64) -> &'a [u16]) -> Vec<Term> {
    let term = |i| ranks(i).iter().map(|&rank| (rank, i as u16)).collect();
    elements.map(term).collect()
}

/// The same operands in the same order, or what is the first difference.
fn check(rank: u32, got: &[Term], expected: &[Term], variant: &Variant) {
    let about = || format!("rank {rank}, {variant:?}");
    assert_eq!(got.len(), expected.len(), "{}", about());
    let other = (got.iter().zip(expected)).position(|(got, expected)| got != expected);
    if let Some(i) = other {
        let (got, expected) = (&got[i], &expected[i]);
        panic!("{}: element {i} is {got:?} and not {expected:?}", about());
    }
}

/// Every rank's operand once, in whatever order.
fn check_complete(rank: u32, got: &[Term], p: u32, variant: &Variant) {
    check_part(rank, got, 0..got.len() as u64, p, variant);
}

/// The same of these elements of a vector.
fn check_part(rank: u32, got: &[Term], part: Range<u64>, p: u32, variant: &Variant) {
    let sorted = got.iter().map(|term| {
        let mut sorted = term.to_vec();
        sorted.sort_unstable();
        Term::from(sorted)
    });
    let all: Vec<u16> = (0..p as u16).collect();
    let expected = terms(part, |_| &all);
    check(rank, &sorted.collect::<Vec<_>>(), &expected, variant);
}

/// Numbers in any order.
fn shuffled(mut numbers: Vec<u32>, rng: &mut impl Rng) -> Vec<u32> {
    for i in 1..numbers.len() {
        numbers.swap(i, rng.random_range(0..=i));
    }
    numbers
}

// Halving.

/// In which order each part of a vector is reduced.
fn orders_of_halving(p: u32) -> Vec<Vec<u16>> {
    let parts = even(p.into(), p);
    let variant = &variants(p, 1, 0)[0];
    let scripts = scripts(p, |script, rank| {
        script.begin(variant.most, cut(&parts, 1));
        halving(script, &Group::all(p, rank), blocks_of(1));
    });
    let outcome = carry_out(&scripts, p.into(), variant);
    let own = |rank: u32| outcome.blocks(rank, rank..rank + 1).swap_remove(0);
    let results: Vec<Term> = (0..p).map(own).collect();
    check_complete(0, &results, p, variant);
    let ranks = |term: &Term| term.iter().map(|&(rank, _)| rank).collect();
    results.iter().map(ranks).collect()
}

/// The elements of parts, each of which has been reduced in an order of its own.
fn in_orders(parts: &[u64], orders: &[Vec<u16>]) -> Vec<Term> {
    let of = |(rank, order): (u32, &'_ Vec<u16>)| terms(elements(parts, rank), |_| order);
    (0..).zip(orders).flat_map(of).collect()
}

/// Short vectors: many ranks have p^2 blocks each.
fn gather_cases(p: u32) -> impl Iterator<Item = (u64, Variant)> {
    let counts = match p {
        0..=16 => counts(p),
        24 | 33 => vec![1, 5, p.into()],
        _ => vec![1, 5],
    };
    counts.into_iter().flat_map(move |count| {
        let mut all = variants_for(p, 2000 + count);
        all.truncate(if p <= 24 { all.len() } else { 2 });
        all.into_iter().map(move |variant| (count, variant))
    })
}

// In the order of ranks.

/// Writes it; the blocks of all parts.
fn write_ordered(
    script: &mut Script,
    rank: u32,
    parts: &[u64],
    variant: &Variant,
) -> Vec<Range<u32>> {
    let shares = Shares::new(parts, variant.segments);
    script.begin(variant.most, shares.cut(rank));
    ordered(script, rank, &shares);
    (0..parts.len() as u32)
        .map(|rank| shares.part(rank))
        .collect()
}

fn write_split(
    script: &mut Script,
    rank: u32,
    parts: &[u64],
    variant: &Variant,
) -> Vec<Range<u32>> {
    let (p, segments) = (parts.len() as u32, variant.segments);
    let counts = |other: u32| (0..segments).map(move |i| share(parts[other as usize], segments, i));
    script.begin(variant.most, split_cut(p, rank, counts).into_iter());
    split(script, p, rank, segments);
    (0..p).map(part_of(segments)).collect()
}

/// Reduced is by all alike, whatever the parts are: none sends, receives or joins much more than a vector, and the part
/// that comes in the end.
#[test]
fn an_ordered_reduction_of_uneven_parts_is_the_work_of_all() {
    for p in every_p().filter(|&p| p > 2) {
        let one = |rank: u32, count: u64| {
            let mut parts = vec![0; p as usize];
            parts[rank as usize] = count;
            parts
        };
        let variant = &variants(p, 1, 5)[0];
        for parts in [one(0, 7 * u64::from(p)), one(p - 1, 1000), one(p / 2, 5)] {
            let scripts = scripts(p, |script, rank| {
                write_ordered(script, rank, &parts, variant);
            });
            let total: u64 = parts.iter().sum();
            let share = total.div_ceil(u64::from(p));
            for (rank, script) in scripts.iter().enumerate() {
                let came = |take: &&Take| matches!(take.source, Source::Rank(_));
                let elements = |take: &Take| script.cut().count(&take.blocks);
                let received: u64 = script.takes().iter().filter(came).map(elements).sum();
                let joined = script
                    .takes()
                    .iter()
                    .filter(|take| take.join != Join::Store);
                let joined: u64 = joined.map(elements).sum();
                let sends = script.sends().iter();
                let sent: u64 = sends.map(|send| script.cut().count(&send.blocks)).sum();
                let bound = u64::from(p - 1) * share;
                assert!(joined <= bound, "p = {p}, rank {rank}: {joined} joined");
                assert!(received <= bound + parts[rank], "p = {p}, rank {rank}");
                assert!(sent <= total + share, "p = {p}, rank {rank}: {sent} sent");
            }
        }
    }
}

/// Whatever the parts are, a rank has room for a few vectors and not for p.
#[test]
fn an_ordered_reduction_takes_the_memory_of_a_few_vectors() {
    for p in every_p() {
        for (parts, _) in even_cases(p).chain(uneven_cases(p)) {
            let all: u64 = parts.iter().sum();
            for rank in 0..p {
                let room: u64 = Shares::new(&parts, 1).cut(rank).sum();
                assert!(
                    room <= 3 * all + 2 * u64::from(p),
                    "p = {p}, rank {rank}: {parts:?}"
                );
            }
        }
    }
}

/// Every block that is not empty once, in a message of its own.
fn check_sent(sent: &[(u32, Range<u32>)], script: &Script) {
    let mut numbers = vec![];
    for (_, blocks) in sent {
        assert_eq!(blocks.len(), 1, "{blocks:?}");
        numbers.push(blocks.start);
    }
    numbers.sort_unstable();
    let cut = script.cut();
    let blocks = 0..cut.blocks();
    let all = blocks.filter(|&block| cut.count(&(block..block + 1)) > 0);
    assert_eq!(numbers, all.collect::<Vec<_>>());
}

/// Sizes of nodes.
fn nodes_of_any_size() -> Vec<Vec<u32>> {
    let mut rng = rng(7);
    let mut all = vec![
        vec![1],
        vec![1, 1],
        vec![5, 1],
        vec![1, 4],
        vec![3, 3, 3],
        vec![1, 3, 2, 1, 4],
        vec![9, 1, 1, 1, 1, 1, 6],
    ];
    for nodes in 2..=20 {
        all.push((0..nodes).map(|_| rng.random_range(1..7)).collect());
    }
    all
}

/// Nodes of these sizes, whose ranks are anywhere, each with a leader.
struct Unlike<'a> {
    /// The ranks of each node.
    members: Vec<&'a [u32]>,
    leaders: Vec<u32>,
}

impl<'a> Unlike<'a> {
    /// The lowest place of a node leads.
    fn new(ranks: &'a [u32], sizes: &[u32]) -> Unlike<'a> {
        let members = in_nodes(ranks, sizes);
        let leaders = members.iter().map(|node| node[0]).collect();
        Unlike { members, leaders }
    }

    fn node_of(&self, rank: u32) -> usize {
        let node = (self.members.iter()).position(|node| node.contains(&rank));
        node.expect("every rank has a node")
    }

    /// The leaders as a rank sees them.
    fn leaders(&self, rank: u32) -> Leaders<'_> {
        let node = self.node_of(rank);
        Leaders {
            leaders: Group {
                members: Some(&self.leaders),
                p: self.leaders.len() as u32,
                me: node as u32,
            },
            locals: self.members[node],
            rank,
        }
    }
}

/// The ranks of nodes of these sizes, one node after the other, or what there is of each.
fn in_nodes<'a, T>(mut ranks: &'a [T], sizes: &[u32]) -> Vec<&'a [T]> {
    let node = |&size: &u32| {
        let (node, rest) = ranks.split_at(size as usize);
        ranks = rest;
        node
    };
    sizes.iter().map(node).collect()
}

/// A reduction to a root by the leaders of some lanes.
fn check_lane_leaders(sizes: &[u32], lanes: u32, seed: u64) {
    let mut rng = rng(seed);
    let p = sizes.iter().sum();
    let ranks = shuffled((0..p).collect(), &mut rng);
    let nodes = Unlike::new(&ranks, sizes);
    let home = rng.random_range(0..nodes.leaders.len());
    let leader = |lane: u32| {
        let of_node = nodes
            .members
            .iter()
            .map(move |n| n[(n.len() / 2 + lane as usize) % n.len()]);
        of_node.collect::<Vec<u32>>()
    };
    let leaders: Vec<Vec<u32>> = (0..lanes).map(leader).collect();
    let root = leaders[0][home];
    let of = |rank, shares| LaneLeaders {
        lanes: &leaders,
        node: nodes.node_of(rank) as u32,
        locals: match shares {
            true => &[],
            false => nodes.members[nodes.node_of(rank)],
        },
        rank,
    };
    for (n, variant) in [1, 2, 5, 17, 5, 17].into_iter().zip(variants(p, 6, seed)) {
        let all = u64::from(n * lanes);
        let count = [all, 1, 0, 2 * all + 1][rng.random_range(0..4)];
        let begin = |script: &mut Script| {
            script.begin(variant.most, cut(&even(count, lanes), n));
        };
        let scripts = scripts(p, |script, rank| {
            begin(script);
            of(rank, false).reduce(script, home as u32);
        });
        let outcome = carry_out(&scripts, count, &variant);
        check_complete(root, &outcome.result(root), p, &variant);
        for (rank, port) in (0..).zip(&outcome.ports) {
            let (node, led) = (nodes.node_of(rank), of(rank, false).led());
            let slice = |lane: u32| lane * n..(lane + 1) * n;
            // What it leads goes from the root's node in as few messages as can be, and from the root not at all.
            let (own, others): (Vec<_>, Vec<_>) =
                port.sent.iter().cloned().partition(|(_, sent)| {
                    node == home && led.is_some_and(|lane| slice(lane).contains(&sent.start))
                });
            assert!(own.iter().all(|(to, _)| *to == root && rank != root));
            let count = |sent: &[(u32, Range<u32>)]| {
                let blocks = sent
                    .iter()
                    .map(|(_, blocks)| scripts[0].cut().count(blocks));
                blocks.sum::<u64>()
            };
            let of_lane = led.map_or(0, |lane| scripts[0].cut().count(&slice(lane)));
            match node == home {
                true => assert_eq!(count(&others), scripts[0].cut().total() - of_lane),
                false => check_sent(&others, &scripts[rank as usize]),
            }
            assert!(rank == root || node != home || count(&own) == of_lane);
            // Only leaders send to other nodes, and to their own lane.
            for (to, blocks) in port
                .sent
                .iter()
                .filter(|(to, _)| nodes.node_of(*to) != node)
            {
                let lane = led.expect("a leader");
                assert!(leaders[lane as usize].contains(to));
                assert!(slice(lane).start <= blocks.start && blocks.end <= slice(lane).end);
            }
            // Where the ranks of a node share memory, the script has these messages, and no others.
            let mut between = Script::default();
            begin(&mut between);
            of(rank, true).reduce(&mut between, home as u32);
            let sends = between.sends().iter();
            let sends = sends.map(|send| (send.to, send.blocks.clone()));
            let out = port.sent.iter().cloned();
            let out = out.filter(|(to, _)| nodes.node_of(*to) != node);
            // In some order: one may go ahead of others.
            let (mut sends, mut out): (Vec<_>, Vec<_>) = (sends.collect(), out.collect());
            sends.sort_by_key(|(to, blocks)| (*to, blocks.start));
            out.sort_by_key(|(to, blocks)| (*to, blocks.start));
            assert_eq!(sends, out);
        }
    }
}

#[test]
fn leaders_of_lanes_reduce_what_their_nodes_have() {
    let sizes = nodes_of_any_size().into_iter();
    let even = [(8, 8), (5, 13), (4, 16), (3, 22), (1, 67), (43, 3), (7, 23)];
    let even = even.map(|(nodes, width)| vec![width; nodes]);
    for (sizes, seed) in sizes.chain(even).zip(1..) {
        let narrowest = *sizes.iter().min().expect("there is a node");
        for lanes in [1, 2, narrowest / 2 + 1, narrowest] {
            if lanes <= narrowest {
                check_lane_leaders(&sizes, lanes, seed);
            }
        }
    }
}

#[test]
fn the_leader_of_the_only_node_reduces_what_it_has() {
    for size in [1, 2, 5, 9] {
        check_lane_leaders(&[size], 1, 100 + u64::from(size));
    }
}

/// Nodes may have any number of ranks. All get the same bits, and what a leader sends to others is as much as between
/// as many ranks.
#[test]
fn an_allreduce_among_leaders_reduces_every_operand_once_and_in_the_same_order_for_all() {
    for (sizes, seed) in nodes_of_any_size().into_iter().zip(200..) {
        let p: u32 = sizes.iter().sum();
        let nodes = sizes.len() as u32;
        let mut rng = rng(seed);
        let ranks = shuffled((0..p).collect(), &mut rng);
        let unlike = Unlike::new(&ranks, &sizes);
        for (count, variant) in [0, 1, 7, 40].into_iter().zip(variants(p, 4, seed)) {
            let segments = variant.segments;
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&even(count, nodes), segments));
                let leaders = unlike.leaders(rank);
                assert_eq!(leaders.leads(), rank == leaders.locals[0]);
                let steps = Steps::new(nodes, variant.radix.min(nodes).max(2));
                leaders.allreduce(script, segments, &steps);
            });
            let outcome = carry_out(&scripts, count, &variant);
            let first = outcome.result(0);
            check_complete(0, &first, p, &variant);
            for rank in 1..p {
                check(rank, &outcome.result(rank), &first, &variant);
            }
            for (node, &leader) in unlike.members.iter().zip(&unlike.leaders) {
                let sent = &outcome.ports[leader as usize].sent;
                let out = sent.iter().filter(|(to, _)| !node.contains(to));
                let blocks: u32 = out.map(|(_, blocks)| blocks.end - blocks.start).sum();
                // Once to be reduced, and once when it is. Blocks without elements are not sent.
                let all = 2 * (nodes - 1) * segments;
                assert!(blocks <= all, "{sizes:?}");
                assert!(blocks == all || count < u64::from(nodes * segments));
            }
        }
    }
}

/// Nodes may have any number of ranks, and parts any length. What a leader sends to others is as much as they have.
#[test]
fn a_reduce_scatter_among_leaders_leaves_every_rank_its_part() {
    for (sizes, seed) in nodes_of_any_size().into_iter().zip(400..) {
        let p: u32 = sizes.iter().sum();
        let mut rng = rng(seed);
        let ranks = shuffled((0..p).collect(), &mut rng);
        let unlike = Unlike::new(&ranks, &sizes);
        let start = |node: u32| sizes[..node as usize].iter().sum::<u32>();
        for (parts, variant) in even_cases(p).chain(uneven_cases(p)).step_by(7) {
            let segments = variant.segments;
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&parts, segments));
                let own = (unlike.leaders(rank)).reduce_scatter(script, segments, start);
                script.result(own);
            });
            let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
            for (place, &rank) in (0..).zip(&ranks) {
                let got = outcome.blocks(rank, part_of(segments)(place));
                let own = elements(&parts, place);
                assert_eq!(scripts[rank as usize].results(), [own]);
                check_part(rank, &got, elements(&parts, place), p, &variant);
            }
            for (node, &leader) in unlike.members.iter().zip(&unlike.leaders) {
                let sent = outcome.ports[leader as usize].sent.iter();
                let out = sent.filter(|(to, _)| !node.contains(to));
                let sent: u64 = out
                    .map(|(_, blocks)| cut_of(&parts, segments).count(blocks))
                    .sum();
                let of_others = (0..).zip(&ranks).filter(|(_, rank)| !node.contains(rank));
                let others: u64 = of_others.map(|(place, _): (usize, _)| parts[place]).sum();
                assert_eq!(sent, others, "{sizes:?}");
            }
        }
    }
}

/// So a choice by the length of the vector does not change the bits.
#[test]
fn leaders_of_unlike_nodes_that_gather_reduce_in_the_same_order_as_those_that_halve() {
    for (sizes, seed) in nodes_of_any_size().into_iter().zip(300..) {
        let p: u32 = sizes.iter().sum();
        let nodes = sizes.len() as u32;
        let mut rng = rng(seed);
        let ranks = shuffled((0..p).collect(), &mut rng);
        let unlike = Unlike::new(&ranks, &sizes);
        for (count, variant) in gather_cases(p) {
            let steps = Steps::new(nodes, variant.radix.min(nodes).max(2));
            let halved = scripts(p, |script, rank| {
                script.begin(variant.most, even(count, nodes).into_iter());
                unlike.leaders(rank).allreduce(script, 1, &steps);
            });
            let expected = carry_out(&halved, count, &variant).result(0);
            let gather = |rank| {
                let Leaders {
                    leaders, locals, ..
                } = unlike.leaders(rank);
                GatherNodes {
                    leaders,
                    locals,
                    places: None,
                    rank,
                }
            };
            let gathered = scripts(p, |script, rank| {
                gather(rank).allreduce(script, variant.most, count, &steps);
            });
            let outcome = carry_out(&gathered, count, &variant);
            for rank in 0..p {
                check(rank, &outcome.result(rank), &expected, &variant);
            }
        }
    }
}

// Over lanes.

/// Nodes with as many ranks each.
#[derive(Clone, Copy, Debug)]
struct Shape {
    nodes: u32,
    places: u32,
    /// Are the ranks of a node one behind the other? Else they are dealt to the nodes in turn.
    by_node: bool,
}

const SHAPES: [(u32, u32); 17] = [
    (1, 1),
    (1, 2),
    (2, 1),
    (1, 4),
    (4, 1),
    (2, 2),
    (2, 3),
    (3, 2),
    (3, 5),
    (5, 3),
    (4, 4),
    (7, 2),
    (2, 9),
    (8, 8),
    (4, 16),
    (13, 5),
    (6, 27),
];

impl Shape {
    fn all() -> impl Iterator<Item = Shape> {
        let both = |(nodes, places)| {
            [false, true].map(|by_node| Shape {
                nodes,
                places,
                by_node,
            })
        };
        SHAPES.into_iter().flat_map(both)
    }

    /// Of every number of ranks that has divisors, the nodes that are nearest to as many as the ranks on each, either
    /// more of them or fewer. Nodes with as many ranks each are what lanes need.
    fn of_every_p() -> impl Iterator<Item = Shape> {
        let all = (4..=64).chain([65, 129, 161]);
        let divided = all.filter_map(|p: u32| {
            let few = (2..=p.isqrt()).rev().find(|&few| p.is_multiple_of(few))?;
            Some((few, p / few))
        });
        divided.flat_map(|(few, many)| {
            [(few, many, true), (many, few, false)].map(|(nodes, places, by_node)| Shape {
                nodes,
                places,
                by_node,
            })
        })
    }

    fn p(&self) -> u32 {
        self.nodes * self.places
    }

    fn rank(&self, node: u32, place: u32) -> u32 {
        match self.by_node {
            true => node * self.places + place,
            false => place * self.nodes + node,
        }
    }

    /// Calls `write` for a rank.
    fn lanes(&self, rank: u32, write: impl FnOnce(Lanes<'_>)) {
        let (node, place) = match self.by_node {
            true => (rank / self.places, rank % self.places),
            false => (rank % self.nodes, rank / self.nodes),
        };
        let of_node: Vec<u32> = (0..self.places).map(|i| self.rank(node, i)).collect();
        let of_lane: Vec<u32> = (0..self.nodes).map(|i| self.rank(i, place)).collect();
        let group = |members, p, me| Group {
            members: Some(members),
            p,
            me,
        };
        write(Lanes {
            node: group(&of_node, self.places, place),
            lane: group(&of_lane, self.nodes, node),
        });
    }
}

#[test]
fn an_allreduce_over_lanes_reduces_every_operand_once_and_in_the_same_order_for_all() {
    for shape in Shape::all().chain(Shape::of_every_p()) {
        let p = shape.p();
        for (parts, variant) in even_cases(p).chain(uneven_cases(p)).step_by(3) {
            let radix = |p: u32| variant.radix.min(p);
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&parts, variant.segments));
                shape.lanes(rank, |lanes| {
                    lanes.allreduce(script, variant.segments, radix);
                });
            });
            let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
            let first = outcome.result(0);
            check_complete(0, &first, p, &variant);
            for rank in 1..p {
                check(rank, &outcome.result(rank), &first, &variant);
            }
        }
    }
}

/// So a choice by the length of the vector does not change the bits.
#[test]
fn leaders_that_gather_reduce_in_the_same_order_as_lanes() {
    for shape in Shape::all().chain(Shape::of_every_p()) {
        let p = shape.p();
        for (count, variant) in gather_cases(p) {
            let slices = even(count, shape.places).into_iter();
            let parts: Vec<u64> = slices.flat_map(|slice| even(slice, shape.nodes)).collect();
            let lanes = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&parts, 1));
                shape.lanes(rank, |lanes| lanes.allreduce(script, 1, |p| p.min(2)));
            });
            let expected = carry_out(&lanes, count, &variant).result(0);
            let gathered = scripts(p, |script, rank| {
                shape.lanes(rank, |lanes| {
                    let leaders: Vec<u32> =
                        (0..shape.nodes).map(|node| shape.rank(node, 0)).collect();
                    let nodes = GatherNodes {
                        leaders: Group {
                            members: Some(&leaders),
                            p: shape.nodes,
                            me: lanes.lane.me,
                        },
                        locals: lanes.node.members.expect("the ranks of a node"),
                        places: Some(shape.places),
                        rank,
                    };
                    let steps = Steps::new(shape.nodes, variant.radix.min(shape.nodes));
                    nodes.allreduce(script, variant.most, count, &steps);
                });
            });
            let outcome = carry_out(&gathered, count, &variant);
            for rank in 0..p {
                check(rank, &outcome.result(rank), &expected, &variant);
            }
        }
    }
}

#[test]
fn lanes_leave_every_rank_its_part() {
    for shape in Shape::all().chain(Shape::of_every_p()) {
        let p = shape.p();
        for (parts, variant) in even_cases(p).chain(uneven_cases(p)) {
            let segments = variant.segments;
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&parts, segments));
                shape.lanes(rank, |lanes| {
                    lanes.reduce_scatter(script, segments);
                });
            });
            let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
            // The parts lie in the order of places and then of nodes.
            let (nodes, places) = (shape.nodes, shape.places);
            for part in 0..p {
                let rank = shape.rank(part % nodes, part / nodes);
                assert!(part / nodes < places);
                let got = outcome.blocks(rank, part_of(segments)(part));
                check_part(rank, &got, elements(&parts, part), p, &variant);
            }
        }
    }
}

/// What a node sends to others is, on every lane, a block for each of them.
#[test]
fn lanes_send_to_other_nodes_what_is_reduced_inside_their_own() {
    for shape in Shape::all().chain(Shape::of_every_p()) {
        let p = shape.p();
        let mut variant = variants(p, 1, 5).swap_remove(0);
        variant.radix = 2;
        let parts = even(p.into(), p);
        let scripts = scripts(p, |script, rank| {
            script.begin(variant.most, cut(&parts, 1));
            shape.lanes(rank, |lanes| lanes.allreduce(script, 1, |_| 2));
        });
        let outcome = carry_out(&scripts, p.into(), &variant);
        for (rank, port) in (0..).zip(&outcome.ports) {
            shape.lanes(rank, |lanes| {
                let inside = lanes.node.members.expect("a node has members");
                let out = port.sent.iter().filter(|(to, _)| !inside.contains(to));
                let blocks: u32 = out.map(|(_, blocks)| blocks.end - blocks.start).sum();
                // Once to be reduced, and once when it is.
                assert_eq!(blocks, 2 * (shape.nodes - 1), "{shape:?}");
            });
        }
    }
}

// Scans.

/// Every rank has the operands of the ranks up to it, or before it; the first one of an exclusive scan has no result.
fn check_prefixes(
    (prefix, count): (Prefix, u64),
    scripts: &[Script],
    outcome: &Outcome,
    variant: &Variant,
) {
    let all: Vec<u16> = (0..scripts.len() as u16).collect();
    for rank in 0..scripts.len() as u32 {
        let operands = match prefix {
            Prefix::Inclusive => rank + 1,
            Prefix::Exclusive => rank,
        };
        if operands > 0 {
            let expected = terms(0..count, |_| &all[..operands as usize]);
            check(rank, &outcome.result(rank), &expected, variant);
        } else {
            assert!(scripts[0].results().is_empty());
        }
    }
}

fn check_scans(
    prefix: Prefix,
    places: impl Fn(u32) -> u32,
    write: impl Fn(&mut Script, u32, u32, u32),
) {
    for p in every_p() {
        let places = places(p);
        for (i, (parts, variant)) in even_cases(p).enumerate() {
            let (count, n) = (parts.iter().sum(), [1, 2, 7][i % 3]);
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, (0..places).flat_map(|_| even(count, n)));
                write(script, p, rank, n);
            });
            let outcome = carry_out(&scripts, count, &variant);
            check_prefixes((prefix, count), &scripts, &outcome, &variant);
        }
    }
}

#[test]
fn a_scan_has_the_operands_up_to_its_own_in_the_order_of_ranks() {
    use Prefix::{Exclusive, Inclusive};
    type Write = fn(&mut Script, u32, u32, u32, Prefix);
    let in_a_hypercube: Write = |script, p, rank, n, prefix| {
        grid_scan(script, &Grid::hypercube_around(p), (p, rank), n, prefix);
    };
    let in_a_mesh: Write = |script, p, rank, n, prefix| {
        grid_scan(script, &Grid::mesh_around(p), (p, rank), n, prefix);
    };
    for prefix in [Inclusive, Exclusive] {
        let of_chain = |p| {
            if prefix == Inclusive {
                prefix.places(p)
            } else {
                2
            }
        };
        let all: [(Write, &dyn Fn(u32) -> u32); 4] = [
            (doubling, &|p| prefix.places(p)),
            (chain, &of_chain),
            (in_a_hypercube, &|_| GRID_PLACES),
            (in_a_mesh, &|_| GRID_PLACES),
        ];
        for (write, places) in all {
            check_scans(prefix, places, |script, p, rank, n| {
                write(script, p, rank, n, prefix);
            });
        }
    }
}

// Barriers.

/// The scripts of a barrier among `members`, and of a rank that has nothing to do with it.
fn barrier(members: &[u32], radix: u32) -> Vec<Script> {
    let size = members.len() as u32;
    let steps = Steps::new(size, radix);
    scripts(size + 1, |script, rank| {
        script.begin(1, repeat_n(1, 1 + steps.count()));
        if let Some(me) = members.iter().position(|&member| member == rank) {
            let group = Group {
                members: Some(members),
                p: size,
                me: me as u32,
            };
            dissemination(script, &group, &steps);
        }
    })
}

#[test]
fn no_rank_leaves_a_barrier_before_every_other_one_has_come() {
    let mut rng = rng(8);
    for p in every_p() {
        for radix in [2, 3, p] {
            let members = shuffled((0..p).collect(), &mut rng);
            let scripts = barrier(&members, radix);
            // Every one in turn where that is quick.
            let few = p > 64 || radix == p && p > 20;
            for late in (0..p).filter(|&late| !few || late % (p / 3) == 0) {
                let mut variant = variants(p, 1, late.into()).swap_remove(0);
                (variant.rules.eager, variant.rules.late) = (true, Some(late));
                let outcome = carry_out(&scripts, 1, &variant);
                assert_eq!(outcome.early, [p], "p = {p}, radix {radix}, late {late}");
                for (rank, port) in (0..p).zip(&outcome.ports) {
                    let steps = Steps::new(p, radix).count();
                    assert_eq!(port.sent.len(), steps, "p = {p}, rank {rank}");
                }
            }
        }
    }
}

/// MPI does not promise that a message leaves before its receive is posted.
#[test]
fn a_barrier_needs_no_memory_of_the_network() {
    for p in every_p() {
        for radix in [2, 3, p] {
            let scripts = barrier(&(0..p).collect::<Vec<_>>(), radix);
            for mut variant in variants(p, 6, 9) {
                variant.rules.eager = false;
                carry_out(&scripts, 1, &variant);
            }
        }
    }
}

// Any scripts.

/// A step that all ranks know.
#[derive(Clone, Debug)]
enum Step {
    /// Blocks of rank `from`, from the first one on, are joined to the blocks of rank `to`.
    Message(u32, u32, u32, Range<u32>, Join),
    /// The same inside a rank.
    Fold(u32, u32, Range<u32>, Join),
    /// What this rank sends later leaves after all that it has taken so far.
    Wait(u32),
}

/// Steps of ranks that have `counts.len()` blocks each.
fn any_steps(rng: &mut impl Rng, p: u32, counts: &[u64]) -> Vec<Step> {
    let n = counts.len() as u32;
    let alike = counts.iter().all(|&count| count == counts[0]);
    let mut steps = vec![];
    while steps.len() < 14 {
        let start = rng.random_range(0..n);
        let blocks = start..rng.random_range(start..n) + 1;
        let first = rng.random_range(0..=n - (blocks.end - blocks.start));
        let join = [Join::Store, Join::Left, Join::Right][rng.random_range(0..3)];
        let (from, to) = (rng.random_range(0..p), rng.random_range(0..p));
        if rng.random_range(0..8) == 0 {
            steps.push(Step::Wait(to));
        }
        let apart = first + (blocks.end - blocks.start) <= start || blocks.end <= first;
        if from != to {
            let first = if alike { first } else { start };
            steps.push(Step::Message(from, to, first, blocks, join));
        } else if alike && apart {
            // What is a right operand is used up.
            let join = if join == Join::Right {
                Join::Left
            } else {
                join
            };
            steps.push(Step::Fold(from, first, blocks, join));
        }
    }
    steps
}

/// One step after the other.
fn one_by_one(p: u32, counts: &[u64], steps: &[Step]) -> Vec<Vec<Term>> {
    let cut = Cut::of(counts.iter().copied());
    let term = |rank: u32, i| Term::from([(rank as u16, i as u16)]);
    let area = |rank| (0..cut.total()).map(|i| term(rank, i)).collect();
    let mut areas: Vec<Vec<Term>> = (0..p).map(area).collect();
    for step in steps.iter().cloned() {
        let (from, to, first, blocks, join) = match step {
            Step::Message(from, to, first, blocks, join) => (from, to, first, blocks, join),
            Step::Fold(rank, first, blocks, join) => (rank, rank, first, blocks, join),
            Step::Wait(_) => continue,
        };
        let source = cut.elements(&(first..first + blocks.end - blocks.start));
        let target = cut.elements(&blocks);
        for (source, target) in source.zip(target) {
            let source = areas[from as usize][source as usize].clone();
            let target = &mut areas[to as usize][target as usize];
            *target = match join {
                Join::Store => source,
                Join::Left => joined(&source, target),
                Join::Right => joined(target, &source),
            };
        }
    }
    areas
}

fn any_script(script: &mut Script, rank: u32, steps: &[Step]) {
    for step in steps.iter().cloned() {
        match step {
            Step::Message(from, to, first, blocks, join) => {
                if rank == from {
                    script.send(to, first..first + blocks.end - blocks.start);
                }
                if rank == to {
                    script.receive(from, blocks, join);
                }
            }
            Step::Fold(who, first, blocks, join) => {
                if rank == who {
                    script.fold(first, blocks, join);
                }
            }
            Step::Wait(who) => {
                if rank == who {
                    script.wait();
                }
            }
        }
    }
}

/// However much happens at a time, and even if no message leaves before its receive is posted: an order of all steps
/// that ranks keep to is enough for an end.
#[test]
fn what_ranks_do_at_a_time_comes_to_the_same_as_one_step_after_the_other() {
    for seed in 0..6000 {
        let mut rng = rng(seed);
        let (p, n) = (rng.random_range(2..6), rng.random_range(1..6));
        let size = rng.random_range(1..3);
        let counts: Vec<u64> = match rng.random() {
            true => vec![size; n],
            false => (0..n).map(|_| rng.random_range(0..3)).collect(),
        };
        let steps = any_steps(&mut rng, p, &counts);
        let mut variant = variants(p, 1, seed).swap_remove(0);
        variant.most = [1, 2, 3, u64::MAX][rng.random_range(0..4)];
        variant.rules.window = rng.random_range(1..5);
        let scripts = scripts(p, |script, rank| {
            script.begin(variant.most, counts.iter().copied());
            any_script(script, rank, &steps);
        });
        let outcome = carry_out(&scripts, counts.iter().sum(), &variant);
        let expected = one_by_one(p, &counts, &steps);
        for (rank, expected) in (0..).zip(&expected) {
            check(rank, &outcome.result(rank), expected, &variant);
        }
    }
}

#[test]
fn a_rank_alone_has_the_result_and_waits_for_nobody() {
    let group = Group::all(1, 0);
    let steps = Steps::new(1, 2);
    let scripts = scripts(1, |script, _| {
        script.begin(u64::MAX, [2, 0, 3].into_iter());
        halving(script, &group, blocks_of(3));
        spread(script, &group, &steps, blocks_of(3));
        reduce(script, 0..1, &group, &Circulant::new(1), 0, |_, _| {});
        let mut family = TreeNeighbors::default();
        family.set(schedule::Shape::BINARY, 1, 0, 0);
        reduce_tree(script, &family);
        hand_over(script, 0, 0, 0);
        collect(script, 1, 0, 0, part_of(3));
        dissemination(script, &group, &steps);
        chain(script, 1, 0, 3, Prefix::Inclusive);
        census(script, &group, 3);
        disseminate(script, &group, 3);
        recursive_doubling(script, &group, 3);
        ring(script, &group, part_of(3));
        reduce_broadcast(script, &group, &Circulant::new(1));
        dual_root(script, &group, 3);
    });
    let mut network = Network::new(&scripts, 5, variants(1, 1, 0)[0].rules.clone());
    let wire = &mut Rank {
        network: &mut network,
        rank: 0,
    };
    engine::run(Execution::new(&scripts[0], limits(1)), wire).expect("nobody is waited for");
    assert!(scripts[0].takes().is_empty() && scripts[0].sends().is_empty());
}
