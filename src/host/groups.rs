//! Where the ranks of a communicator are in `MPI_COMM_WORLD`, and words from one rank to others.

use super::abi::Abi;
use super::failure::Failure;
use super::handles::{Code, Comm, check};
use super::patience::{Patience, Pending, test, wait};
use super::sys;
use super::table::Usable;
use std::ffi::c_int;
use std::mem::MaybeUninit;

/// A group of the host, freed at the end.
struct Group<'a>(&'a Usable, sys::MPI_Group);

impl<'a> Group<'a> {
    fn of(host: &'a Usable, comm: Comm) -> Result<Group<'a>, Code> {
        let mut group = MaybeUninit::<sys::MPI_Group>::uninit();
        // SAFETY: the communicator is valid; a group is written where one has room.
        check(unsafe { (host.f.comm_group)(comm.0, group.as_mut_ptr()) })?;
        // SAFETY: written, because the call succeeded.
        Ok(Group(host, unsafe { group.assume_init() }))
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        // SAFETY: the group is ours.
        unsafe { (self.0.f.group_free)(&mut self.1) };
    }
}

impl Usable {
    /// The ranks in `MPI_COMM_WORLD` of the `p` processes of `comm`; `None` if not all are in it, which all of them find alike: one
    /// that is in another world has others outside its own. Local.
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

    /// Brings `words` of rank `from` to the ranks `to`, of which this is `me`, on a private communicator. Called by these ranks
    /// only, by all of them.
    pub fn hand_out(
        &self,
        comm: Comm,
        me: u32,
        from: u32,
        to: &[u32],
        words: &mut [u64],
    ) -> Result<(), Failure> {
        let bytes = size_of_val(words) as c_int;
        let mut requests = Vec::new();
        let mut start = |peer: u32| {
            let mut request = self.h.request_null;
            let tag = 0; // nothing else is under way when a communicator is new
            let (byte, peer) = (self.h.byte, peer as c_int);
            // SAFETY: the words stay where they are until the requests are complete, below.
            let rc = unsafe {
                if me == from {
                    let words = words.as_ptr().cast();
                    (self.f.isend)(words, bytes, byte, peer, tag, comm.0, &mut request)
                } else {
                    let words = words.as_mut_ptr().cast();
                    (self.f.irecv)(words, bytes, byte, peer, tag, comm.0, &mut request)
                }
            };
            requests.push(Pending::new(request));
            check(rc).map_err(super::failure::at("agreeing on shared memory"))
        };
        if me == from {
            to.iter()
                .filter(|&&rank| rank != from)
                .try_for_each(|&rank| start(rank))?;
        } else {
            start(from)?;
        }
        let mut patience = Patience::new(0);
        for request in &mut requests {
            while test(self, request)?.is_none() {
                match Abi::BUILT.is_simulated() {
                    true => wait(self, std::iter::once(&mut *request))?,
                    false => {
                        patience.wait();
                    }
                }
            }
        }
        Ok(())
    }
}
