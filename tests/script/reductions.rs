//! Reductions by every algorithm, of any vector among any number of ranks over any network: every operand counts once,
//! ranks that have the same have it in the same order, and where an order is promised, that is it.

use super::*;
use rondo::schedule::Shape;

/// How a vector is reduced.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Halving,
    Ring,
    ReduceBroadcast,
    Census,
    Dissemination,
    Doubling,
    DualRoot,
    Gather(GatherTree),
    Split,
    Ordered,
    /// Blocks on the circulant graph.
    Circulant,
    /// Parts on the circulant graph, of which those of so few elements share messages.
    Scattered(u64),
    /// Up a tree, whose top is the root; or rank 0, which hands the result over.
    Tree(Shape),
    TreeInOrder(Shape),
}

/// Who gets the result.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Destination {
    OfAll,
    AtRoot,
    InParts,
}

/// Every algorithm, and what it may leave.
fn ways(p: u32) -> Vec<(Way, Destination)> {
    use Destination::{AtRoot, InParts, OfAll};
    let of_all = [
        Way::Halving,
        Way::Ring,
        Way::ReduceBroadcast,
        Way::Census,
        Way::Dissemination,
        Way::Doubling,
        Way::DualRoot,
        Way::Gather(GatherTree::Ranks),
        Way::Gather(GatherTree::Halving),
        Way::Split,
        Way::Ordered,
    ];
    let at_root = [Way::Halving, Way::Ring, Way::Ordered, Way::Circulant];
    let in_parts = [
        Way::Halving,
        Way::Ring,
        Way::Ordered,
        Way::Split,
        Way::Scattered(0),
        Way::Scattered(2),
        Way::Scattered(u64::MAX),
    ];
    let mut ways = vec![];
    ways.extend(of_all.map(|way| (way, OfAll)));
    ways.extend(at_root.map(|way| (way, AtRoot)));
    ways.extend(in_parts.map(|way| (way, InParts)));
    for shape in trees::shapes(p) {
        ways.extend([
            (Way::Tree(shape), AtRoot),
            (Way::TreeInOrder(shape), AtRoot),
        ]);
        ways.push((Way::TreeInOrder(shape), OfAll));
    }
    ways
}

/// Writes the script of a rank for parts of these sizes; the blocks of each part, where there are parts.
fn write(
    script: &mut Script,
    rank: u32,
    (way, destination, root): (Way, Destination, u32),
    parts: &[u64],
    v: &Variant,
) -> Vec<Range<u32>> {
    let (p, segments, total) = (parts.len() as u32, v.segments, parts.iter().sum());
    let (group, graph) = (Group::all(p, rank), Circulant::new(p));
    let steps = Steps::new(p, v.radix);
    let vectors = |places: u32| {
        (0..places)
            .flat_map(|_| even(total, segments))
            .collect::<Vec<_>>()
    };
    let mut begin = |counts: Vec<u64>| script.begin(v.most, counts.into_iter());
    let in_parts = match way {
        Way::Halving => {
            begin(cut(parts, segments).collect());
            halving(script, &group, blocks_of(segments));
            (0..p).map(part_of(segments)).collect()
        }
        Way::Ring => {
            begin(cut(parts, segments).collect());
            match destination {
                Destination::OfAll => ring(script, &group, part_of(segments)),
                Destination::AtRoot | Destination::InParts => {
                    ring_scatter(script, &group, part_of(segments))
                }
            }
            (0..p).map(part_of(segments)).collect()
        }
        Way::Split => write_split(script, rank, parts, v),
        Way::Ordered => write_ordered(script, rank, parts, v),
        Way::Scattered(short) => {
            let each = parts.iter().copied();
            let scattered = Scattered::new(&group, &graph, segments, each, short);
            script.begin(v.most, scattered.cut());
            scattered.write(script);
            (0..p).map(part_of(segments)).collect()
        }
        Way::Circulant => {
            begin(vectors(1));
            reduce(script, 0..segments, &group, &graph, root, |_, _| ());
            vec![]
        }
        Way::ReduceBroadcast => {
            begin(vectors(1));
            reduce_broadcast(script, &group, &graph);
            vec![]
        }
        Way::Census => {
            begin(vectors(census_places(p)));
            census(script, &group, segments);
            vec![]
        }
        Way::Dissemination => {
            begin(vectors(1));
            disseminate(script, &group, segments);
            vec![]
        }
        Way::Doubling => {
            begin(vectors(1));
            recursive_doubling(script, &group, segments);
            vec![]
        }
        Way::DualRoot => {
            begin(vectors(1));
            dual_root(script, &group, segments);
            vec![]
        }
        Way::Gather(tree) => {
            script.begin(v.most, gather_cut(p, tree, total));
            let n = script.cut().blocks() / p;
            spread_vectors(script, &group, &steps, n);
            gather(script, p, rank, tree);
            vec![]
        }
        Way::Tree(shape) | Way::TreeInOrder(shape) => {
            let mut family = TreeNeighbors::default();
            let top = top(way, destination, p, root);
            family.set(shape, p, rank, top);
            begin(vectors(1));
            reduce_tree(script, &family);
            match destination {
                Destination::OfAll => broadcast_tree(script, &family),
                Destination::AtRoot | Destination::InParts => hand_over(script, rank, top, root),
            }
            vec![]
        }
    };
    let Some(last) = in_parts.last() else {
        return in_parts;
    };
    match destination {
        Destination::OfAll if way != Way::Ring => {
            let end = last.end;
            let start = |rank: u32| in_parts.get(rank as usize).map_or(end, |part| part.start);
            spread(script, &group, &steps, |ranks: Range<u32>| {
                once(start(ranks.start)..start(ranks.end))
            });
            script.result(0..end);
        }
        Destination::AtRoot => collect(script, p, rank, root, |rank| {
            in_parts[rank as usize].clone()
        }),
        Destination::OfAll | Destination::InParts => {}
    }
    in_parts
}

