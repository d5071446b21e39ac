//! Every member has a block for every member, of any size, which only the two know at first.
//!
//! On the circulant graph ([`super::circulant_exchange`]), twice: first go the sizes of all blocks, and then the blocks
//! in the same rounds. The area has a place for all that passes through a member, and none is used twice. So what the
//! first exchange leaves in a place is the size of the block that comes to it in the second one.

#![forbid(unsafe_code)]

use super::total_exchange::Rounds;
use super::{Group, Join, Script};

/// The way of the blocks among some members.
pub struct IrregularExchange {
    rounds: Rounds,
    p: u32,
}

impl IrregularExchange {
    /// Among `p` members, in ceil(log2 p) rounds of one message each way.
    pub fn new(p: u32) -> IrregularExchange {
        let rounds = Rounds::new(p, 2);
        IrregularExchange { rounds, p }
    }

    /// Blocks of the area: those for the members after this one, beginning with itself, and for each round copies of
    /// what is sent, side by side, and what comes.
    pub fn blocks(&self) -> u32 {
        self.p
            + 2 * self
                .rounds
                .travels()
                .map(|(_, places)| places.count() as u32)
                .sum::<u32>()
    }

    /// Writes everything for blocks of these sizes, with no messages of more than `most` elements unless a block has
    /// more. For each distance, the block that has what comes from the member so far before this one.
    pub fn write(
        &self,
        script: &mut Script,
        group: &Group,
        sizes: impl Iterator<Item = u64>,
        most: u64,
    ) -> Vec<u32> {
        script.begin(most, sizes);
        let mut at: Vec<u32> = (0..self.p).collect();
        let mut free = self.p;
        for (skip, places) in self.rounds.travels() {
            let first = free;
            for place in places.clone() {
                script.fold(at[place as usize], free..free + 1, Join::Store);
                free += 1;
            }
            script.send(group.after(skip), first..free);
            let first = free;
            for place in places {
                at[place as usize] = free;
                free += 1;
            }
            script.receive(group.before(skip), first..free, Join::Store);
        }
        at
    }
}
