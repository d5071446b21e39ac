//! How the messages of a communicator's calls travel: on the job's private communicator, to ranks of the world, with
//! the communicator's number in their tags.
//!
//! A tag has one of these forms (the least tag space that a host must have for Rondo to be at work is 18 bits):
//!
//! ```text
//!         | number, 11 bits | what the ranks agree on, the rest |
//!  18 bits|#################|.......|                              7 bits: Open MPI's and MPICH's least networks
//!  20 bits|#################|.........|                            9: PSM2, Intel MPI over mlx
//!  23 bits|#################|............|                        12: Open MPI over UCX
//!  28 bits|#################|.................|                   17: MPICH
//!  30 bits|#################|...................|                 19: Open MPI (31)
//! ```
//!
//! Two communicators that have a rank in common never have the same number at the same time ([`crate::group`]), so a
//! message of one never matches a receive of the other. Within one communicator two calls that disagree (an erroneous
//! program) match by chance: the rest has a half of the tags for packets, and two quarters for blocks ([`call_tag`],
//! [`Tags`]), so one in 2^(rest - 2) pairs of them does: one in 32 with 18 bits, one in 131,072 with 30. Two
//! blocks of one call of which the ranks disagree match in one of eight cases: most bits tell calls apart.

use super::pending::Pending;
use super::probes::Peer;
use super::start::Envelope;
use super::tags::TagSpace;
use crate::host::data::lent::{self, Lent};
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::failure::Failure;
use std::ffi::c_int;

/// What the messages of a communicator's calls have in common.
#[derive(Clone, Copy)]
pub struct Channel<'a> {
    /// The job's private communicator.
    pub comm: Comm,
    /// The communicator's ranks as ranks of the world; `None` if they are the same.
    pub ranks: Option<&'a [u32]>,
    /// How many they are.
    pub p: u32,
    /// This process's rank in the communicator.
    pub me: u32,
    /// Its tags.
    pub tags: TagSpace,
    /// See `RONDO_TIMEOUT_S`.
    pub timeout_s: u32,
}

impl<'a> Channel<'a> {
    /// A rank of the communicator as one of the world.
    #[inline]
    pub(super) fn world_rank(&self, rank: u32) -> c_int {
        self.ranks.map_or(rank, |ranks| ranks[rank as usize]) as c_int
    }

    /// A rank of the world, from which a message of this communicator came, as one of the communicator.
    pub(super) fn rank_of(&self, world: c_int) -> u32 {
        let world = world as u32;
        let found = |ranks: &[u32]| ranks.iter().position(|&rank| rank == world);
        self.ranks.map_or(world, |ranks| {
            found(ranks).expect("a number is that of one communicator at a time") as u32
        })
    }

    /// What a message to a rank, or from one, goes by.
    pub(super) fn envelope(&self, rank: u32, tag: c_int) -> Envelope<'a> {
        Envelope {
            rank,
            tag,
            channel: *self,
        }
    }
}

impl Mpi {
    /// Element-wise maximum of `numbers` over all ranks of a channel, in their place. All of them call it between the
    /// same two calls, so that its messages, which come in order, need no tag of their own.
    ///
    /// By dissemination (Hensgen, Finkel, Manber: "Two algorithms for barrier synchronization", 1988): in round k each
    /// rank sends what it knows to the one 2^k behind it. A maximum may count a number twice, so any p will do.
    pub fn max_over(&self, channel: Channel<'_>, numbers: &mut [i64]) -> Result<(), Failure> {
        let Channel { p, me, tags, .. } = channel;
        let bytes = size_of_val(numbers) as u64;
        let mut distance = 1;
        while distance < p {
            let (to, from) = ((me + distance) % p, (me + p - distance) % p);
            let n = numbers.len();
            let mut both = Lent::new(numbers.repeat(2));
            let (sent, got) = both.split_at_mut(n);
            let chunks = [sent, got].map(|half| self.bytes_at(half.as_mut_ptr().cast(), bytes));
            // SAFETY: each half has so many bytes, and stays until both requests are complete, below, or for good.
            let requests = unsafe {
                let received =
                    self.start_receive(chunks[1], channel.envelope(from, tags.base()))?;
                let sent = self.start_send(chunks[0], channel.envelope(to, tags.base()), false);
                [received, sent.inspect_err(|_| lent::give_up())?]
            };
            self.complete(
                &mut requests.map(Pending::new),
                Peer {
                    channel,
                    rank: from,
                },
            )?;
            for (number, got) in numbers.iter_mut().zip(&both[n..]) {
                *number = (*number).max(*got);
            }
            distance *= 2;
        }
        Ok(())
    }
}
