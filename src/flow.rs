//! How much a rank may have on its way to others: in-flight control of messages in the standard mode.
//!
//! A message that is sent in the standard mode is complete when the MPI library has it, not when it has arrived. So a
//! sender that waits for nobody could pour out all that it has: into the queues of the network, where it delays what is
//! needed sooner, and into the memory of a receiver that sleeps. A message that is sent synchronously is complete when
//! it has met its receive. Most messages are sent in the standard mode here, and one every so often synchronously: it
//! acknowledges all that was sent before it on its edge, for MPI matches messages of one rank in order.
//!
//! **Window.** What is sent and not acknowledged is at most a window. It has to cover what the path carries in a round
//! trip of the *processes*: matched, answered, noticed, on cores that may be busy. As in BBR (Cardwell et al., ACM
//! Queue 14(5), 2016) it follows from two figures, neither of which tells the other. The *rate* is the largest one of a
//! few epochs in which the window held the sender up; an epoch has so many acknowledged bytes that the burst which a
//! link lets through does not count. What was sent before a receiver first answered in the call does not count either:
//! a receiver that comes late finds all of it at once. The *round trip* is the least one while the window is small, so
//! that no queue is in it: a window that followed round trips as they are would grow with the queues that it makes. The
//! window is a small one, which any network can take, and a multiple of what the path carries in a round trip beyond
//! the rate of the small one. So it stays small where that already fills the link, be it that several ranks send to
//! one. Two messages may be under way even if they are longer than the window.
//!
//! **Far networks.** Where the wire alone holds more than the small window in a round trip, it is known what the small
//! one would do: a window in each round trip. To try it would take many of them. There latency and rate, as they are
//! known from elsewhere, say how large the window is ([`Flow::expect`]). It is no smaller than one that was measured
//! before, while the network did not seem to be far: ways may be longer than the latency says.
//!
//! **Deep buffers.** The rate that is known from elsewhere may be too high, and then a far window only makes a queue,
//! which nothing is lost from. Who sends sees a round trip that grows with the queue, but the first messages of a call
//! leave before there is one: there two acknowledgements come early. Where a window is much larger than what the
//! highest rate of late carries in such round trips, half of it is the largest one, until that carries less
//! ([`Flow::agree`]).
//!
//! **All ranks have the same window.** Acknowledgements to a rank share links with what others send, so a rank whose
//! window is smaller than that of others is as slow as their queues make it, whatever its own figures are: half of the
//! ranks with 64 KiB and half with 256 KiB are slower than all with either. So the ranks agree on figures from time to
//! time ([`Flow::offer`], [`Flow::agree`]), and the figures of one that was lucky or kept from running do not count
//! alone.
//!
//! **Bound.** What a rank leaves unacknowledged stays bounded over calls too: short calls ask for an
//! acknowledgement when half of the bound, or a number of messages, has been sent without. Otherwise no message after
//! which little comes is sent synchronously, so that no call has to wait for a round trip at its end.
//!
//! None of this changes a result, or the order of messages.

#![forbid(unsafe_code)]

mod edge;
mod path;
mod slack;
mod volume;

use edge::{Edge, NEVER, unknown};
pub use path::Path;
use slack::Slack;
use std::cmp::Reverse;
use std::collections::{TryReserveError, VecDeque};
pub use volume::Volume;

/// Bytes that one edge may leave in the memory of a receiver that does not receive, at the most.
pub const EDGE_BYTES: u64 = 4 << 20;

/// Bytes that all edges to a rank may leave there, at the most, but [`SMALL_WINDOW`] of each ([`Flow::crowd`]).
pub const RANK_BYTES: u64 = 16 << 20;

/// The smallest window.
pub const SMALL_WINDOW: u64 = 64 << 10;

/// Bytes that an edge may leave at a rank that so many send to.
pub fn bound_among(senders: u32) -> u64 {
    let share = RANK_BYTES / u64::from(senders.max(1));
    EDGE_BYTES.min(share.max(SMALL_WINDOW))
}