/// The rank at the top of a tree.
fn top(way: Way, destination: Destination, p: u32, root: u32) -> u32 {
    match (way, destination) {
        (Way::TreeInOrder(Shape::InOrder), Destination::OfAll) => p / 2,
        (Way::TreeInOrder(_), _) => 0,
        _ => root,
    }
}

/// All ranks from one on, around to the one before it.
fn around(p: u32, first: u32) -> Vec<u16> {
    (0..p).map(|i| ((first + i) % p) as u16).collect()
}

/// In which order the operands of each part come at a rank, if an order is promised.
fn orders(way: Way, p: u32, root: u32, rank: u32) -> Option<Vec<Vec<u16>>> {
    match way {
        Way::Halving | Way::Gather(GatherTree::Halving) => Some(orders_of_halving(p)),
        Way::Ring => Some((0..p).map(|part| around(p, part + 1)).collect()),
        // That up to the own rank: so it differs from rank to rank, and not from run to run.
        Way::Census => Some(vec![around(p, rank + 1); p as usize]),
        Way::Tree(shape) if shape != Shape::InOrder => Some(vec![around(p, root); p as usize]),
        Way::Gather(GatherTree::Ranks)
        | Way::Split
        | Way::Ordered
        | Way::Doubling
        | Way::DualRoot => Some(vec![around(p, 0); p as usize]),
        Way::Tree(_) | Way::TreeInOrder(_) => Some(vec![around(p, 0); p as usize]),
        Way::ReduceBroadcast | Way::Circulant | Way::Scattered(_) | Way::Dissemination => None,
    }
}

