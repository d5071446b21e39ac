//! Exchanges are the host's, unless the user says otherwise.

use super::*;
use rondo::decide::TotalExchange;

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
        Choice::Rondo { algorithm, why, .. } => Ok((algorithm, why)),
        Choice::Host(why) => Err(why),
    }
}

#[test]
fn exchanges_are_left_to_the_host() {
    let config = Config::default();
    for collective in ALL {
        for bytes in [8, 8 << 10, 8 << 20] {
            let of = |facts| by(exchange(collective, facts, bytes, &config));
            assert_eq!(of(NODES), Err(Why::Slower));
            assert_eq!(of(full(4, 4)), Err(Why::Slower));
            assert_eq!(of(NODE), Err(Why::OneNode));
            assert_eq!(of(apart(2)), Err(Why::FewRanks));
        }
    }
}

#[test]
fn a_named_algorithm_is_used_for_every_size() {
    for collective in ALL {
        for &algorithm in collective.algorithms() {
            let config = config(|c| c[collective].setting = Setting::Use(algorithm));
            for bytes in [8, 8 << 20] {
                let choice = exchange(collective, NODES, bytes, &config);
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
        c.max_tmp_size = 30_000;
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

    let change = |c: &mut Config| c[Collective::Alltoallv].min_comm_size = Some(8);
    let by_ranks = config(change);
    let of = |facts| by(exchange(Collective::Alltoallv, facts, 0, &by_ranks));
    assert_eq!(of(apart(7)), Err(Why::SmallComm));
    assert_eq!(of(NODES), Ok((Algorithm::Linear, Why::Auto)));
}
