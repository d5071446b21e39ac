//! Reductions of any vector among any number of ranks, by any algorithm, over any network: every operand counts once,
//! all ranks that have the same have it in the same order, and where order is promised, that is the order of ranks.

use super::*;

/// How a vector is reduced.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Halving and what spreads the parts.
    Halving,
    /// Halving, and the parts come to a root.
    HalvingToRoot,
    Ring,
    /// Blocks on the circulant graph, to a root.
    ToRoot,
    ReduceBroadcast,
    Doubling,
    DualRoot,
    /// In the order of ranks, to each rank its part.
    Split,
    /// The same, straight.
    Ordered,
}

const WAYS: [Way; 9] = [
    Way::Halving,
    Way::HalvingToRoot,
    Way::Ring,
    Way::ToRoot,
    Way::ReduceBroadcast,
    Way::Doubling,
    Way::DualRoot,
    Way::Split,
    Way::Ordered,
];

/// The script of a rank, for parts of these sizes.
fn write(script: &mut Script, rank: u32, (way, root): (Way, u32), parts: &[u64], v: &Variant) {
    let (p, segments) = (parts.len() as u32, v.segments);
    let (group, graph) = (Group::all(p, rank), Circulant::new(p));
    let (blocks, part) = (blocks_of(segments), part_of(segments));
    let in_parts = || cut(parts, segments);
    let whole = || even(parts.iter().sum(), segments).into_iter();
    match way {
        Way::Halving => {
            script.begin(v.most, in_parts());
            halving(script, &group, blocks);
            spread(script, &group, &Steps::new(p, v.radix), blocks);
        }
        Way::HalvingToRoot => {
            script.begin(v.most, in_parts());
            halving(script, &group, blocks);
            collect(script, p, rank, root, part);
        }
        Way::Ring => {
            script.begin(v.most, in_parts());
            ring(script, &group, part);
        }
        Way::ToRoot => {
            script.begin(v.most, whole());
            reduce(script, 0..segments, &group, &graph, root, |_, _| ());
        }
        Way::ReduceBroadcast => {
            script.begin(v.most, whole());
            reduce_broadcast(script, &group, &graph);
        }
        Way::Doubling => {
            script.begin(v.most, whole());
            recursive_doubling(script, &group, segments);
        }
        Way::DualRoot => {
            script.begin(v.most, whole());
            dual_root(script, &group, segments);
        }
        Way::Split => {
            let results = write_split(script, rank, parts, v);
            script.result(results[rank as usize].clone());
        }
        Way::Ordered => {
            let results = write_ordered(script, rank, parts, v);
            script.result(results[rank as usize].clone());
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
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn every_operand_counts_once_whatever_is_reduced_how(
        sizes in proptest::collection::vec(0u64..7, 1..40),
        which in 0..WAYS.len(),
        mut variant in any_variant(),
    ) {
        let (p, total) = (sizes.len() as u32, sizes.iter().sum());
        let (way, root) = (WAYS[which], variant.rules.seed as u32 % p);
        variant.rules.late = (variant.rules.seed & 64 != 0).then_some(root);
        let scripts = scripts(p, |script, rank| {
            write(script, rank, (way, root), &sizes, &variant);
        });
        let outcome = carry_out(&scripts, total, &variant);
        match way {
            Way::HalvingToRoot | Way::ToRoot => {
                check_complete(root, &outcome.result(root), p, &variant);
            }
            Way::Split | Way::Ordered => {
                let order: Vec<u16> = (0..p as u16).collect();
                for rank in 0..p {
                    let expected = terms(elements(&sizes, rank), |_| &order);
                    check(rank, &outcome.result(rank), &expected, &variant);
                }
            }
            Way::Halving | Way::Ring | Way::ReduceBroadcast | Way::Doubling | Way::DualRoot => {
                let first = outcome.result(0);
                check_complete(0, &first, p, &variant);
                for rank in 1..p {
                    check(rank, &outcome.result(rank), &first, &variant);
                }
            }
        }
    }
}
