//! Reductions of built-in types by built-in operators, in memory.
//!
//! A [`Kernel`] is a loop for one operator on one type. It takes vectors as bytes, so that they may lie at any address,
//! and gives the bits that the loop `inout[i] = left[i] op inout[i]` gives in C: integers wrap around, logical results
//! are 0 and 1. Vectors of one call have the same length, which is a multiple of the size of an element.
//!
//! All its forms go by the same loop, so that they give the same bits, also where an element is NaN in both operands.
//! (The sum of two NaNs is one of them, and no language says which.) They pass through long vectors in blocks that stay
//! in the fastest cache, so that each vector is read from memory once.
//!
//! Which is the lesser of 0 and -0, or of NaN and 1, is for each MPI library to say. Here it is the right operand.

mod loops;

use loops::Loop;

/// The operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// left + right
    Sum,
    /// left * right
    Product,
    /// The greater one.
    Maximum,
    /// The lesser one.
    Minimum,
    /// left & right
    BitAnd,
    /// left | right
    BitOr,
    /// left ^ right
    BitXor,
    /// Are both other than 0?
    And,
    /// Is one of them other than 0?
    Or,
    /// Is exactly one of them other than 0?
    Xor,
}

/// What the bits of an element mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// An integer in two's complement.
    Signed,
    /// An integer that is not negative.
    Unsigned,
    /// A floating-point number (IEEE 754).
    Float,
}

/// How to reduce elements of one type by one operator.
#[derive(Clone, Copy)]
pub struct Kernel(Loop);

/// Bytes of a vector that are worked on at a time where more than two vectors, or a copy, are concerned. It is a
/// multiple of the size of every element.
const BLOCK_BYTES: usize = 8 << 10;

impl Kernel {
    /// The one for an operator and elements of this kind, `size` bytes each; `None` if there is none.
    pub fn of(operator: Operator, number: Number, size: u64) -> Option<Kernel> {
        loops::find(operator, number, size).map(Kernel)
    }

    /// inout = left op inout
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn join(&self, left: &[u8], inout: &mut [u8]) {
        assert_eq!(left.len(), inout.len());
        (self.0)(left, inout);
    }

    /// inout = inout op right, by way of `right`, which is used up.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn join_right(&self, inout: &mut [u8], right: &mut [u8]) {
        assert_eq!(inout.len(), right.len());
        let blocks = inout.chunks_mut(BLOCK_BYTES);
        for (inout, right) in blocks.zip(right.chunks_mut(BLOCK_BYTES)) {
            (self.0)(inout, right);
            inout.copy_from_slice(right);
        }
    }

    /// out = left op right
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn join_to(&self, left: &[u8], right: &[u8], out: &mut [u8]) {
        self.fold(&[right, left], out);
    }

    /// out = s2 op (s1 op s0), and so on, for sources in this order. Integers, and all numbers but pairs of NaNs, have
    /// the bits of (s0 op s1) op s2.
    ///
    /// # Panics
    /// If there is no source, or the lengths differ.
    pub fn fold(&self, sources: &[&[u8]], out: &mut [u8]) {
        let (first, others) = sources.split_first().expect("there is a source");
        assert!(sources.iter().all(|source| source.len() == out.len()));
        let mut from = 0;
        for out in out.chunks_mut(BLOCK_BYTES) {
            let block = from..from + out.len();
            from = block.end;
            out.copy_from_slice(&first[block.clone()]);
            for source in others {
                (self.0)(&source[block.clone()], out);
            }
        }
    }
}
