//! What passes between the ranks of a node in an all-broadcast over nodes.
//!
//! Seen from the network a node is one rank with one part, its *blob*: the parts of its ranks, one behind the
//! other. One rank of the node, the leader, or a few, one for each *lane*, exchange the blobs with those of
//! other nodes by [`AllBroadcast`]; a lane has an equal share of every blob. Inside the node, all data
//! pass through a ring of memory that all its ranks share, in *rows* whose order every rank knows beforehand:
//! first every rank of the node puts its own part in, then the leaders put in what they receive, in the order
//! in which they receive it, which follows from their schedule. So nothing in the ring needs to be described.
//!
//! Bytes are known by their place among the parts of all ranks in the order of [`Topology`] places.
//!
//! [`Topology`]: crate::topology::Topology

#![forbid(unsafe_code)]

use super::pattern::{Cursor, Way};
use super::{AllBroadcast, Order, Progress, Wire};
use crate::schedule::{Blocks, Parts, Span};
use crate::topology::Topology;

/// Bytes that are copied at a time: few enough to stay in the nearest caches until the others have read them,
/// and for the network to be looked after in between; enough to make the flags cheap.
const CHUNK: u64 = 32 << 10;

/// Rows begin at multiples of so many bytes: a cache line, so that two writers never share one.
const ALIGN: u64 = 64;

/// One rank's view of the ring of its node, and its way to the user's memory.
///
/// Positions count the bytes that have ever been put into the ring; the memory of one is used again for
/// another that lies a capacity behind it.
pub trait Local {
    /// Why the collective cannot go on.
    type Error;

    /// Bytes that the ring holds.
    fn capacity(&self) -> u64;

    /// Have all ranks done with what the positions below `end` take the room of?
    fn has_room(&mut self, end: u64) -> bool;

    /// Writes the mark of this call, of at most [`MARK`] bytes, by which readers know that the writer is in
    /// the same call as they are.
    fn mark(&mut self, at: u64);

    /// Checks the mark of rank `writer` of the node.
    fn check(&mut self, at: u64, writer: u32) -> Result<(), Self::Error>;

    /// Copies the bytes of `span` from the user's memory into the ring.
    fn put(&mut self, at: u64, span: Span) -> Result<(), Self::Error>;

    /// Copies the bytes of `span` from the ring into the user's memory.
    fn get(&mut self, at: u64, span: Span) -> Result<(), Self::Error>;

    /// All bytes below `until` that this rank writes are there.
    fn publish(&mut self, until: u64);

    /// Below this position, all bytes that rank `writer` of the node writes are there.
    fn written(&self, writer: u32) -> u64;

    /// This rank needs no bytes below `until` any more, and has written those that are its own.
    fn release(&mut self, until: u64);

    /// Called when nothing can be done; `waiting` is the rank of the node whose bytes are missing, if it is
    /// that.
    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Self::Error>;
}

/// Where the bytes of an all-broadcast are among the parts of all ranks, put one behind the other.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// One rank of this node has a part, of so many bytes.
    One(u32, u32, u64),
    /// The part of each place.
    Many(&'a Topology, &'a Parts),
}

impl Places<'_> {
    /// The blob of `node`.
    pub fn blob(&self, node: u32) -> Span {
        match self {
            Places::One(_, home, len) => Span {
                offset: 0,
                len: if *home == node { *len } else { 0 },
            },
            Places::Many(topology, parts) => {
                let [first, end] = [node, node + 1].map(|node| topology.start(node));
                Span {
                    offset: parts.span(first).offset,
                    len: parts.window(first, end - first),
                }
            }
        }
    }

    /// The part of `rank`.
    pub fn part(&self, rank: u32) -> Span {
        match self {
            Places::One(root, _, len) => Span {
                offset: 0,
                len: if *root == rank { *len } else { 0 },
            },
            Places::Many(topology, parts) => parts.span(topology.place(rank)),
        }
    }

    /// The share of lane `lane` of `lanes` in the blob of `node`.
    pub fn share(&self, node: u32, (lane, lanes): (u32, u32)) -> Span {
        let blob = self.blob(node);
        let share = Blocks::new(blob.len, lanes).span(lane);
        cut(blob, share.offset, share.len)
    }

    /// Calls `each` with the ranks and the bytes of their parts that `span` consists of.
    pub fn each(&self, span: Span, mut each: impl FnMut(u32, Span)) {
        match self {
            Places::One(rank, ..) => each(*rank, span),
            Places::Many(topology, parts) => {
                let mut place = parts.find(span.offset);
                let mut offset = span.offset;
                while offset < span.end() {
                    let part = parts.span(place);
                    let len = part.end().min(span.end()).saturating_sub(offset);
                    if len > 0 {
                        let inside = Span {
                            offset: offset - part.offset,
                            len,
                        };
                        each(topology.rank(place), inside);
                    }
                    offset += len;
                    place += 1;
                }
            }
        }
    }
}

