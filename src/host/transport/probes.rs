//! Messages between two ranks that measure the network.
//!
//! One of the two asks, the other answers. The first words of each message say how long the next one will be, and
//! whether this one is to be answered, so that the one that asks can decide from message to message.

use super::channel::Channel;
use super::patience::Patience;
use super::pending::{Pending, test, wait};
use super::start::Envelope;
use crate::host::data::lent::{self, Lent};
use crate::host::library::abi::Abi;
use crate::host::library::table::Mpi;
use crate::host::object::failure::Failure;

/// The rank at the other end, on a channel on which nothing else is under way.
#[derive(Clone, Copy)]
pub struct Peer<'a> {
    /// The channel.
    pub channel: Channel<'a>,
    /// The rank.
    pub rank: u32,
}

impl<'a> Peer<'a> {
    fn envelope(&self) -> Envelope<'a> {
        self.channel.envelope(self.rank, self.channel.tags.base())
    }
}

/// What two ranks found out about messages between them, in seconds; `None`: that would have taken too long, or their
/// clocks show nothing that could be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Probe {
    /// Half of the least round trip.
    pub latency: Option<f64>,
    /// From the beginning of a short message to that of the next one.
    pub sending: Option<f64>,
    /// What each byte adds, in long messages.
    pub per_byte: Option<f64>,
    /// What each byte adds in a message so short that a link may let it through faster than it is. `None` too if it was
    /// here as soon as the one before it.
    pub slow_byte: Option<f64>,
}

impl Probe {
    /// The latency that follows from these round trips. A clock that is coarse or goes back says of one that it took no
    /// time, and without latency nothing would seem to be lost by any number of messages.
    pub fn latency_of(trips: &[f64]) -> Option<f64> {
        let halves = trips.iter().map(|trip| trip / 2.0);
        halves
            .filter(|half| (SOONEST / 2.0..1.0).contains(half))
            .reduce(f64::min)
    }

    /// What each byte adds to the time of a long message and its answer, where the shorter of two took `short` and the
    /// longer one `long` (bytes and seconds of each), and a short message `trip`. `None` if the clock shows nothing.
    ///
    /// It is the difference of the two. If something kept the shorter one on its way, that would be next to nothing, or
    /// negative; so it is not believed to be less than half of what the longer one says alone, which is too much by
    /// what the host needs to agree with the receiver.
    pub fn per_byte_of(short: (usize, f64), long: (usize, f64), trip: f64) -> Option<f64> {
        let difference = (long.1 - short.1) / (long.0 - short.0) as f64;
        let alone = (long.1 - trip) / long.0 as f64;
        let per_byte = match difference < alone / 2.0 {
            true => alone,
            false => difference,
        };
        (per_byte > 0.0).then_some(per_byte)
    }

    /// What each byte adds to a message of 16 KiB that came `second` seconds after another one like it,
    /// which came `first` seconds after a short one, where a short message and its answer take `trip`.
    ///
    /// TCP sends its first 14 kB at once, and what follows when these are acknowledged, a round trip later. Then the
    /// first one waits for that, and the second one follows at the rate of the link; on a connection in use it may be
    /// the second one that waits, and the first one that did not.
    pub fn slow_byte_of(first: f64, second: f64, trip: f64) -> Option<f64> {
        let time = match second < trip / 2.0 {
            true => second,
            false => second.min(first),
        };
        (time > 0.0).then(|| time / END_BYTES as f64)
    }

    /// The time from the beginning of one message to that of the next that follows from these beginnings; `None` if the
    /// clock went back. It is the geometric mean of the least and the mean, so that neither a rank that was kept from
    /// running nor one that had the processor for itself while others waited says it alone.
    pub fn sending_of(begins: &[f64]) -> Option<f64> {
        let steps: Vec<f64> = begins.windows(2).map(|two| two[1] - two[0]).collect();
        let least = steps.iter().copied().reduce(f64::min)?;
        let mean = steps.iter().sum::<f64>() / steps.len() as f64;
        (least >= 0.0).then(|| (least * mean).sqrt().max(SOONEST))
    }
}

/// Words of a short message: the bytes of the next one, 0 if there is none; is this one to be answered?
const WORDS: usize = 2;

/// Bytes of a short message.
const SHORT: usize = WORDS * size_of::<u64>();

/// In place of the bytes of the next message: there is none; both send a row of short ones, and the next is short.
const END: u64 = 0;
const EXCHANGE: u64 = 1;

/// Round trips of short messages that count, at the most; two at the least.
const TRIPS: usize = 3;

/// Short messages that each of the two sends in a row.
const ROW: usize = 5;

/// Seconds between two messages, at the least: a coarse clock may show none, but no rank is faster.
const SOONEST: f64 = 5e-8;

