//! Predictions: rounds and bytes are counted in what ranks really do, and times are those of the formulas.

use rondo::algorithm::Algorithm;
use rondo::collective::Collective;
use rondo::config::Config;
use rondo::decide::shape;
use rondo::model::{Call, Model, Prediction};
use rondo::schedule::{Circulant, Grid, Hypercube, Rounds, Shape, Steps, TreeNeighbors};
use rondo::script::*;
use rondo::tree::{Algorithm as Tree, Cost, Root};
use std::collections::HashMap;
use std::iter::{Once, once};
use std::ops::Range;

const MODEL: Model = Model {
    alpha_us: 10.0,
    gap_us: 1.0,
    beta_ns_per_kb: 1000.0,
};

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 129, 161])
}

/// A call of 36 ranks, to be completed.
const CALL: Call = Call {
    collective: Collective::Alltoall,
    p: 36,
    bytes: 0,
    blocks: 1,
    tree: None,
    radix: 2,
    long_block: u64::MAX,
    asked_at_a_time: 64,
    gamma_ns_per_kb: 0.0,
    placed_bytes: u64::MAX,
    copies_free: false,
};

/// The microseconds that are predicted for it.
fn us_of(algorithm: Algorithm, call: &Call) -> f64 {
    MODEL.predict(algorithm, call).us
}

/// What is predicted of a call.
fn predicted(
    collective: Collective,
    algorithm: Algorithm,
    (p, n, radix): (u32, u32, u32),
    bytes: u64,
) -> Prediction {
    let call = Call {
        collective,
        p,
        bytes,
        blocks: n,
        tree: shape(algorithm, p, 1, &Config::default()),
        radix,
        gamma_ns_per_kb: 500.0,
        ..CALL
    };
    MODEL.predict(algorithm, &call)
}

/// What ranks did: rounds, and the bytes of the one that sent most.
type Counted = (u64, u64);

/// How messages make rounds.
#[derive(Clone, Copy)]
struct Ports {
    /// So many ranks may be sent to in a round,
    ranks: usize,
    /// and so many may send to one.
    senders: usize,
    /// Is what goes to the same rank one message? Blocks of ranks that go around are two runs.
    joined: bool,
}

const ONE: Ports = Ports {
    ranks: 1,
    senders: 1,
    joined: false,
};
const JOINED: Ports = Ports {
    ranks: 1,
    senders: 1,
    joined: true,
};

/// Ranks that carry out scripts in rounds.
struct Ranks<'a> {
    scripts: &'a [Script],
    sent: Vec<usize>,
    taken: Vec<usize>,
    /// Messages that have come, from whom and to whom.
    come: HashMap<(u32, u32), u32>,
}

impl Ranks<'_> {
    /// Takes what can be taken.
    fn take(&mut self) {
        for (rank, script) in (0..).zip(self.scripts) {
            while let Some(take) = script.takes().get(self.taken[rank as usize]) {
                if take.clear as usize > self.sent[rank as usize] {
                    break; // nothing is overwritten
                }
                if let Source::Rank(from) = take.source {
                    let come = self.come.entry((from, rank)).or_default();
                    if *come == 0 {
                        break;
                    }
                    *come -= 1;
                }
                self.taken[rank as usize] += 1;
            }
        }
    }

    /// What leaves in a round.
    fn leave(&mut self, ports: Ports) -> Vec<(u32, u32)> {
        let mut senders = vec![0; self.scripts.len()];
        let mut leaving = Vec::new();
        for (rank, script) in (0..).zip(self.scripts) {
            let mut receivers = Vec::new();
            while let Some(send) = script.sends().get(self.sent[rank as usize]) {
                if send.after as usize > self.taken[rank as usize] {
                    break;
                }
                if !ports.joined || receivers.last() != Some(&send.to) {
                    if receivers.len() == ports.ranks || senders[send.to as usize] == ports.senders
                    {
                        break;
                    }
                    senders[send.to as usize] += 1;
                    receivers.push(send.to);
                }
                self.sent[rank as usize] += 1;
                leaving.push((rank, send.to));
            }
        }
        leaving
    }
}

/// Carries scripts out in which an element is a byte.
fn carry_out(scripts: &[Script], ports: Ports) -> Counted {
    let mut ranks = Ranks {
        scripts,
        sent: vec![0; scripts.len()],
        taken: vec![0; scripts.len()],
        come: HashMap::new(),
    };
    let mut rounds = 0;
    ranks.take();
    while (scripts.iter().zip(&ranks.sent)).any(|(script, &sent)| sent < script.sends().len()) {
        rounds += 1;
        let leaving = ranks.leave(ports);
        assert!(!leaving.is_empty(), "ranks wait for each other");
        for edge in leaving {
            *ranks.come.entry(edge).or_default() += 1;
        }
        ranks.take();
    }
    for (script, &taken) in scripts.iter().zip(&ranks.taken) {
        assert_eq!(taken, script.takes().len(), "everything comes");
    }
    let bytes = |script: &Script| {
        let sends = script.sends().iter();
        sends.map(|send| script.cut().count(&send.blocks)).sum()
    };
    (rounds, scripts.iter().map(bytes).max().unwrap_or(0))
}

