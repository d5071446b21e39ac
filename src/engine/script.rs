//! Carries a script out over a [`ScriptWire`].
//!
//! Receives are posted ahead within a window. What has come is taken in the order of the script, however it came, so
//! that the operands of a reduction never depend on time. Sends may go ahead of those to other ranks that wait for
//! their blocks: else each round of a pipelined reduction would begin a latency after the one before.

#![forbid(unsafe_code)]

use super::{Engine, Limits, Progress, Window};
use crate::script::{Join, Script, Send, Source, Take};
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
    /// none is in flight. A send that goes `ahead` of others leaves only if these can still leave while it is in
    /// flight: what its receiver does first may depend on them.
    fn send(&mut self, to: u32, blocks: &Range<u32>, ahead: bool) -> Result<bool, Self::Error>;

    /// One completed operation, if there is any; does not wait.
    fn poll(&mut self) -> Result<Option<Complete>, Self::Error>;

    /// Joins what came with receive number `receive`, or other blocks, to blocks.
    fn take(&mut self, receive: Option<u32>, take: &Take) -> Result<(), Self::Error>;

    /// Called when nothing can be done before an operation is complete.
    fn idle(&mut self) -> Result<(), Self::Error>;
}

/// How many sends from the first one that waits on are looked at: with 64, a reduction in blocks takes hardly longer
/// than with all, while ten blocks fit on the way to a rank (`tests/script/latency.rs`).
const LOOK_AHEAD: usize = 64;

/// Ranks for which sends wait, at the most, while others go ahead.
const WAITING_MAX: usize = 32;

/// Is what a rank has in these blocks from the beginning there already?
pub type Filled<'f> = &'f dyn Fn(&Range<u32>) -> bool;

/// The sends of a script, by their places in it.
#[derive(Default)]
struct Sending {
    /// All before this one have been started.
    next: usize,
    /// Those from `next` on that have been started.
    ahead: Vec<usize>,
    /// What was started, in that order.
    started: Window<usize>,
    in_flight: u32,
    /// As many takes were done, and no send has ended since, when nothing could go ahead.
    looked: Option<usize>,
}

impl Sending {
    fn begin(&mut self, place: usize) {
        self.started.begin(place);
        self.in_flight += 1;
        match place == self.next {
            true => self.next += 1,
            false => self.ahead.push(place),
        }
        while let Some(i) = self.ahead.iter().position(|&place| place == self.next) {
            self.ahead.swap_remove(i);
            self.next += 1;
        }
    }

    /// The one that was started as number `number` is complete.
    fn end(&mut self, number: u32) {
        self.looked = None; // there may be room now
        self.started.end(number, |_| {});
        self.in_flight -= 1;
    }

    /// Are the first `count` of the script complete?
    fn are_complete(&self, count: u32) -> bool {
        let count = count as usize;
        let mut under_way = self.started.under_way();
        count == 0 || (count <= self.next && !under_way.any(|&place| place < count))
    }
}

