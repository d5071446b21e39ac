//! Exchanges are the host's, unless they are of short blocks on several nodes, or the user says otherwise.

use super::*;
use rondo::decide::{Problem, TotalExchange};

fn exchange(collective: Collective, facts: Facts, bytes: u64, config: &Config) -> Choice {
    let knows = collective.family().knows_bytes();
    let context = Context {
        collective,
        facts,
        config,
    };
    let bytes = knows.then_some(bytes);
    TotalExchange { context, bytes }.choose()
}

const ALL: [Collective; 3] = [
    Collective::Alltoall,
    Collective::Alltoallv,
    Collective::Alltoallw,
];

fn by(choice: Choice) -> Result<(Algorithm, Why), Why> {
    match choice {
        Choice::Rondo(method) => Ok((method.algorithm, method.why)),
        Choice::Host(why) => Err(why),
    }
}

#[test]
fn a_linear_exchange_goes_over_nodes_where_that_is_asked_for_and_there_is_memory() {
    let form = |hierarchy, most, collective| {
        let config = config(|c| {
            c[collective].setting = Setting::Use(Algorithm::Linear);
            c.hierarchy = hierarchy;
            c.max_tmp_size = most;
        });
        match exchange(collective, full(4, 4), 16 << 10, &config) {
            Choice::Rondo(method) => (method.form, method.why),
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let asked = |form| (form, Why::Configured);
    let regular = |hierarchy, most| form(hierarchy, most, Collective::Alltoall);
    for (hierarchy, over) in [
        (Hierarchy::Leader, LEADERS),
        (Hierarchy::Lanes, Form::Nodes { lanes: 2 }),
    ] {
        assert_eq!(regular(hierarchy, u64::MAX), asked(over));
        // Not as it was asked for.
        assert_eq!(regular(hierarchy, 16 << 10), (Form::Flat, Why::Memory));
        let irregular = form(hierarchy, 16 << 10, Collective::Alltoallv);
        assert_eq!(irregular, asked(Form::Flat));
    }
    for hierarchy in [Hierarchy::Flat, Hierarchy::Auto] {
        assert_eq!(regular(hierarchy, 16 << 10), asked(Form::Flat));
    }
}

fn over(lanes: u32) -> Form {
    Form::Nodes { lanes }
}

/// Eight nodes of four ranks, but for one of two.
fn two_ranks_short() -> Facts {
    Facts {
        narrowest: 2,
        p: 30,
        ..full(8, 4)
    }
}

/// As many lanes as are asked for, or as the smallest node has ranks. With one for each rank of each node, blocks are
/// where they arrive, which takes less memory.
#[test]
fn a_linear_exchange_goes_over_as_many_lanes_as_are_asked_for() {
    let form = |facts: Facts, lanes, most| {
        let config = config(|c| {
            c[Collective::Alltoall].setting = Setting::Use(Algorithm::Linear);
            (c.hierarchy, c.lanes, c.max_tmp_size) = (Hierarchy::Lanes, lanes, most);
        });
        match exchange(
            Collective::Alltoall,
            facts,
            u64::from(facts.p) << 10,
            &config,
        ) {
            Choice::Rondo(method) => method.form,
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let uneven = two_ranks_short();
    for (facts, asked, lanes) in [
        (full(8, 4), 0, 1),
        (full(8, 4), 3, 3),
        (full(8, 4), 64, 4),
        (uneven, 64, 2),
    ] {
        assert_eq!(form(facts, asked, u64::MAX), over(lanes));
    }
    let most = 300 << 10;
    assert_eq!(form(full(8, 4), 4, most), over(4));
    assert_eq!(form(full(8, 4), 3, most), Form::Flat);
    assert_eq!(form(full(1, 8), 4, u64::MAX), Form::Flat);
}

/// Whatever is said of hierarchies.
#[test]
fn a_full_lane_exchange_has_a_lane_for_every_rank_where_there_are_lanes_and_memory() {
    let of = |facts: Facts, hierarchy, most| {
        let config = config(|c| {
            c[Collective::Alltoall].setting = Setting::Use(Algorithm::FullLane);
            (c.hierarchy, c.max_tmp_size) = (hierarchy, most);
        });
        let bytes = u64::from(facts.p) << 10;
        match exchange(Collective::Alltoall, facts, bytes, &config) {
            Choice::Rondo(method) => (method.algorithm, method.form, method.why),
            Choice::Host(why) => panic!("{why:?}"),
        }
    };
    let uneven = two_ranks_short();
    let (asked, linear) = (Why::Configured, Algorithm::Linear);
    for hierarchy in [Hierarchy::Auto, Hierarchy::Flat, Hierarchy::Leader] {
        let most = 300 << 10;
        let full_lane = |lanes| (Algorithm::FullLane, over(lanes), asked);
        assert_eq!(of(full(8, 4), hierarchy, most), full_lane(4));
        assert_eq!(of(uneven, hierarchy, u64::MAX), full_lane(2));
        let (by, _, why) = of(uneven, hierarchy, most);
        assert_eq!((by, why), (linear, Why::Memory));
        for facts in [full(8, 1), full(1, 8)] {
            let (by, form, why) = of(facts, hierarchy, u64::MAX);
            assert_eq!((by, form, why), (linear, Form::Flat, Why::NoLanes));
        }
    }
}

#[test]
fn a_named_algorithm_is_used_for_every_size() {
    for collective in ALL {
        for &algorithm in collective.algorithms() {
            let config = config(|c| c[collective].setting = Setting::Use(algorithm));
            for bytes in [8, 8 << 20] {
                let facts = match algorithm == Algorithm::FullLane {
                    true => full(2, 4),
                    false => NODES,
                };
                let choice = exchange(collective, facts, bytes, &config);
                assert_eq!(by(choice), Ok((algorithm, Why::Configured)));
            }
        }
    }
}

/// The circulant graph needs memory for the blocks of others.
#[test]
fn blocks_for_which_there_is_no_memory_go_straight() {
    let change = |c: &mut Config| {
        c[Collective::Alltoall].setting = Setting::Use(Algorithm::Circulant);
        c.max_tmp_size = 50_000;
    };
    let config = config(change);
    let of = |bytes| by(exchange(Collective::Alltoall, NODES, bytes, &config));
    assert_eq!(of(10_000), Ok((Algorithm::Circulant, Why::Configured)));
    assert_eq!(of(10_008), Ok((Algorithm::Pairwise, Why::Memory)));
    assert_eq!(of(u64::MAX), Ok((Algorithm::Pairwise, Why::Memory)));
}

#[test]
fn limits_say_from_where_on_exchanges_are_rondos() {
    let change = |c: &mut Config| c[Collective::Alltoall].min_bytes = Some(1000);
    let by_bytes = config(change);
    let of = |facts, bytes| by(exchange(Collective::Alltoall, facts, bytes, &by_bytes));
    assert_eq!(of(NODES, 999), Err(Why::Small));
    // Where messages take long to send, few of them: as many ranks have short blocks; and long ones one at a time.
    assert_eq!(of(apart(256), 2560), Ok((Algorithm::Circulant, Why::Auto)));
    assert_eq!(of(NODES, 64 << 10), Ok((Algorithm::Linear, Why::Auto)));
    assert_eq!(of(NODES, 64 << 20), Ok((Algorithm::Pairwise, Why::Auto)));
}
