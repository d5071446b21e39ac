//! The group of a communicator, and where its ranks are in `MPI_COMM_WORLD`.

use super::code::{Code, check};
use crate::host::library::handle::Comm;
use crate::host::library::sys;
use crate::host::library::table::Mpi;
use crate::topology;
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

    /// The group of these ranks of it, of which there are some. Local.
    fn part(&self, ranks: &[c_int]) -> Result<Group<'a>, Code> {
        let mut group = MaybeUninit::<sys::MPI_Group>::uninit();
        let n = ranks.len() as c_int;
        // SAFETY: there are so many ranks, all different, that the group has; a group is written where one has room.
        check(unsafe { (self.0.f.group_incl)(self.1, n, ranks.as_ptr(), group.as_mut_ptr()) })?;
        // SAFETY: written, because the call succeeded.
        Ok(Group(self.0, unsafe { group.assume_init() }))
    }

    /// What the ranks `own` are in another group; negative: not in it. Local.
    fn translate(&self, own: &[c_int], other: &Group) -> Result<Vec<c_int>, Code> {
        let mut found = vec![-1; own.len()];
        // SAFETY: both arrays have as many entries.
        check(unsafe {
            (self.0.f.group_translate_ranks)(
                self.1,
                own.len() as c_int,
                own.as_ptr(),
                other.1,
                found.as_mut_ptr(),
            )
        })?;
        // MPI_UNDEFINED is negative on every host.
        Ok(found)
    }

    /// Number of processes.
    fn size(&self) -> Result<u32, Code> {
        let mut size: c_int = 0;
        // SAFETY: the group was made by `of` or `part`, and lives. The result is a valid place to write to.
        check(unsafe { (self.0.f.group_size)(self.1, &mut size) })?;
        Ok(size as u32)
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
    /// Are the ranks of `comm` threads? Those of MPICH's thread communicators are while these are active: then there
    /// are more ranks than processes. Local.
    pub fn has_threads_as_ranks(&self, comm: Comm) -> Result<bool, Code> {
        Ok(comm != self.world() && Group::of(self, comm)?.size()? != self.size(comm)?)
    }

    /// The ranks in `MPI_COMM_WORLD` of the `p` processes of `comm`; `None` if not all are in it, which all of them
    /// find alike: one that is in another world has others outside its own. Local.
    pub fn world_ranks(&self, comm: Comm, p: u32) -> Result<Option<Vec<u32>>, Code> {
        if comm == self.world() {
            return Ok(Some((0..p).collect()));
        }
        let (group, world) = (Group::of(self, comm)?, Group::of(self, self.world())?);
        let size = self.size(self.world())?;
        topology::translate(p, size, |ranks, among| match among {
            None => group.translate(ranks, &world),
            Some(among) => group.translate(ranks, &world.part(among)?),
        })
    }
}
