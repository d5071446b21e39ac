//! Barriers inside a node.

#![forbid(unsafe_code)]

use super::slots::{LINE, Others, Slots};

/// Bytes of the ring that a [`Gate`] takes.
pub const GATE_BYTES: u64 = LINE;

/// What the ranks of a node pass together: all come to one of them, the leader, who lets them go on.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// Ranks of the node.
    pub ranks: u32,
    /// This rank.
    pub me: u32,
    /// The leader.
    pub leader: u32,
    /// The position in the ring at which the call begins.
    pub begin: u64,
}

impl Gate {
    /// Comes to the gate. On the leader, all are there then.
    pub fn come<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let &Gate {
            ranks,
            me,
            leader,
            begin,
        } = self;
        slots.publish(begin + 1);
        if me != leader {
            return Ok(());
        }
        let mut others = Others::default();
        while !others.have(1, ranks, |rank| slots.written(rank).saturating_sub(begin)) {
            slots.idle(Some(others.behind))?;
        }
        (0..ranks)
            .filter(|&rank| rank != me)
            .try_for_each(|rank| slots.same(rank))
    }

    /// Goes on: the leader when it may, the others when it does.
    pub fn pass<S: Slots>(&self, slots: &mut S) -> Result<(), S::Error> {
        let &Gate {
            me, leader, begin, ..
        } = self;
        if me == leader {
            slots.publish_joined(begin + 1);
        }
        while slots.joined(leader) <= begin {
            slots.idle(Some(leader))?;
        }
        slots.release(begin + GATE_BYTES);
        Ok(())
    }
}
