//! Reductions of built-in types by built-in operators, in memory.
//!
//! A [`Kernel`] is a loop for one operator on one type. It takes vectors as bytes, so that they may lie at any address,
//! and gives the bits that the loop `inout[i] = left[i] op inout[i]` gives in C: integers wrap around, logical results
//! are 0 and 1. Vectors of one call have the same length, which is a multiple of the size of an element.
//!
//! Both its forms go by the same loop, so that they give the same bits, also where an element is NaN in both operands.
//! (The sum of two NaNs is one of them, and no language says which.) The one with a copy passes through long vectors in
//! blocks that stay in the fastest cache, so that each vector is read from memory once.
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

/// Bytes of a vector that are worked on at a time where they are copied as well. It is a multiple of the size of every
/// element.
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
}