/// Messages behind them, and the bytes of each: no host agrees on so few with the receiver first.
const ENDS: usize = 2;
const END_BYTES: usize = 16 << 10;

/// Lengths of long messages, in bytes. Their rate is what the longest one has more than the one before it, which is far
/// more than what a link lets through at once.
const LONG: [usize; 2] = [64 << 10, LONGEST];
const LONGEST: usize = 256 << 10;

/// Messages of a rank that asks, at the most: the first one, those that are answered, the row with what is behind it,
/// two for each long one, and the last.
const MESSAGES: usize = 1 + TRIPS + ROW + ENDS + 2 * LONG.len() + 1;
const BYTES: usize = LONG[0] + LONG[1] + ENDS * END_BYTES;

/// What a job's beginning may cost a leader, and a link.
const _: () = assert!(MESSAGES <= 16 && BYTES <= 400_000);

/// How long all of it may take in seconds after the first round trip, and the other round trips of it.
const BUDGET: f64 = 4e-3;
const TRIPS_BUDGET: f64 = 1.5e-3;

impl Mpi {
    /// Asks another rank, which answers by [`Mpi::answer_probe`]. At most 16 messages, or 9 without the rows.
    pub fn probe(&self, peer: Peer<'_>, with_rows: bool) -> Result<Probe, Failure> {
        let mut probe = Probe::default();
        let mut asker = Asker {
            mpi: self,
            peer,
            message: Lent::new(vec![0; SHORT]),
            answer: Lent::new(vec![0; SHORT]),
        };
        // The first one may meet a rank that is late, or make a connection. Then there are two at the least: a rank
        // that was kept from running makes one look like those of a far network.
        asker.ask(SHORT as u64)?;
        let start = self.time();
        let spent = || self.time() - start;
        let mut trips: Vec<f64> = Vec::with_capacity(TRIPS);
        loop {
            let least = trips.iter().copied().fold(f64::INFINITY, f64::min);
            let is_last = match trips.len() {
                0 => false,
                // Two more would be too many, or take too long.
                n => n + 1 == TRIPS || spent() + 2.0 * least > TRIPS_BUDGET,
            };
            let next = match is_last && with_rows {
                true => EXCHANGE,
                false => SHORT as u64,
            };
            trips.push(asker.ask(next)?);
            if is_last {
                break;
            }
        }
        probe.latency = Probe::latency_of(&trips);
        if with_rows {
            let row = self.row(peer)?;
            probe.sending = row.sending;
            // A rank that was kept from running finds all messages at once.
            let trip = probe.latency.map_or(f64::INFINITY, |latency| 2.0 * latency);
            let [first, second] = row.ends;
            probe.slow_byte = Probe::slow_byte_of(first, second, trip);
        }
        let trip = probe.latency.map_or(0.0, |latency| 2.0 * latency);
        let mut before: Option<(usize, f64)> = None;
        for length in LONG {
            // In proportion to the one before.
            let share = |(bytes, time): (usize, f64)| time * length as f64 / bytes as f64;
            if spent() + before.map_or(0.0, share) > BUDGET {
                break;
            }
            // The message before says how long this one is.
            asker.announce(length as u64)?;
            let time = asker.ask(SHORT as u64)?;
            match before {
                Some(short) if length == LONGEST => {
                    probe.per_byte = Probe::per_byte_of(short, (length, time), trip);
                }
                Some(_) | None => before = Some((length, time)),
            }
        }
        asker.announce(END)?;
        Ok(probe)
    }

    /// Answers what another rank asks by [`Mpi::probe`].
    pub fn answer_probe(&self, peer: Peer<'_>) -> Result<(), Failure> {
        let mut message = Lent::new(vec![0; SHORT]);
        let mut own = Lent::new(vec![0; SHORT]);
        loop {
            self.receive_bytes(peer, &mut message)?;
            let (words, _) = message.as_chunks::<{ size_of::<u64>() }>();
            let (next, answer) = (u64::from_ne_bytes(words[0]), u64::from_ne_bytes(words[1]));
            if answer != 0 {
                self.send_bytes(peer, &mut own)?;
            }
            match next {
                END => return Ok(()),
                EXCHANGE => {
                    self.row(peer)?;
                }
                bytes => message.resize(bytes as usize, 0),
            }
        }
    }

