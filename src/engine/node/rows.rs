//! The order in which data pass through the ring of a node.

#![forbid(unsafe_code)]

use super::messages::Messages;
use crate::schedule::{Blocks, Span};

/// Rows begin at multiples of so many bytes: a cache line, so that two writers never share one.
pub(super) const ALIGN: u64 = 64;

/// Bytes of a mark.
pub const MARK: u64 = 8;

/// Bytes that one rank of the node puts into the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) writer: u32,
    /// Where they begin, counted from the position at which the call begins.
    pub(super) at: u64,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    Mark,
    /// The writer's own.
    Own(Span),
    /// Of the message of this number that the writer has received.
    Received(u32, Span),
}

impl Row {
    pub(super) fn len(&self) -> u64 {
        match self.what {
            What::Mark => MARK,
            What::Own(span) | What::Received(_, span) => span.len,
        }
    }
}

/// The rows of a call.
#[derive(Clone, Debug, Default)]
pub struct RingRows {
    pub(super) rows: Vec<Row>,
    /// Rows before those that come from the network.
    pub(super) own: usize,
    pub(super) bytes: u64,
}

impl RingRows {
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
                if part.len == 0 {
                    continue;
                }
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

/// The number of slices for [`RingRows::list`]: so many that a slice of every rank fits a quarter of the ring.
pub fn slices(bytes: u64, capacity: u64) -> u32 {
    let slices = bytes.div_ceil((capacity / 4).max(1)).max(1);
    u32::try_from(slices).unwrap_or(u32::MAX)
}
