//! Words from one rank to others.

use super::pending::Pending;
use super::probes::Peer;
use crate::host::data::lent::{self, Lent};
use crate::host::library::table::Mpi;
use crate::host::object::failure::Failure;

impl Mpi {
    /// Brings `words` of the rank `from` to the ranks `to`, of which this is `me`, on a channel. Called by
    /// these ranks only, by all of them.
    pub fn hand_out(
        &self,
        me: u32,
        from: Peer<'_>,
        to: &[u32],
        words: &mut [u64],
    ) -> Result<(), Failure> {
        let mut lent = Lent::new(words.to_vec());
        let chunk = self.bytes_at(lent.as_mut_ptr().cast(), size_of_val(words) as u64);
        let mut requests = Vec::new();
        let mut start = |rank: u32| {
            let envelope = from.channel.envelope(rank, from.channel.tags.base());
            // SAFETY: the words stay where they are until the requests are complete, below, or for good.
            let request = unsafe {
                match me == from.rank {
                    true => self.start_send(chunk, envelope, false),
                    false => self.start_receive(chunk, envelope),
                }
            }?;
            requests.push(Pending::new(request));
            Ok::<(), Failure>(())
        };
        let started = match me == from.rank {
            true => (to.iter())
                .filter(|&&rank| rank != from.rank)
                .try_for_each(|&rank| start(rank)),
            false => start(from.rank),
        };
        started.inspect_err(|_| lent::give_up())?;
        self.complete(&mut requests, from)?;
        words.copy_from_slice(&lent);
        Ok(())
    }
}