/// Bytes of a mark.
pub const MARK: u64 = 8;

/// What one rank receives from other nodes, message by message, in the order of the messages.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    spans: Vec<Span>,
    /// Where the spans of each message end.
    ends: Vec<u32>,
    longest: u64,
}

impl Messages {
    /// Lists what comes to the rank of `order`, where `start` is the first byte of the part of each node;
    /// `most` as in [`super::Limits`].
    pub fn list(&mut self, order: &Order, most: u64, start: impl Fn(u32) -> u64) {
        self.clear();
        let (mut at, mut pieces) = (Cursor::default(), Vec::new());
        while order.message(&mut at, Way::In, most, &mut pieces).is_some() {
            let spans = pieces.iter().map(|piece| Span {
                offset: start(piece.root) + piece.span.offset,
                len: piece.span.len,
            });
            self.spans.extend(spans);
            self.ends.push(self.spans.len() as u32);
            let bytes = pieces.iter().map(|piece| piece.span.len).sum();
            self.longest = self.longest.max(bytes);
        }
    }

    /// Lists none.
    pub fn clear(&mut self) {
        self.spans.clear();
        self.ends.clear();
        self.longest = 0;
    }

    /// Lists the blocks of a message that this rank has itself.
    pub fn list_own(&mut self, blocks: Blocks) {
        self.clear();
        self.longest = blocks.span(0).len;
        let blocks = (0..blocks.count()).map(|i| blocks.span(i));
        self.spans.extend(blocks.filter(|span| span.len > 0));
        self.ends.extend(1..=self.spans.len() as u32);
    }

    /// Number of messages.
    pub fn count(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The bytes of message `i`, in the order in which they travel.
    pub fn spans(&self, i: u32) -> &[Span] {
        let end = |i: u32| self.ends[i as usize] as usize;
        let start = if i == 0 { 0 } else { end(i - 1) };
        &self.spans[start..end(i)]
    }

    /// Bytes of the longest message.
    pub fn longest(&self) -> u64 {
        self.longest
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.spans.capacity() * size_of::<Span>() + self.ends.capacity() * size_of::<u32>()
    }
}

/// Bytes that one rank of the node puts into the ring.
#[derive(Clone, Copy, Debug)]
struct Row {
    writer: u32,
    /// Where they begin, counted from the position at which the call begins.
    at: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Mark,
    /// The writer's own.
    Own(Span),
    /// Of the message of this number that the writer has received.
    Received(u32, Span),
}

impl Row {
    fn len(&self) -> u64 {
        match self.what {
            What::Mark => MARK,
            What::Own(span) | What::Received(_, span) => span.len,
        }
    }
}

/// The rows of a call.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    rows: Vec<Row>,
    /// Rows before those that come from the network.
    own: usize,
    bytes: u64,
}

impl Rows {
    fn clear(&mut self) {
        self.rows.clear();
        (self.own, self.bytes) = (0, 0);
    }

