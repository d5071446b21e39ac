//! What a leader receives from other nodes.

#![forbid(unsafe_code)]

use crate::engine::Order;
use crate::engine::pattern::{Cursor, Direction};
use crate::schedule::{Blocks, Span};

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
    /// `most` as in [`crate::engine::Limits`].
    pub fn list(&mut self, order: &Order, most: u64, start: impl Fn(u32) -> u64) {
        self.clear();
        let (mut at, mut pieces) = (Cursor::default(), Vec::new());
        while order
            .message(&mut at, Direction::Receive, most, &mut pieces)
            .is_some()
        {
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