fn check_way((way, destination): (Way, Destination), parts: &[u64], variant: &Variant) {
    let (p, total) = (parts.len() as u32, parts.iter().sum());
    let root = variant.rules.seed as u32 % p;
    let mut own = vec![];
    let scripts = scripts(p, |script, rank| {
        write(script, rank, (way, destination, root), parts, variant);
    });
    for rank in 0..p {
        own.push(write(
            &mut Script::default(),
            rank,
            (way, destination, root),
            parts,
            variant,
        ));
    }
    let outcome = carry_out(&scripts, total, variant);
    let first = match destination {
        Destination::OfAll => outcome.result(0),
        Destination::AtRoot | Destination::InParts => vec![],
    };
    // Gathered vectors are reduced in even parts.
    let in_even = even(total, p);
    let parts = if matches!(way, Way::Gather(_)) {
        &in_even
    } else {
        parts
    };
    let halving = orders(way, p, root, 0);
    for rank in 0..p {
        let part = elements(parts, rank);
        let (got, range) = match destination {
            Destination::OfAll => (outcome.result(rank), 0..total),
            Destination::InParts => (
                outcome.blocks(rank, own[rank as usize][rank as usize].clone()),
                part,
            ),
            Destination::AtRoot if rank == root => (outcome.result(rank), 0..total),
            Destination::AtRoot => continue,
        };
        let orders = if way == Way::Census {
            orders(way, p, root, rank)
        } else {
            halving.clone()
        };
        match orders {
            Some(orders) => {
                let expected = in_orders(parts, &orders);
                check(
                    rank,
                    &got,
                    &expected[range.start as usize..range.end as usize],
                    variant,
                );
            }
            // Operands count twice where there are not as many ranks as a power of two.
            None if way == Way::Dissemination => {
                let once = got.into_iter().map(|term| {
                    assert_eq!(term.len(), p.next_power_of_two() as usize);
                    let mut operands = term.to_vec();
                    operands.sort_unstable();
                    operands.dedup();
                    Term::from(operands)
                });
                check_complete(rank, &once.collect::<Vec<_>>(), p, variant);
            }
            None => {
                check_part(rank, &got, range, p, variant);
                assert!(
                    destination != Destination::OfAll || got == first,
                    "rank {rank}, {way:?}, {variant:?}"
                );
            }
        }
    }
}

#[test]
fn every_operand_counts_once_in_the_order_that_is_promised() {
    for p in every_p() {
        let mut rng = rng(p.into());
        let cases: Vec<_> = even_cases(p).chain(uneven_cases(p)).collect();
        // Of many ranks every fourth way, other ones of the next number.
        let (some, every) = match p {
            0..=8 => (16, 1),
            9..=24 => (3, 1),
            _ => (1, 4),
        };
        for way in ways(p).into_iter().skip(p as usize % every).step_by(every) {
            for _ in 0..some {
                let (parts, mut variant) = cases[rng.random_range(0..cases.len())].clone();
                // There are as many vectors as ranks, each in as many blocks.
                let is_large = matches!(way.0, Way::Gather(_)) && p > 24;
                let parts = if is_large { even(5, p) } else { parts };
                variant.segments = [1, 2, 3, 7][rng.random_range(0..4)];
                check_way(way, &parts, &variant);
            }
        }
    }
}

