//! Which kernel reduces elements of a type in place of the host.

use super::attr::Datatype;
use super::operator::Known;
use crate::host::library::floats::with_plain_floats;
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
        let trial = Trial {
            mpi: self,
            op,
            datatype,
            size,
            kernel,
        };
        let alike = with_plain_floats(|| trial.is_passed(number, operator));
        ALIKE.lock().push((both, alike));
        alike.then_some(kernel)
    }
}

/// A kernel beside the host.
struct Trial<'a> {
    mpi: &'a Mpi,
    op: sys::MPI_Op,
    datatype: Datatype,
    /// Bytes of an element.
    size: u64,
    kernel: Kernel,
}

/// Words of a vector: many of the longest instructions.
const WORDS: u64 = 1024;

impl Trial<'_> {
    /// May the kernel reduce in place of the host? It is asked once.
    ///
    /// It may if the host gives its bits, and not every host does: MPICH 4.0 compares unsigned integers as if they had
    /// signs, and so does Open MPI 4.1 `unsigned long`.
    ///
    /// It must if what the host makes of two elements depends on where they are: Open MPI has other instructions for
    /// the last elements of a vector, which differ from those for the others on some processors in sums of 8 and 16
    /// bits at the ends of the range, and in the lesser one of NaN and a number, or of 0 and -0. Then the bits would
    /// depend on how vectors are cut, which is not the same through memory and by messages.
    #[cold]
    fn is_passed(&self, number: Number, operator: Operator) -> bool {
        let is_compared =
            number == Number::Float && matches!(operator, Operator::Maximum | Operator::Minimum);
        let mut alike = self.is_alike_at_random(number);
        for (left, right) in self.specials(number) {
            match self.of_everywhere(left, right) {
                None => return false,
                Some(Everywhere::Various) => return true,
                // Other operators on NaN give NaN everywhere.
                Some(Everywhere::Same { alike: same }) => alike &= same || !is_compared,
            }
        }
        alike
    }

    /// Pairs of elements of which hosts make different things.
    fn specials(&self, number: Number) -> Vec<(u64, u64)> {
        let bits = 8 * self.size;
        let sign = 1u64 << (bits - 1);
        let ones = sign | (sign - 1);
        match number {
            Number::Float => {
                // The exponents of NaN and of 1.
                let (nan, one) = match self.size {
                    4 => (0x7fc0_0000, 0x3f80_0000),
                    _ => (0x7ff8 << 48, 0x3ff0 << 48),
                };
                vec![(nan, one), (one, nan), (0, sign), (sign, 0)]
            }
            Number::Signed | Number::Unsigned => {
                vec![(sign - 1, sign - 1), (sign, sign), (ones, ones)]
            }
        }
    }

    /// Does the host give the bits of the kernel for vectors of many different elements?
    fn is_alike_at_random(&self, number: Number) -> bool {
        // Without NaN, and what becomes one: the numbers are less than 2.
        let mask = match number {
            Number::Float => 0xbfff_ffff_bfff_ffff,
            Number::Signed | Number::Unsigned => u64::MAX,
        };
        let mut random = fastrand::Rng::with_seed(0);
        let mut vector = || -> Vec<u64> {
            let word = |_| match random.u8(..4) {
                0 => 0,
                _ => random.u64(..) & mask,
            };
            (0..WORDS).map(word).collect()
        };
        let (left, right) = (vector(), vector());
        self.both(&left, right)
            .is_some_and(|[host, own]| host == own)
    }

    /// What the host makes of a pair of elements, at every place of a vector.
    fn of_everywhere(&self, left: u64, right: u64) -> Option<Everywhere> {
        let vector = |element: u64| -> Vec<u64> {
            let bits = 8 * self.size;
            let word = (0..64 / bits).fold(0, |word, i| word | element << (i * bits));
            vec![word; WORDS as usize]
        };
        let [host, own] = self.both(&vector(left), vector(right))?;
        let size = self.size as usize;
        let first = &host[..size];
        Some(match host.chunks(size).all(|element| element == first) {
            true => Everywhere::Same {
                alike: first == &own[..size],
            },
            false => Everywhere::Various,
        })
    }

    /// Two vectors reduced by the host and by the kernel; `None` if the host fails. Something is behind the last whole
    /// words.
    fn both(&self, left: &[u64], mut right: Vec<u64>) -> Option<[Vec<u8>; 2]> {
        let bytes_of = |words: &[u64]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_ne_bytes()).collect()
        };
        let count = WORDS * 8 / self.size - 3;
        let bytes = (count * self.size) as usize;
        let mut own = bytes_of(&right);
        own.truncate(bytes);
        self.kernel.join(&bytes_of(left)[..bytes], &mut own);
        let (from, to) = (left.as_ptr().cast(), right.as_mut_ptr().cast());
        let datatype = (self.datatype, self.size as i64);
        // SAFETY: `count` elements of `size` bytes, one behind the other, are less than the vectors have, and a word is
        // aligned for all of them; the caller vouches for the operator.
        let done = unsafe { self.mpi.reduce_local(from, to, count, datatype, self.op) };
        let mut host = bytes_of(&right);
        host.truncate(bytes);
        done.is_ok().then_some([host, own])
    }
}

/// What a host makes of the same two elements at every place of a vector.
enum Everywhere {
    /// The same; like the kernel or not.
    Same { alike: bool },
    /// Not the same.
    Various,
}