fn scripts(p: u32, write: impl Fn(&mut Script, u32)) -> Vec<Script> {
    let script = |rank| {
        let mut script = Script::default();
        write(&mut script, rank);
        script
    };
    (0..p).map(script).collect()
}

fn even(count: u64, n: u32) -> impl Iterator<Item = u64> + Clone {
    (0..n).map(move |i| share(count, n, i))
}

/// The blocks of a range of members, one each.
fn own(members: Range<u32>) -> Once<Range<u32>> {
    once(members)
}

#[track_caller]
fn check(what: &str, at: (u32, u32, u32), prediction: Prediction, counted: Counted) {
    let predicted = (prediction.rounds.expect("rounds"), prediction.sent);
    assert_eq!(
        predicted, counted,
        "{what}, p, n, radix = {at:?}: predicted, and counted"
    );
}

/// Numbers of blocks.
const BLOCKS: [u32; 5] = [1, 2, 3, 7, 20];

/// An all-reduction, and so on, of a part for each rank, or of whole vectors, in one block each.
#[test]
fn reductions_of_parts_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        let bytes = 6 * u64::from(p);
        let at = (p, 1, 2);
        let group = |rank| Group::all(p, rank);
        let all_halving = |script: &mut Script, rank| {
            script.begin(u64::MAX, even(bytes, p));
            halving(script, &group(rank), own);
        };
        let all_ordered = |script: &mut Script, rank| {
            let parts: Vec<u64> = even(bytes, p).collect();
            let shares = Shares::new(&parts, 1);
            script.begin(u64::MAX, shares.cut(rank));
            ordered(script, rank, &shares);
        };
        let all_spread =
            |script: &mut Script, rank| spread(script, &group(rank), &Steps::new(p, 2), own);
        let count = |ports, write: &dyn Fn(&mut Script, u32)| carry_out(&scripts(p, write), ports);
        let expect = |collective, algorithm: Algorithm, counted| {
            let prediction = predicted(collective, algorithm, at, bytes);
            check(algorithm.name(), at, prediction, counted);
        };

        let counted = count(JOINED, &all_halving);
        expect(Collective::ReduceScatter, Algorithm::Halving, counted);
        let counted = count(JOINED, &|script, rank| {
            all_halving(script, rank);
            all_spread(script, rank);
        });
        expect(Collective::Allreduce, Algorithm::Halving, counted);

        let counted = count(ONE, &all_ordered);
        expect(Collective::ReduceScatter, Algorithm::Ordered, counted);
        let counted = count(JOINED, &|script, rank| {
            all_ordered(script, rank);
            all_spread(script, rank);
        });
        expect(Collective::Allreduce, Algorithm::Ordered, counted);
        let all_split = |script: &mut Script, rank| {
            let cut = split_cut(p, rank, |other| once(share(bytes, p, other)));
            script.begin(u64::MAX, cut.into_iter());
            split(script, p, rank, 1);
        };
        let counted = count(JOINED, &all_split);
        expect(Collective::ReduceScatter, Algorithm::Split, counted);
        let counted = count(JOINED, &|script, rank| {
            all_split(script, rank);
            all_spread(script, rank);
        });
        expect(Collective::Allreduce, Algorithm::Split, counted);

        let counted = count(ONE, &|script, rank| {
            all_ordered(script, rank);
            collect(script, p, rank, 0, |rank| rank..rank + 1);
        });
        expect(Collective::Reduce, Algorithm::Ordered, counted);

        let counted = count(ONE, &|script, rank| {
            script.begin(u64::MAX, even(bytes, p));
            ring(script, &group(rank), |rank| rank..rank + 1);
        });
        expect(Collective::Allreduce, Algorithm::Ring, counted);

        let around = |script: &mut Script, rank| {
            script.begin(u64::MAX, even(bytes, p));
            ring_scatter(script, &group(rank), |rank| rank..rank + 1);
        };
        let counted = count(ONE, &around);
        expect(Collective::ReduceScatter, Algorithm::Ring, counted);
        let counted = count(ONE, &|script, rank| {
            around(script, rank);
            collect(script, p, rank, 0, |rank| rank..rank + 1);
        });
        expect(Collective::Reduce, Algorithm::Ring, counted);
        let counted = count(JOINED, &|script, rank| {
            all_halving(script, rank);
            collect(script, p, rank, 0, |rank| rank..rank + 1);
        });
        expect(Collective::Reduce, Algorithm::Halving, counted);
    }
}

/// Who is next to a rank in a tree from rank 0.
fn family(shape: Shape, p: u32, rank: u32) -> TreeNeighbors {
    let mut family = TreeNeighbors::default();
    family.set(shape, p, rank, 0);
    family
}

