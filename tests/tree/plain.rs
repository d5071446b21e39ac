//! The dynamic programs against the recurrences as they are stated: every split of every range is tried.

use proptest::prelude::*;
use rondo::tree::{Algorithm, Cost, Root};

/// The sizes and times of ranges; i..j includes j.
struct Plain<'a> {
    blocks: &'a [u64],
    cost: &'a Cost,
    /// The bytes below each rank.
    below: Vec<u64>,
    times: Vec<Vec<u64>>,
}

impl<'a> Plain<'a> {
    fn new(blocks: &'a [u64], cost: &'a Cost, time: impl Fn(&Self, usize, usize) -> u64) -> Self {
        let p = blocks.len();
        let below = (0..=p).map(|rank| blocks[..rank].iter().sum()).collect();
        let times = vec![vec![0; p]; p];
        let mut plain = Plain {
            blocks,
            cost,
            below,
            times,
        };
        for i in (0..p).rev() {
            for j in i + 1..p {
                plain.times[i][j] = time(&plain, i, j);
            }
        }
        plain
    }

    /// c(S(i..j)).
    fn message(&self, i: usize, j: usize) -> u64 {
        self.cost.message(self.below[j + 1] - self.below[i])
    }

    fn copy(&self, rank: usize) -> u64 {
        self.cost.copy(self.blocks[rank])
    }

    fn whole(&self) -> u64 {
        self.times[0][self.blocks.len() - 1]
    }
}

/// T, and F for ranges around a given root.
fn optimal(blocks: &[u64], given: Option<usize>, cost: &Cost) -> u64 {
    let time = |t: &Plain, i: usize, j: usize| {
        let may_be = |low: usize, high: usize| {
            given.is_none_or(|root| !(i..=j).contains(&root) || (low..=high).contains(&root))
        };
        let mut times = Vec::new();
        if may_be(i, i) {
            times.push(t.copy(i).max(t.times[i + 1][j]) + t.message(i + 1, j));
        }
        if may_be(j, j) {
            times.push(t.times[i][j - 1] + t.message(i, j - 1) + t.copy(j));
        }
        for k in i..j {
            let ready = t.times[i][k].max(t.times[k + 1][j]);
            if k > i && may_be(i, k) {
                times.push(ready + t.message(k + 1, j));
            }
            if k + 1 < j && may_be(k + 1, j) {
                times.push(ready + t.message(i, k));
            }
        }
        times.into_iter().min().unwrap()
    };
    Plain::new(blocks, cost, time).whole()
}

/// The least time of a binary tree over i..j with this root, in its five cases.
fn binary_at(t: &Plain, i: usize, j: usize, root: usize) -> u64 {
    let mut times = Vec::new();
    if root == i {
        times.push(t.copy(i).max(t.times[i + 1][j]) + t.message(i + 1, j));
        times.extend((i + 1..j).map(|k| {
            let first = t.copy(i).max(t.times[i + 1][k]) + t.message(i + 1, k);
            first.max(t.times[k + 1][j]) + t.message(k + 1, j)
        }));
    } else if root == j {
        times.push(t.times[i][j - 1] + t.message(i, j - 1) + t.copy(j));
        times.extend((i..j - 1).map(|k| {
            let first = t.times[i][k] + t.message(i, k);
            first.max(t.times[k + 1][j - 1]) + t.message(k + 1, j - 1) + t.copy(j)
        }));
    } else {
        let first = t.times[i][root - 1] + t.message(i, root - 1) + t.copy(root);
        times.push(first.max(t.times[root + 1][j]) + t.message(root + 1, j));
    }
    times.into_iter().min().unwrap()
}

fn binary(blocks: &[u64], given: Option<usize>, cost: &Cost) -> u64 {
    let last = blocks.len() - 1;
    let best = |t: &Plain, i, j| (i..=j).map(|root| binary_at(t, i, j, root)).min().unwrap();
    let table = Plain::new(blocks, cost, best);
    match given {
        Some(root) if last > 0 => binary_at(&table, 0, last, root),
        _ => table.whole(),
    }
}

/// Both programs, with a given root and without.
fn check(blocks: &[u64], given: usize, cost: &Cost) {
    type Plainly = fn(&[u64], Option<usize>, &Cost) -> u64;
    let programs = [
        (Algorithm::Optimal, optimal as Plainly),
        (Algorithm::Binary, binary),
    ];
    for (algorithm, plainly) in programs {
        for root in [Root::Given(given), Root::Best] {
            let given = (root != Root::Best).then_some(given);
            let tree = algorithm.tree(blocks, root, cost);
            let at = format!("{algorithm:?} {root:?} {cost:?} {blocks:?}");
            assert_eq!(tree.completion(cost), plainly(blocks, given, cost), "{at}");
        }
    }
}

/// Sizes of different kinds: near to each other, far apart, many of them equal, many empty.
fn sizes(p: usize) -> impl Strategy<Value = Vec<u64>> {
    let few = prop_oneof![Just(0u64), Just(1), Just(40)];
    let gaps = prop_oneof![3 => Just(0u64), 1 => 1..50u64];
    let powers = (0..14u32).prop_map(|n| 1u64 << n);
    prop_oneof![
        prop::collection::vec(1..30u64, 1..p),
        prop::collection::vec(0..3u64, 1..p),
        prop::collection::vec(few, 1..p),
        prop::collection::vec(gaps, 1..p),
        prop::collection::vec(powers, 1..p),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn quick_programs_find_the_times_of_plain_ones(
        blocks in sizes(60),
        root in any::<prop::sample::Index>(),
        alpha in prop_oneof![Just(0u64), 1..20u64, 20..400u64],
        (beta, gamma) in (0..4u64, 0..5u64),
    ) {
        check(&blocks, root.index(blocks.len()), &Cost { alpha, beta, gamma });
    }
}

/// Blocks that tell apart what hardly ever matters; found among millions.
#[test]
fn the_quick_binary_program_is_exact_in_rare_cases() {
    for (blocks, (alpha, beta, gamma)) in [
        // The best place is the first one above which there is nothing to send.
        (&[3, 3, 0, 4, 1, 0, 0, 2, 0][..], (5, 2, 2)),
        (&[17, 0, 4, 0, 9, 3, 0, 4, 0], (30, 3, 3)),
        (&[0, 0, 0, 20, 19, 2, 0, 2, 9, 0], (5, 3, 2)),
        // In the window, a block counts by what its copy is cheaper than its message.
        (&[3, 15, 18, 1, 16, 2, 9, 20, 2], (1, 2, 1)),
    ] {
        check(blocks, 0, &Cost { alpha, beta, gamma });
    }
}