/// Any way to carry something out.
pub fn any_variant() -> impl Strategy<Value = Variant> {
    let most = prop_oneof![1u64..12, Just(u64::MAX)];
    let room = prop_oneof![1usize..4, Just(usize::MAX)];
    let numbers = (1u32..6, most, 2u32..6, 1u32..9, room);
    (numbers, any::<(bool, bool, u64)>()).prop_map(|(numbers, (eager, gradual, seed))| {
        let (segments, most, radix, window, room) = numbers;
        let rules = Rules {
            window,
            eager,
            room,
            late: None,
            gradual,
            seed,
        };
        Variant {
            segments,
            most,
            radix,
            rules,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn every_operand_counts_once_whatever_is_reduced_how(
        sizes in proptest::collection::vec(0u64..7, 1..40),
        which in any::<prop::sample::Index>(),
        mut variant in any_variant(),
    ) {
        let ways = ways(sizes.len() as u32);
        let late = variant.rules.seed as u32 % sizes.len() as u32;
        variant.rules.late = (variant.rules.seed & 64 != 0).then_some(late);
        check_way(ways[which.index(ways.len())], &sizes, &variant);
    }
}

/// A tree of operands, by which operators that round tell the order of pairs.
#[derive(Clone, Debug, PartialEq)]
enum Pairs {
    Own(u32),
    Both(Box<(Pairs, Pairs)>),
}

/// What each rank has in the end, of vectors of one element in one block: messages one after the other.
fn pairs(scripts: &[Script]) -> Vec<Pairs> {
    let p = scripts.len();
    let mut areas: Vec<Vec<Option<Pairs>>> = (0u32..)
        .zip(scripts)
        .map(|(rank, script)| {
            let mut area = vec![None; script.cut().blocks() as usize];
            area[0] = Some(Pairs::Own(rank));
            area
        })
        .collect();
    let mut on_way =
        std::collections::HashMap::<(u32, u32), std::collections::VecDeque<Pairs>>::new();
    let (mut sent, mut taken) = (vec![0; p], vec![0; p]);
    let mut moved = true;
    while std::mem::take(&mut moved) {
        for (rank, script) in scripts.iter().enumerate() {
            while let Some(send) = script.sends().get(sent[rank])
                && send.after as usize <= taken[rank]
            {
                let what = areas[rank][send.blocks.start as usize].clone();
                let queue = on_way.entry((rank as u32, send.to)).or_default();
                queue.push_back(what.expect("something is there"));
                sent[rank] += 1;
                moved = true;
            }
            let Some(take) = script.takes().get(taken[rank]) else {
                continue;
            };
            let came = match take.source {
                Source::Rank(from) if take.clear as usize <= sent[rank] => {
                    let queue = on_way.entry((from, rank as u32)).or_default();
                    queue.pop_front()
                }
                Source::Blocks(first) if take.clear as usize <= sent[rank] => {
                    areas[rank][first as usize].clone()
                }
                Source::Rank(_) | Source::Blocks(_) => None,
            };
            if let Some(came) = came {
                let place = &mut areas[rank][take.blocks.start as usize];
                *place = Some(match (take.join, place.take()) {
                    (Join::Store, _) => came,
                    (Join::Left, Some(there)) => Pairs::Both(Box::new((came, there))),
                    (Join::Right, Some(there)) => Pairs::Both(Box::new((there, came))),
                    (Join::Left | Join::Right, None) => panic!("joins where nothing is"),
                });
                taken[rank] += 1;
                moved = true;
            }
        }
    }
    let ends = (0..p).zip(scripts).zip(areas);
    let end = |((rank, script), area): ((usize, &Script), Vec<Option<Pairs>>)| {
        assert_eq!(
            taken[rank],
            script.takes().len(),
            "rank {rank} waits for ever"
        );
        let result = script
            .results()
            .first()
            .map_or(0, |elements| elements.start);
        area[result as usize].clone().expect("something is there")
    };
    ends.map(end).collect()
}

/// The same operands in the same pairs: the same bits, whatever the operator.
#[test]
fn what_all_ranks_have_is_put_together_in_the_same_pairs() {
    for p in every_p() {
        type Write = fn(&mut Script, &Group);
        let ways: [Write; 5] = [
            |script, group| {
                script.begin(1, once(1));
                recursive_doubling(script, group, 1);
            },
            |script, group| {
                script.begin(1, once(1));
                reduce_broadcast(script, group, &Circulant::new(group.p));
            },
            |script, group| {
                script.begin(1, once(1));
                dual_root(script, group, 1);
            },
            |script, group| {
                script.begin(1, [1, 0, 0].into_iter());
                dual_root(script, group, 3);
            },
            |script, group| {
                script.begin(1, even(1, group.p).into_iter());
                ring(script, group, |rank| rank..rank + 1);
            },
        ];
        for write in ways {
            let scripts = scripts(p, |script, rank| write(script, &Group::all(p, rank)));
            let all = pairs(&scripts);
            assert!(all.iter().all(|one| *one == all[0]), "p = {p}");
        }
    }
}

/// Rank 0, which sends results only, sends the last block before it has the first one. All others have reduced what
/// they get of others before they take in a result.
#[test]
fn blocks_are_broadcast_while_others_are_still_reduced() {
    for p in every_p().filter(|&p| p > 2) {
        let (n, graph) = (17, Circulant::new(p));
        let scripts = scripts(p, |script, rank| {
            script.begin(1, even(n, n as u32).into_iter());
            reduce_broadcast(script, &Group::all(p, rank), &graph);
        });
        let first = &scripts[0].sends()[0];
        assert_eq!(first.blocks, n as u32 - 1..n as u32);
        assert!((first.after as usize) < scripts[0].takes().len(), "p = {p}");
        for script in &scripts[1..] {
            let stores = script.takes().iter().map(|take| take.join == Join::Store);
            assert_eq!(stores.clone().filter(|&store| store).count() as u64, n);
            assert!(stores.is_sorted(), "p = {p}");
        }
    }
}

/// The scripts of a circulant reduce-scatter. Whatever is in one message or is copied at a time is in one vector.
fn write_scattered(parts: &[u64], segments: u32, most: u64, short: u64) -> Vec<Script> {
    let p = parts.len() as u32;
    scripts(p, |script, rank| {
        let group = Group::all(p, rank);
        let each = parts.iter().copied();
        let scattered = Scattered::new(&group, &Circulant::new(p), segments, each, short);
        script.begin(most, scattered.cut());
        scattered.write(script);
        let takes = script.takes().iter().map(|take| &take.blocks);
        let sends = script.sends().iter().map(|send| &send.blocks);
        for elements in takes
            .chain(sends)
            .map(|blocks| script.cut().elements(blocks))
        {
            let total: u64 = parts.iter().sum();
            assert_eq!(elements.start / total, (elements.end - 1) / total);
        }
    })
}

/// What shares a message does not change the order in which anything is reduced.
#[test]
fn the_order_of_a_circulant_reduction_does_not_depend_on_messages() {
    for p in every_p() {
        for (i, (parts, variant)) in uneven_cases(p).enumerate() {
            let segments = [1, 4][i % 2];
            let of = |short, most| {
                let scripts = write_scattered(&parts, segments, most, short);
                let mut variant = variant.clone();
                variant.most = most;
                let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
                let own = |rank| outcome.blocks(rank, part_of(segments)(rank));
                (0..p).flat_map(own).collect::<Vec<_>>()
            };
            check(0, &of(u64::MAX, u64::MAX), &of(0, 1), &variant);
        }
    }
}

/// In n - 1 + q rounds of a message, or two where blocks are in two pieces, every rank sends every block of every other
/// rank once; if one rank has everything, each round has one block.
#[test]
fn a_circulant_reduction_has_few_rounds_and_sends_every_block_once() {
    for p in every_p().filter(|&p| p > 1) {
        let q = Circulant::new(p).q() as u32;
        for n in [1, 2, 5] {
            let mut variant = variants(p, 1, 5).swap_remove(0);
            variant.most = u64::MAX;
            let mut one = vec![0; p as usize];
            one[p as usize / 3] = 10 * u64::from(n);
            for parts in [vec![u64::from(n); p as usize], one] {
                let scripts = write_scattered(&parts, n, u64::MAX, u64::MAX);
                let total: u64 = parts.iter().sum();
                let outcome = carry_out(&scripts, total, &variant);
                for (rank, port) in outcome.ports.iter().enumerate() {
                    assert!(port.sent.len() as u32 <= 2 * (n - 1 + q), "p = {p}");
                    let cut = scripts[rank].cut();
                    let sent: u64 = port.sent.iter().map(|(_, blocks)| cut.count(blocks)).sum();
                    assert_eq!(sent, total - parts[rank], "p = {p}, n = {n}, rank {rank}");
                }
            }
        }
    }
}

#[test]
fn the_fullest_messages_of_halving_are_those_that_its_scripts_send() {
    for p in (1..=40).chain([64, 65, 67, 129]) {
        let parts: Vec<u64> = (0..p)
            .map(|rank| u64::from(rank * rank * 7 % 23 / 9))
            .collect();
        let sent = |rank: u32| {
            let mut script = Script::default();
            script.begin(u64::MAX, parts.iter().copied());
            halving(&mut script, &Group::all(p, rank), std::iter::once);
            let mut sent = std::collections::BTreeMap::<u32, u64>::new();
            for send in script.sends() {
                *sent.entry((send.to + p - rank) % p).or_default() +=
                    script.cut().count(&send.blocks);
            }
            sent
        };
        let mut fullest = std::collections::BTreeMap::<u32, u64>::new();
        for (distance, count) in (0..p).flat_map(sent) {
            let most = fullest.entry(distance).or_default();
            *most = count.max(*most);
        }
        assert_eq!(fullest_rounds(&parts), fullest.values().sum::<u64>(), "{p}");
    }
}
