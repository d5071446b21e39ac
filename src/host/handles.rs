//! Communicators as Rondo uses them: a typed handle with the host's operations on it.

use super::abi::{
    Abi, MPI_ERR_ARG, MPI_ERR_BUFFER, MPI_ERR_COMM, MPI_ERR_INTERN, MPI_ERR_NO_MEM,
    MPI_ERR_TRUNCATE, MPI_ERR_TYPE,
};
use super::patience::wait_any;
use super::sys;
use super::table::Usable;
use std::cell::Cell;
use std::ffi::{c_int, c_long};
use std::num::NonZero;
use std::ptr;

/// An MPI error code of the host; never `MPI_SUCCESS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(NonZero<c_int>);

impl Code {
    /// The host's code for "out of memory".
    pub fn no_mem() -> Code {
        Code(NonZero::new(MPI_ERR_NO_MEM as c_int).expect("an error class is not 0"))
    }

    /// The host's code for a buffer that cannot be one.
    pub fn buffer() -> Code {
        Code(NonZero::new(MPI_ERR_BUFFER as c_int).expect("an error class is not 0"))
    }

    /// The host's code for a message of the wrong length.
    pub fn truncate() -> Code {
        Code(NonZero::new(MPI_ERR_TRUNCATE as c_int).expect("an error class is not 0"))
    }

    /// The host's code for an error of Rondo's own.
    pub fn intern() -> Code {
        Code(NonZero::new(MPI_ERR_INTERN as c_int).expect("an error class is not 0"))
    }

    /// The code as C sees it.
    pub fn get(self) -> c_int {
        self.0.get()
    }
}

thread_local! {
    /// The last error of a host function in this call; 0 if there was none.
    static LAST: Cell<c_int> = const { Cell::new(0) };
}

/// Turns a host function's return value into a `Result`.
pub fn check(rc: c_int) -> Result<(), Code> {
    match NonZero::new(rc) {
        None => Ok(()),
        Some(code) => {
            LAST.set(rc);
            Err(Code(code))
        }
    }
}

/// A call begins: no host function has failed in it.
pub fn no_trouble() {
    LAST.set(0);
}

/// A communicator of the host.
#[derive(Clone, Copy, PartialEq)]
pub struct Comm(pub(super) sys::MPI_Comm);

// SAFETY: a communicator handle is an index or an address that any thread may pass to MPI; Rondo
// never looks behind it.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

impl Usable {
    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> Comm {
        Comm(self.h.world)
    }

    /// This process's rank in `comm`.
    pub fn rank(&self, comm: Comm) -> Result<u32, Code> {
        let mut rank: c_int = 0;
        // SAFETY: the host checks the handle; the result is a valid place to write to.
        check(unsafe { (self.f.comm_rank)(comm.0, &mut rank) })?;
        Ok(rank as u32)
    }

    /// Number of ranks of `comm`.
    pub fn size(&self, comm: Comm) -> Result<u32, Code> {
        let mut size: c_int = 0;
        // SAFETY: as in `rank`.
        check(unsafe { (self.f.comm_size)(comm.0, &mut size) })?;
        Ok(size as u32)
    }

    fn class(&self, code: c_int) -> c_int {
        let mut class: c_int = 0;
        // SAFETY: the host checks the code; the result is a valid place to write to.
        unsafe { (self.f.error_class)(code, &mut class) };
        class
    }

    /// Does this code say that there is no such communicator?
    pub fn denies_comm(&self, code: Code) -> bool {
        self.class(code.get()) == MPI_ERR_COMM as c_int
    }

    /// Why an argument seems to be invalid, if the reason is that a host function failed which has nothing against it: the host's
    /// collective would not complain, and wait for ranks that are in one of Rondo's.
    pub fn trouble(&self) -> Option<Code> {
        let code = NonZero::new(LAST.replace(0))?;
        let class = self.class(code.get());
        let complaints = [MPI_ERR_TYPE, MPI_ERR_ARG, MPI_ERR_COMM];
        (!complaints.contains(&(class as u32))).then_some(Code(code))
    }

    /// Is `comm` an inter-communicator?
    pub fn is_inter(&self, comm: Comm) -> Result<bool, Code> {
        let mut flag: c_int = 0;
        // SAFETY: as in `rank`.
        check(unsafe { (self.f.comm_test_inter)(comm.0, &mut flag) })?;
        Ok(flag != 0)
    }

    /// Does `comm` have exactly the ranks of `MPI_COMM_WORLD`, in whatever order? Local.
    pub fn spans_world(&self, comm: Comm) -> Result<bool, Code> {
        Ok(self.compare_with_world(comm)? != sys::MPI_UNEQUAL)
    }

    /// Does `comm` have the ranks of `MPI_COMM_WORLD` in the same order? Local.
    pub fn is_world(&self, comm: Comm) -> Result<bool, Code> {
        let result = self.compare_with_world(comm)?;
        Ok(result == sys::MPI_IDENT || result == sys::MPI_CONGRUENT)
    }

