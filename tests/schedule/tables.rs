//! Schedules that are known entry by entry.

use rondo::schedule::Circulant;

use super::{recv, rows, send};

/// FNV-1a, 64 bits, over the entries as bytes, v-major.
fn hash(rows: &[Vec<i8>]) -> u64 {
    rows.iter()
        .flatten()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &entry| {
            (hash ^ u64::from(entry as u8)).wrapping_mul(0x0100_0000_01b3)
        })
}

/// Rows of k and columns of v, as printed, to rows of v.
fn transposed<const P: usize>(printed: &[[i8; P]]) -> Vec<Vec<i8>> {
    (0..P)
        .map(|v| printed.iter().map(|row| row[v]).collect())
        .collect()
}

#[test]
fn skips_halve_p_rounding_up() {
    assert_eq!(Circulant::new(1).skips(), [1]);
    assert_eq!(Circulant::new(2).skips(), [1, 2]);
    assert_eq!(Circulant::new(9).skips(), [1, 2, 3, 5, 9]);
    assert_eq!(Circulant::new(17).skips(), [1, 2, 3, 5, 9, 17]);
    assert_eq!(Circulant::new(20).skips(), [1, 2, 3, 5, 10, 20]);
    assert_eq!(Circulant::new(32).skips(), [1, 2, 4, 8, 16, 32]);
    let largest = Circulant::new(i32::MAX as u32);
    assert_eq!((largest.q(), largest.p()), (31, i32::MAX as u32));
    assert_eq!(
        largest.skips()[..31],
        std::array::from_fn::<u32, 31, _>(|k| 1 << k)
    );
}

#[test]
fn baseblocks_are_those_that_the_first_phase_delivers() {
    for p in 1..=600 {
        let graph = Circulant::new(p);
        let skip = graph.skips();
        // The recipe in words: in round k the root starts block k on its way, and everyone who has
        // a block already passes it on to the ranks that have none.
        let mut first: Vec<Option<(usize, usize)>> = vec![None; p as usize];
        for k in 0..graph.q() {
            first[skip[k] as usize] = Some((k, k));
            for v in skip[k] + 1..skip[k + 1] {
                let (block, _) = first[(v - skip[k]) as usize].expect("it got one earlier");
                first[v as usize] = Some((block, k));
            }
        }
        assert_eq!(
            graph.baseblock(0),
            graph.q(),
            "the root of p = {p} has none"
        );
        for v in 1..p {
            let got = (graph.baseblock(v), graph.home(v));
            assert_eq!(
                Some(got),
                first[v as usize],
                "block and round of {v} of {p}"
            );
        }
    }
}

#[test]
fn nine_ranks_have_the_schedules_of_the_documentation() {
    let graph = Circulant::new(9);
    let recv_printed = [
        [-2, 0, -4, -3, -2, -4, -1, -4, -3],
        [-3, -2, 1, -4, -3, -2, -2, -1, -4],
        [-1, -3, -2, 2, 0, -3, -3, -2, -1],
        [-4, -1, -1, -1, -1, 3, 0, 1, 2],
    ];
    let send_printed = [
        [0, -4, -3, -2, -4, -1, -4, -3, -2],
        [1, -4, -3, -2, -2, -1, -4, -3, -2],
        [2, 0, -3, -3, -2, -1, -1, -3, -2],
        [3, 0, 1, 2, -4, -1, -1, -1, -1],
    ];
    assert_eq!(rows(&graph, recv), transposed(&recv_printed));
    assert_eq!(rows(&graph, send), transposed(&send_printed));
}

/// arXiv 2205.10072, table 1.
#[test]
fn twenty_ranks_have_the_schedules_of_the_paper() {
    let graph = Circulant::new(20);
    let recv_printed = [
        [
            -5, 0, -5, -4, -3, -5, -2, -5, -4, -3, -5, -1, -5, -4, -3, -5, -2, -5, -4, -3,
        ],
        [
            -3, -3, 1, -5, -4, -3, -3, -2, -5, -4, -3, -3, -1, -5, -4, -3, -3, -2, -5, -4,
        ],
        [
            -4, -4, -3, 2, 0, -4, -4, -3, -2, -2, -4, -4, -3, -1, -1, -4, -4, -3, -2, -2,
        ],
        [
            -2, -2, -2, -2, -2, 3, 0, 1, 2, 0, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1,
        ],
        [
            -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 0, 1, 2, 0, 3, 0, 1, 2, 0,
        ],
    ];
    let send_printed = [
        [
            0, -5, -4, -3, -5, -2, -5, -4, -3, -5, -1, -5, -4, -3, -5, -2, -5, -4, -3, -5,
        ],
        [
            1, -5, -4, -3, -3, -2, -5, -4, -3, -3, -1, -5, -4, -3, -3, -2, -5, -4, -3, -3,
        ],
        [
            2, 0, -4, -4, -3, -2, -2, -4, -4, -3, -1, -1, -4, -4, -3, -2, -2, -4, -4, -3,
        ],
        [
            3, 0, 1, 2, 0, -2, -2, -2, -2, -2, -1, -1, -1, -1, -1, -2, -2, -2, -2, -2,
        ],
        [
            4, 0, 1, 2, 0, 3, 0, 1, 2, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
        ],
    ];
    assert_eq!(rows(&graph, recv), transposed(&recv_printed));
    assert_eq!(rows(&graph, send), transposed(&send_printed));
}

#[test]
fn schedules_hash_to_the_values_of_an_independent_implementation() {
    for (p, recv_hash, send_hash) in [
        (2, 0x0a99_a607_b6f6_0bea, 0x0831_c907_b4ea_2b60),
        (9, 0x5d62_9cb0_5434_46e5, 0x96e9_2fbd_bd31_e355),
        (20, 0xcf60_aac5_d236_c700, 0x12a1_2b96_b838_7664),
        (33, 0x5cda_ed3d_f481_582a, 0x5c32_b3e3_4b1d_60d2),
        (100, 0x0346_e072_f84d_2942, 0x7de4_b02b_92d1_c778),
        (576, 0xfc52_9333_2d4a_8829, 0x31e0_7598_9193_fe15),
    ] {
        let graph = Circulant::new(p);
        assert_eq!(
            hash(&rows(&graph, recv)),
            recv_hash,
            "receive schedules of p = {p}"
        );
        assert_eq!(
            hash(&rows(&graph, send)),
            send_hash,
            "send schedules of p = {p}"
        );
    }
}

#[test]
fn the_table_holds_the_receive_schedules_of_all_ranks() {
    for p in (1..=1200).chain([4095, 4096, 4097, 16384, 65537]) {
        let graph = Circulant::new(p);
        let table = graph.recv_table();
        assert_eq!(table.len(), p as usize * graph.q(), "entries of p = {p}");
        for v in 0..p {
            let row = v as usize * graph.q();
            assert_eq!(
                table[row..row + graph.q()],
                recv(&graph, v),
                "rank {v} of {p}"
            );
        }
    }
}

#[test]
fn schedules_leave_the_rest_of_the_slice_alone() {
    let graph = Circulant::new(9);
    let mut out = [99; 6];
    graph.recv(3, &mut out);
    assert_eq!(out, [-3, -4, 2, -1, 99, 99]);
    graph.send(3, &mut out);
    assert_eq!(out, [-2, -2, -3, 2, 99, 99]);
}