/// A rank sends every block to each of its children, and its own vector once; no rank has more children than a tree
/// has rounds between two blocks, or twice as many with every other block each.
#[test]
fn trees_have_the_bytes_that_are_predicted_at_the_most() {
    use Algorithm::{
        Binary, Binomial, Chain, Fibonacci, InOrder, Kary, Knomial, Linear, Mesh, TwoTree,
    };
    for p in every_p() {
        for algorithm in [
            Binary, Binomial, Chain, Fibonacci, InOrder, Kary, Knomial, Linear, Mesh, TwoTree,
        ] {
            let (n, bytes) = (6, 60);
            let shape = shape(algorithm, p, 1, &Config::default()).expect("a tree");
            let scripts = |write: fn(&mut Script, &TreeNeighbors)| {
                scripts(p, |script, rank| {
                    script.begin(1, even(bytes, n));
                    write(script, &family(shape, p, rank));
                })
            };
            let sent = |script: &Script| {
                let counts = script.sends().iter();
                counts.map(|send| script.cut().count(&send.blocks)).sum()
            };
            let most = |scripts: &[Script]| scripts.iter().map(sent).max().unwrap_or(0u64);
            let at = (p, n, 2);
            let down = predicted(Collective::Bcast, algorithm, at, bytes);
            let busiest = most(&scripts(broadcast_tree));
            assert!(busiest <= down.sent, "{algorithm:?}, p = {p}: {busiest}");
            let exact = matches!(algorithm, Chain | Linear | Binomial);
            assert!(
                !exact || busiest == down.sent,
                "{algorithm:?}, p = {p}: {busiest}"
            );
            let up = predicted(Collective::Reduce, algorithm, at, bytes);
            assert_eq!(
                up.sent,
                most(&scripts(reduce_tree)),
                "{algorithm:?}, p = {p}"
            );
            assert!(up.us >= down.us);
        }
    }
}

#[test]
fn reductions_of_vectors_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        let (bytes, at) = (5, (p, 1, 2));
        let group = |rank| Group::all(p, rank);
        let count = |places, write: &dyn Fn(&mut Script, u32)| {
            let scripts = scripts(p, |script, rank| {
                script.begin(u64::MAX, (0..places).map(|_| bytes));
                write(script, rank);
            });
            carry_out(&scripts, ONE)
        };
        let expect = |collective, algorithm: Algorithm, counted| {
            let prediction = predicted(collective, algorithm, at, bytes);
            check(algorithm.name(), at, prediction, counted);
        };
        let counted = count(census_places(p), &|script, rank| {
            census(script, &group(rank), 1)
        });
        expect(Collective::Allreduce, Algorithm::Census, counted);
        let counted = count(1, &|script, rank| disseminate(script, &group(rank), 1));
        expect(Collective::Allreduce, Algorithm::Dissemination, counted);
        let counted = count(1, &|script, rank| {
            recursive_doubling(script, &group(rank), 1)
        });
        expect(Collective::Allreduce, Algorithm::Doubling, counted);
        let counted = count(1, &|script, rank| {
            reduce_tree(script, &family(Shape::BINOMIAL, p, rank))
        });
        expect(Collective::Reduce, Algorithm::Binomial, counted);
        for (collective, prefix) in [
            (Collective::Scan, Prefix::Inclusive),
            (Collective::Exscan, Prefix::Exclusive),
        ] {
            let counted = count(prefix.places(p), &|script, rank| {
                doubling(script, p, rank, 1, prefix);
            });
            expect(collective, Algorithm::Doubling, counted);
            for (algorithm, grid) in [
                (Algorithm::Hypercube, Grid::hypercube_around(p)),
                (Algorithm::Mesh, Grid::mesh_around(p)),
            ] {
                let (rounds, sent) = count(GRID_PLACES, &|script, rank| {
                    grid_scan(script, &grid, (p, rank), 1, prefix);
                });
                let said = predicted(collective, algorithm, at, bytes);
                assert_eq!(sent, said.sent, "{algorithm:?}, p = {p}");
                let said = said.rounds.expect("rounds");
                assert!(rounds <= said, "{algorithm:?}, p = {p}: {rounds}");
                assert!(
                    rounds == said || !p.is_power_of_two(),
                    "{algorithm:?}, p = {p}"
                );
            }
        }
    }
}

