//! Times, distributions and candidates: pure functions.

use super::choose::candidates;
use super::dist::Dist;
use super::report::Times;
use rondo::algorithm::Algorithm;
use rondo::collective::{Collective, Family};

#[test]
fn times_of_batches() {
    // 1 to 200 in another order: 99 % of them are not above 198.
    let many: Vec<f64> = (0..200).map(|i| f64::from(i * 77 % 200 + 1)).collect();
    for (batches, expected) in [
        (&[7.0][..], [7.0, 7.0, 7.0, 7.0, 7.0]),
        (&[5.0, 1.0, 3.0], [1.0, 3.0, 3.0, 5.0, 5.0]),
        (&[4.0, 1.0, 2.0, 9.0], [1.0, 4.0, 3.0, 9.0, 9.0]),
        (&many, [1.0, 100.5, 100.5, 198.0, 200.0]),
    ] {
        let of = Times::of(batches);
        assert_eq!([of.min, of.avg, of.median, of.p99, of.max], expected);
    }
}

#[test]
fn every_distribution_has_the_same_total() {
    let names = "one,same,random,random-decreasing,random-increasing,random-bucket,spikes,decreasing,increasing,\
        alternating,skewed,two-blocks";
    for name in names.split(',') {
        let dist: Dist = name.parse().expect("a distribution");
        assert_eq!(dist.name(), name);
        for (ranks, total) in [(2, 1), (3, 1000), (4, 0), (7, 1 << 40), (33, 32)] {
            let parts = dist.parts(ranks, total);
            assert_eq!(
                (parts.len(), parts.iter().sum::<u64>()),
                (ranks, total),
                "{name}"
            );
        }
    }
    let parts = |name: &str| name.parse::<Dist>().expect("a distribution").parts(4, 1000);
    assert_eq!(Dist::SAME.parts(4, 1002), [250, 250, 250, 252]);
    assert_eq!(parts("one"), [0, 0, 1000, 0]);
    assert_eq!(parts("two-blocks"), [500, 0, 0, 500]);
    assert!(parts("decreasing").is_sorted_by(|a, b| a > b));
    assert!("steps".parse::<Dist>().is_err());
}

/// A candidate that is another one by another name would have several chances to be the fastest.
#[test]
fn sizes_of_blocks_are_tried_where_calls_are_cut() {
    for collective in Collective::ALL {
        let all = candidates(*collective);
        let sizes = all.iter().filter(|it| it.block_bytes > 0).count();
        let is_cut = collective.algorithms().contains(&Algorithm::Circulant)
            && !collective.family().is_exchange();
        assert_eq!(sizes, if is_cut { 4 } else { 0 }, "{collective:?}: {all:?}");
        // Full-lane is halving over nodes there.
        let is_twin = |family| matches!(family, Family::AllReduction | Family::ScatteredReduction);
        let others = collective.algorithms().len() - usize::from(is_twin(collective.family()));
        assert_eq!(all.len() - sizes, others, "{collective:?}: {all:?}");
    }
}
