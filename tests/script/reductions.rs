//! Reductions of which every rank has the result, whole vectors at a time or around a ring; reduce-scatters of parts of
//! any sizes; and exclusive scans in few reductions.

use super::*;

/// Vectors of so many elements, in so many blocks.
fn vector_cases(p: u32) -> impl Iterator<Item = (u64, u32, Variant)> {
    counts(p)
        .into_iter()
        .enumerate()
        .flat_map(move |(i, count)| {
            let all = variants_for(p, 3000 + count).into_iter();
            all.map(move |variant| (count, [1, 2, 7][i % 3], variant))
        })
}

/// The blocks of an area with so many vectors.
fn vectors(places: u32, count: u64, n: u32) -> impl Iterator<Item = u64> {
    (0..places).flat_map(move |_| even(count, n))
}

/// Numbers in any order, and which of them a rank is.
fn group_of(members: &[u32], rank: u32) -> Option<Group<'_>> {
    let me = members.iter().position(|&member| member == rank)?;
    Some(Group {
        members: Some(members),
        p: members.len() as u32,
        me: me as u32,
    })
}

#[test]
fn a_census_has_every_operand_once_on_every_rank() {
    for p in every_p() {
        let q = Circulant::new(p).q();
        for (count, n, variant) in vector_cases(p) {
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, vectors(census_places(p), count, n));
                census(script, &Group::all(p, rank), n);
            });
            let outcome = carry_out(&scripts, count, &variant);
            for rank in 0..p {
                check_complete(rank, &outcome.result(rank), p, &variant);
                if n == 1 && count > 0 {
                    assert_eq!(outcome.ports[rank as usize].sent.len(), q, "p = {p}");
                }
            }
        }
    }
}

/// The order is that up to the own rank: so it differs from rank to rank, and not from run to run.
#[test]
fn a_census_has_the_operands_of_the_ranks_before_the_own_one() {
    for p in every_p() {
        let variant = &variants(p, 1, 5)[0];
        let scripts = scripts(p, |script, rank| {
            script.begin(variant.most, vectors(census_places(p), 1, 1));
            census(script, &Group::all(p, rank), 1);
        });
        let outcome = carry_out(&scripts, 1, variant);
        for rank in 0..p {
            let order: Vec<u16> = (1..=p).map(|i| ((rank + i) % p) as u16).collect();
            check(
                rank,
                &outcome.result(rank),
                &terms(0..1, |_| &order),
                variant,
            );
        }
    }
}

#[test]
fn a_dissemination_has_every_operand_once_or_twice_on_every_rank() {
    for p in every_p() {
        let q = Circulant::new(p).q();
        for (count, n, variant) in vector_cases(p) {
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, vectors(1, count, n));
                disseminate(script, &Group::all(p, rank), n);
            });
            let outcome = carry_out(&scripts, count, &variant);
            for rank in 0..p {
                let once = outcome.result(rank).into_iter().map(|term| {
                    assert_eq!(term.len(), p.next_power_of_two() as usize);
                    let mut operands = term.to_vec();
                    operands.sort_unstable();
                    operands.dedup();
                    Term::from(operands)
                });
                check_complete(rank, &once.collect::<Vec<_>>(), p, &variant);
                if n == 1 && count > 0 {
                    assert_eq!(outcome.ports[rank as usize].sent.len(), q, "p = {p}");
                }
            }
        }
    }
}

#[test]
fn an_exchange_keeps_the_order_of_the_members_and_gives_all_the_same() {
    let mut rng = rng(31);
    for size in every_p() {
        let p = size + size / 5;
        for (count, n, variant) in vector_cases(size) {
            let members = shuffled((0..p).collect(), &mut rng);
            let members = &members[..size as usize];
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, vectors(1, count, n));
                if let Some(group) = group_of(members, rank) {
                    recursive_doubling(script, &group, n);
                }
            });
            let outcome = carry_out(&scripts, count, &variant);
            let order: Vec<u16> = members.iter().map(|&member| member as u16).collect();
            let expected = terms(0..count, |_| &order);
            for &rank in members {
                check(rank, &outcome.result(rank), &expected, &variant);
            }
        }
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

/// In which order the part of each rank is reduced: around the ring, to the rank itself.
fn orders_of_a_ring(p: u32) -> Vec<Vec<u16>> {
    let order = |part: u32| (1..=p).map(|i| ((part + i) % p) as u16).collect();
    (0..p).map(order).collect()
}

