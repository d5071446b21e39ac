//! [`ScriptWire`] over the host's point-to-point messages.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::{Pending, wait};
use super::requests::{Receive, Requests, Sending};
use super::start::Envelope;
use crate::engine::{Complete, Limits, ScriptWire};
use crate::host::data::operands::{Area, Operands, Room, Vectors, no_room};
use crate::host::data::staging::StagingRoom;
use crate::host::library::abi::Abi;
use crate::host::library::table::Mpi;
use crate::host::object::code::Code;
use crate::host::object::failure::Failure;
use crate::script::{Cut, Join, Script, Source, Take};
use std::collections::{TryReserveError, VecDeque};
use std::ops::Range;
use std::time::Instant;

/// Memory for operands that have come and wait to be joined: bytes in all, and pieces.
const STAGED: (u64, u64) = (4 << 20, 64);

/// Memory that is kept from call to call: bytes of the area and of each piece.
const KEPT_BYTES: usize = 1 << 20;

/// Ranks between which the window is shared, at the most.
const RECEIVERS_MAX: usize = 64;

/// A vector of so many elements.
fn alone(elements: u64) -> Vectors {
    Vectors {
        first: elements,
        other: 0,
    }
}

/// Operands that wait to be joined, and the area of a call.
#[derive(Default)]
pub struct Staged {
    /// What the script works on, if that is not the user's memory.
    area: Room,
    rooms: Vec<Room>,
    /// The rooms that are free.
    free: Vec<u32>,
    /// The rooms of the receives that are not taken yet, in their order.
    waiting: VecDeque<Option<u32>>,
}

impl Staged {
    /// Makes room for a script whose area has so many bytes, 0 if it is the user's memory.
    fn reserve(
        &mut self,
        area: u64,
        script: &Script,
        operands: &Operands,
    ) -> Result<(), TryReserveError> {
        if area > 0 {
            self.area.reserve(area)?;
        }
        let joined = |take: &&Take| match (take.source, take.join) {
            (Source::Rank(_), Join::Left | Join::Right) => true,
            (Source::Rank(_), Join::Store) | (Source::Blocks(_), _) => false,
        };
        let joined = script.takes().iter().filter(joined);
        let (mut messages, mut longest) = (0, 0);
        for take in joined {
            messages += 1;
            longest = longest.max(script.cut().count(&take.blocks));
        }
        let bytes = operands.room(alone(longest), longest);
        let rooms = (STAGED.0 / bytes).clamp(2, STAGED.1).min(messages) as usize;
        while self.rooms.len() < rooms {
            self.rooms.push(Room::default());
        }
        for room in &mut self.rooms[..rooms] {
            room.reserve(bytes)?;
        }
        self.free.clear();
        self.free.extend((0..rooms as u32).rev());
        self.waiting.clear();
        Ok(())
    }

    /// Gives back what is much.
    fn trim(&mut self) {
        self.area.trim(KEPT_BYTES);
        for room in &mut self.rooms {
            room.trim(KEPT_BYTES / 16);
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.area.bytes() + self.rooms.iter().map(Room::bytes).sum::<usize>()
    }
}

impl Requests {
    /// Makes room for a script whose area is of these vectors. It is memory of Rondo's, unless it is given.
    pub fn reserve_script(
        &mut self,
        limits: &Limits,
        script: &Script,
        operands: &Operands,
        (vectors, area): (Vectors, Option<Area>),
    ) -> Result<Area, Code> {
        let mut receivers: Vec<u32> = Vec::new();
        for send in script.sends() {
            if receivers.len() < RECEIVERS_MAX && !receivers.contains(&send.to) {
                receivers.push(send.to);
            }
        }
        self.reserve(limits, receivers.len() as u32, StagingRoom::none())?;
        if receivers.len() == RECEIVERS_MAX {
            receivers.clear();
            (receivers.try_reserve(script.sends().len())).map_err(no_room)?;
            receivers.extend(script.sends().iter().map(|send| send.to));
            receivers.sort_unstable();
            receivers.dedup();
            (self.flow.meet(receivers.iter().copied())).map_err(no_room)?;
        }
        // About as many send to this rank.
        self.flow.crowd(script.crowd().max(receivers.len() as u32));
        let elements = script.cut().total();
        let bytes = match area {
            Some(_) => 0,
            None => operands.room(vectors, elements),
        };
        (self.operands.reserve(bytes, script, operands)).map_err(no_room)?;
        Ok(match area {
            Some(area) => area,
            None => operands.area_in(self.operands.area.address(), vectors),
        })
    }