    /// Lists the rows. `parts` are the bytes of each rank of the node; `lanes` says for each lane which rank
    /// of the node leads it and what that receives.
    ///
    /// Parts that do not fit the ring together go through it in `slices` pieces each, the first pieces of all
    /// before the second ones, so that all ranks can write at the same time.
    pub fn list<'a>(
        &mut self,
        parts: impl ExactSizeIterator<Item = Span> + Clone,
        slices: u32,
        lanes: impl Iterator<Item = (u32, &'a Messages)> + Clone,
    ) {
        self.clear();
        if parts.len() == 1 {
            return; // nobody to read them
        }
        for (writer, part) in (0..).zip(parts.clone()) {
            let leads =
                |(leader, messages): (u32, &Messages)| leader == writer && messages.count() > 0;
            if part.len > 0 || lanes.clone().any(leads) {
                self.push(writer, What::Mark);
            }
        }
        for slice in 0..slices {
            for (writer, part) in (0..).zip(parts.clone()) {
                let span = Blocks::new(part.len, slices).span(slice);
                if span.len > 0 {
                    let offset = part.offset + span.offset;
                    self.push(writer, What::Own(Span { offset, ..span }));
                }
            }
        }
        self.own = self.rows.len();
        let most = lanes.clone().map(|(_, messages)| messages.count()).max();
        for message in 0..most.unwrap_or(0) {
            for (leader, messages) in lanes.clone() {
                if message < messages.count() {
                    for &span in messages.spans(message) {
                        self.push(leader, What::Received(message, span));
                    }
                }
            }
        }
    }

    fn push(&mut self, writer: u32, what: What) {
        let row = Row {
            writer,
            at: self.bytes,
            what,
        };
        self.bytes += row.len().next_multiple_of(ALIGN);
        self.rows.push(row);
    }

    /// Bytes that the call puts through the ring.
    pub fn through(&self) -> u64 {
        self.bytes
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
    }
}

/// The number of slices for [`Rows::list`]: so many that a slice of every rank fits a quarter of the ring.
pub fn slices(bytes: u64, capacity: u64) -> u32 {
    let slices = bytes.div_ceil((capacity / 4).max(1)).max(1);
    u32::try_from(slices).unwrap_or(u32::MAX)
}

/// A place in the rows: a row, and bytes of it.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    row: usize,
    bytes: u64,
}

/// One rank's part in what passes through the ring.
pub struct Relay<'a> {
    rows: &'a Rows,
    me: u32,
    /// The position at which the call begins.
    base: u64,
    write: At,
    read: At,
    /// The position below which all is released.
    released: u64,
    /// Messages that this rank has received.
    received: u32,
}