/// The window before there are figures.
const FIRST_WINDOW: u64 = 192 << 10;

/// Bytes that are acknowledged with the small window when figures are measured: those that count, and in calls so short
/// that few do.
const PROBE_BYTES: u64 = 128 << 10;
const PROBE_BYTES_MAX: u64 = 512 << 10;

/// Round trips in a window. More than one, because acknowledgements are few, and edges take turns.
const ROUND_TRIPS: f64 = 4.0;

/// An acknowledgement is asked for this many times in a window.
const PACE: u64 = 4;

/// Bytes of an epoch at the least, whatever the window: a link may let a burst through faster than it is.
const EPOCH_BYTES: u64 = 256 << 10;

/// Edges that are remembered, at the most, or for twice as many ranks as a call has sent to.
const EDGES: usize = 1024;

/// The MPI library takes messages of fewer bytes before they are received.
const LONG_MESSAGE: u64 = 4 << 10;

/// Of so many messages to a rank one is sent synchronously at the least, however short they are: who issues many short
/// calls gets no further ahead of a rank that sleeps.
const MESSAGES_UNANSWERED: u32 = 128;

/// A message takes this much memory besides its bytes where it waits for somebody to ask for it.
pub const MESSAGE_BYTES: u64 = 256;

/// What is to be done with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It has to wait for an acknowledgement.
    Wait,
    /// It is sent in the standard mode.
    Standard,
    /// It is sent synchronously.
    Synchronous,
}

/// A synchronous message under way.
#[derive(Clone, Copy, Debug)]
struct Mark {
    to: u32,
    /// Bytes sent there up to and with it, over all calls.
    sent: u64,
    /// When it was sent, in nanoseconds.
    at: u64,
    /// It went ahead of others.
    ahead: bool,
}

/// Bytes per second of an epoch, of bytes and nanoseconds. `None` as long as it has fewer bytes than `least`, or the
/// clock stands: no network carries 1024 bytes in a nanosecond.
fn rate((bytes, time): (u64, u64), least: u64) -> Option<u64> {
    let is_over = bytes >= least && time > bytes >> 10;
    is_over.then(|| (u128::from(bytes) * 1_000_000_000 / u128::from(time)) as u64)
}

/// What ranks tell each other of the network as they see it: the numbers are to be replaced by their maximum over all
/// ranks, for [`Flow::agree`].
pub type Figures = [i64; 5];

/// A rate and the window that showed it, as one number: of the highest rate, it is the largest. No rate has 41 bits.
pub fn shown((rate, window): (u64, u64)) -> i64 {
    (rate << WINDOW_BITS | (window >> 10).min((1 << WINDOW_BITS) - 1)) as i64
}

/// Bits of a window, in KiB, in such a number.
const WINDOW_BITS: u32 = 22;

/// The edges from one rank.
#[derive(Debug, Default)]
pub struct Flow {
    /// In the order of ranks.
    edges: Vec<Edge>,
    /// More edges than these are not remembered: see [`EDGES`].
    most: usize,
    /// The number of the call.
    call: u64,
    /// Bytes that an edge may leave unacknowledged, with the memory that messages take besides.
    bound: u64,
    /// Ranks to which this one sends in a call, at the most.
    receivers: u64,
    /// The first root that sent for its node, and whether there were others.
    root: Option<u32>,
    has_several_roots: bool,
    /// Bytes of this call that are not acknowledged, on all edges.
    flying: u64,
    /// Synchronous messages under way, oldest first.
    marks: VecDeque<Mark>,
    /// The time of the last acknowledgement in this call that counts.
    last: Option<u64>,
    /// Bytes that count in this epoch, and nanoseconds.
    span: (u64, u64),
    /// Are the messages of this call all that the nodes send each other?
    whole: bool,
    /// The same as `span`, of such calls, since they last showed a rate.
    whole_span: (u64, u64),
    /// The largest window in it, but for the small one while that is measured.
    whole_window: u64,
    /// Has the window held this rank up in this epoch?
    limited: bool,
    /// Bytes of two messages like the longest one since the ranks agreed.
    pair: u64,
    /// The largest rate since the ranks agreed, in bytes per second.
    rate: u64,
    /// The same with the small window.
    small_rate: Option<u64>,
    /// Bytes acknowledged with it since the ranks agreed.
    probed: u64,
    /// The same with any window, held up by it or not, between nodes; and the largest one of the calls that showed it,
    /// 0 if it was the small one in order to measure that.
    sustained: (u64, u64),
    /// What the ranks agreed on; 0: nothing yet.
    agreed: u64,
    /// The longest round trip in nanoseconds when they last agreed on one; 0: never.
    trip: u64,
    /// The window of a far network.
    far: Option<u64>,
    /// Nanoseconds that a short message and its answer are expected to take.
    expected_trip: u64,
    /// What was shown of the buffers of a far network.
    slack: Slack,
    /// Bytes that the wire to another node holds one way. 0: not known.
    wire: u64,
}

