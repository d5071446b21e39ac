//! The n-block broadcast on the circulant graph, pipelined.
//!
//! The schedule speaks of rounds in which every rank sends and receives one block at a time (Träff,
//! arXiv 2205.10072, section 2). Rounds are only an order here: receives are posted ahead within a
//! window, a send leaves as soon as its block is there, and nothing waits for the end of a round.
//! Per pair of ranks both sides post in the order of rounds, which is all that matching needs.

#![forbid(unsafe_code)]

use super::{Event, Wire};
use crate::schedule::{Blocks, Circulant, MAX_Q, Rounds};

/// One rank's part in a broadcast from `root`: with whom, and which blocks. O(log p) time and space,
/// no communication. Good for every broadcast from the same root.
#[derive(Clone, Copy)]
pub struct Order {
    p: u32,
    q: usize,
    rank: u32,
    root: u32,
    skips: [u32; MAX_Q],
    recv: [i8; MAX_Q],
    send: [i8; MAX_Q],
}

impl Order {
    /// The part of `rank` in a broadcast from `root` among `p` ranks.
    pub fn new(p: u32, rank: u32, root: u32) -> Order {
        let graph = Circulant::new(p);
        let q = graph.q();
        let mut order = Order {
            p,
            q,
            rank,
            root,
            skips: [0; MAX_Q],
            recv: [0; MAX_Q],
            send: [0; MAX_Q],
        };
        order.skips[..q].copy_from_slice(&graph.skips()[..q]);
        // Schedules are made for root 0; any other root turns the ring.
        let relative = if rank >= root {
            rank - root
        } else {
            rank + (p - root)
        };
        graph.recv(relative, &mut order.recv);
        graph.send(relative, &mut order.send);
        order
    }

    /// Number of ranks.
    pub fn p(&self) -> u32 {
        self.p
    }

    /// Rounds in a phase, ceil(log2 p).
    pub fn q(&self) -> usize {
        self.q
    }

    /// The root this part was made for.
    pub fn root(&self) -> u32 {
        self.root
    }

    fn is_root(&self) -> bool {
        self.rank == self.root
    }

    /// The rank this one sends to in position `k` of every phase.
    fn to(&self, k: usize) -> u32 {
        let to = u64::from(self.rank) + u64::from(self.skips[k]);
        (to % u64::from(self.p)) as u32
    }

    /// The rank this one receives from in position `k` of every phase.
    fn from(&self, k: usize) -> u32 {
        let from = u64::from(self.rank) + u64::from(self.p) - u64::from(self.skips[k]);
        (from % u64::from(self.p)) as u32
    }
}

/// Memory that one broadcast leaves to the next: which blocks have arrived, a bit each.
#[derive(Default)]
pub struct Scratch {
    bits: Vec<u64>,
}

impl Scratch {
    fn clear(&mut self, blocks: u32) {
        self.bits.clear();
        self.bits.resize(blocks.div_ceil(64) as usize, 0);
    }

    fn set(&mut self, block: u32) {
        self.bits[block as usize / 64] |= 1 << (block % 64);
    }

    fn has(&self, block: u32) -> bool {
        self.bits[block as usize / 64] >> (block % 64) & 1 != 0
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.bits.capacity() * size_of::<u64>()
    }
}

/// What [`Bcast::advance`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Everything is sent and received.
    Done,
    /// Something was started or completed.
    Moved,
    /// Nothing can happen before the wire completes an operation.
    Waiting,
}

/// A round, as position in a phase and phase.
struct Cursor {
    k: usize,
    phase: u32,
}

impl Cursor {
    fn step(&mut self, q: usize) {
        self.k += 1;
        if self.k == q {
            (self.k, self.phase) = (0, self.phase + 1);
        }
    }
}

/// A broadcast in progress on one rank.
pub struct Bcast<'a> {
    order: &'a Order,
    rounds: Rounds,
    blocks: Blocks,
    here: &'a mut Scratch,
    /// All blocks before this one are here.
    prefix: u32,
    /// The rounds whose receive and whose send are next.
    next_receive: Cursor,
    next_send: Cursor,
    /// Receives and sends in flight, and how many of each may be.
    receives: u32,
    sends: u32,
    receive_window: u32,
    send_window: u32,
}

