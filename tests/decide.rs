//! Who carries a broadcast out: a pure decision on what every rank knows.

use proptest::prelude::*;
use rondo::config::{Algorithm, Config};
use rondo::decide::{Choice, Facts, Why, bcast};
use rondo::model::{BLOCK_BYTES_MAX, BLOCKS_MAX, Model};

const NODES: Facts = Facts {
    p: 8,
    one_node: false,
    eager_bytes: 16 << 10,
};
const NODE: Facts = Facts {
    one_node: true,
    ..NODES
};

fn config(change: impl FnOnce(&mut Config)) -> Config {
    let mut config = Config::default();
    change(&mut config);
    config
}

#[test]
fn auto_takes_three_ranks_on_several_nodes_from_32_kib_on() {
    let config = Config::default();
    let few = Facts { p: 2, ..NODES };
    assert_eq!(bcast(few, 1 << 20, &config), Choice::Host(Why::FewRanks));
    assert_eq!(bcast(NODES, 0, &config), Choice::Host(Why::Empty));
    assert_eq!(bcast(NODES, 32767, &config), Choice::Host(Why::Small));
    let three = Facts { p: 3, ..NODES };
    let choice = bcast(three, 32768, &config);
    assert!(
        matches!(choice, Choice::Circulant { why: Why::Auto, .. }),
        "{choice:?}"
    );
    assert_eq!(bcast(NODE, 1 << 30, &config), Choice::Host(Why::OneNode));
}

#[test]
fn a_number_for_the_minimum_holds_within_a_node_as_well() {
    let config = config(|c| c.bcast_min_bytes = Some(1000));
    assert_eq!(bcast(NODE, 999, &config), Choice::Host(Why::Small));
    let choice = bcast(NODE, 1000, &config);
    assert!(
        matches!(choice, Choice::Circulant { why: Why::Auto, .. }),
        "{choice:?}"
    );
}

#[test]
fn a_named_algorithm_is_used_for_every_size() {
    let why = Why::Configured;
    let circulant = config(|c| (c.bcast, c.block_bytes) = (Algorithm::Circulant, 100));
    assert_eq!(
        bcast(NODE, 1, &circulant),
        Choice::Circulant { blocks: 1, why }
    );
    assert_eq!(
        bcast(NODE, 1001, &circulant),
        Choice::Circulant { blocks: 11, why }
    );
    let binomial = config(|c| c.bcast = Algorithm::Binomial);
    assert_eq!(
        bcast(NODE, 1 << 30, &binomial),
        Choice::Binomial { blocks: 1, why }
    );
    // Longer messages do not exist in MPI's C bindings.
    assert_eq!(
        bcast(NODE, (1 << 30) + 1, &binomial),
        Choice::Binomial { blocks: 2, why }
    );
    let host = config(|c| c.bcast = Algorithm::Host);
    assert_eq!(bcast(NODES, 1 << 20, &host), Choice::Host(why));
    let off = config(|c| c.enabled = false);
    assert_eq!(bcast(NODES, 1 << 20, &off), Choice::Host(Why::Off));
}

/// The best number of blocks by trying them all, against the closed form. The model that is tried
/// here has a costly start, so that blocks are longer than what any host sends eagerly.
#[test]
fn the_number_of_blocks_is_the_best_one_of_the_model() {
    for (p, bytes) in [
        (3u32, 1u64 << 20),
        (8, 1 << 22),
        (33, 1 << 24),
        (1152, 400 << 20),
    ] {
        let model = Model {
            alpha_us: 500.0,
            beta_ns_per_kb: 100.0,
        };
        let q = f64::from(p).log2().ceil();
        let time = |n: u32| {
            let block_us = bytes as f64 / f64::from(n) / 1024.0 * 0.1;
            (f64::from(n) - 1.0 + q) * (500.0 + block_us)
        };
        let best = (1..5000)
            .min_by(|&a, &b| time(a).total_cmp(&time(b)))
            .unwrap();
        let eager = bytes.div_ceil(16 << 10).min(512) as u32;
        let n = model.blocks(p, bytes, 16 << 10);
        let fine = n >= eager && (best <= eager || time(n) <= time(best) * 1.001);
        assert!(fine, "p = {p}, {bytes} bytes: {n} blocks, best {best}");
    }
}

proptest! {
    /// Whatever is asked for: no empty block, none too long for a message, not too many.
    #[test]
    fn blocks_are_sensible(
        p in 3u32..1 << 31, bytes in 1u64..1 << 50, alpha_us in 0.0..1e6, beta_ns_per_kb in 0.0..1e9,
        block_bytes in 0u64..1 << 30, named in any::<bool>(),
    ) {
        let config = config(|c| {
            (c.alpha_us, c.beta_ns_per_kb, c.block_bytes) = (alpha_us, beta_ns_per_kb, block_bytes);
            c.bcast = if named { Algorithm::Circulant } else { Algorithm::Binomial };
        });
        let (Choice::Circulant { blocks, .. } | Choice::Binomial { blocks, .. }) =
            bcast(Facts { p, ..NODES }, bytes, &config) else { panic!("not the host") };
        prop_assert!(blocks >= 1 && u64::from(blocks) <= bytes);
        prop_assert!(bytes.div_ceil(u64::from(blocks)) <= BLOCK_BYTES_MAX);
        let needed = bytes.div_ceil(BLOCK_BYTES_MAX);
        prop_assert!(u64::from(blocks) <= needed.max(u64::from(BLOCKS_MAX)));
    }
}