impl Flow {
    /// Makes room for a call in which each rank sends to at most `neighbors` ranks, as many send to it, and so many
    /// messages are in flight.
    pub fn reserve(&mut self, messages: u32, neighbors: u32) -> Result<(), TryReserveError> {
        let neighbors = neighbors.max(1);
        self.receivers = neighbors.into();
        self.bound = bound_among(neighbors);
        self.most = self.most.max(EDGES).max(2 * neighbors as usize);
        if self.edges.len() > self.most {
            // As large a number of ranks has been sent to by trees of many roots. Those that owe least are forgotten.
            let open = |edge: &Edge| edge.sent - edge.acknowledged;
            self.edges.sort_unstable_by_key(|edge| Reverse(open(edge)));
            self.edges.truncate(self.most / 2);
            self.edges.sort_unstable_by_key(|edge| edge.to);
        }
        // For twice as many, so that the next call finds room as well.
        let room = (self.edges.len() + neighbors as usize).max(2 * neighbors as usize);
        self.edges
            .try_reserve_exact(room.saturating_sub(self.edges.len()))?;
        self.marks
            .try_reserve_exact((messages as usize).saturating_sub(self.marks.len()))
    }

    /// In the call for which room was made last, this rank sends to these many, in ascending order. So it makes their
    /// edges at once, for each put between others by itself would be p^2 steps, and remembers all of them.
    pub fn meet(
        &mut self,
        many: impl ExactSizeIterator<Item = u32> + Clone,
    ) -> Result<(), TryReserveError> {
        self.most = self.most.max(2 * many.len());
        let known = self.edges.len();
        let new = many.clone().filter(unknown(&self.edges)).count();
        if new == 0 {
            return Ok(());
        }
        self.edges.try_reserve_exact(new)?;
        for to in many {
            let place = self.edges[..known].binary_search_by_key(&to, |edge| edge.to);
            if place.is_err() {
                self.edges.push(Edge::new(to));
            }
        }
        self.edges.sort_unstable_by_key(|edge| edge.to);
        Ok(())
    }

    /// In the call for which room was made last, up to so many ranks send to one. That may be more than this rank knows
    /// of by its own messages: all of them may send to a rank that sends nothing. Below a small window it would be one
    /// message and one round trip in turn, so an edge keeps as much.
    pub fn crowd(&mut self, senders: u32) {
        self.bound = self.bound.min(bound_among(senders));
    }

    /// In the call for which room was made last, the root sends for its node. So over calls from several roots, up to
    /// `senders` ranks send to one that sleeps, and none of them waits for its answer.
    pub fn lean_on(&mut self, root: u32, senders: u32) {
        let first = *self.root.get_or_insert(root);
        self.has_several_roots |= first != root;
        if self.has_several_roots {
            self.crowd(senders);
        }
    }

    /// A call begins for which there is room. Nothing of an earlier call is under way.
    pub fn begin(&mut self) {
        (self.flying, self.last) = (0, None);
        self.marks.clear();
        // Edges notice it when they are used: there may be many more than this call uses.
        self.call += 1;
    }