/// No rank sends more, and one in the middle of many ranks as much. A single block has no more rounds; how many several
/// have depends on which of its children a rank hears first.
#[test]
fn scans_up_and_down_trees_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        for n in BLOCKS {
            let bytes = 2 * u64::from(n);
            for (algorithm, shape, root) in [
                (Algorithm::InOrder, Shape::InOrder, p / 2),
                (Algorithm::TwoTree, Shape::Two, 0),
            ] {
                for (collective, prefix) in [
                    (Collective::Scan, Prefix::Inclusive),
                    (Collective::Exscan, Prefix::Exclusive),
                ] {
                    let at = (p, n, 2);
                    let scripts = scripts(p, |script, rank| {
                        let places = 0..prefix.tree_places();
                        script.begin(u64::MAX, places.flat_map(|_| even(bytes, n)));
                        let mut family = TreeNeighbors::default();
                        family.set(shape, p, rank, root);
                        tree_scan(script, &family, rank, n, prefix);
                    });
                    let (rounds, sent) = carry_out(&scripts, ONE);
                    let said = predicted(collective, algorithm, at, bytes);
                    // Of an odd number of blocks one of two trees has one more.
                    let most = said.sent + bytes.div_ceil(n.into());
                    assert!(sent <= most, "{algorithm:?}, {at:?}: {sent} and {said:?}");
                    assert!(
                        n == 1 || p < 16 || sent >= said.sent,
                        "{algorithm:?}, {at:?}: {sent} and {said:?}"
                    );
                    assert!(
                        n > 1 || Some(rounds) <= said.rounds,
                        "{algorithm:?}, {at:?}: {rounds} and {said:?}"
                    );
                }
            }
        }
    }
}

/// Of a hypercube that is one it is what the circulant graph has.
#[test]
fn exchanges_in_a_grid_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        let bytes = u64::from(p);
        for (algorithm, grid) in [
            (Algorithm::Hypercube, Grid::hypercube(p)),
            (Algorithm::Mesh, Grid::mesh(p)),
        ] {
            let at = (p, 1, 2);
            let scripts = scripts(p, |script, rank| {
                grid_exchange(script, &Group::all(p, rank), &grid, 1, u64::MAX);
            });
            let prediction = predicted(Collective::Alltoall, algorithm, at, bytes);
            check(algorithm.name(), at, prediction, carry_out(&scripts, ONE));
            if algorithm == Algorithm::Hypercube && p.is_power_of_two() {
                let other = predicted(Collective::Alltoall, Algorithm::Circulant, at, bytes);
                assert_eq!(
                    (other.rounds, other.sent),
                    (prediction.rounds, prediction.sent)
                );
                assert!((other.us - prediction.us).abs() < 1e-6);
            }
        }
    }
}

/// Blocks that go ahead of their rounds may be in the way of others, so what is carried out without regard to rounds
/// takes a few more if only one rank may send to another at a time. If all may, nothing comes later than in its round.
#[test]
fn pipelines_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        let graph = Circulant::new(p);
        for n in BLOCKS {
            let at = (p, n, 2);
            let bytes = 2 * u64::from(n);
            let write = |write: &dyn Fn(&mut Script, u32)| {
                scripts(p, |script, rank| {
                    script.begin(u64::MAX, even(bytes, n));
                    write(script, rank);
                })
            };
            let free = |ranks| Ports {
                ranks,
                senders: usize::MAX,
                joined: false,
            };

            let chains = write(&|script, rank| chain(script, p, rank, n, Prefix::Inclusive));
            let prediction = predicted(Collective::Scan, Algorithm::Pipelined, at, bytes);
            check("pipelined", at, prediction, carry_out(&chains, ONE));

            let reductions = write(&|script, rank| {
                reduce(script, 0..n, &Group::all(p, rank), &graph, 0, |_, _| ());
            });
            let prediction = predicted(Collective::Reduce, Algorithm::Circulant, at, bytes);
            let rounds = prediction.rounds.expect("rounds");
            let (most, sent) = carry_out(&reductions, ONE);
            let (least, _) = carry_out(&reductions, free(1));
            assert!(
                (least..=most).contains(&rounds),
                "{at:?}: {least}, {rounds}, {most}"
            );
            assert_eq!(sent, prediction.sent, "{at:?}");

            // Rank 0 sends while it still receives.
            let both = write(&|script, rank| {
                reduce_broadcast(script, &Group::all(p, rank), &graph);
            });
            let prediction = predicted(Collective::Allreduce, Algorithm::ReduceBcast, at, bytes);
            let (least, sent) = carry_out(&both, free(2));
            assert!(
                least <= prediction.rounds.expect("rounds"),
                "{at:?}: {least}"
            );
            assert!(sent <= prediction.sent, "{at:?}: {sent} and {prediction:?}");
            if p > 4 {
                assert!(
                    prediction.sent - sent <= 2 * 2,
                    "{at:?}: {sent} and {prediction:?}"
                );
            }
        }
    }
}

/// As in other pipelines, blocks that go ahead of their rounds may be in the way of others.
#[test]
fn the_rounds_over_two_roots_are_no_more_than_predicted() {
    let free = Ports {
        senders: usize::MAX,
        ..ONE
    };
    for p in every_p() {
        for n in BLOCKS {
            let (at, bytes) = ((p, n, 2), 2 * u64::from(n));
            let scripts = scripts(p, |script, rank| {
                script.begin(u64::MAX, even(bytes, n));
                dual_root(script, &Group::all(p, rank), n);
            });
            let (rounds, sent) = carry_out(&scripts, free);
            let said = predicted(Collective::Allreduce, Algorithm::DualRoot, at, bytes);
            assert_eq!(sent, said.sent, "{at:?}");
            let most = said.rounds.expect("rounds");
            assert!(rounds <= most, "{at:?}: {rounds} and {most}");
            // A block alone has what is said if both trees are full.
            if n == 1 && (p + 2).is_power_of_two() {
                assert_eq!(carry_out(&scripts, ONE).0, most, "{at:?}");
            }
        }
    }
}

