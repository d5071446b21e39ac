//! Words from one rank to others.

use super::patience::{Patience, Pending, test, wait};
use crate::host::library::abi::Abi;
use crate::host::library::handle::Comm;
use crate::host::library::table::Usable;
use crate::host::object::code::check;
use crate::host::object::failure::{Failure, at};
use std::ffi::c_int;

impl Usable {
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
            check(rc).map_err(at("agreeing on shared memory"))
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
