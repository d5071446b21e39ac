//! What is on its way from a rank to each of the others.

#![forbid(unsafe_code)]

/// What is on its way from this rank to another.
#[derive(Debug)]
pub(super) struct Edge {
    pub(super) to: u32,
    /// Bytes sent, and those of them that are known to have met their receives, over all calls.
    pub(super) sent: u64,
    pub(super) acknowledged: u64,
    /// The last call that this edge had a part in: what follows is of that one.
    pub(super) call: u64,
    /// Bytes sent when the call began; since the receiver first answered in it, those sent before that: it may not have
    /// begun before.
    pub(super) begin: u64,
    /// The time of the last answer to what was sent before the first one; [`NEVER`]: none in this call.
    pub(super) answered: u64,
    /// Synchronous messages under way.
    pub(super) marks: u32,
    /// Messages since the newest one, and their bytes.
    pub(super) messages_since: u32,
    pub(super) bytes_since: u64,
    /// Nanoseconds of the least round trip: since the ranks agreed, with the small window; or over a far network.
    /// `u32::MAX`: none of less.
    pub(super) round_trip: u32,
}

/// A time that does not come.
pub(super) const NEVER: u64 = u64::MAX;

impl Edge {
    pub(super) fn new(to: u32) -> Edge {
        Edge {
            to,
            sent: 0,
            acknowledged: 0,
            call: 0,
            begin: 0,
            marks: 0,
            messages_since: 0,
            bytes_since: 0,
            answered: NEVER,
            round_trip: u32::MAX,
        }
    }

    /// The call of this number begins, if it has not yet. Nothing of an earlier one is under way.
    pub(super) fn enter(&mut self, call: u64) {
        if self.call != call {
            self.call = call;
            self.begin = self.sent;
            self.marks = 0;
            self.answered = NEVER;
        }
    }
}

/// Says of ranks in ascending order which have none of these edges, in a single walk.
pub(super) fn unknown(edges: &[Edge]) -> impl FnMut(&u32) -> bool {
    let mut known = edges.iter().map(|edge| edge.to).peekable();
    move |to| {
        while known.next_if(|known| known < to).is_some() {}
        known.peek() != Some(to)
    }
}