#[test]
fn rounds_of_several_messages_are_as_many_as_predicted() {
    for p in every_p() {
        for radix in [2, 3, 5, p.max(2)] {
            let at = (p, 1, radix);
            let steps = Steps::new(p, radix);
            let ports = Ports {
                ranks: radix as usize - 1,
                senders: radix as usize - 1,
                joined: true,
            };
            let spreads = scripts(p, |script, rank| {
                script.begin(u64::MAX, even(3 * u64::from(p), p));
                spread(script, &Group::all(p, rank), &steps, own);
            });
            let prediction = predicted(
                Collective::Allgather,
                Algorithm::Bruck,
                at,
                3 * u64::from(p),
            );
            check("bruck", at, prediction, carry_out(&spreads, ports));
            let gathers = scripts(p, |script, rank| {
                script.begin(u64::MAX, gather_cut(p, GatherTree::Ranks, 3));
                spread_vectors(script, &Group::all(p, rank), &steps, 1);
                gather(script, p, rank, GatherTree::Ranks);
            });
            let prediction = predicted(Collective::Allreduce, Algorithm::Gather, at, 3);
            check("gather", at, prediction, carry_out(&gathers, ports));
            let barriers = scripts(p, |script, rank| {
                script.begin(u64::MAX, (0..=steps.count()).map(|_| 1));
                dissemination(script, &Group::all(p, rank), &steps);
            });
            let (rounds, _) = carry_out(&barriers, ports);
            let prediction = predicted(Collective::Barrier, Algorithm::Dissemination, at, 0);
            check("barrier", at, prediction, (rounds, 0));
            let exchanges = scripts(p, |script, rank| {
                circulant_exchange(script, &Group::all(p, rank), radix, 3, u64::MAX);
            });
            let bytes = 3 * u64::from(p);
            let prediction = predicted(Collective::Alltoall, Algorithm::Circulant, at, bytes);
            check("exchange", at, prediction, carry_out(&exchanges, ports));
        }
    }
}

/// The blocks that every rank sends in the broadcast from a root.
fn broadcast_from(root: u32, graph: &Circulant, rounds: &Rounds, blocks: &mut [u64]) {
    let p = graph.p();
    for rank in 0..p {
        let mut send = vec![0; graph.q()];
        graph.send((rank + p - root) % p, &mut send);
        for (_, k, phase) in rounds.iter() {
            let to = (rank + graph.skips()[k]) % p;
            if to != root && rounds.block(send[k], k, phase).is_some() {
                blocks[rank as usize] += 1;
            }
        }
    }
}

#[test]
fn broadcasts_have_the_rounds_and_bytes_that_are_predicted() {
    for p in every_p() {
        let graph = Circulant::new(p);
        for n in BLOCKS {
            let at = (p, n, 2);
            let rounds = Rounds::new(graph.q(), n);
            let largest = |blocks: &[u64]| blocks.iter().copied().max().unwrap_or(0);

            let mut blocks = vec![0; p as usize];
            broadcast_from(0, &graph, &rounds, &mut blocks);
            let counted = (rounds.count(), 2 * largest(&blocks));
            let bytes = 2 * u64::from(n);
            let prediction = predicted(Collective::Bcast, Algorithm::Circulant, at, bytes);
            check("circulant", at, prediction, counted);

            let cube = Hypercube::new(p, n);
            let sends = |rank| {
                let rounds = 0..cube.rounds();
                let sent = rounds.filter(|&round| cube.transfer(rank, round, true).is_some());
                sent.count() as u64
            };
            let most = (0..p).map(sends).max().unwrap_or(0);
            let prediction = predicted(Collective::Bcast, Algorithm::Hypercube, at, bytes);
            check(
                "hypercube",
                at,
                prediction,
                (cube.rounds().into(), 2 * most),
            );
            if n == 1 {
                let prediction = predicted(Collective::Bcast, Algorithm::Binomial, at, bytes);
                check("binomial", at, prediction, counted);
            }

            blocks.fill(0);
            for root in 0..p {
                broadcast_from(root, &graph, &rounds, &mut blocks);
            }
            let counted = (rounds.count(), 2 * largest(&blocks));
            let bytes = 2 * u64::from(n) * u64::from(p);
            let prediction = predicted(Collective::Allgather, Algorithm::Circulant, at, bytes);
            check("circulant of all", at, prediction, counted);
        }

        let prediction = predicted(Collective::Bcast, Algorithm::Postal, (p, 1, 2), 5);
        let mut tree = TreeNeighbors::default();
        let children = (0..p).map(|rank| {
            tree.set(Shape::Postal(MODEL.latency(5)), p, rank, 0);
            tree.children().len() as u64
        });
        assert_eq!(
            prediction.sent,
            5 * children.max().expect("a rank"),
            "p = {p}"
        );
        assert_eq!(prediction.rounds, None);
    }
}

