//! Which kernel reduces elements of a type in place of the host.

use super::attr::Datatype;
use super::operator::Known;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::kernels::{Kernel, Number, Operator};
use parking_lot::Mutex;

/// Operators and types for which there is a kernel, and whether it gives the same bits as the host.
static ALIKE: Mutex<Vec<(Known, bool)>> = Mutex::new(Vec::new());

/// What kernels call the predefined operators, in the order of `Handles::ops`.
const OPERATORS: [Option<Operator>; 12] = [
    Some(Operator::Sum),
    Some(Operator::Product),
    Some(Operator::Maximum),
    Some(Operator::Minimum),
    None,
    None,
    Some(Operator::BitAnd),
    Some(Operator::BitOr),
    Some(Operator::BitXor),
    Some(Operator::And),
    Some(Operator::Or),
    Some(Operator::Xor),
];

impl Mpi {
    /// How Rondo itself reduces elements of a type by an operator; `None` if that is the host's to do.
    ///
    /// `size` is that of an element in bytes. The operator has been found to be one for the type.
    pub(in crate::host) fn kernel(
        &self,
        op: sys::MPI_Op,
        datatype: Datatype,
        size: u64,
    ) -> Option<Kernel> {
        let operator = OPERATORS[self.h.ops.iter().position(|&known| known == op)?]?;
        let of_bits = [Operator::BitAnd, Operator::BitOr, Operator::BitXor].contains(&operator);
        let mut numbers = self.h.numbers.iter();
        let number = match numbers.find(|(known, _)| *known == datatype.0) {
            Some(&(_, number)) => number,
            // Bytes have bits and are no numbers.
            None if of_bits && datatype.0 == self.h.byte => Number::Unsigned,
            None => return None,
        };
        let kernel = Kernel::of(operator, number, size)?;
        let both = Known(op, datatype.0);
        if let Some(&(_, alike)) = ALIKE.lock().iter().find(|(known, _)| *known == both) {
            return alike.then_some(kernel);
        }
        let alike = self.reduces_alike(op, (datatype, size), number, kernel);
        ALIKE.lock().push((both, alike));
        alike.then_some(kernel)
    }

    /// Does the host give the bits of the kernel? It is asked once, and not every host does: MPICH 4.0 compares
    /// unsigned integers as if they had signs, and so does Open MPI 4.1 `unsigned long`; its sums of 8 and 16 bits stop
    /// at the ends of the range on some processors.
    #[cold]
    fn reduces_alike(
        &self,
        op: sys::MPI_Op,
        (datatype, size): (Datatype, u64),
        number: Number,
        kernel: Kernel,
    ) -> bool {
        const WORDS: u64 = 1024;
        // Many vectors of the longest instructions, and something behind them.
        let count = WORDS * 8 / size - 3;
        let bytes = (count * size) as usize;
        // Without NaN, and what becomes one: the numbers are less than 2.
        let mask = match number {
            Number::Float => 0xbfff_ffff_bfff_ffff,
            Number::Signed | Number::Unsigned => u64::MAX,
        };
        let mut random = fastrand::Rng::with_seed(0);
        let mut vector = || -> Vec<u64> {
            let word = |_| {
                if random.u8(..4) == 0 {
                    0
                } else {
                    random.u64(..) & mask
                }
            };
            (0..WORDS).map(word).collect()
        };
        let bytes_of = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_ne_bytes()).collect()
        };
        let (left, mut hosts) = (vector(), vector());
        let mut ours = bytes_of(&hosts);
        kernel.join(&bytes_of(&left)[..bytes], &mut ours[..bytes]);
        let (from, to) = (left.as_ptr().cast(), hosts.as_mut_ptr().cast());
        // SAFETY: `count` elements of `size` bytes, one behind the other, are less than the vectors have, and a word is
        // aligned for all of them; the caller vouches for the operator.
        let done = unsafe { self.reduce_local(from, to, count, (datatype, size as i64), op) };
        done.is_ok() && bytes_of(&hosts) == ours
    }
}
