//! Communicators as Rondo uses them: a typed handle with the host's operations on it.

use super::code::{Code, check};
use super::groups::Group;
use crate::host::library::abi::Abi;
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use parking_lot::Mutex;
use std::ffi::{c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::Ordering::Relaxed;

/// Phases of the world model, see [`Mpi::world_is_up`]: nobody has asked, or it had not begun.
const UNKNOWN: u8 = 0;
/// It has begun, and its end has not.
const RUNNING: u8 = 1;
/// Its end has begun.
const ENDING: u8 = 2;

/// What `MPI_Initialized` or `MPI_Finalized` says; they may be called at any time.
fn says(query: unsafe extern "C-unwind" fn(*mut c_int) -> c_int) -> bool {
    let mut flag: c_int = 0;
    // SAFETY: one of these two functions, with a place to write to.
    check(unsafe { query(&mut flag) }).is_ok() && flag != 0
}

impl Mpi {
    /// `MPI_COMM_SELF`, which is the program's.
    pub fn myself(&self) -> Comm {
        Comm(self.h.self_)
    }

    /// `MPI_COMM_WORLD`.
    pub fn world(&self) -> Comm {
        Comm(self.h.world)
    }

    /// Was this process started by another one's `MPI_Comm_spawn`, to which it still is connected?
    pub fn has_parent(&self) -> bool {
        if Abi::BUILT.is_simulated() {
            return false; // the simulator starts none, and lacks the function
        }
        let mut parent = self.h.comm_null;
        // SAFETY: the result is a valid place to write to. MPI is asked by `world_is_up` only.
        let asked = self.world_is_up() && unsafe { (self.f.comm_get_parent)(&mut parent) } == 0;
        asked && parent != self.h.comm_null
    }

    /// This process's rank in `comm`.
    pub fn rank(&self, comm: Comm) -> Result<u32, Code> {
        let mut rank: c_int = 0;
        // SAFETY: the handle is the caller's, valid by the MPI contract, or made by Rondo and not freed. The result is
        // a valid place to write to.
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

    /// The communicator that a pointer of the program's points to, if it can be one.
    ///
    /// # Safety
    /// The pointer is null or points to a handle of the host's.
    pub unsafe fn comm_at(&self, handle: *const c_void) -> Option<Comm> {
        // SAFETY: the caller's contract.
        let comm = unsafe { handle.cast::<sys::MPI_Comm>().as_ref() }?;
        self.h.is_comm(*comm).then_some(Comm(*comm))
    }

    /// Is `comm` an inter-communicator?
    pub fn is_inter(&self, comm: Comm) -> Result<bool, Code> {
        let mut flag: c_int = 0;
        // SAFETY: as in `rank`.
        check(unsafe { (self.f.comm_test_inter)(comm.0, &mut flag) })?;
        Ok(flag != 0)
    }

    /// Is the world model of MPI there, which begins with `MPI_Init` and ends in `MPI_Finalize`? What Rondo keeps
    /// belongs to it: keyvals, communicators, the nodes of `MPI_COMM_WORLD`. It comes once in the life of a process,
    /// while that of sessions may end and begin anew unseen, with other objects by the same handles.
    #[inline]
    pub fn world_is_up(&self) -> bool {
        match self.phase.load(Relaxed) {
            RUNNING => true,
            phase => self.world_is_up_after(phase),
        }
    }

    #[cold]
    fn world_is_up_after(&self, phase: u8) -> bool {
        // Delete callbacks on MPI_COMM_SELF are called at the start of MPI_Finalize, while MPI works and says that it
        // is not finalized.
        let up = says(self.f.initialized) && !says(self.f.finalized);
        if up && phase == UNKNOWN {
            // Unless the end has begun meanwhile.
            let _ = (self.phase).compare_exchange(UNKNOWN, RUNNING, Relaxed, Relaxed);
        }
        up
    }

    /// `MPI_Finalize` is called: from now on it is asked whether it has ended. Is this the first time?
    pub fn world_ends(&self) -> bool {
        self.phase.swap(ENDING, Relaxed) != ENDING
    }

    /// A communicator of this process alone that is Rondo's and returns errors. Local. What may fail is done on it and
    /// not on `MPI_COMM_SELF`, whose error handler is the user's. `None` if the host has no room for one: then that
    /// handler was called.
    pub fn own_self(&self) -> Option<Comm> {
        if let Some(own) = *self.own_self.lock() {
            return Some(own);
        }
        // No lock is held: the handler of the user's may call us.
        let made = self.alone(Comm(self.h.self_)).ok()?;
        let mut own = self.own_self.lock();
        match *own {
            // Another thread was faster.
            Some(own) => {
                self.free(made);
                Some(own)
            }
            None => {
                *own = Some(made);
                *own
            }
        }
    }

    /// Gives [`Mpi::own_self`] back.
    pub fn free_own_self(&self) {
        if let Some(own) = self.own_self.lock().take() {
            self.free(own);
        }
    }

    /// Calls `call`, which is for [`Mpi::own_self`], with it: collectives on one communicator come one after the other,
    /// also those of several threads. No handler of the user's is called meanwhile. `None` if there is none.
    pub(in crate::host) fn by_itself<T>(&self, call: impl FnOnce(Comm) -> T) -> Option<T> {
        static ONE: Mutex<()> = Mutex::new(());
        let own = self.own_self()?;
        let _one = ONE.lock();
        Some(call(own))
    }

    /// Has this process room for one more communicator? Local. Nobody's error handler is called to find out.
    pub fn has_room(&self) -> bool {
        // SMPI has room for any number.
        if Abi::BUILT.is_simulated() {
            return true;
        }
        let tried = self.by_itself(|own| self.alone(own).ok()).flatten();
        tried.inspect(|&comm| self.free(comm)).is_some()
    }

    /// A new communicator with the ranks of `comm` in the same order, which `group` is of. Collective. It does not
    /// return errors yet ([`Mpi::return_errors`]).
    ///
    /// Created from the group, because a duplicate would run the user's attribute copy callbacks, and because MPICH 5
    /// with several threads holds a lock of `comm` while it calls its error handler: a handler that calls a collective
    /// on `comm` works there, but to split or duplicate it ends the job. If the host cannot make the communicator, it
    /// calls the error handler of `comm`: see [`Mpi::has_room`].
    pub fn private(&self, comm: Comm, group: &Group) -> Result<Comm, Code> {
        let mut made = self.h.comm_null;
        // SAFETY: `comm` is a valid intra-communicator, the group is its own, `made` a place of the right type.
        unsafe {
            check((self.f.comm_create)(comm.0, group.handle(), &mut made))?;
            if made == self.h.comm_null {
                return Err(Code::no_mem()); // MPICH 5 returns success if the error handler did
            }
        }
        Ok(Comm(made))
    }

    /// From now on errors on a communicator made by [`Mpi::private`] are returned. Local.
    pub fn return_errors(&self, comm: Comm) -> Result<(), Code> {
        // SAFETY: the communicator is ours, the handler predefined.
        check(unsafe { (self.f.comm_set_errhandler)(comm.0, self.h.errors_return) })
    }

    /// The same for a communicator of this process alone, errors returned. Local.
    fn alone(&self, comm: Comm) -> Result<Comm, Code> {
        let made = self.private(comm, &Group::of(self, comm)?)?;
        let errors = self.return_errors(made);
        errors.inspect_err(|_| self.free(made)).map(|()| made)
    }

    /// Frees a communicator made by [`Mpi::private`], unless MPI is no more.
    pub fn free(&self, comm: Comm) {
        // Attributes of MPI_COMM_WORLD may be deleted when MPI_Finalize is nearly over.
        if self.phase.load(Relaxed) == ENDING && says(self.f.finalized) {
            return;
        }
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

    /// Has the host move messages that are under way, and gives the processor away.
    pub fn progress(&self, comm: Comm) {
        let (mut found, mut status): (c_int, _) = (0, MaybeUninit::<sys::MPI_Status>::uninit());
        let any = sys::MPI_ANY_SOURCE;
        // SAFETY: the communicator is Rondo's; flag and status are places of the right types. Nobody reads them.
        unsafe { (self.f.iprobe)(any, 0, comm.0, &mut found, status.as_mut_ptr()) };
        std::thread::yield_now();
    }

    /// May several threads of this process call MPI at the same time?
    pub fn has_threads(&self) -> bool {
        let mut level: c_int = 0;
        // SAFETY: a place of the right type, and MPI is up.
        check(unsafe { (self.f.query_thread)(&mut level) }).is_ok()
            && level == sys::MPI_THREAD_MULTIPLE as c_int
    }

    /// Ends the job.
    pub fn abort(&self, comm: Comm, code: Code) -> ! {
        // SAFETY: `comm` is valid. MPI_Abort does not come back on any host; if it does, the
        // process ends all the same.
        unsafe { (self.f.abort)(comm.0, code.get()) };
        std::process::abort()
    }

    /// The largest tag that messages may carry. It is an attribute of MPI_COMM_WORLD: Open MPI gives it to no
    /// communicator but that and its duplicates.
    pub fn tag_max(&self) -> u32 {
        let mut value: *const c_int = ptr::null();
        let mut found: c_int = 0;
        let keyval = sys::MPI_TAG_UB as c_int;
        // SAFETY: MPI_TAG_UB's value is a pointer to an int that lives as long as MPI.
        let rc = unsafe {
            (self.f.comm_get_attr)(self.h.world, keyval, (&raw mut value).cast(), &mut found)
        };
        if rc != 0 || found == 0 || value.is_null() {
            return 32767; // what the standard guarantees
        }
        // SAFETY: found and not null, so it points to MPI's int.
        unsafe { *value }.max(32767) as u32
    }
}
