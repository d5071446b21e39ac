//! One rank's part in what passes through the ring of its node.

#![forbid(unsafe_code)]

use super::Local;
use super::places::cut;
use super::rows::{ALIGN, RingRows, Row, What};

/// Bytes that are copied at a time: few enough to stay in the nearest caches until the others have read them,
/// and for the network to be looked after in between; enough to make the flags cheap.
const CHUNK: u64 = 32 << 10;

/// A place in the rows: a row, and bytes of it.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    row: usize,
    bytes: u64,
}

/// One rank's part in what passes through the ring.
pub struct Relay<'a> {
    rows: &'a RingRows,
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
    pub fn new(rows: &'a RingRows, me: u32, base: u64) -> Relay<'a> {
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
