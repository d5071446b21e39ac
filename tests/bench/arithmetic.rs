//! Statistics, guidelines and distributions: pure functions.

use super::choose::candidates;
use super::dist::Dist;
use super::guidelines::{TOLERANCE, check};
use super::report::Row;
use super::times::Times;
use rondo::algorithm::Algorithm;
use rondo::collective::{Collective, Family};

#[test]
fn times_of_batches() {
    let one = Times::of(&[7.0]);
    assert_eq!(
        (one.min, one.avg, one.median, one.p99, one.max),
        (7.0, 7.0, 7.0, 7.0, 7.0)
    );
    let even = Times::of(&[4.0, 1.0, 2.0, 9.0]);
    assert_eq!(
        (even.min, even.avg, even.median, even.p99, even.max),
        (1.0, 4.0, 3.0, 9.0, 9.0)
    );
    // 1 to 200 in another order: 99 % of them are not above 198.
    let many: Vec<f64> = (0..200).map(|i| f64::from(i * 77 % 200 + 1)).collect();
    let many = Times::of(&many);
    assert_eq!(
        (many.min, many.avg, many.median, many.p99, many.max),
        (1.0, 100.5, 100.5, 198.0, 200.0)
    );
    assert_eq!(Times::of(&[5.0, 1.0, 3.0]).median, 3.0);
}

/// A row whose times are all the same.
fn row(collective: &str, dist: Option<&str>, total: u64, host: f64, rondo: f64) -> Row {
    Row {
        collective: collective.into(),
        dist: dist.map(Into::into),
        op: None,
        size: total,
        total,
        calls: 1,
        host: Times::of(&[host]),
        rondo: Times::of(&[rondo]),
        ratio: host / rondo,
        root: None,
        predicted: None,
        local: None,
        by: "host".into(),
    }
}

#[test]
fn a_broadcast_is_compared_with_both_of_its_halves() {
    let rows = [
        row("bcast", None, 100, 33.0, 10.0),
        row("scatterv", Some("same"), 100, 20.0, 8.0),
        row("allgatherv", Some("same"), 100, 10.0, 12.0),
    ];
    let found = check(&rows);
    assert_eq!(found.len(), 1, "{found:?}");
    let it = &found[0];
    assert_eq!(
        (&*it.name, &*it.dist, it.total),
        ("bcast <= scatterv + allgatherv", "same", 100)
    );
    assert_eq!((it.host, it.rondo), (33.0 / 30.0, 0.5));
    // A tenth more is still within what chance does.
    assert!(it.host <= TOLERANCE);
    assert!(
        check(&[
            row("bcast", None, 100, 33.1, 1.0),
            rows[1].clone(),
            rows[2].clone()
        ])[0]
            .host
            > TOLERANCE
    );
    assert!(check(&rows[..2]).is_empty(), "half of what is needed");
}

#[test]
fn distributions_are_compared_with_themselves() {
    let rows = [
        row("gatherv", Some("same"), 64, 1.0, 4.0),
        row("gatherv", Some("one"), 64, 3.0, 4.0),
        row("allgatherv", Some("one"), 64, 2.0, 2.0),
        row("gather", None, 64, 5.0, 6.0),
        row("allgather", None, 64, 5.0, 6.0),
    ];
    let found: Vec<_> = check(&rows)
        .into_iter()
        .map(|it| (it.name, it.dist, it.host, it.rondo))
        .collect();
    let expected = [
        ("gatherv <= allgatherv".into(), "one".into(), 1.5, 2.0),
        ("gather <= gatherv".into(), "same".into(), 5.0, 1.5),
    ];
    assert_eq!(found, expected);
}

/// A scan has one operand more than an exclusive one, and may take the time to reduce it.
#[test]
fn a_scan_is_compared_with_an_exclusive_one_and_a_reduction_on_a_rank() {
    let exscan = |total, local| Row {
        local,
        ..row("exscan", None, total, 10.0, 8.0)
    };
    let scan = row("scan", None, 200, 18.0, 6.0);
    let found = check(&[scan.clone(), exscan(200, Some(2.0))]);
    assert_eq!(found.len(), 1, "{found:?}");
    let it = &found[0];
    assert_eq!(it.name, "scan <= exscan + reduce_local");
    assert_eq!((it.host, it.rondo), (1.5, 0.6));
    // Between two sizes, that of the reduction is on a line too: 200 is halfway from 100 to 400, as 4 from 2 to 8.
    let found = check(&[scan.clone(), exscan(100, Some(2.0)), exscan(400, Some(8.0))]);
    assert!((found[0].host - 18.0 / 14.0).abs() < 1e-9, "{found:?}");
    assert!(
        check(&[scan, exscan(200, None)]).is_empty(),
        "half of what is needed"
    );
}

/// And with a broadcast, which has none.
#[test]
fn reductions_are_compared_by_the_same_operator() {
    let by = |op: &str, collective, us| Row {
        op: Some(op.into()),
        ..row(collective, None, 64, us, us)
    };
    let rows = [
        by("sum", "allreduce", 8.0),
        by("ordered", "allreduce", 9.0),
        by("sum", "reduce", 2.0),
        by("ordered", "reduce", 4.0),
        row("bcast", None, 64, 2.0, 2.0),
        by("xor", "reduce", 1.0),
    ];
    let found = check(&rows).into_iter();
    let found: Vec<_> = found
        .map(|it| (it.name, it.op.expect("an operator"), it.host))
        .collect();
    let name = |name: &str| name.to_owned();
    let expected = [
        (name("allreduce <= reduce + bcast"), name("sum"), 2.0),
        (name("allreduce <= reduce + bcast"), name("ordered"), 1.5),
        (name("reduce <= allreduce"), name("sum"), 0.25),
        (name("reduce <= allreduce"), name("ordered"), 4.0 / 9.0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn totals_between_two_sizes_are_on_the_line_through_them() {
    let rows = [
        row("gatherv", Some("same"), 200, 6.0, 6.0),
        row("allgatherv", Some("same"), 100, 2.0, 3.0),
        row("allgatherv", Some("same"), 400, 8.0, 3.0),
        row("allgatherv", Some("same"), 800, 99.0, 99.0),
    ];
    let found = check(&rows);
    assert_eq!(found.len(), 1);
    // The logarithm of 200 is in the middle between those of 100 and 400, as that of 4 is between those of 2 and 8.
    assert!(
        (found[0].host - 6.0 / 4.0).abs() < 1e-9 && (found[0].rondo - 2.0).abs() < 1e-9,
        "{found:?}"
    );
    for total in [99, 801] {
        let outside = row("gatherv", Some("same"), total, 1.0, 1.0);
        assert!(
            check(&[outside, rows[1].clone(), rows[3].clone()]).is_empty(),
            "{total}"
        );
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