impl<'a> Bcast<'a> {
    /// A broadcast of the message cut into `blocks`, of which none may be empty unless there is only
    /// one. At most `receive_window` receives and `send_window` sends (at least 1 each) are in flight.
    pub fn new(
        order: &'a Order,
        blocks: Blocks,
        receive_window: u32,
        send_window: u32,
        here: &'a mut Scratch,
    ) -> Bcast<'a> {
        let rounds = Rounds::new(order.q, blocks.count());
        let is_root = order.is_root();
        here.clear(blocks.count());
        Bcast {
            order,
            rounds,
            blocks,
            here,
            prefix: if is_root { blocks.count() } else { 0 },
            next_receive: Cursor {
                k: 0,
                phase: if is_root { rounds.phases() } else { 0 },
            },
            next_send: Cursor { k: 0, phase: 0 },
            receives: 0,
            sends: 0,
            receive_window: receive_window.max(1),
            send_window: send_window.max(1),
        }
    }

    /// Does what can be done now: starts receives within the window, starts sends whose block is
    /// here, takes in what the wire has completed.
    pub fn advance<W: Wire>(&mut self, wire: &mut W) -> Result<Progress, W::Error> {
        let mut moved = self.post_receives(wire)?;
        moved |= self.post_sends(wire)?;
        while let Some(event) = wire.poll()? {
            moved = true;
            match event {
                Event::Received(block) => {
                    self.receives -= 1;
                    self.here.set(block);
                }
                Event::Sent => self.sends -= 1,
            }
            // Forward first, then look for more: others wait for this block.
            self.post_sends(wire)?;
            self.post_receives(wire)?;
        }
        let posted = |next: &Cursor| next.phase == self.rounds.phases();
        let done = posted(&self.next_receive) && posted(&self.next_send);
        Ok(match (done && self.receives + self.sends == 0, moved) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Moved,
            (false, false) => Progress::Waiting,
        })
    }

    /// Posts receives in the order of rounds while the window has room.
    fn post_receives<W: Wire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while self.receives < self.receive_window && self.next_receive.phase < self.rounds.phases()
        {
            let Cursor { k, phase } = self.next_receive;
            if let Some(block) = self.rounds.block(self.order.recv[k], k, phase) {
                wire.recv(self.order.from(k), block, self.blocks.span(block))?;
                self.receives += 1;
                moved = true;
            }
            self.next_receive.step(self.order.q);
        }
        Ok(moved)
    }

    /// Posts sends in the order of rounds while the window has room and the next block is here.
    ///
    /// A later send whose block is here could overtake one that still waits. It would take its
    /// receiver's turn from another rank and cost rounds (9 instead of 8 for p = 13, n = 5).
    fn post_sends<W: Wire>(&mut self, wire: &mut W) -> Result<bool, W::Error> {
        let mut moved = false;
        while self.sends < self.send_window && self.next_send.phase < self.rounds.phases() {
            let Cursor { k, phase } = self.next_send;
            let (to, block) = (
                self.order.to(k),
                self.rounds.block(self.order.send[k], k, phase),
            );
            // The root needs nothing.
            if let Some(block) = block.filter(|_| to != self.order.root) {
                if !self.order.is_root() && !self.here.has(block) {
                    break;
                }
                wire.send(to, block, self.blocks.span(block))?;
                self.sends += 1;
                moved = true;
            }
            self.next_send.step(self.order.q);
        }
        Ok(moved)
    }

    /// Bytes at the front of the message that are all here.
    pub fn arrived(&mut self) -> u64 {
        while self.prefix < self.blocks.count() && self.here.has(self.prefix) {
            self.prefix += 1;
        }
        match self.prefix {
            0 => 0,
            n => self.blocks.span(n - 1).end(),
        }
    }
}

/// Carries `bcast` out to its end.
pub fn run<W: Wire>(mut bcast: Bcast<'_>, wire: &mut W) -> Result<(), W::Error> {
    loop {
        match bcast.advance(wire)? {
            Progress::Done => return Ok(()),
            Progress::Moved => {}
            Progress::Waiting => wire.idle(bcast.arrived())?,
        }
    }
}
