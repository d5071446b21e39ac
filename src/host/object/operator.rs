//! Operators of reductions: what is known of them, and carrying them out.

use super::attr::Datatype;
use super::code::{Code, check};
use crate::host::library::abi::{Abi, Handles, RawHandle};
use crate::host::library::sys;
use crate::host::library::table::{Mpi, host};
use crate::kernels::Number;
use parking_lot::Mutex;
use std::ffi::c_int;

/// What is to be known of an operator on elements of a datatype. All ranks of a legal call know the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operator {
    /// May the order of operands be changed?
    pub commutes: bool,
    /// Does it give the same result in every order, to the last bit?
    pub exact: bool,
    /// Is it predefined, and so the datatype?
    pub built_in: bool,
    /// Does an operand that counts twice change nothing?
    pub idempotent: bool,
    /// Which of the predefined ones it is, from 1 on; 0 if it is the program's own.
    pub which: u8,
}

/// Predefined operators and datatypes, and whether they fit together. Neither is ever freed.
static KNOWN: Mutex<Vec<(Known, bool)>> = Mutex::new(Vec::new());

/// The handles of both.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Known(pub(super) sys::MPI_Op, pub(super) sys::MPI_Datatype);

// SAFETY: handles that any thread may pass to MPI; nobody looks behind them.
unsafe impl Send for Known {}

/// Bytes of the longest element of a predefined datatype that has an operator.
const ELEMENT_BYTES: usize = 64;

/// Elements that one call of an operator gets at the most.
const ELEMENTS_MAX: u64 = 1 << 30;

impl Mpi {
    /// What is to be known of an operator; `None` if there is none, or none for this datatype, so that the host
    /// complains; and where the host could not say ([`Mpi::trouble`]). So are operators that only the host knows, on
    /// all ranks alike: the result of MPICH's `MPIX_EQUAL` is one number, however many elements there are.
    pub(in crate::host) fn operator(
        &self,
        handle: RawHandle,
        raw_type: RawHandle,
        datatype: Datatype,
    ) -> Option<Operator> {
        let op = handle.op();
        if !self.h.is_op(op) {
            return None;
        }
        let Some(place) = self.h.ops.iter().position(|&known| known == op) else {
            if self.h.is_predefined_op(op) {
                return None;
            }
            let mut commutes: c_int = 0;
            // SAFETY: the host checks the handle; the result is a place of the right type.
            check(unsafe { (self.f.op_commutative)(op, &mut commutes) }).ok()?;
            return Some(Operator {
                commutes: commutes != 0,
                exact: false,
                built_in: false,
                idempotent: false,
                which: 0,
            });
        };
        if !self.is_predefined(datatype)? || !self.fits(op, raw_type, datatype)? {
            return None;
        }
        let is_integer = || match self.number(datatype) {
            Some(number) => Some(number != Number::Float),
            None if self.h.integer_pairs.contains(&datatype.0) => Some(true),
            None if !self.refuses_misfits()? => Some(self.has_bits(datatype)),
            None => self.fits(self.h.ops[Handles::BITS], raw_type, datatype),
        };
        // Open MPI 4.1 adds integers of one and two bytes with saturation on some processors: a + (b + c) may then be
        // another number than (a + b) + c.
        let saturates = || Some(op == self.h.sum && self.extent(datatype).ok()? <= 2);
        Some(Operator {
            commutes: true,
            exact: place >= Handles::BITS || (is_integer()? && !saturates()?),
            built_in: true,
            idempotent: Handles::IDEMPOTENT.contains(&place),
            which: 1 + place as u8,
        })
    }

    /// Is this the handle of a predefined operator for reductions? It is never freed.
    pub(in crate::host) fn is_predefined_operator(&self, handle: RawHandle) -> bool {
        self.h.ops.contains(&handle.op())
    }