    /// A script is over.
    pub fn end_script(&mut self) {
        self.operands.trim();
    }
}

/// What the wires of scripts have in common.
impl Requests {
    /// One completed operation, if there is any, and the other rank.
    pub(super) fn complete(
        &mut self,
        mpi: &Mpi,
        start: Instant,
    ) -> Result<Option<(Complete, u32)>, Failure> {
        // Where time is simulated, a test costs none, and few sends are under way: nothing may hold up the next one.
        let sent = match Abi::BUILT.is_simulated() {
            true => self.delivered(mpi, start)?,
            false => None,
        };
        if let Some((number, to, _)) = sent {
            return Ok(Some((Complete::Send(number), to)));
        }
        if let Some((number, from, _)) = self.received(mpi)? {
            return Ok(Some((Complete::Receive(number), from)));
        }
        let sent = self.delivered(mpi, start)?;
        Ok(sent.map(|(number, to, _)| (Complete::Send(number), to)))
    }

    /// Nothing can be done before an operation is complete.
    pub(super) fn idle(
        &mut self,
        mpi: &Mpi,
        channel: Channel<'_>,
        patience: &mut Patience,
    ) -> Result<(), Failure> {
        if Abi::BUILT.is_simulated() {
            // Time passes while a rank waits in the host: for the oldest send to any rank, as the oldest of all may
            // have gone ahead.
            let receive = (self.receives.pending().next()).map(|(_, message, _)| message);
            let mut ranks = Vec::new();
            let sends = self.sends.pending().filter(|(to, _)| {
                let is_first = !ranks.contains(to);
                ranks.push(*to);
                is_first
            });
            let sends = sends.map(|(_, message)| message);
            return wait(mpi, receive.into_iter().chain(sends));
        }
        self.be_patient(mpi, channel, patience)
    }
}

/// What a script wire is made for.
#[derive(Clone, Copy)]
pub struct ScriptJob<'a> {
    /// The host.
    pub mpi: &'a Mpi,
    /// The channel communicator.
    pub channel: Channel<'a>,
    /// What tells this call's messages from those of any other call.
    pub tag: i32,
    /// The elements.
    pub operands: &'a Operands<'a>,
    /// Where they are.
    pub area: Area,
    /// The blocks.
    pub cut: &'a Cut,
    /// Elements that this rank sends.
    pub sends: u64,
}

/// A wire for a script.
pub struct MpiScriptWire<'a> {
    job: ScriptJob<'a>,
    requests: &'a mut Requests,
    patience: Patience,
    /// Bytes that are still to be sent.
    left: u64,
    /// Times are counted from here on.
    start: Instant,
}

impl<'a> MpiScriptWire<'a> {
    /// A wire for which [`Requests::reserve_script`] made room.
    pub fn new(job: ScriptJob<'a>, requests: &'a mut Requests) -> MpiScriptWire<'a> {
        requests.begin();
        MpiScriptWire {
            left: job.operands.bytes(job.sends),
            patience: Patience::new(job.channel.timeout_s),
            start: Instant::now(),
            job,
            requests,
        }
    }

    fn envelope(&self, rank: u32) -> Envelope<'_> {
        self.job.channel.envelope(rank, self.job.tag)
    }

    /// The address of a room for operands.
    fn room(&mut self, room: u32, elements: u64) -> Area {
        let memory = self.requests.operands.rooms[room as usize].address();
        self.job.operands.area_in(memory, alone(elements))
    }
}

