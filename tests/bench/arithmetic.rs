//! Times and candidates: pure functions.

use super::choose::candidates;
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