#[test]
fn trees_of_groups_have_the_bytes_that_are_predicted() {
    for p in every_p() {
        let cost = Cost {
            alpha: 1,
            beta: 0,
            gamma: 0,
        };
        let tree = Tree::Binomial.tree(&vec![3; p as usize], Root::Given(0), &cost);
        let largest = (1..p as usize).map(|rank| tree.size(rank)).max();
        let at = (p, 1, 2);
        let gather = predicted(Collective::Gather, Algorithm::Binomial, at, 3);
        check(
            "gather",
            at,
            gather,
            (tree.completion(&cost), largest.unwrap_or(0)),
        );
        let scatter = predicted(Collective::Scatter, Algorithm::Binomial, at, 3);
        assert_eq!(scatter.sent, 3 * u64::from(p - 1), "p = {p}");
        let straight = predicted(Collective::Gather, Algorithm::Linear, at, 3);
        assert_eq!(straight.rounds, Some(u64::from(p - 1)));
    }
}

/// 36 ranks, by hand.
#[test]
fn times_are_those_of_the_formulas() {
    use Algorithm::{
        Binomial, Bruck, Census, Circulant, Dissemination, Doubling, DualRoot, Halving, Hypercube,
        Linear, Mesh, Pairwise, Pipelined, Relay, Ring,
    };
    use Collective::{
        Allgather, Allreduce, Alltoall, Barrier, Bcast, Exscan, Gather, Reduce, ReduceScatter,
        Scan, Scatter, Scatterv,
    };
    // g' = 3 us, beta is 1 us/KiB, gamma a half.
    let kb = 1024;
    let part = 35.0 / 36.0;
    let tests = [
        // The longest way begins with the root's second message.
        (Bcast, Binomial, 1, 2, 2 * kb, 5.0 * 12.0 + 2.0),
        (Bcast, Circulant, 5, 2, 10 * kb, 10.0 * 5.0 + 6.0 * 7.0),
        (Bcast, Hypercube, 5, 2, 10 * kb, 10.0 * 5.0 + 7.0 * 7.0),
        // Rank 31 has all bits, and so five messages.
        (Bcast, Hypercube, 1, 2, 2 * kb, 5.0 * 12.0),
        // Four levels up and down, the second child last, and over; then three blocks a round.
        (
            Allreduce,
            DualRoot,
            5,
            2,
            10 * kb,
            4.0 * (18.0 + 14.0) + 13.0 + 4.0 * 16.0,
        ),
        (
            Bcast,
            Relay,
            70,
            2,
            70 * kb,
            104.0 * 4.0 - 34.0 * 3.0 + 2.0 * 7.0,
        ),
        (Allgather, Ring, 1, 2, 36 * kb, 35.0 * 11.0),
        (
            Allgather,
            Bruck,
            1,
            6,
            36 * kb,
            (10.0 + 4.0 * 2.0 + 1.0) + (10.0 + 5.0 * 6.0),
        ),
        (ReduceScatter, Halving, 1, 2, 36 * kb, 60.0 + 1.5 * 35.0),
        (Allreduce, Halving, 1, 2, 36 * kb, 120.0 + 2.5 * 36.0 * part),
        (
            Allreduce,
            Doubling,
            1,
            2,
            2 * kb,
            6.0 * 10.0 + 5.0 * 3.0 + 3.0 + 2.0,
        ),
        (Allreduce, Census, 1, 2, 2 * kb, 6.0 * 12.0 + 10.0),
        (Allreduce, Ring, 1, 2, 36 * kb, 35.0 * (11.5 + 11.0)),
        (Reduce, Circulant, 5, 2, 10 * kb, 10.0 * 6.0 + 6.0 * 7.0),
        (Reduce, Binomial, 1, 2, 2 * kb, 5.0 * 13.0 + 5.0),
        (Scan, Pipelined, 4, 2, 8 * kb, 35.0 * 13.0 + 3.0 * 6.0),
        // Rank 35 waits for five others one after the other, and gets six vectors.
        (Scan, Doubling, 1, 2, 2 * kb, 5.0 * 10.0 + 6.0 * 3.0),
        (Scan, Hypercube, 1, 2, 2 * kb, 6.0 * 13.0 + 5.0),
        (Exscan, Mesh, 1, 2, 2 * kb, 10.0 * 13.0 + 5.0),
        // All leave, and then come two at a time.
        (
            Alltoall,
            Pairwise,
            1,
            2,
            36 * kb,
            35.0 * (1.0 + (9.0 + 1.0) / 2.0),
        ),
        // Five messages of six blocks each way, and as many pieces of 0.02 us, in both dimensions.
        (
            Alltoall,
            Mesh,
            1,
            2,
            36 * kb,
            2.0 * (10.0 + 4.0 * 2.0 + 5.0 * 6.12),
        ),
        // Four ranks that are too many, of which one part is on the way at first.
        (Allgather, Doubling, 1, 2, 36 * kb, 6.0 * 10.0 + 2.0 * 35.0),
        (Barrier, Dissemination, 1, 6, 0, 2.0 * (10.0 + 8.0)),
        // The root spends 2 us on a message that it receives,
        (Gather, Linear, 1, 2, kb, 10.0 + 35.0 * 3.0),
        // and 1 us on one that it sends, or what its bytes take.
        (Scatter, Linear, 1, 2, kb / 4, 10.0 + 34.0 + 0.25),
        (Scatterv, Linear, 1, 2, 3 * kb, 10.0 + 35.0 * 3.0),
    ];
    for (collective, algorithm, n, radix, bytes, expected) in tests {
        let got = predicted(collective, algorithm, (36, n, radix), bytes).us;
        assert!(
            (got - expected).abs() < 1e-9,
            "{collective:?}, {algorithm:?}: {got} and {expected}"
        );
    }
}