#[test]
fn a_ring_leaves_every_rank_its_part_which_comes_together_at_any_root() {
    for p in every_p() {
        let orders = orders_of_a_ring(p);
        for (parts, variant) in even_cases(p).chain(uneven_cases(p)) {
            let own = part_of(variant.segments);
            let root = variant.rules.seed as u32 % p;
            let begin = |script: &mut Script, rank| {
                script.begin(variant.most, cut(&parts, variant.segments));
                ring_scatter(script, &Group::all(p, rank), &own);
            };
            let expected = in_orders(&parts, &orders);
            let scattered = scripts(p, begin);
            let outcome = carry_out(&scattered, parts.iter().sum(), &variant);
            for rank in 0..p {
                let got = outcome.blocks(rank, own(rank));
                let part = elements(&parts, rank);
                let part = &expected[part.start as usize..part.end as usize];
                check(rank, &got, part, &variant);
            }
            let collected = scripts(p, |script, rank| {
                begin(script, rank);
                collect(script, p, rank, root, &own);
            });
            let outcome = carry_out(&collected, parts.iter().sum(), &variant);
            check(root, &outcome.result(root), &expected, &variant);
        }
    }
}

#[test]
fn a_ring_reduces_every_operand_once_and_in_the_same_order_for_all() {
    for p in every_p() {
        for (parts, variant) in even_cases(p).chain(uneven_cases(p)) {
            let segments = variant.segments;
            let scripts = scripts(p, |script, rank| {
                script.begin(variant.most, cut(&parts, segments));
                ring(script, &Group::all(p, rank), part_of(segments));
            });
            let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
            let expected = in_orders(&parts, &orders_of_a_ring(p));
            for rank in 0..p {
                check(rank, &outcome.result(rank), &expected, &variant);
                let next = (rank + 1) % p;
                let sent = &outcome.ports[rank as usize].sent;
                assert!(sent.iter().all(|&(to, _)| to == next), "p = {p}");
            }
        }
    }
}

#[test]
fn a_reduction_whose_blocks_are_broadcast_is_the_same_for_all() {
    for p in every_p() {
        let graph = Circulant::new(p);
        for n in [1, 2, 5, 17] {
            let some = if p <= 24 { 4 } else { 1 };
            for variant in variants(p, some, 4000 + u64::from(n)) {
                let count = [0, 1, u64::from(n), 2 * u64::from(n) + 1];
                let count = count[variant.rules.seed as usize % count.len()];
                let scripts = scripts(p, |script, rank| {
                    script.begin(variant.most, even(count, n).into_iter());
                    reduce_broadcast(script, &Group::all(p, rank), &graph);
                });
                let outcome = carry_out(&scripts, count, &variant);
                let first = outcome.result(0);
                check_complete(0, &first, p, &variant);
                for rank in 1..p {
                    check(rank, &outcome.result(rank), &first, &variant);
                }
            }
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

// Parts of any sizes.

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

#[test]
fn a_circulant_reduction_leaves_every_rank_its_part_whatever_its_size() {
    for p in every_p() {
        for (i, (parts, variant)) in even_cases(p).chain(uneven_cases(p)).enumerate() {
            let short = [0, 2, u64::MAX][i % 3];
            let segments = [variant.segments, 5][i / 3 % 2];
            let scripts = write_scattered(&parts, segments, variant.most, short);
            let outcome = carry_out(&scripts, parts.iter().sum(), &variant);
            for rank in 0..p {
                let got = outcome.blocks(rank, part_of(segments)(rank));
                assert_eq!(got.len() as u64, parts[rank as usize]);
                let sorted = got.iter().map(|term| {
                    let mut sorted = term.to_vec();
                    sorted.sort_unstable();
                    Term::from(sorted)
                });
                let all: Vec<u16> = (0..p as u16).collect();
                let expected = terms(elements(&parts, rank), |_| &all);
                check(rank, &sorted.collect::<Vec<_>>(), &expected, &variant);
            }
        }
    }
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

// Exclusive scans.

/// No more messages one after the other than doubling has, and a reduction for each but the first.
#[test]
fn an_exclusive_scan_has_as_many_rounds_as_doubling() {
    for p in every_p().filter(|&p| p > 1) {
        let q = p.next_power_of_two().ilog2() as usize;
        let prefix = Prefix::Exclusive;
        let places = prefix.places(p);
        let scripts = scripts(p, |script, rank| {
            script.begin(1, repeat_n(1, places as usize));
            doubling(script, p, rank, 1, prefix);
        });
        for (rank, script) in scripts.iter().enumerate() {
            let from_ranks = |take: &&Take| matches!(take.source, Source::Rank(_));
            let received = script.takes().iter().filter(from_ranks).count();
            assert!(received <= q && script.sends().len() <= q, "p = {p}");
            let joins = script
                .takes()
                .iter()
                .filter(|take| take.join != Join::Store);
            if places == 2 {
                // One more where the own vector is put behind what has come.
                assert!(joins.count() <= q, "p = {p}, rank {rank}");
            }
        }
    }
    let few: Vec<u32> = (3..=32)
        .filter(|&p| Prefix::Exclusive.places(p) == 2)
        .collect();
    let expected = [3..=4, 5..=7, 9..=13, 17..=25].into_iter().flatten();
    assert_eq!(few, expected.collect::<Vec<_>>());
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