    /// Are the messages of the next call all that the nodes send each other? Inside a node they are faster, and where
    /// several ranks of a node send, each has only its share of the link: then the rate is not that between nodes. Nor
    /// is it where a receiver is busy with a function of the program's, and answers when it is through.
    pub fn set_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    /// A short message takes so many microseconds, and so many bytes a microsecond may be expected. The same on all
    /// ranks.
    pub fn expect(&mut self, latency_us: f64, bytes_per_us: f64) {
        let path = 2.0 * latency_us * bytes_per_us;
        // With the small window, a round trip would take the wire's and the time of the window's bytes.
        let window = SMALL_WINDOW.saturating_add((ROUND_TRIPS * path) as u64);
        let far = (path >= SMALL_WINDOW as f64).then_some(window);
        if far.is_some() != self.far.is_some() {
            // Other round trips count there.
            self.forget_round_trips();
            (self.slack, self.trip) = (Slack::default(), 0);
        }
        self.far = far;
        self.wire = (path / 2.0) as u64;
        self.expected_trip = (2e3 * latency_us) as u64;
    }

    /// Ranks to which this one sends in a call, at the most.
    pub fn receivers(&self) -> u64 {
        self.receivers.max(1)
    }

    /// Bytes that this rank leaves unacknowledged in a call, on all edges.
    pub fn window(&self) -> u64 {
        // With more, nothing would be acknowledged before an edge has left all that it may.
        self.window_within(self.bound * self.receivers())
    }

    /// Messages of `bytes` bytes that fill the window, whomever they are for. Short ones the MPI library takes at once;
    /// for a long one it may wait until that is received, as long as for an acknowledgement.
    pub fn messages(&self, bytes: u64) -> u64 {
        self.window_within(RANK_BYTES) / bytes.max(LONG_MESSAGE)
    }

    /// What the ranks agreed on, or know of a far network, for people.
    pub fn path(&self) -> Option<Path> {
        let is_known = self.far.is_some() || self.agreed > 0 || self.trip > 0;
        is_known.then(|| Path {
            window_bytes: self.usual_window(RANK_BYTES),
            round_trip_us: (self.trip > 0).then(|| self.trip as f64 / 1e3),
        })
    }

    /// Bytes that this rank leaves unacknowledged, if those of a far network may be so many at the most.
    fn window_within(&self, most: u64) -> u64 {
        let usual = self.usual_window(most);
        if self.is_probing() {
            return usual.min(SMALL_WINDOW);
        }
        usual
    }

    /// Bytes that it leaves while the small window is not measured.
    fn usual_window(&self, most: u64) -> u64 {
        let window = match (self.far, self.agreed) {
            (Some(window), agreed) => window.max(agreed).min(most),
            (None, 0) => FIRST_WINDOW,
            (None, window) => window,
        };
        self.slack
            .ceiling
            .map_or(window, |ceiling| window.min(ceiling))
    }

    fn forget_round_trips(&mut self) {
        for edge in &mut self.edges {
            edge.round_trip = u32::MAX;
        }
    }

    /// Is it being measured what the small window does?
    fn is_probing(&self) -> bool {
        // Of long messages few count.
        let most = PROBE_BYTES_MAX.max(4 * self.pair);
        self.small_rate.is_none() && self.far.is_none() && self.probed < most
    }

    /// What this rank measured since the last time: rates where the window held it up, and with the small window, the
    /// round trips, and the highest rate of all with its window.
    pub fn offer(&self) -> Figures {
        let trips = self.edges.iter().map(|edge| edge.round_trip);
        let small = self.small_rate.map_or(i64::MIN, |rate| !(rate as i64));
        let (rate, sustained) = (self.rate as i64, shown(self.sustained));
        let (longest, shortest) = match trips.filter(|&time| time != u32::MAX).max() {
            Some(far) => (far.into(), !i64::from(far)),
            None => (i64::MIN, i64::MIN),
        };
        [rate, small, longest, shortest, sustained]
    }

