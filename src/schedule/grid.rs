//! Ranks in a grid of several dimensions: the number of a rank has a digit for each of them.

#![forbid(unsafe_code)]

use super::rounds::rounds_of;

/// A grid, by the sizes of its dimensions. Ranks that differ in the first digit only have consecutive numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    sizes: Vec<u32>,
}

/// One digit of the numbers of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// How far ranks are apart whose digits differ by one.
    pub stride: u32,
    /// How many values the digit has.
    pub size: u32,
}

impl Dimension {
    /// The digit of a rank.
    pub fn digit(self, rank: u32) -> u32 {
        rank / self.stride % self.size
    }

    /// The rank whose digit is larger by `distance`, around from the largest to 0, and that is otherwise the same.
    pub fn turn(self, rank: u32, distance: u32) -> u32 {
        let digit = self.digit(rank);
        let turned = (u64::from(digit) + u64::from(distance)) % u64::from(self.size);
        rank - digit * self.stride + turned as u32 * self.stride
    }
}

impl Grid {
    /// `p` ranks in two dimensions, as near to a square as p has divisors: rows and columns. Of a prime one row.
    pub fn mesh(p: u32) -> Grid {
        let columns = columns(p);
        let sizes = vec![columns, p / columns];
        Grid { sizes }
    }

    /// `p` ranks with a dimension for each prime factor of p: of 2^d ranks the hypercube (otherwise that of L. N.
    /// Bhuyan, D. P. Agrawal, "Generalized hypercube and hyperbus structures for a computer network", IEEE Transactions
    /// on Computers 33(4), 1984).
    pub fn hypercube(p: u32) -> Grid {
        let (mut sizes, mut rest, mut factor) = (Vec::new(), p, 2);
        while rest > 1 {
            // Of what has no smaller factor the rest is prime.
            if u64::from(factor) * u64::from(factor) > rest.into() {
                factor = rest;
            }
            match rest.is_multiple_of(factor) {
                true => {
                    sizes.push(factor);
                    rest /= factor;
                }
                false => factor += 1,
            }
        }
        Grid { sizes }
    }

    /// The least mesh that is nearly a square and has room for `p` ranks: the last row may be shorter.
    pub fn mesh_around(p: u32) -> Grid {
        let rows = p.isqrt().max(1);
        let sizes = vec![p.div_ceil(rows), rows];
        Grid { sizes }
    }

    /// The least hypercube that has room for `p` ranks.
    pub fn hypercube_around(p: u32) -> Grid {
        let sizes = vec![2; rounds_of(p) as usize];
        Grid { sizes }
    }

    /// Its dimensions, of which each has two digits or more.
    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> + Clone {
        let mut next = 1;
        let each = self.sizes.iter().map(move |&size| {
            let stride = next;
            next *= size;
            Dimension { stride, size }
        });
        each.filter(|dimension| dimension.size > 1)
    }

    /// The rank whose digits are larger than those of another one by the digits of `distance`.
    pub fn after(&self, rank: u32, distance: u32) -> u32 {
        let further = |rank, dimension: Dimension| dimension.turn(rank, dimension.digit(distance));
        self.dimensions().fold(rank, further)
    }

    /// The rank of which `rank` is that one.
    pub fn before(&self, rank: u32, distance: u32) -> u32 {
        let back = |rank, dimension: Dimension| {
            dimension.turn(rank, dimension.size - dimension.digit(distance))
        };
        self.dimensions().fold(rank, back)
    }
}

/// The number of ranks of a row of the mesh of `p` ranks that is as near to a square as p has divisors.
pub(super) fn columns(p: u32) -> u32 {
    let root = p.isqrt().max(1);
    let rows = (1..=root).rev().find(|rows| p.is_multiple_of(*rows));
    p / rows.unwrap_or(1)
}