impl<'a> Relay<'a> {
    /// Begins a call at the position `base` on rank `me` of the node.
    pub fn new(rows: &'a Rows, me: u32, base: u64) -> Relay<'a> {
        Relay {
            rows,
            me,
            base,
            write: At::default(),
            read: At::default(),
            released: base,
            received: 0,
        }
    }

    /// Has this rank all bytes of its node?
    pub fn has_own(&self) -> bool {
        self.read.row >= self.rows.own
    }

    /// Is there nothing left to do?
    pub fn is_done(&self) -> bool {
        let rows = self.rows.rows.len();
        self.write.row == rows && self.read.row == rows
    }

    /// This rank has received so many messages.
    pub fn set_received(&mut self, messages: u32) {
        self.received = messages;
    }

    /// Whose bytes are missing, if it is that.
    pub fn waiting(&self) -> Option<u32> {
        self.rows.rows.get(self.read.row).map(|row| row.writer)
    }

    /// Copies a chunk in, if it is there and has room, and what others have written out.
    pub fn advance<L: Local>(&mut self, local: &mut L) -> Result<bool, L::Error> {
        let wrote = self.write_chunk(local)?;
        let read = self.read_chunk(local)?;
        self.release(local);
        Ok(wrote || read)
    }

    /// Releases what this rank has read, up to what it has still to write.
    fn release<L: Local>(&mut self, local: &mut L) {
        let done = self.position(self.write).min(self.position(self.read));
        if done > self.released {
            self.released = done;
            local.release(done);
        }
    }

    fn position(&self, at: At) -> u64 {
        let row = self.rows.rows.get(at.row);
        self.base + row.map_or(self.rows.bytes, |row| row.at + at.bytes)
    }

    fn write_chunk<L: Local>(&mut self, local: &mut L) -> Result<bool, L::Error> {
        let mut moved = false;
        while let Some(row) = self.rows.rows.get(self.write.row) {
            if row.writer != self.me {
                self.write.row += 1;
                continue;
            }
            if let What::Received(message, _) = row.what
                && message >= self.received
            {
                break;
            }
            let from = self.write.bytes;
            let len = CHUNK.min(local.capacity() / 4).min(row.len() - from);
            let at = self.base + row.at + from;
            if !local.has_room(at + len) {
                break;
            }
            match row.what {
                What::Mark => local.mark(at),
                What::Own(span) | What::Received(_, span) => local.put(at, cut(span, from, len))?,
            }
            local.publish(at + len);
            self.write.step(len, row);
            moved = true;
            if len > ALIGN {
                break; // the network, and those who read, come first
            }
        }
        // To the next row of this rank: those of others do not keep it from releasing them.
        while self
            .rows
            .rows
            .get(self.write.row)
            .is_some_and(|row| row.writer != self.me)
        {
            self.write.row += 1;
        }
        Ok(moved)
    }

    fn read_chunk<L: Local>(&mut self, local: &mut L) -> Result<bool, L::Error> {
        let mut moved = false;
        while let Some(row) = self.rows.rows.get(self.read.row) {
            let from = self.read.bytes;
            let at = self.base + row.at + from;
            let end = self.base + row.at + row.len();
            let mut len = row.len() - from;
            if row.writer != self.me {
                len = len
                    .min(local.written(row.writer).saturating_sub(at))
                    .min(2 * CHUNK);
                if len == 0 {
                    break;
                }
                match row.what {
                    What::Mark if at + len < end => break,
                    What::Mark => local.check(at, row.writer)?,
                    What::Own(span) | What::Received(_, span) => {
                        local.get(at, cut(span, from, len))?;
                    }
                }
                moved = true;
            }
            self.read.step(len, row);
            self.release(local);
            if len > CHUNK {
                break;
            }
        }
        Ok(moved)
    }
}

impl At {
    fn step(&mut self, len: u64, row: &Row) {
        self.bytes += len;
        if self.bytes == row.len() {
            *self = At {
                row: self.row + 1,
                bytes: 0,
            };
        }
    }
}

fn cut(span: Span, from: u64, len: u64) -> Span {
    Span {
        offset: span.offset + from,
        len,
    }
}

/// A network, as a leader has it: what it exchanges with other nodes, and the wire to them.
pub type Network<'n, 'a, W> = Option<(AllBroadcast<'a>, &'n mut W)>;

/// Carries an all-broadcast over nodes out, with a ring inside the node.
pub fn run<L, W>(
    mut relay: Relay<'_>,
    local: &mut L,
    mut network: Network<'_, '_, W>,
) -> Result<(), L::Error>
where
    L: Local,
    W: Wire<Error = L::Error>,
{
    loop {
        let mut moved = relay.advance(local)?;
        if let Some((all, wire)) = &mut network
            && relay.has_own()
        {
            let progress = all.advance(*wire)?;
            relay.set_received(all.received());
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                network = None;
            }
        }
        match &mut network {
            None if relay.is_done() => return Ok(()),
            _ if moved => {}
            Some((_, wire)) if relay.has_own() => wire.idle(0)?,
            _ => local.idle(relay.waiting())?,
        }
    }
}

/// Carries an all-broadcast over nodes out by messages, after the ranks of the node have exchanged their
/// parts: the leaders exchange the blobs and broadcast inside the node what they receive.
///
/// `inside` has a block for every message that the leader receives, after `own` blocks that it has from
/// the beginning.
pub fn run_by_messages<L, W>(
    mut inside: Option<AllBroadcast<'_>>,
    own: u32,
    local: &mut L,
    mut network: Network<'_, '_, W>,
) -> Result<(), L::Error>
where
    L: Wire,
    W: Wire<Error = L::Error>,
{
    loop {
        let mut moved = false;
        if let Some((all, wire)) = &mut network {
            let progress = all.advance(*wire)?;
            if let Some(inside) = &mut inside {
                inside.allow(own + all.received());
            }
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                network = None;
            }
        }
        if let Some(all) = &mut inside {
            let progress = all.advance(local)?;
            moved |= progress != Progress::Waiting;
            if progress == Progress::Done {
                inside = None;
            }
        }
        match (&mut network, &inside) {
            (None, None) => return Ok(()),
            _ if moved => {}
            (Some((_, wire)), _) => wire.idle(0)?,
            (None, Some(_)) => local.idle(0)?,
        }
    }
}
