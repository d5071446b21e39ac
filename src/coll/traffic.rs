//! What the messages of a call carry, and go by.

#![forbid(unsafe_code)]

use super::Stop;
use crate::host::{Channel, Data, Failure, Job, Mpi};

/// The data of a call on this rank, and what its messages go by.
pub(super) struct Traffic<'a> {
    pub channel: Channel<'a>,
    pub tag: i32,
    pub data: Data<'a>,
    /// Is this the root of a broadcast?
    pub packs: bool,
}

impl<'a> Traffic<'a> {
    fn job(&'a self, mpi: &'a Mpi) -> Job<'a> {
        Job {
            mpi,
            channel: self.channel,
            tag: self.tag,
            data: &self.data,
            packs: self.packs,
        }
    }

    /// Carries out what `run` does with the data, and puts what arrived where the user wants it.
    pub(super) fn carry(
        self,
        mpi: &Mpi,
        run: impl FnOnce(&Job) -> Result<(), Failure>,
    ) -> Result<(), Stop> {
        let job = self.job(mpi);
        let done = run(&job).and_then(|()| job.unpack(u64::MAX));
        done.map_err(|failure| {
            // The job ends, but until it does, messages may still arrive in a packed copy.
            std::mem::forget(self);
            Stop::Broken(failure)
        })
    }
}
