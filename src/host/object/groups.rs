//! The group of a communicator, and where its ranks are in `MPI_COMM_WORLD`.

use super::code::{Code, check};
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// A group of the host, freed at the end.
pub struct Group<'a>(&'a Mpi, sys::MPI_Group);

impl<'a> Group<'a> {
    /// That of a communicator. Local.
    pub fn of(mpi: &'a Mpi, comm: Comm) -> Result<Group<'a>, Code> {
        let mut group = MaybeUninit::<sys::MPI_Group>::uninit();
        // SAFETY: the communicator is valid; a group is written where one has room.
        check(unsafe { (mpi.f.comm_group)(comm.0, group.as_mut_ptr()) })?;
        // SAFETY: written, because the call succeeded.
        Ok(Group(mpi, unsafe { group.assume_init() }))
    }

    pub(super) fn handle(&self) -> sys::MPI_Group {
        self.1
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `Group::of` and freed nowhere else; groups live within calls, while MPI is up.
        unsafe { (self.0.f.group_free)(&mut self.1) };
    }
}

impl Mpi {
    /// The ranks in `MPI_COMM_WORLD` of the `p` processes of `comm`; `None` if not all are in it, which all of them
    /// find alike: one that is in another world has others outside its own. Local.
    pub fn world_ranks(&self, comm: Comm, p: u32) -> Result<Option<Vec<u32>>, Code> {
        let (group, world) = (Group::of(self, comm)?, Group::of(self, self.world())?);
        let ranks: Vec<c_int> = (0..p as c_int).collect();
        let mut found = vec![-1; ranks.len()];
        // SAFETY: both arrays have as many entries.
        check(unsafe {
            (self.f.group_translate_ranks)(
                group.1,
                p as c_int,
                ranks.as_ptr(),
                world.1,
                found.as_mut_ptr(),
            )
        })?;
        // MPI_UNDEFINED is negative on every host.
        Ok(found
            .into_iter()
            .map(|rank| u32::try_from(rank).ok())
            .collect())
    }
}