/// Of 2^d ranks and e more, the last message waits for d + 1 others only if e is more than half of 2^d.
#[test]
fn ranks_that_are_too_many_for_doubling_seldom_cost_two_latencies() {
    for (p, messages) in [
        (2, 1),
        (3, 2),
        (32, 5),
        (36, 6),
        (48, 6),
        (49, 7),
        (63, 7),
        (64, 6),
    ] {
        for collective in [Collective::Allreduce, Collective::Allgather] {
            let got = predicted(collective, Algorithm::Doubling, (p, 1, 2), 0).us;
            let expected = f64::from(messages) * MODEL.alpha_us;
            assert!(
                (got - expected).abs() < 1e-9,
                "{collective:?} of {p}: {got}"
            );
        }
    }
}

/// A message that the network puts into its place is the only one of its sender.
#[test]
fn long_blocks_of_pairs_go_one_after_the_other() {
    let call = Call {
        bytes: 36 << 10,
        placed_bytes: 1 << 10,
        ..CALL
    };
    let us = us_of(Algorithm::Pairwise, &call);
    assert!((us - 35.0 * (10.0 - 2.0 + 1.0)).abs() < 1e-9, "{us}");
    // Short ones are no faster than straight to all: the link is busy with their bytes.
    let call = Call {
        bytes: 36 << 20,
        placed_bytes: u64::MAX,
        ..CALL
    };
    let us = us_of(Algorithm::Pairwise, &call);
    assert!((us - (10.0 + 36.0 * 1024.0)).abs() < 1e-9, "{us}");
}

/// A rank sends a long block up a tree when the one before is there.
#[test]
fn long_blocks_go_up_a_tree_one_after_the_other() {
    let call = Call {
        collective: Collective::Reduce,
        bytes: 4 << 10,
        blocks: 4,
        tree: shape(Algorithm::Chain, 36, 1, &Config::default()),
        placed_bytes: 1 << 10,
        ..CALL
    };
    let us = us_of(Algorithm::Chain, &call);
    assert!(
        (us - (35.0 + 3.0) * (10.0 - 2.0 + 1.0)).abs() < 1e-9,
        "{us}"
    );
}

/// Sizes, an allreduce, and blocks.
#[test]
fn an_exchange_of_blocks_of_any_sizes_waits_for_an_allreduce() {
    for p in [3, 36, 64] {
        let at = (p, 1, 2);
        let bytes = u64::from(p) << 10;
        let of = |collective, algorithm, bytes| predicted(collective, algorithm, at, bytes).us;
        let exchange = |bytes| of(Collective::Alltoall, Algorithm::Circulant, bytes);
        let allreduce = of(Collective::Allreduce, Algorithm::Doubling, 8);
        let expected = exchange(8 * u64::from(p)) + allreduce + exchange(bytes);
        let got = of(Collective::Alltoallv, Algorithm::Circulant, bytes);
        assert!((got - expected).abs() < 1e-9, "{p}: {got} and {expected}");
    }
}

/// All packets that a rank sends share its link, where the network puts long ones into their places: 35 blocks at the
/// root, 15 at the rank with half of 32, and so on.
#[test]
fn long_packets_of_a_scatter_are_there_together() {
    let call = Call {
        collective: Collective::Scatter,
        bytes: 4 << 10,
        placed_bytes: 4096,
        copies_free: true,
        ..CALL
    };
    let us = |call: &Call| us_of(Algorithm::Binomial, call);
    // A receiver spends no time on them, which would be 2 us.
    let expected = 5.0 * 8.0 + f64::from(35 + 15 + 7 + 3 + 1) * 4.0;
    let got = us(&call);
    assert!((got - expected).abs() < 1e-9, "{got} and {expected}");
    let gather = Call {
        collective: Collective::Gather,
        ..call
    };
    assert!(us(&gather) < expected);
}

