//! Words from one rank to others.

use super::patience::Pending;
use super::start::Envelope;
use crate::host::library::handle::Comm;
use crate::host::library::table::Mpi;
use crate::host::object::failure::Failure;

impl Mpi {
    /// Brings `words` of rank `from` to the ranks `to`, of which this is `me`, on a private communicator. Called by
    /// these ranks only, by all of them.
    pub fn hand_out(
        &self,
        comm: Comm,
        me: u32,
        from: u32,
        to: &[u32],
        words: &mut [u64],
    ) -> Result<(), Failure> {
        let bytes = size_of_val(words) as u64;
        let chunk = self.bytes_at(words.as_mut_ptr().cast(), bytes);
        let mut requests = Vec::new();
        let mut start = |rank: u32| {
            // Nothing else is under way when a communicator is new.
            let envelope = Envelope { rank, tag: 0, comm };
            // SAFETY: the words stay where they are until the requests are complete, below.
            let request = unsafe {
                match me == from {
                    true => self.start_send(chunk, envelope, false),
                    false => self.start_receive(chunk, envelope),
                }
            }?;
            requests.push(Pending::new(request));
            Ok::<(), Failure>(())
        };
        if me == from {
            to.iter()
                .filter(|&&rank| rank != from)
                .try_for_each(|&rank| start(rank))?;
        } else {
            start(from)?;
        }
        self.complete(&mut requests)
    }
}