    /// The ranks agreed on figures. The rate that long calls had, in bytes per second, if there were any.
    pub fn agree(&mut self, figures: Figures) -> Option<u64> {
        let [rate, small, longest, shortest, sustained] = figures;
        let window = (sustained as u64 & ((1 << WINDOW_BITS) - 1)) << 10;
        let sustained = Some(sustained as u64 >> WINDOW_BITS).filter(|&rate| rate > 0);
        let mut are_over = self.far.is_none();
        if let (Some(rate), 1.., 1..) = (sustained, window, longest)
            && self.far.is_some()
        {
            let trip = self.expected_trip.max(longest as u64);
            are_over = self.slack.see(rate, window, trip);
        }
        (self.rate, self.small_rate, self.span) = (0, None, (0, 0));
        (self.limited, self.pair) = (false, 0);
        (self.sustained, self.probed) = ((0, 0), 0);
        if are_over {
            self.forget_round_trips();
        }
        if longest > 0 {
            self.trip = longest as u64;
        }
        // Short calls may never have told the rate of the small window.
        if rate > 0 && (i64::MIN + 1..0).contains(&small) && longest >= 0 {
            // The slowest rank's, because a few acknowledgements that come together seem to be a high rate.
            let small = !small;
            // Between the two, so that neither a lucky rank nor one that was kept from running says it alone. But a
            // rank that is far from all others, as the only one, is not held up for many of its round trips.
            let mean = ((longest as f64) * (!shortest as f64)).sqrt();
            let round_trip = mean.max(longest as f64 / 2.0);
            let more = (rate - small).max(0) as f64 / 1e9 * round_trip;
            self.agreed = (SMALL_WINDOW + (ROUND_TRIPS * more) as u64).min(RANK_BYTES);
        }
        sustained
    }

    /// May a message of `bytes` bytes to rank `to` leave, and how? About `more` bytes follow it to that rank in this
    /// call.
    pub fn ask(&mut self, to: u32, bytes: u64, more: u64) -> Verdict {
        let bound = self.bound;
        let bytes = bytes + MESSAGE_BYTES;
        let all = self.flying + bytes;
        // Of two messages one travels while the other is answered, however long they are.
        let window = self.window().max(2 * bytes);
        self.pair = self.pair.max(2 * bytes);
        let i = self.edge(to);
        let edge = &self.edges[i];
        let waits = edge.marks > 0;
        let open = edge.sent - edge.acknowledged + bytes;
        // Nothing in its turn waits for what went ahead, whose receiver may wait for it.
        let is_marked = self.marks.iter().any(|mark| !mark.ahead);
        if (is_marked && all > window) || (waits && open > bound) {
            self.limited = true;
            return Verdict::Wait;
        }
        let (since, messages) = (edge.bytes_since + bytes, edge.messages_since + 1);
        // Without it, the next one would have to wait for itself.
        let last_chance = more > 0 && !is_marked && all + bytes > window;
        // What follows is more than the window lets through, and long enough for the answer to come meanwhile.
        let rest = more.saturating_mul(self.receivers);
        // Before there is a queue on a far network.
        let is_early = self.far.is_some() && edge.answered == NEVER && edge.marks < 2;
        let paced = if is_early {
            SMALL_WINDOW.min(window)
        } else {
            window
        };
        let useful = since >= paced / PACE / self.receivers
            && rest >= window / 2
            && all.saturating_add(rest) > window;
        let due = !waits && (open + bytes > bound / 2 || messages >= MESSAGES_UNANSWERED);
        if last_chance || useful || due {
            return Verdict::Synchronous;
        }
        Verdict::Standard
    }

    /// Does the wire to another node hold a message of `bytes` bytes? Only then may it go ahead of others, which wait
    /// for something; or else it would take the receiver's turn from another rank.
    pub fn wire_holds(&self, bytes: u64) -> bool {
        bytes + MESSAGE_BYTES <= self.wire
    }

