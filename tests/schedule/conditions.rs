//! The four conditions that make a broadcast right, as the module documentation numbers them.

use proptest::prelude::*;
use rondo::schedule::Circulant;

use super::{from, large_ps, recv, rows, send, some_ranks, to};

/// Condition 3: q different blocks in every phase, the baseblock being the one of this phase.
pub fn receives_new_blocks(graph: &Circulant, v: u32, recv: &[i8]) -> bool {
    let (b, q) = (graph.baseblock(v) as i8, graph.q() as i8);
    let mut got = recv.to_vec();
    let mut wanted: Vec<i8> = (-q..0).filter(|&entry| v == 0 || entry != b - q).collect();
    wanted.extend((v > 0).then_some(b));
    got.sort_unstable();
    got == wanted && (v == 0 || recv[graph.home(v)] == b)
}

/// Condition 4: what it sends in round k it has by then.
pub fn sends_what_it_has(graph: &Circulant, v: u32, recv: &[i8], send: &[i8]) -> bool {
    let old = graph.baseblock(v) as i8 - graph.q() as i8;
    send.iter().enumerate().all(|(k, entry)| match v {
        0 => *entry == k as i8,
        _ => *entry == old || recv[..k].contains(entry),
    })
}

/// All four conditions at one rank and its neighbours.
fn hold_at(graph: &Circulant, v: u32) -> Result<(), String> {
    let p = graph.p();
    let (mine, sent) = (recv(graph, v), send(graph, v));
    for k in 0..graph.q() {
        if mine[k] != send(graph, from(graph, v, k))[k] {
            return Err(format!("condition 1 at {v} of {p}, round {k}"));
        }
        if sent[k] != recv(graph, to(graph, v, k))[k] {
            return Err(format!("condition 2 at {v} of {p}, round {k}"));
        }
    }
    if !receives_new_blocks(graph, v, &mine) {
        return Err(format!("condition 3 at {v} of {p}: {mine:?}"));
    }
    if !sends_what_it_has(graph, v, &mine, &sent) {
        return Err(format!(
            "condition 4 at {v} of {p}: has {mine:?}, sends {sent:?}"
        ));
    }
    Ok(())
}

#[test]
fn hold_for_all_ranks_of_every_p_to_2048() {
    for p in 1..=2048 {
        let graph = Circulant::new(p);
        let (recvs, sends) = (rows(&graph, recv), rows(&graph, send));
        for v in 0..p {
            let (mine, sent) = (&recvs[v as usize], &sends[v as usize]);
            for k in 0..graph.q() {
                let (source, target) = (from(&graph, v, k) as usize, to(&graph, v, k) as usize);
                assert_eq!(
                    mine[k], sends[source][k],
                    "condition 1 at {v} of {p}, round {k}"
                );
                assert_eq!(
                    sent[k], recvs[target][k],
                    "condition 2 at {v} of {p}, round {k}"
                );
            }
            assert!(
                receives_new_blocks(&graph, v, mine),
                "condition 3 at {v} of {p}"
            );
            assert!(
                sends_what_it_has(&graph, v, mine, sent),
                "condition 4 at {v} of {p}"
            );
        }
    }
}

#[test]
fn hold_for_some_ranks_of_large_p() {
    for p in large_ps() {
        let graph = Circulant::new(p);
        for v in some_ranks(&graph, 200) {
            hold_at(&graph, v).unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hold_for_any_rank_of_any_p(p in 1..1_u32 << 31, seed: u32) {
        prop_assert_eq!(hold_at(&Circulant::new(p), seed % p), Ok(()));
    }
}
