//! The orders in which one rank joins the vectors of several.

use rondo::script::Fold;

/// What the result is made of, with brackets, if nobody's vector is used again after it was a left operand.
fn expression(fold: Fold, p: u32) -> String {
    let mut terms: Vec<Option<String>> = (0..p).map(|member| Some(member.to_string())).collect();
    for (left, to) in fold.pairs(p) {
        assert_ne!(left, to, "{fold:?} of {p}");
        let left = terms[left as usize].take();
        let left = left.unwrap_or_else(|| panic!("{fold:?} of {p}: used twice"));
        let right = terms[to as usize].take();
        let right = right.unwrap_or_else(|| panic!("{fold:?} of {p}: joined to nothing"));
        terms[to as usize] = Some(format!("({left} {right})"));
    }
    let result = terms[fold.result(p) as usize].take();
    assert!(
        terms.iter().all(Option::is_none),
        "{fold:?} of {p}: left over"
    );
    result.unwrap_or_else(|| panic!("{fold:?} of {p}: no result"))
}

/// The members from left to right.
fn members(fold: Fold, p: u32) -> Vec<u32> {
    let expression = expression(fold, p);
    let words = expression
        .split(['(', ')', ' '])
        .filter(|word| !word.is_empty());
    words.map(|word| word.parse().unwrap()).collect()
}

#[test]
fn the_order_of_ranks_is_from_left_to_right() {
    assert_eq!(expression(Fold::From(0), 1), "0");
    assert_eq!(expression(Fold::From(0), 4), "(((0 1) 2) 3)");
}

#[test]
fn another_member_comes_first_and_all_others_ascend() {
    assert_eq!(expression(Fold::From(1), 2), "(1 0)");
    assert_eq!(expression(Fold::From(2), 4), "(((2 0) 1) 3)");
    assert_eq!(expression(Fold::From(3), 4), "(((3 0) 1) 2)");
}

#[test]
fn halving_joins_what_is_half_the_members_before() {
    assert_eq!(expression(Fold::Halving(0), 1), "0");
    assert_eq!(expression(Fold::Halving(0), 2), "(1 0)");
    assert_eq!(expression(Fold::Halving(0), 4), "((1 3) (2 0))");
    assert_eq!(expression(Fold::Halving(2), 3), "(1 (0 2))");
}

#[test]
fn every_member_comes_in_once() {
    for p in 1..200 {
        for member in 0..p {
            let chain = members(Fold::From(member), p);
            let ascending = (0..p).filter(|&other| other != member);
            let in_order: Vec<u32> = std::iter::once(member).chain(ascending).collect();
            assert_eq!(chain, in_order, "from {member} of {p}");
            let mut halved = members(Fold::Halving(member), p);
            halved.sort_unstable();
            assert!(halved.into_iter().eq(0..p), "halving to {member} of {p}");
        }
    }
}