    /// Does the host reduce elements of this predefined type by this predefined operator? Where the standard does not
    /// say so of a number, the host is asked, once, by a reduction of this process alone. `None` if that failed for
    /// another reason: to take this for an answer would be the choice of this rank alone.
    fn fits(&self, op: sys::MPI_Op, raw_type: RawHandle, datatype: Datatype) -> Option<bool> {
        // No communicator is made to ask: Open MPI makes none before each MPI_Comm_idup under way is complete.
        if let Some(number) = self.number(datatype)
            && (self.h.ops[..Handles::PAIRS].contains(&op)
                || (number != Number::Float
                    && self.h.ops[Handles::BITS..Handles::TRUTHS].contains(&op)))
        {
            return Some(true);
        }
        let both = Known(op, datatype.0);
        if let Some(&(_, fits)) = KNOWN.lock().iter().find(|(known, _)| *known == both) {
            return Some(fits);
        }
        let fits = match self.ask_whether(op, raw_type, datatype) {
            Some(answer) => answer.ok()?,
            // To leave the call to the host, which complains if they do not fit, would be this rank's choice alone.
            None => return Some(op != self.h.ops[Handles::BITS] || self.has_bits(datatype)),
        };
        KNOWN.lock().push((both, fits));
        Some(fits)
    }

    /// Does the host find that bits of floating-point numbers fit no operator? Some hosts were built, or are told, not
    /// to look at arguments, and find that everything fits.
    fn refuses_misfits(&self) -> Option<bool> {
        let double = self.h.double;
        match self.number(Datatype(double)) {
            Some(Number::Float) => {
                let bits = self.h.ops[Handles::BITS];
                Some(!self.fits(bits, RawHandle::of_type(double), Datatype(double))?)
            }
            // A simulation, which has no list of numbers.
            Some(Number::Signed | Number::Unsigned) | None => Some(true),
        }
    }

    /// Is it known to be a type of integers?
    fn has_bits(&self, datatype: Datatype) -> bool {
        match self.number(datatype) {
            Some(number) => number != Number::Float,
            None => datatype.0 == self.h.byte,
        }
    }

    /// What the bits of an element mean, if it is a number of the list.
    fn number(&self, datatype: Datatype) -> Option<Number> {
        let mut numbers = self.h.numbers.iter();
        let number = numbers.find(|(known, _)| *known == datatype.0);
        number.map(|&(_, number)| number)
    }

    /// The host's answer, or why it failed; `None` if it cannot be asked now.
    #[cold]
    fn ask_whether(
        &self,
        op: sys::MPI_Op,
        raw_type: RawHandle,
        datatype: Datatype,
    ) -> Option<Result<bool, Code>> {
        if Abi::BUILT.is_simulated() {
            return Some(Ok(true)); // it would end the simulation, and finds no such mistake in a real call either
        }
        if !(self.extent(datatype)).is_ok_and(|bytes| bytes <= ELEMENT_BYTES as i64) {
            return Some(Ok(true));
        }
        let (from, mut to) = ([0u128; ELEMENT_BYTES / 16], [0u128; ELEMENT_BYTES / 16]);
        // SAFETY: the communicator has one rank, and both buffers have room for one element.
        let code = self.by_itself(|comm| unsafe {
            (host().own.allreduce)(
                from.as_ptr().cast(),
                to.as_mut_ptr().cast(),
                1,
                raw_type,
                RawHandle::of_op(op),
                RawHandle::of(comm.0),
            )
        })?;
        Some(match check(code) {
            Ok(()) => Ok(true),
            Err(code) if self.complains(code) => Ok(false),
            Err(code) => Err(code),
        })
    }

    /// inout = in . inout, element by element, with `in` as the left operand.
    ///
    /// # Safety
    /// `left` can be read and `inout` be written to for `count` elements of the datatype, `extent` bytes each. The
    /// operator has been found to be one for it.
    pub(in crate::host) unsafe fn reduce_local(
        &self,
        left: *const u8,
        inout: *mut u8,
        count: u64,
        (datatype, extent): (Datatype, i64),
        op: sys::MPI_Op,
    ) -> Result<(), Code> {
        let mut done = 0;
        while done < count {
            let now = (count - done).min(ELEMENTS_MAX);
            let offset = (done as i64).wrapping_mul(extent) as isize;
            // SAFETY: by the caller's contract.
            check(unsafe {
                (self.f.reduce_local)(
                    left.wrapping_offset(offset).cast(),
                    inout.wrapping_offset(offset).cast(),
                    now as c_int,
                    datatype.0,
                    op,
                )
            })?;
            done += now;
        }
        Ok(())
    }
}
