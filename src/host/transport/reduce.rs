//! Reductions of a few numbers, by which ranks agree.

use super::patience::{Patience, Pending, test};
use super::watch;
use crate::host::library::abi::Abi;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::code::{Code, check};
use std::ffi::{c_int, c_long};
use std::time::Duration;

impl Mpi {
    /// Element-wise maximum of `numbers` over all ranks of `comm`, in place of `numbers`. Collective.
    pub fn max(&self, comm: Comm, numbers: &mut [i64]) -> Result<(), Code> {
        self.max_in_time(comm, numbers, Duration::MAX, |_| {})
    }

    /// The same; where it takes long, `look` is told every `interval` how long it has taken so far. It may be called by
    /// another thread.
    ///
    /// It is started and waited for: then no thread is needed to look. (Blocking reductions of Intel MPI in shared
    /// memory, 2021.18, never end if threads call them at the same time, each on a communicator of its own.) But for
    /// Open MPI: its nonblocking ones are out of step if `MPI_Comm_idup` is under way on the communicator, which starts
    /// some of its own whenever it makes progress (4.1, 5.0).
    pub fn max_in_time(
        &self,
        comm: Comm,
        numbers: &mut [i64],
        interval: Duration,
        mut look: impl FnMut(Duration) + Send + 'static,
    ) -> Result<(), Code> {
        // A few numbers in the middle of a program's calls are no reason to allocate.
        let (mut few, many): ([i64; 8], Vec<i64>);
        let from = match numbers.len() {
            n @ ..=8 => {
                few = [0; 8];
                few[..n].copy_from_slice(numbers);
                few.as_ptr().cast()
            }
            _ => {
                many = numbers.to_vec();
                many.as_ptr().cast()
            }
        };
        let (to, n) = (numbers.as_mut_ptr().cast(), numbers.len() as c_int);
        const { assert!(size_of::<c_long>() == 8) };
        let at_once = || {
            // SAFETY: both buffers hold `numbers.len()` 64-bit integers and do not overlap.
            check(unsafe { (self.f.allreduce)(from, to, n, self.h.long, self.h.max, comm.0) })
        };
        if Abi::BUILT.is_simulated() {
            return at_once(); // simulated time stands still while a rank tests
        }
        if !self.reduces_apart {
            return watch::watched(interval, look, at_once);
        }
        let mut request = self.h.request_null;
        // SAFETY: as above, and the buffers stay until the request is complete.
        check(unsafe {
            (self.f.iallreduce)(from, to, n, self.h.long, self.h.max, comm.0, &mut request)
        })?;
        if request == self.h.request_null {
            return Err(Code::intern()); // as for `private`
        }
        let mut pending = Pending::new(request);
        let mut patience = Patience::new(0);
        let mut next = interval;
        while test(self, &mut pending)
            .map_err(|failure| failure.code())?
            .is_none()
        {
            if let Some(time) = patience.wait().filter(|time| *time >= next) {
                next += interval;
                look(time);
            }
        }
        Ok(())
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