/// A script in progress.
pub struct Execution<'a> {
    sends: &'a [Send],
    takes: &'a [Take],
    /// How many receives may be in flight or waiting to be taken, and how many sends in flight.
    limits: Limits,
    sending: Sending,
    /// Takes whose receives have been started, and that are done.
    posted: usize,
    taken: usize,
    receiving: Window<()>,
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
            sending: Sending::default(),
            posted: 0,
            taken: 0,
            receiving: Window::default(),
            received: 0,
        }
    }

    /// Starts and takes what can be, until nothing more can.
    fn start<W: ScriptWire>(&mut self, wire: &mut W, filled: Filled) -> Result<bool, W::Error> {
        let mut moved = false;
        loop {
            // First what others wait for.
            let mut again = self.post_sends(wire, filled)?;
            again |= self.post_receives(wire, filled)?;
            again |= self.take_next(wire, filled)?;
            if !again {
                return Ok(moved);
            }
            moved = true;
        }
    }

    fn post_sends<W: ScriptWire>(
        &mut self,
        wire: &mut W,
        filled: Filled,
    ) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(send) = self.sends.get(self.sending.next)
            && self.sending.in_flight < self.limits.sends.max(1)
        {
            let is_ready = send.after as usize <= self.taken && filled(&send.blocks);
            let left = match is_ready {
                true => wire.send(send.to, &send.blocks, false)?,
                false => false,
            };
            match left {
                true => self.sending.begin(self.sending.next),
                false if is_ready || !self.send_ahead(wire, filled)? => break,
                false => {}
            }
            moved = true;
        }
        Ok(moved)
    }

    /// Starts a send that goes ahead of the next one, which waits, if there is any. No send overtakes one to the same
    /// rank, which receives them in order, and half of those that may be in flight are left to sends in their turn.
    fn send_ahead<W: ScriptWire>(
        &mut self,
        wire: &mut W,
        filled: Filled,
    ) -> Result<bool, W::Error> {
        let next = self.sending.next;
        if self.sending.in_flight >= self.limits.sends / 2
            || self.sending.looked == Some(self.taken)
        {
            return Ok(false);
        }
        let (mut waiting, mut ranks) = ([0; WAITING_MAX], 0);
        for (i, send) in self.sends.iter().enumerate().skip(next).take(LOOK_AHEAD) {
            if self.sending.ahead.contains(&i) || waiting[..ranks].contains(&send.to) {
                continue;
            }
            if send.after as usize <= self.taken && filled(&send.blocks) {
                let leaves = wire.send(send.to, &send.blocks, true)?;
                match leaves {
                    true => self.sending.begin(i),
                    false => self.sending.looked = Some(self.taken),
                }
                return Ok(leaves);
            }
            if ranks == WAITING_MAX {
                break;
            }
            waiting[ranks] = send.to;
            ranks += 1;
        }
        self.sending.looked = Some(self.taken);
        Ok(false)
    }

    fn post_receives<W: ScriptWire>(
        &mut self,
        wire: &mut W,
        filled: Filled,
    ) -> Result<bool, W::Error> {
        let mut moved = false;
        while let Some(take) = self.takes.get(self.posted) {
            if let Source::Rank(from) = take.source {
                let held = self.receiving.gone() + self.receiving.held() - self.received;
                let ready = match take.join {
                    Join::Store => {
                        take.after as usize <= self.taken
                            && self.is_clear(take)
                            && filled(&take.blocks)
                    }
                    Join::Left | Join::Right => true,
                };
                if held >= self.limits.receives.max(1)
                    || !ready
                    || !wire.receive(from, &take.blocks, take.join)?
                {
                    break;
                }
                self.receiving.begin(());
            }
            self.posted += 1;
            moved = true;
        }
        Ok(moved)
    }

    /// Has everything left that may not be written over?
    fn is_clear(&self, take: &Take) -> bool {
        self.sending.are_complete(take.clear)
    }

    fn take_next<W: ScriptWire>(&mut self, wire: &mut W, filled: Filled) -> Result<bool, W::Error> {
        if self.taken == self.posted {
            return Ok(false);
        }
        let take = &self.takes[self.taken];
        let has_come = match take.source {
            Source::Rank(_) => self.receiving.gone() > self.received,
            Source::Blocks(first) => filled(&(first..first + take.blocks.end - take.blocks.start)),
        };
        if !has_come || !self.is_clear(take) || !filled(&take.blocks) {
            return Ok(false);
        }
        let receive = match take.source {
            Source::Rank(_) => {
                self.received += 1;
                Some(self.received - 1)
            }
            Source::Blocks(_) => None,
        };
        wire.take(receive, take)?;
        self.taken += 1;
        Ok(true)
    }
}

impl Execution<'_> {
    /// More of the blocks are filled than when this was last asked.
    pub fn look_again(&mut self) {
        self.sending.looked = None;
    }

    /// Does what can be done now, while somebody else still fills blocks. Those that are not filled nothing touches.
    pub fn advance_among<W: ScriptWire>(
        &mut self,
        wire: &mut W,
        filled: Filled,
    ) -> Result<Progress, W::Error> {
        let mut moved = self.start(wire, filled)?;
        while let Some(event) = wire.poll()? {
            moved = true;
            match event {
                Complete::Receive(number) => self.receiving.end(number, |()| {}),
                Complete::Send(number) => self.sending.end(number),
            }
            self.start(wire, filled)?;
        }
        let all_sent = self.sending.next == self.sends.len() && self.sending.in_flight == 0;
        Ok(Progress::of(
            all_sent && self.taken == self.takes.len(),
            moved,
        ))
    }
}

impl<W: ScriptWire> Engine<W> for Execution<'_> {
    type Error = W::Error;

    fn advance(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        self.advance_among(wire, &|_| true)
    }

    fn idle(&mut self, wire: &mut W) -> Result<(), W::Error> {
        wire.idle()
    }
}
