//! Carries a script out over a [`ScriptWire`].
//!
//! Receives are posted ahead within a window. What has come is taken in the order of the script, however it came, so
//! that the operands of a reduction never depend on time.

#![forbid(unsafe_code)]

use super::{Engine, Limits, Progress};
use crate::script::{Join, Script, Send, Source, Take};
use std::collections::VecDeque;
use std::ops::Range;

/// What a [`ScriptWire`] reports as complete: operations are numbered from 0 in the order in which they were started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Complete {
    /// A receive.
    Receive(u32),
    /// A send.
    Send(u32),
}

/// One rank's view of a script in progress. Blocks are those of the script. After an error nothing more may be asked.
pub trait ScriptWire {
    /// Why the collective cannot go on.
    type Error;

    /// Starts receiving blocks from rank `from`: straight into their places if they are stored, and else beside them.
    /// `false`: there is no memory for it before another one is taken; never so while none is in flight.
    fn receive(&mut self, from: u32, blocks: &Range<u32>, join: Join) -> Result<bool, Self::Error>;

    /// Starts sending blocks to rank `to`. `false`: they cannot leave before another send is complete; never so while
    /// none is in flight.
    fn send(&mut self, to: u32, blocks: &Range<u32>) -> Result<bool, Self::Error>;

    /// One completed operation, if there is any; does not wait.
    fn poll(&mut self) -> Result<Option<Complete>, Self::Error>;

    /// Joins what came with receive number `receive`, or other blocks, to blocks.
    fn take(&mut self, receive: Option<u32>, take: &Take) -> Result<(), Self::Error>;

    /// Called when nothing can be done before an operation is complete.
    fn idle(&mut self) -> Result<(), Self::Error>;
}

/// Operations in flight, of which the oldest ones are complete in the order of their numbers.
#[derive(Default)]
struct Row {
    /// Operations that are complete, without a gap.
    complete: u32,
    /// Whether those after them are.
    later: VecDeque<bool>,
}

impl Row {
    fn begin(&mut self) {
        self.later.push_back(false);
    }

    fn end(&mut self, number: u32) {
        self.later[(number - self.complete) as usize] = true;
        while self.later.front() == Some(&true) {
            self.later.pop_front();
            self.complete += 1;
        }
    }

    fn in_flight(&self) -> u32 {
        self.later.len() as u32
    }
}

/// A script in progress.
pub struct Execution<'a> {
    sends: &'a [Send],
    takes: &'a [Take],
    /// How many receives may be in flight or waiting to be taken, and how many sends in flight.
    limits: Limits,
    /// Sends that have been started.
    sent: usize,
    sending: Row,
    /// Takes whose receives have been started, and that are done.
    posted: usize,
    taken: usize,
    receiving: Row,
    /// Receives that have been taken.
    received: u32,
}

impl<'a> Execution<'a> {
    /// Begins a script. No more is in flight at a time than the limits say.
    pub fn new(script: &'a Script, limits: Limits) -> Execution<'a> {
        Execution {
            sends: script.sends(),
            takes: script.takes(),
            limits,
            sent: 0,
            sending: Row::default(),
            posted: 0,
            taken: 0,
            receiving: Row::default(),
            received: 0,
        }
    }

    /// Starts and takes what can be, until nothing more can.
    fn start<W: ScriptWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        loop {
            // First what others wait for.
            let mut again = self.post_sends(wire)?;
            again |= self.post_receives(wire)?;
            again |= self.take_next(wire)?;
            if !again {
                return Ok(moved);
            }
            moved = true;
        }
    }

    fn post_sends<W: ScriptWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(send) = self.sends.get(self.sent)
            && send.after as usize <= self.taken
            && self.sending.in_flight() < self.limits.sends.max(1)
            && wire.send(send.to, &send.blocks)?
        {
            self.sending.begin();
            self.sent += 1;
            moved = true;
        }
        Ok(moved)
    }

    fn post_receives<W: ScriptWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(take) = self.takes.get(self.posted) {
            if let Source::Rank(from) = take.source {
                let held = self.receiving.complete + self.receiving.in_flight() - self.received;
                let ready = match take.join {
                    Join::Store => take.after as usize <= self.taken && self.is_clear(take),
                    Join::Left | Join::Right => true,
                };
                if held >= self.limits.receives.max(1)
                    || !ready
                    || !wire.receive(from, &take.blocks, take.join)?
                {
                    break;
                }
                self.receiving.begin();
            }
            self.posted += 1;
            moved = true;
        }
        Ok(moved)
    }

    /// Has everything left that may not be written over?
    fn is_clear(&self, take: &Take) -> bool {
        take.clear <= self.sending.complete
    }

    fn take_next<W: ScriptWire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        if self.taken == self.posted {
            return Ok(false);
        }
        let take = &self.takes[self.taken];
        if !self.is_clear(take) {
            return Ok(false);
        }
        let receive = match take.source {
            Source::Rank(_) if self.receiving.complete > self.received => {
                self.received += 1;
                Some(self.received - 1)
            }
            Source::Rank(_) => return Ok(false),
            Source::Blocks(_) => None,
        };
        wire.take(receive, take)?;
        self.taken += 1;
        Ok(true)
    }
}

impl<W: ScriptWire> Engine<W> for Execution<'_> {
    type Error = W::Error;

    fn advance(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        let mut moved = self.start(wire)?;
        while let Some(event) = wire.poll()? {
            moved = true;
            match event {
                Complete::Receive(number) => self.receiving.end(number),
                Complete::Send(number) => self.sending.end(number),
            }
            self.start(wire)?;
        }
        let all_sent = self.sent == self.sends.len() && self.sending.in_flight() == 0;
        Ok(Progress::of(
            all_sent && self.taken == self.takes.len(),
            moved,
        ))
    }

    fn idle(&mut self, wire: &mut W) -> Result<(), W::Error> {
        wire.idle()
    }
}
