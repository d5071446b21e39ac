//! Reductions of a few numbers, by which ranks agree.

use super::patience::Patience;
use super::pending::{Pending, test};
use super::watch;
use crate::host::library::abi::{Abi, Handles};
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::host::object::code::{Code, check};
use std::cell::Cell;
use std::ffi::{c_int, c_long, c_void};
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Numbers, there and back, of which a thread keeps the room.
const KEPT_MAX: usize = 64;

/// What a reduction reads and writes. They are not the caller's: should it fail half way, the host may read and write
/// them later, so they are given up then.
struct Buffers(ManuallyDrop<Vec<i64>>);

thread_local! {
    /// Those of the last reduction: a few numbers in the middle of a program's calls are no reason to allocate.
    static KEPT: Cell<Vec<i64>> = const { Cell::new(Vec::new()) };
}

impl Buffers {
    /// The numbers, and room for as many.
    fn of(numbers: &[i64]) -> Buffers {
        let mut both = KEPT.try_with(Cell::take).unwrap_or_default();
        both.clear();
        both.extend_from_slice(numbers);
        both.resize(2 * numbers.len(), 0);
        Buffers(ManuallyDrop::new(both))
    }

    /// The numbers, and where their maxima go.
    fn both(&mut self) -> (*const c_void, *mut c_void) {
        let half = self.0.len() / 2;
        let (from, to) = self.0.split_at_mut(half);
        (from.as_ptr().cast(), to.as_mut_ptr().cast())
    }

    /// The reduction is complete: its results.
    fn give_back(self, numbers: &mut [i64]) {
        let both = ManuallyDrop::into_inner(self.0);
        numbers.copy_from_slice(&both[numbers.len()..]);
        if both.len() <= KEPT_MAX {
            // A thread that is about to end keeps nothing.
            let _ = KEPT.try_with(|kept| kept.set(both));
        }
    }
}

impl Mpi {
    /// Element-wise maximum of `numbers` over all ranks of `comm`, in place of `numbers`. Collective.
    pub fn max(&self, comm: Comm, numbers: &mut [i64]) -> Result<(), Code> {
        self.reduce_in_time(self.h.max, comm, numbers, Duration::MAX, |_| {})
    }

    /// The same for the bitwise "and"; where it takes long, `look` is told every `interval` how long it has taken so
    /// far. It may be called by another thread.
    pub fn and_in_time(
        &self,
        comm: Comm,
        numbers: &mut [i64],
        interval: Duration,
        look: impl FnMut(Duration) + Send + 'static,
    ) -> Result<(), Code> {
        self.reduce_in_time(self.h.ops[Handles::BITS], comm, numbers, interval, look)
    }

    /// It is started and waited for: then no thread is needed to look. (Blocking reductions of Intel MPI in shared
    /// memory, 2021.18, never end if threads call them at the same time, each on a communicator of its own.) But for
    /// Open MPI: its nonblocking ones are out of step if `MPI_Comm_idup` is under way on the communicator, which starts
    /// some of its own whenever it makes progress (4.1, 5.0).
    fn reduce_in_time(
        &self,
        op: sys::MPI_Op,
        comm: Comm,
        numbers: &mut [i64],
        interval: Duration,
        mut look: impl FnMut(Duration) + Send + 'static,
    ) -> Result<(), Code> {
        let n = numbers.len() as c_int;
        const { assert!(size_of::<c_long>() == 8) };
        let mut buffers = Buffers::of(numbers);
        let (from, to) = buffers.both();
        let at_once = || {
            // SAFETY: both buffers hold `numbers.len()` 64-bit integers and do not overlap.
            check(unsafe { (self.f.allreduce)(from, to, n, self.h.long, op, comm.0) })
        };
        if Abi::BUILT.is_simulated() {
            at_once()?; // simulated time stands still while a rank tests
            buffers.give_back(numbers);
            return Ok(());
        }
        if !self.reduces_apart {
            watch::watched(interval, look, at_once)?;
            buffers.give_back(numbers);
            return Ok(());
        }
        let mut request = self.h.request_null;
        // SAFETY: as above, and the buffers stay until the request is complete, or for ever should it fail.
        check(unsafe { (self.f.iallreduce)(from, to, n, self.h.long, op, comm.0, &mut request) })?;
        if request == self.h.request_null {
            return Err(Code::intern()); // as for `private`
        }
        let mut pending = Pending::new(request);
        let mut patience = Patience::new(0);
        let mut next = interval;
        while !self.may_test(request)?
            || test(self, &mut pending)
                .map_err(|failure| failure.code())?
                .is_none()
        {
            if let Some(time) = patience.wait().filter(|time| *time >= next) {
                next += interval;
                look(time);
            }
        }
        buffers.give_back(numbers);
        Ok(())
    }

    /// This process is told to go on without others that fail, as MPICH has it (4.0): there `MPI_Test` is not called
    /// for requests that are not complete, which can end the job.
    pub fn outlive(&self) {
        self.outlives.store(true, Relaxed);
    }

    /// May this request, which is not complete for all that is known, be tested?
    fn may_test(&self, request: sys::MPI_Request) -> Result<bool, Code> {
        if !self.outlives.load(Relaxed) {
            return Ok(true);
        }
        let mut done: c_int = 0;
        let mut status = MaybeUninit::<sys::MPI_Status>::uninit();
        // SAFETY: the request is one that the host gave out and has not freed yet: only a test that finds it complete
        // does. The status is a place for one, which nobody reads.
        check(unsafe { (self.f.request_get_status)(request, &mut done, status.as_mut_ptr()) })?;
        Ok(done != 0)
    }

    /// Sum of `values` over all ranks of `comm`, on rank 0. Collective.
    pub fn sum_to_root(&self, comm: Comm, values: &mut [f64]) -> Result<(), Code> {
        let own = values.to_vec();
        // SAFETY: both buffers hold `values.len()` doubles and do not overlap.
        check(unsafe {
            (self.f.reduce)(
                own.as_ptr().cast(),
                values.as_mut_ptr().cast(),
                values.len() as c_int,
                self.h.double,
                self.h.sum,
                0,
                comm.0,
            )
        })
    }
}