    fn compare_with_world(&self, comm: Comm) -> Result<u32, Code> {
        let mut result: c_int = sys::MPI_UNEQUAL as c_int;
        // SAFETY: both handles are valid; `result` is a valid place to write to.
        check(unsafe { (self.f.comm_compare)(comm.0, self.h.world, &mut result) })?;
        Ok(result as u32)
    }

    /// Is MPI initialised by `MPI_Init`? False in programs that only use Sessions.
    pub fn initialized(&self) -> bool {
        let mut flag: c_int = 0;
        // SAFETY: `MPI_Initialized` may be called at any time.
        check(unsafe { (self.f.initialized)(&mut flag) }).is_ok() && flag != 0
    }

    /// Element-wise maximum of `words` over all ranks of `comm`, in place of `words`. Collective.
    pub fn max_words(&self, comm: Comm, words: &mut [i64]) -> Result<(), Code> {
        let own = words.to_vec();
        let (from, to) = (own.as_ptr().cast(), words.as_mut_ptr().cast());
        let n = words.len() as c_int;
        const { assert!(size_of::<c_long>() == 8) };
        if !self.reduces_apart {
            // SAFETY: both buffers hold `words.len()` 64-bit integers and do not overlap.
            return check(unsafe {
                (self.f.allreduce)(from, to, n, self.h.long, self.h.max, comm.0)
            });
        }
        let mut request = [self.h.request_null];
        // SAFETY: as above, and the buffers stay until the request is complete.
        check(unsafe {
            (self.f.iallreduce)(
                from,
                to,
                n,
                self.h.long,
                self.h.max,
                comm.0,
                &mut request[0],
            )
        })?;
        wait_any(self, &mut request)
            .map(drop)
            .map_err(|failure| failure.code())
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

    /// `MPI_COMM_SELF`.
    pub(super) fn myself(&self) -> Comm {
        Comm(self.h.self_)
    }

    /// Calls `f` while errors on `comm` are returned, whatever the user's handler is.
    pub fn returning_errors<T>(
        &self,
        comm: Comm,
        f: impl FnOnce() -> Result<T, Code>,
    ) -> Result<T, Code> {
        // SMPI has no handler to tell where none was set, and room for any number of communicators.
        if Abi::BUILT.is_simulated() {
            return f();
        }
        let mut user = self.h.errors_return; // overwritten at once
        // SAFETY: the host checks the handle; the place written to is a local of the right type.
        unsafe {
            check((self.f.comm_get_errhandler)(comm.0, &mut user))?;
            let set = check((self.f.comm_set_errhandler)(comm.0, self.h.errors_return));
            let result = set.and_then(|()| f());
            check((self.f.comm_set_errhandler)(comm.0, user))?;
            check((self.f.errhandler_free)(&mut user))?;
            result
        }
    }

    /// A new communicator with the ranks of `comm` in the same order, errors returned. Collective.
    ///
    /// Split instead of dup, which would run the user's attribute copy callbacks. A host that has no
    /// room left must not end the user's job for our sake, so `comm` is to return errors meanwhile.
    pub fn private(&self, comm: Comm, rank: u32) -> Result<Comm, Code> {
        let mut made = self.h.comm_null;
        // SAFETY: `comm` is a valid intra-communicator, `made` a place of the right type.
        unsafe {
            check((self.f.comm_split)(comm.0, 0, rank as c_int, &mut made))?;
            check((self.f.comm_set_errhandler)(made, self.h.errors_return))?;
        }
        Ok(Comm(made))
    }

    /// Frees a communicator made by [`Usable::private`].
    pub fn free(&self, comm: Comm) {
        let mut handle = comm.0;
        // SAFETY: the handle is ours and nothing is in flight on it. An error is not reported: the
        // caller is a delete callback, and the worst case is one communicator less.
        unsafe { (self.f.comm_free)(&mut handle) };
    }

    /// Raises `code` on the user's communicator, as MPI asks of a function that fails, and gives the
    /// code to return if the error handler comes back.
    pub fn raise(&self, comm: Comm, code: Code) -> c_int {
        // SAFETY: `comm` is valid; the handler is the user's.
        unsafe { (self.f.comm_call_errhandler)(comm.0, code.get()) };
        code.get()
    }

    /// Ends the job.
    pub fn abort(&self, comm: Comm, code: Code) -> ! {
        // SAFETY: `comm` is valid. MPI_Abort does not come back on any host; if it does, the
        // process ends all the same.
        unsafe { (self.f.abort)(comm.0, code.get()) };
        std::process::abort()
    }

    /// The largest tag that messages on `comm` may carry.
    pub fn tag_max(&self, comm: Comm) -> u32 {
        let mut value: *const c_int = ptr::null();
        let mut found: c_int = 0;
        let keyval = sys::MPI_TAG_UB as c_int;
        // SAFETY: MPI_TAG_UB's value is a pointer to an int that lives as long as MPI.
        let rc =
            unsafe { (self.f.comm_get_attr)(comm.0, keyval, (&raw mut value).cast(), &mut found) };
        if rc != 0 || found == 0 || value.is_null() {
            return 32767; // what the standard guarantees
        }
        // SAFETY: as above.
        unsafe { *value }.max(32767) as u32
    }
}