    /// Is there room for a message of `bytes` bytes to rank `to`, and for one more? One that goes ahead of others
    /// leaves room for these, which may be what its receiver does first.
    pub fn has_room(&self, to: u32, bytes: u64) -> bool {
        let both = 2 * (bytes + MESSAGE_BYTES);
        let edge = self.edges.binary_search_by_key(&to, |edge| edge.to);
        let open = edge.map_or(0, |i| self.edges[i].sent - self.edges[i].acknowledged);
        self.flying + both <= self.window() && open + both <= self.bound
    }

    /// A message of `bytes` bytes has been started to rank `to`; if it is synchronous, at this time in nanoseconds.
    pub fn sent(&mut self, to: u32, bytes: u64, synchronous: Option<u64>, ahead: bool) {
        let bytes = bytes + MESSAGE_BYTES;
        self.flying += bytes;
        let i = self.edge(to);
        let edge = &mut self.edges[i];
        edge.sent += bytes;
        edge.messages_since += 1;
        edge.bytes_since += bytes;
        if let Some(at) = synchronous {
            let sent = edge.sent;
            (edge.messages_since, edge.bytes_since) = (0, 0);
            edge.marks += 1;
            self.marks.push_back(Mark {
                to,
                sent,
                at,
                ahead,
            });
        }
    }

    /// The oldest synchronous message to rank `to` is complete at the time `now`, in nanoseconds.
    pub fn acknowledged(&mut self, to: u32, now: u64) {
        let oldest = self.marks.iter().position(|mark| mark.to == to);
        let Some(Mark { sent, at, .. }) = oldest.and_then(|i| self.marks.remove(i)) else {
            return;
        };
        let probing = self.is_probing();
        let i = self.edge(to);
        let edge = &mut self.edges[i];
        edge.marks -= 1;
        let mut before = edge.acknowledged;
        if edge.answered == NEVER {
            before = before.max(edge.begin);
            edge.begin = edge.sent;
        } else if probing || self.far.is_some() {
            let trip = u32::try_from(now.saturating_sub(at)).unwrap_or(u32::MAX);
            edge.round_trip = edge.round_trip.min(trip);
        }
        edge.acknowledged = sent;
        self.flying -= sent - before;
        if probing {
            self.probed += sent - before;
        }
        // What was sent before the first answer may have waited for the receiver, all of it.
        let bytes = sent.saturating_sub(before.max(edge.begin));
        if bytes == 0 {
            edge.answered = now;
            return;
        }
        let then = self.last.replace(now).unwrap_or(edge.answered);
        let time = now.saturating_sub(then);
        let add = |span: (u64, u64)| (span.0 + bytes, span.1 + time);
        self.span = add(self.span);
        if self.whole {
            self.whole_span = add(self.whole_span);
            let window = if probing { 0 } else { self.window() };
            self.whole_window = self.whole_window.max(window);
        }
        self.judge();
    }

    /// The end of an epoch, if it is one.
    fn judge(&mut self) {
        // Answers to all that a window holds may be noticed at once.
        let epoch = EPOCH_BYTES.max(2 * self.window().max(self.pair));
        if let Some(rate) = rate(self.whole_span, epoch) {
            self.sustained = self.sustained.max((rate, self.whole_window));
            (self.whole_span, self.whole_window) = ((0, 0), 0);
        }
        let probing = self.is_probing();
        let least = if probing {
            PROBE_BYTES.max(self.pair)
        } else {
            epoch
        };
        let Some(rate) = rate(self.span, least) else {
            return;
        };
        match (probing, self.limited) {
            (true, true) => self.small_rate = Some(rate),
            (true, false) => return,
            (false, true) => self.rate = self.rate.max(rate),
            (false, false) => {}
        }
        (self.span, self.limited) = ((0, 0), false);
    }

    /// The place of the edge to a rank, in this call.
    fn edge(&mut self, to: u32) -> usize {
        let found = self.edges.binary_search_by_key(&to, |edge| edge.to);
        let i = found.unwrap_or_else(|i| {
            self.edges.insert(i, Edge::new(to));
            i
        });
        self.edges[i].enter(self.call);
        i
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.edges.capacity() * size_of::<Edge>() + self.marks.capacity() * size_of::<Mark>()
    }
}
