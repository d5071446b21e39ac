//! Prefix reductions. All keep the order of ranks.

#![forbid(unsafe_code)]

use super::{Join, Script};

/// Which prefix a rank gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// Its own vector is the last operand.
    Inclusive,
    /// The vector of the rank before it is; rank 0 gets nothing.
    Exclusive,
}

impl Prefix {
    /// Vectors in the area.
    pub fn places(self) -> u32 {
        match self {
            Prefix::Inclusive => 1,
            Prefix::Exclusive => 3,
        }
    }
}

/// Adds a scan in ceil(log2 p) rounds (W. D. Hillis, G. L. Steele, "Data parallel algorithms", Communications of the
/// ACM 29(12), 1986): after each, a rank has the result over twice as many ranks, itself the last one.
///
/// The area has `n` blocks for each of its vectors: the result so far, and, where it is exclusive, the same without the
/// own vector, and what has come.
pub fn doubling(script: &mut Script, p: u32, rank: u32, n: u32, prefix: Prefix) {
    let mut distance = 1;
    let mut first = true;
    while distance < p {
        if rank + distance < p {
            script.send(rank + distance, 0..n);
        }
        if let Some(from) = rank.checked_sub(distance) {
            match prefix {
                Prefix::Inclusive => script.receive(from, 0..n, Join::Left),
                Prefix::Exclusive => {
                    script.receive(from, 2 * n..3 * n, Join::Store);
                    script.fold(2 * n, 0..n, Join::Left);
                    let join = if first { Join::Store } else { Join::Left };
                    script.fold(2 * n, n..2 * n, join);
                }
            }
            first = false;
        }
        distance *= 2;
    }
    finish(script, rank, n, prefix);
}

/// Adds a scan in which every rank passes the result on to the next one, block by block: p - 2 + n steps, and the bits
/// of a loop over the ranks.
pub fn chain(script: &mut Script, p: u32, rank: u32, n: u32, prefix: Prefix) {
    for block in 0..n {
        let own = block..block + 1;
        if let Some(from) = rank.checked_sub(1) {
            match prefix {
                Prefix::Inclusive => script.receive(from, own.clone(), Join::Left),
                Prefix::Exclusive => {
                    script.receive(from, n + block..n + block + 1, Join::Store);
                    script.fold(n + block, own.clone(), Join::Left);
                }
            }
        }
        if rank + 1 < p {
            script.send(rank + 1, own);
        }
    }
    finish(script, rank, n, prefix);
}

fn finish(script: &mut Script, rank: u32, n: u32, prefix: Prefix) {
    match prefix {
        Prefix::Inclusive => script.result(0..n),
        Prefix::Exclusive if rank > 0 => script.result(n..2 * n),
        Prefix::Exclusive => {}
    }
}
