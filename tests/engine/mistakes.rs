//! Controls: what is wrong is found. Each is a collective that is right but for one mistake.

use crate::case::{Case, How, Side, carry_out, in_rounds, sides};
use crate::wire::{Net, Rank, Rules, in_parts};
use rondo::engine::{Piece, RootSchedules, Wire};
use rondo::schedule::{Blocks, Circulant, Span};
use std::cell::RefCell;
use std::rc::Rc;

fn case(p: u32, how: How, n: u32) -> Case {
    Case::new(vec![u64::from(n) * 2; p as usize], how, n)
}

/// What is found when `change` makes a mistake in the sides of `case`, which is fine without.
fn fault(case: &Case, change: impl Fn(&mut Vec<Side>)) -> String {
    let mut sides = sides(case);
    if let Err(fault) = carry_out(case, &sides, in_rounds) {
        panic!("{case:?}: {fault}");
    }
    change(&mut sides);
    match carry_out(case, &sides, in_rounds) {
        Ok(_) => panic!("{case:?}: the mistake was not found"),
        Err(fault) => fault,
    }
}

/// All ranks have the receive schedules for one rank more, where q is the same.
#[test]
fn the_table_of_another_p_is_found() {
    let mut alike = vec![];
    for p in 3..=40 {
        let [graph, other] = [p, p + 1].map(Circulant::new);
        let q = graph.q();
        if q != other.q() {
            continue;
        }
        let table = &other.recv_table()[..p as usize * q];
        if table[q..] == graph.recv_table()[q..] {
            alike.push(p); // where no rank goes by the root's entries
            continue;
        }
        fault(&case(p, How::Table, 9), |sides| {
            for side in sides {
                side.table.copy_from_slice(table);
            }
        });
    }
    assert_eq!(alike, [3, 7, 9, 15, 19, 31, 39], "all others were tried");
}

#[test]
fn one_wrong_entry_on_one_rank_is_found() {
    for p in [5, 9, 20, 33] {
        let q = Circulant::new(p).q();
        let entries = q..p as usize * q;
        for i in entries.step_by(7) {
            fault(&case(p, How::Table, 9), |sides| {
                let entry = &mut sides[1].table[i];
                *entry = if *entry == -1 { -2 } else { -1 };
            });
        }
    }
}

#[test]
fn the_rows_of_another_rank_are_found() {
    for p in 3..=40 {
        let roots: Vec<u32> = (0..p).collect();
        for n in [1, 2, 9] {
            fault(&case(p, How::RootSchedules, n), |sides| {
                let mut rows = RootSchedules::default();
                rows.set(&Circulant::new(p), 1, &roots);
                sides[2].rows = rows;
            });
        }
    }
}

#[test]
fn the_rows_of_another_root_are_found() {
    for p in 3..=40 {
        let mut case = case(p, How::RootSchedules, 9);
        case.sizes[1..].fill(0);
        fault(&case, |sides| {
            for side in sides {
                side.rows.set(&Circulant::new(p), side.rank, &[1]);
            }
        });
    }
}

/// A rank that cuts one part, or all, into other blocks than the rest does.
#[test]
fn other_blocks_are_found() {
    for how in [How::Table, How::Bruck(2), How::Ring] {
        for p in [3, 8, 17, 33] {
            fault(&case(p, how, 8), |sides| {
                let part = &mut sides[1].cut[2];
                part.blocks = Blocks::new(15, 8);
            });
        }
    }
    for p in [3, 8, 17, 33] {
        fault(&case(p, How::Table, 8), |sides| {
            sides[0].n = 7;
        });
    }
}

/// Two parts that share numbers: what has arrived of one counts for the other.
#[test]
fn equal_numbers_of_blocks_are_found() {
    for how in [How::Table, How::Bruck(2)] {
        let case = case(9, how, 8);
        let found = fault(&case, |sides| {
            for side in sides {
                side.cut[3].first = side.cut[4].first;
            }
        });
        assert!(found.contains("sends what it does not have"), "{found}");
    }
}

/// Nothing that can be delivered is delivered.
#[test]
fn a_network_that_stands_still_is_found() {
    let case = case(5, How::Ring, 2);
    let Err(fault) = carry_out(&case, &sides(&case), |_| {}) else {
        panic!("not found");
    };
    assert_eq!(fault, "no rank can go on");
}

/// Two ranks with 4 bytes each; what the network says of what `act` does on rank 0.
fn said_of(act: impl Fn(&mut Rank)) -> Option<String> {
    let rules = Rules {
        message: (1..=8).collect(),
        places: in_parts(vec![0, 4]),
        most: 4,
        room: 2,
    };
    let net = Rc::new(RefCell::new(Net::new(rules, &[4, 4])));
    act(&mut Rank {
        net: net.clone(),
        rank: 0,
    });
    net.borrow_mut().fault.take()
}

fn piece(root: u32, offset: u64, len: u64) -> Piece {
    Piece {
        root,
        number: root,
        span: Span { offset, len },
    }
}

#[test]
fn the_network_notices_what_a_rank_does_wrong() {
    let fine = said_of(|rank| {
        assert!(rank.send(1, &[piece(0, 0, 2), piece(0, 2, 2)], 0).unwrap());
        rank.idle(4).unwrap();
    });
    assert_eq!(fine, None);
    let missing = said_of(|rank| assert!(rank.send(1, &[piece(1, 0, 1)], 0).unwrap()));
    assert!(missing.unwrap().contains("what it does not have"));
    let empty = said_of(|rank| assert!(rank.send(1, &[piece(0, 0, 0)], 0).unwrap()));
    assert!(empty.unwrap().contains("what it does not have"));
    let own = said_of(|rank| assert!(rank.send(0, &[piece(0, 0, 1)], 0).unwrap()));
    assert!(own.unwrap().contains("to 0"));
    let long = [piece(0, 0, 3), piece(0, 2, 2)];
    let long = said_of(|rank| assert!(rank.send(1, &long, 0).unwrap()));
    assert!(long.unwrap().contains("a message of 5 bytes"));
    for arrived in [3, 5] {
        let gap = said_of(|rank| rank.idle(arrived).unwrap());
        assert!(gap.unwrap().contains("has 4 bytes without a gap"));
    }
}