impl Drop for MpiScriptWire<'_> {
    fn drop(&mut self) {
        self.requests.leave();
    }
}

impl ScriptWire for MpiScriptWire<'_> {
    type Error = Failure;

    fn receive(&mut self, from: u32, blocks: &Range<u32>, join: Join) -> Result<bool, Failure> {
        let elements = self.job.cut.elements(blocks);
        let count = elements.end - elements.start;
        let (area, place, staged) = match join {
            Join::Store => (self.job.area, elements, None),
            Join::Left | Join::Right => {
                let Some(room) = self.requests.operands.free.pop() else {
                    return Ok(false);
                };
                (self.room(room, count), 0..count, Some(room))
            }
        };
        let (mpi, envelope) = (self.job.mpi, self.envelope(from));
        let request = self.job.operands.message(area, &place, |chunk| {
            // SAFETY: the elements lie in the area, which the engine sees to it that nothing else touches there until
            // the request is complete, or in a room that is in use until they are joined. Messages fit an int.
            unsafe { mpi.start_receive(chunk, envelope) }
        })?;
        self.requests.operands.waiting.push_back(staged);
        let receive = Receive {
            staged,
            ..Receive::new(self.job.operands.bytes(count), self.job.tag)
        };
        (self.requests.receives).push(from, Pending::new(request), receive);
        Ok(true)
    }

    fn send(&mut self, to: u32, blocks: &Range<u32>, ahead: bool) -> Result<bool, Failure> {
        let elements = self.job.cut.elements(blocks);
        let len = self.job.operands.bytes(elements.end - elements.start);
        let more = self.left.saturating_sub(len) / self.requests.flow.receivers();
        let Some(synchronous) = self.requests.may_send(to, len, more, ahead) else {
            return Ok(false);
        };
        let (mpi, envelope) = (self.job.mpi, self.envelope(to));
        let request = self
            .job
            .operands
            .message(self.job.area, &elements, |chunk| {
                // SAFETY: as in `receive`; the engine sends only what is there.
                unsafe { mpi.start_send(chunk, envelope, synchronous) }
            })?;
        self.left = self.left.saturating_sub(len);
        let message = Pending::of_send(mpi, request, synchronous)?;
        let sending = Sending {
            staged: None,
            synchronous,
        };
        (self.requests).sent((to, len), message, sending, ahead, self.start);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Complete>, Failure> {
        let complete = self.requests.complete(self.job.mpi, self.start)?;
        if complete.is_some() {
            self.patience.moved();
        }
        Ok(complete.map(|(complete, _)| complete))
    }

    fn take(&mut self, receive: Option<u32>, take: &Take) -> Result<(), Failure> {
        let elements = self.job.cut.elements(&take.blocks);
        let count = elements.end - elements.start;
        let operands = self.job.operands;
        let to = operands.chunk(self.job.area, &elements).address;
        let (from, room) = match take.source {
            Source::Rank(_) => {
                debug_assert!(receive.is_some());
                match self.requests.operands.waiting.pop_front().flatten() {
                    None => return Ok(()), // it came to its place
                    Some(room) => {
                        let area = self.room(room, count);
                        (operands.chunk(area, &(0..count)).address, Some(room))
                    }
                }
            }
            Source::Blocks(first) => {
                let blocks = first..first + take.blocks.end - take.blocks.start;
                let from = self.job.cut.elements(&blocks);
                (operands.chunk(self.job.area, &from).address, None)
            }
        };
        // SAFETY: both are elements of the area or of a room, which are there; the engine sees to it that no message
        // concerns them.
        unsafe {
            match take.join {
                Join::Store => operands.store(from, to, count),
                Join::Left => operands.join_left(from, to, count),
                Join::Right => operands.join_right(from, to, count),
            }
        }?;
        self.requests.operands.free.extend(room);
        Ok(())
    }

    fn idle(&mut self) -> Result<(), Failure> {
        (self.requests).idle(self.job.mpi, self.job.channel, &mut self.patience)
    }
}
