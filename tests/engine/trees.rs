//! Broadcasts down trees, block by block: everything comes to all ranks, whatever the order is in which messages come,
//! and in as many rounds as are said.

use crate::bcast::{case_of, check};
use crate::case::{Case, How, Outcome, in_rounds, rng, run, shuffled, starving};
use proptest::prelude::*;
use rondo::schedule::{Moves, Shape};

fn every_p() -> impl Iterator<Item = u32> {
    (1..=64).chain([65, 67, 129, 161])
}

fn shapes(p: u32) -> [Shape; 12] {
    [
        Shape::CHAIN,
        Shape::STAR,
        Shape::BINARY,
        Shape::Even(3),
        Shape::Even(4),
        Shape::Knomial(2),
        Shape::Knomial(3),
        Shape::BINOMIAL,
        Shape::Fibonacci,
        Shape::InOrder,
        Shape::Two,
        Shape::mesh(p),
    ]
}

const BLOCKS: [u32; 4] = [1, 2, 7, 30];

#[test]
fn every_block_comes_to_every_rank_in_the_rounds_that_are_said() {
    for p in every_p() {
        for shape in shapes(p) {
            let mut roots = vec![0, p / 2, p - 1];
            roots.dedup();
            for root in roots {
                for n in BLOCKS {
                    let mut case = case_of(How::Tree(shape), p, root, u64::from(n) * 3 + 1, n);
                    (case.limits.receives, case.limits.sends) = (64, 1);
                    let outcome = run(&case, in_rounds);
                    check(&case, &outcome);
                    let pace = shape.pace(p);
                    let most = pace.first + pace.every * (n - 1);
                    let steps = outcome.steps;
                    assert!(steps <= most.into(), "{case:?}: {steps} and not {most}");
                }
            }
        }
    }
}

#[test]
fn the_order_of_messages_does_not_matter() {
    let mut rng = rng(5);
    for p in every_p() {
        for shape in shapes(p) {
            let n = BLOCKS[rng.random_range(0..4)];
            let root = rng.random_range(0..p);
            let mut case = case_of(How::Tree(shape), p, root, u64::from(n) * 2 + 1, n);
            case.limits.receives = rng.random_range(1..=4);
            case.limits.sends = rng.random_range(1..=4);
            case.room = rng.random_range(1..=3);
            check(&case, &run(&case, shuffled(rng.random())));
            check(&case, &run(&case, starving((root + 1) % p)));
        }
    }
}

/// For these the number of rounds is what is said, and not only a bound.
#[test]
fn the_rounds_of_chains_stars_and_binomial_trees() {
    for p in 2..=65 {
        let q = u32::BITS - (p - 1u32).leading_zeros();
        for (shape, first, every) in [
            (Shape::CHAIN, p - 1, 1),
            (Shape::STAR, p - 1, p - 1),
            (Shape::BINOMIAL, q, q),
        ] {
            for n in BLOCKS {
                let mut case = case_of(How::Tree(shape), p, p / 3, n.into(), n);
                (case.limits.receives, case.limits.sends) = (64, 1);
                let steps = run(&case, in_rounds).steps;
                let said = u64::from(first + every * (n - 1));
                assert_eq!(steps, said, "{shape:?} of {p}");
            }
        }
    }
}

/// Many blocks take a round each down two trees, and two down one.
#[test]
fn two_trees_are_twice_as_fast_as_one() {
    for p in [8, 31, 64, 129] {
        let steps = |shape| {
            let mut case = case_of(How::Tree(shape), p, 0, 1000, 500);
            (case.limits.receives, case.limits.sends) = (64, 1);
            run(&case, in_rounds).steps
        };
        let (two, one) = (steps(Shape::Two), steps(Shape::BINARY));
        assert!(two < 520 && one >= 998, "p = {p}: {two} and {one}");
    }
}

/// Scattered and sent around a ring, in p - 1 rounds and those of the scatter, of as many blocks as there are ranks.
#[test]
fn a_scattered_message_comes_to_every_rank() {
    let mut rng = rng(6);
    for p in every_p() {
        let q = p.next_power_of_two().trailing_zeros();
        for n in [1, 2, 7, 30, p, 3 * p] {
            let root = rng.random_range(0..p);
            let how = How::Moves(Moves::Scatter);
            let mut case = case_of(how, p, root, u64::from(n) * 3 + 1, n);
            let outcome = run(&case, in_rounds);
            check_pieces(&case, &outcome);
            if n == p {
                let steps = outcome.steps;
                assert!(steps < u64::from(q + p), "p = {p}: {steps} steps");
            }
            case.limits.receives = rng.random_range(1..=4);
            case.limits.sends = rng.random_range(1..=4);
            case.limits.message = [0, 7, u64::MAX][rng.random_range(0..3)];
            case.room = rng.random_range(1..=3);
            check_pieces(&case, &run(&case, shuffled(rng.random())));
            check_pieces(&case, &run(&case, starving((root + 1) % p)));
        }
    }
}

/// Every rank but the root received each block once.
fn check_pieces(case: &Case, outcome: &Outcome) {
    for (port, &size) in outcome.ports.iter().zip(&case.sizes) {
        let n = if size > 0 { 0 } else { u64::from(case.n) };
        assert_eq!(port.received.1, n, "{case:?}");
    }
}
