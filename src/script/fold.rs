//! In which order one rank joins the vectors of several.

#![forbid(unsafe_code)]

use super::{skips, sub};

/// An order of evaluation among members that are numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// From left to right, this member first and then all others, ascending. From member 0 it is the order of ranks.
    From(u32),
    /// As [`super::halving`] reduces the part of this member, with the same bits: the operator must be commutative.
    Halving(u32),
}

impl Fold {
    /// Who is joined to whom among `p` members, in this order: with (left, to), what `left` has becomes the left
    /// operand of what `to` has, and the result is that of `to`.
    pub fn pairs(self, p: u32) -> impl Iterator<Item = (u32, u32)> {
        let (chain, rounds) = match self {
            Fold::From(first) => (Some(first), None),
            Fold::Halving(owner) => (None, Some(owner)),
        };
        let chain = chain.into_iter().flat_map(move |first| {
            let order = move || (0..p).filter(move |&member| member != first);
            let lefts = std::iter::once(first).chain(order());
            lefts.zip(order())
        });
        let rounds = rounds.into_iter().flat_map(move |owner| {
            skips(p).flat_map(move |(low, high)| {
                (0..high - low).map(move |i| (sub(owner, i + low, p), sub(owner, i, p)))
            })
        });
        chain.chain(rounds)
    }

    /// Which member has the result.
    pub fn result(self, p: u32) -> u32 {
        match self {
            Fold::From(first) if first == p - 1 => p.saturating_sub(2),
            Fold::From(_) => p - 1,
            Fold::Halving(owner) => owner,
        }
    }
}