    /// Sends another rank a row of short messages and longer ones, and receives as many.
    fn row(&self, peer: Peer<'_>) -> Result<Row, Failure> {
        let lengths = || std::iter::repeat_n(SHORT, ROW).chain([END_BYTES; ENDS]);
        let from = Lent::new(vec![0u8; END_BYTES]);
        let mut to: Vec<_> = lengths()
            .map(|length| Lent::new(vec![0u8; length]))
            .collect();
        let envelope = peer.envelope();
        let mut receives = Vec::with_capacity(ROW + ENDS);
        for bytes in &mut to {
            let chunk = self.bytes_at(bytes.as_mut_ptr(), bytes.len() as u64);
            // SAFETY: each has a place of its own, and stays until all are complete, below.
            let request = unsafe { self.start_receive(chunk, envelope) };
            receives.push(Pending::new(request.inspect_err(|_| lent::give_up())?));
        }
        let mut sends = Vec::with_capacity(ROW + ENDS);
        let start = self.time();
        let mut begins = [start; ROW + ENDS];
        for (begin, length) in begins.iter_mut().zip(lengths()) {
            *begin = self.time();
            let chunk = self.bytes_at(from.as_ptr().cast_mut(), length as u64);
            // SAFETY: nothing writes to these bytes, and they stay until all are complete, below.
            let request = unsafe { self.start_send(chunk, envelope, false) };
            sends.push(Pending::new(request.inspect_err(|_| lent::give_up())?));
        }
        let (row, last) = receives.split_at_mut(ROW);
        self.complete(row, peer)?;
        let mut before = self.time();
        let mut ends = [0.0; ENDS];
        for (end, receive) in ends.iter_mut().zip(last.chunks_mut(1)) {
            self.complete(receive, peer)?;
            let now = self.time();
            *end = now - before;
            before = now;
        }
        self.complete(&mut sends, peer)?;
        Ok(Row {
            sending: Probe::sending_of(&begins[..=ROW]),
            ends,
        })
    }

    /// Sends some bytes, and waits until that is complete.
    fn send_bytes(&self, to: Peer<'_>, bytes: &mut Lent<Vec<u8>>) -> Result<(), Failure> {
        let chunk = self.bytes_at(bytes.as_mut_ptr(), bytes.len() as u64);
        // SAFETY: the bytes are borrowed until the request is complete, which is the next thing, or stay for good.
        let request = unsafe { self.start_send(chunk, to.envelope(), false) }?;
        self.complete(&mut [Pending::new(request)], to)
    }

    /// Receives so many bytes.
    fn receive_bytes(&self, from: Peer<'_>, bytes: &mut Lent<Vec<u8>>) -> Result<(), Failure> {
        let chunk = self.bytes_at(bytes.as_mut_ptr(), bytes.len() as u64);
        // SAFETY: as in `send_bytes`.
        let request = unsafe { self.start_receive(chunk, from.envelope()) }?;
        self.complete(&mut [Pending::new(request)], from)
    }

    /// Waits until all of these messages from or to another rank are complete. Should one fail, or take longer than
    /// the user waits, the memory of all is given up.
    pub(super) fn complete(
        &self,
        requests: &mut [Pending],
        Peer { channel, rank }: Peer<'_>,
    ) -> Result<(), Failure> {
        let mut patience = Patience::new(channel.timeout_s);
        for request in requests {
            let mut wait = || {
                while test(self, request)?.is_none() {
                    match Abi::BUILT.is_simulated() {
                        true => wait(self, std::iter::once(&mut *request))?,
                        false => {
                            if let Some(idle) = patience.wait() {
                                patience.check(idle, Some(rank))?;
                            }
                        }
                    }
                }
                patience.moved();
                Ok::<(), Failure>(())
            };
            wait().inspect_err(|_| lent::give_up())?;
        }
        Ok(())
    }
}

/// Seconds that a row of messages took.
struct Row {
    /// See [`Probe::sending`].
    sending: Option<f64>,
    /// Until each of the longer ones was here, from when the one before it was.
    ends: [f64; ENDS],
}

/// The rank that asks. Its next message is as long as the last one said.
struct Asker<'a> {
    mpi: &'a Mpi,
    peer: Peer<'a>,
    message: Lent<Vec<u8>>,
    answer: Lent<Vec<u8>>,
}

impl Asker<'_> {
    /// Says how long the next message will be, and whether this one is to be answered.
    fn write(&mut self, next: u64, answer: bool) {
        let words = [next, answer.into()];
        for (place, word) in self.message.chunks_exact_mut(size_of::<u64>()).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
    }

    /// Sends the message, which says what comes next, has it answered, and gives the seconds that took.
    fn ask(&mut self, next: u64) -> Result<f64, Failure> {
        self.write(next, true);
        let start = self.mpi.time();
        (self.mpi).send_bytes(self.peer, &mut self.message)?;
        (self.mpi).receive_bytes(self.peer, &mut self.answer)?;
        let time = self.mpi.time() - start;
        self.message.resize(SHORT, 0);
        Ok(time)
    }

    /// Sends a short message that nobody answers, about what comes next.
    fn announce(&mut self, next: u64) -> Result<(), Failure> {
        self.write(next, false);
        (self.mpi).send_bytes(self.peer, &mut self.message)?;
        self.message.resize((next as usize).max(SHORT), 0);
        Ok(())
    }
}