/// Each of the six rounds of the search takes a message. Then the packet of the last four of 36 ranks has to come. The
/// root spends 2 us on each of the others. A root that scatters knows all sizes.
#[test]
fn a_gather_by_the_adaptive_tree_waits_for_its_search() {
    let of = |collective, algorithm, p, bytes| {
        let call = Call {
            collective,
            p,
            bytes,
            ..CALL
        };
        MODEL.predict(algorithm, &call)
    };
    let six = of(Collective::Gatherv, Algorithm::Adaptive, 36, 1 << 10);
    let passed_on_us = 6.0 * 1.5 * 1.024;
    let expected = 6.0 * 10.0 + (10.0 + 5.0 * 2.0) + 35.0 + passed_on_us;
    assert!((six.us - expected).abs() < 1e-9, "{six:?}");
    // The last seven of 39 ranks are a group of four, one of two, and one rank.
    let more = of(Collective::Gatherv, Algorithm::Adaptive, 39, 1 << 10);
    assert!((more.us - expected - 3.0 - 2.0 * 10.0).abs() < 1e-9);
    assert_eq!([six.rounds, more.rounds], [Some(7), Some(9)]);
    for p in every_p() {
        let q = u64::from(p.next_power_of_two().ilog2());
        for bytes in [0, 8, 1 << 10] {
            let found = of(Collective::Gather, Algorithm::Adaptive, p, bytes);
            let known = of(Collective::Gather, Algorithm::Binomial, p, bytes);
            assert_eq!(found.sent, known.sent);
            assert!(found.rounds >= Some(q + q.min(1)) && found.rounds <= Some(2 * q));
            let link_us = (u64::from(p - 1) * bytes) as f64 / 1024.0;
            let least_us = (q + q.min(1)) as f64 * 10.0 + link_us;
            let most_us = 2.0 * q as f64 * 10.0 + known.us;
            let in_bounds = found.us > least_us - 1e-9 && found.us < most_us + 1e-9;
            assert!(in_bounds, "p = {p}: {found:?}, {known:?}");
            let scattered = [Algorithm::Adaptive, Algorithm::Binomial]
                .map(|algorithm| of(Collective::Scatter, algorithm, p, bytes));
            assert_eq!(scattered[0], scattered[1]);
        }
    }
}

/// Where copies are free, an exchange that packs blocks takes its messages alone; the others take what they took.
#[test]
fn free_copies_save_an_exchange_its_packing() {
    let us = |algorithm, bytes, copies_free| {
        let call = Call {
            bytes,
            copies_free,
            ..CALL
        };
        us_of(algorithm, &call)
    };
    for algorithm in [Algorithm::Circulant, Algorithm::Hypercube, Algorithm::Mesh] {
        let saved = |bytes| us(algorithm, bytes, false) - us(algorithm, bytes, true);
        assert!(saved(36) > 0.1, "{algorithm:?}: {}", saved(36));
        assert!((saved(36) - saved(36 << 10)).abs() < 1e-6, "{algorithm:?}");
    }
    for algorithm in [Algorithm::Pairwise, Algorithm::Linear] {
        let (taken, free) = (us(algorithm, 36, false), us(algorithm, 36, true));
        assert_eq!(taken, free, "{algorithm:?}");
    }
    // Without bytes what is left are the messages of the rounds.
    let rounds = Steps::new(36, 2).rounds().count() as f64;
    let messages_us = us(Algorithm::Circulant, 0, true);
    assert!(
        (messages_us - rounds * MODEL.alpha_us).abs() < 1e-9,
        "{messages_us}"
    );
}

/// The root of a gather asks for long blocks, so many in a round trip, if they are more than that.
#[test]
fn a_root_that_asks_for_few_blocks_at_a_time_waits_for_more_round_trips() {
    let us = |p, asked_at_a_time| {
        let call = Call {
            collective: Collective::Gather,
            p,
            bytes: 1,
            long_block: 1,
            asked_at_a_time,
            ..CALL
        };
        us_of(Algorithm::Linear, &call)
    };
    assert_eq!(us(36, 35), us(36, 64));
    let expected = MODEL.alpha_us + 2.0 * MODEL.alpha_us * 35.0 / 4.0;
    assert!((us(36, 4) - expected).abs() < 1e-9, "{}", us(36, 4));
}

/// Rank 1 of three is at the top: it gets two vectors, of which the second one is busy for 2 us more, and sends two.
#[test]
fn the_root_of_a_scan_in_order_is_in_the_middle() {
    for collective in [Collective::Scan, Collective::Exscan, Collective::Allreduce] {
        let prediction = predicted(collective, Algorithm::InOrder, (3, 1, 2), 1 << 10);
        let expected = 11.5 + 3.5 + 11.0 + 1.0;
        assert!((prediction.us - expected).abs() < 1e-9, "{prediction:?}");
        assert_eq!(prediction.rounds, Some(4));
    }
}
