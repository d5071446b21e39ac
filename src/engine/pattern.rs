//! Which blocks a rank sends and receives in each round.

#![forbid(unsafe_code)]

use super::{Part, Piece};
use crate::schedule::{Circulant, Hypercube, Move, Moves, Rounds, Steps, Transfer, TreeNeighbors};
use std::ops::Range;

/// Pieces of at least this many bytes do not share a message with others of a circulant all-broadcast,
/// which never lie side by side: copying them costs more than another message (docs/results/long-messages.md). Whole
/// parts of neighbours mostly do lie side by side.
const ALONE_BYTES: u64 = 8 << 10;

/// Parts that are looked at, at the most, to find out how much is still to come.
const PARTS_AHEAD: usize = 64;

/// An order in which blocks can reach every rank.
#[derive(Clone, Copy, Debug)]
pub enum Pattern<'a> {
    /// Every part is broadcast on the circulant graph, all in the same rounds: n-1+q of them for parts
    /// of n blocks (Träff, arXiv 2205.10072, algorithms 6 and 9). Parts are those of contributors, in
    /// ascending order.
    Circulant(Rounds, Entries<'a>),
    /// Whole parts, those of more ranks in each round ([`crate::schedule::steps`]); with radix 2 it is the circulant
    /// all-broadcast of whole parts in q rounds (algorithm 7). There is a part for every rank.
    Bruck(Steps),
    /// Every rank passes on to the next one its own part, and then the parts of the ranks before it as they come, block
    /// by block (Träff et al., "A pipelined algorithm for large, irregular all-gather problems", IJHPCA 24(1), 2010).
    /// There is a part for every rank.
    Ring,
    /// Ranges of whole parts, one or two in each step ([`crate::schedule::moves`]). There is a part for every rank, or,
    /// of [`Moves::Scatter`], a single one, whose blocks are shared out among all ranks.
    Moves(Moves),
    /// Every block of a single part goes down a tree, from this rank to all its children before the next block; or the
    /// blocks go down two trees in turn.
    Tree(&'a TreeNeighbors),
    /// The blocks of a single part go over a hypercube ([`crate::schedule::hypercube`]).
    Hypercube(Hypercube),
    /// Every block of a single part goes from the root to one other rank, its relay, and from there to all others. All
    /// other ranks are relays in turn (L. Cherkasova and J. Lee, "FastReplica", USENIX USITS 2003, section 3.1, with
    /// more blocks than ranks).
    Relay,
}

/// Where the schedules of the contributors come from.
#[derive(Clone, Copy, Debug)]
pub enum Entries<'a> {
    /// The receive schedules of all relative ranks ([`Circulant::recv_table`]).
    Table(&'a [i8]),
    /// This rank's own schedules in the broadcast of each contributor.
    PerRoot(&'a RootSchedules),
}

/// One rank's schedules in broadcasts from several roots. O(log p) time and space for each.
#[derive(Clone, Debug, Default)]
pub struct RootSchedules {
    q: usize,
    recv: Vec<i8>,
    send: Vec<i8>,
}

impl RootSchedules {
    /// Makes the schedules of `rank`, one for each root.
    pub fn set(&mut self, graph: &Circulant, rank: u32, roots: &[u32]) {
        self.q = graph.q();
        for rows in [&mut self.recv, &mut self.send] {
            rows.clear();
            rows.resize(roots.len() * self.q, 0);
        }
        if self.q == 0 {
            return;
        }
        let rows = self.recv.chunks_exact_mut(self.q);
        for ((&root, recv), send) in roots
            .iter()
            .zip(rows)
            .zip(self.send.chunks_exact_mut(self.q))
        {
            // Schedules are made for root 0; any other root turns the ring.
            let relative = before(rank, root, graph.p());
            graph.recv(relative, recv);
            graph.send(relative, send);
        }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.recv.capacity() + self.send.capacity()
    }
}

/// The rank `steps` before `rank` on the ring of `p`.
fn before(rank: u32, steps: u32, p: u32) -> u32 {
    if rank >= steps {
        rank - steps
    } else {
        rank + (p - steps)
    }
}

/// The next piece of a single part that goes to, or comes from, one of `peers` peers after the other in each of so many
/// phases: `block` says which one. The cursor is left at it; blocks that there are not, and empty ones, do not travel.
fn next_of_part(
    part: &Part,
    at: &mut Cursor,
    (peers, phases): (usize, u32),
    block: impl Fn(&Cursor) -> u32,
) -> Option<Piece> {
    while peers > 0 && at.phase < phases {
        if std::mem::replace(&mut at.part, 1) == 0 {
            let block = block(at);
            if block < part.blocks.count() && part.blocks.span(block).len > 0 {
                return Some(part.piece(block));
            }
        }
        (at.part, at.k) = (0, at.k + 1);
        if at.k == peers {
            (at.k, at.phase) = (0, at.phase + 1);
        }
    }
    None
}

/// Which way a message goes, seen from this rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Receive,
    Send,
}

/// A place in the sequence of all pieces that go one way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cursor {
    k: usize,
    phase: u32,
    part: u32,
    block: u32,
}

/// A pattern as one rank sees it.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    graph: Circulant,
    rank: u32,
    pattern: Pattern<'a>,
    parts: &'a [Part],
}

impl<'a> Order<'a> {
    /// The order of `rank`.
    pub fn new(graph: Circulant, rank: u32, pattern: Pattern<'a>, parts: &'a [Part]) -> Order<'a> {
        debug_assert!(
            match pattern {
                Pattern::Circulant(..) => true,
                Pattern::Tree(_) | Pattern::Relay | Pattern::Hypercube(_) => parts.len() == 1,
                Pattern::Moves(moves) if moves.has_one_part() => parts.len() == 1,
                Pattern::Bruck(_) | Pattern::Ring | Pattern::Moves(_) =>
                    parts.len() == graph.p() as usize,
            },
            "as many parts as the pattern says"
        );
        Order {
            graph,
            rank,
            pattern,
            parts,
        }
    }

    pub(super) fn rank(&self) -> u32 {
        self.rank
    }

    pub(super) fn parts(&self) -> &'a [Part] {
        self.parts
    }

    /// Number of all blocks.
    pub(super) fn blocks(&self) -> u32 {
        let last = self.parts.last();
        last.map_or(0, |part| part.first + part.blocks.count())
    }

    /// Takes the next message that goes `way` into `pieces`; the other rank, or `None` at the end.
    ///
    /// Pieces that follow each other in a round share a message while that is not longer than
    /// `most` bytes. Both ends come to the same messages: nothing here depends on who asks.
    pub(super) fn message(
        &self,
        at: &mut Cursor,
        direction: Direction,
        most: u64,
        pieces: &mut Vec<Piece>,
    ) -> Option<u32> {
        pieces.clear();
        let first = self.next(at, direction)?;
        let (k, phase) = (at.k, at.phase);
        let alone = match self.pattern {
            Pattern::Circulant(..) => ALONE_BYTES,
            // A part is cut so that the next rank need not wait for all of it.
            Pattern::Ring => 0,
            Pattern::Bruck(_)
            | Pattern::Tree(_)
            | Pattern::Relay
            | Pattern::Hypercube(_)
            | Pattern::Moves(_) => u64::MAX,
        };
        let mut length = first.span.len;
        pieces.push(first);
        while pieces[0].span.len < alone {
            let mut ahead = *at;
            let Some(piece) = self.next(&mut ahead, direction) else {
                *at = ahead;
                break;
            };
            length = length.saturating_add(piece.span.len);
            let fits = length <= most && piece.span.len < alone;
            if (ahead.k, ahead.phase) != (k, phase) || !fits {
                break;
            }
            *at = ahead;
            pieces.push(piece);
        }
        if matches!(self.pattern, Pattern::Bruck(_)) {
            // They come in the order of descending ranks, so that what has been here longest leaves
            // first. Within a message the order of ascending ranks is that of most receive buffers.
            pieces.reverse();
        }
        Some(self.peer(k, direction))
    }

    /// About how many bytes still go to the rank to which the last message before `at` goes, which has `bytes` bytes.
    /// Counts no further than it has to, so it may say too few if they are many.
    pub(super) fn more(&self, at: &Cursor, bytes: u64) -> u64 {
        let messages_left = |of: u32| bytes.saturating_mul(of.saturating_sub(at.phase + 1).into());
        match &self.pattern {
            Pattern::Circulant(rounds, _) => messages_left(rounds.phases()),
            &Pattern::Tree(family) => {
                messages_left(family.phases(family.children(), self.blocks()))
            }
            Pattern::Relay => messages_left(self.turns()),
            // One in every turn of all dimensions, and in the last one none.
            Pattern::Hypercube(cube) if at.phase == 0 => {
                let turns = (cube.rounds() - 1 - at.k as u32) / cube.dimensions();
                bytes.saturating_mul(turns.into())
            }
            Pattern::Hypercube(_) => 0,
            Pattern::Moves(moves) if at.k >= moves.count(self.graph.p()) as usize => 0,
            &Pattern::Moves(moves) => self.more_of_step(moves, at),
            Pattern::Bruck(steps) if at.k >= steps.count() => 0,
            Pattern::Bruck(steps) => self.more_of_parts(at.part, steps.step(at.k).width, at.block),
            Pattern::Ring => self.more_of_parts(at.k as u32, self.graph.p() - 1, at.block),
        }
    }

    /// The same for whole parts: of ranks from so many before this one on, up to so many, without the first blocks.
    fn more_of_parts(&self, first: u32, end: u32, blocks: u32) -> u64 {
        let parts = (first..end).take(PARTS_AHEAD);
        let bytes = parts.map(|i| {
            let root = before(self.rank, i, self.graph.p());
            self.parts[root as usize].bytes()
        });
        let part = &self.parts[before(self.rank, first, self.graph.p()) as usize];
        let gone = match blocks {
            0 => 0,
            n if first < end => part.blocks.span(n - 1).end(),
            _ => 0,
        };
        bytes.sum::<u64>() - gone
    }

    /// The other rank of messages that go `way` in position `k` of a phase.
    fn peer(&self, k: usize, direction: Direction) -> u32 {
        let p = self.graph.p();
        let skip = match &self.pattern {
            &Pattern::Tree(family) => {
                return match direction {
                    Direction::Receive => family.parents()[k].peer,
                    Direction::Send => family.children()[k].peer,
                };
            }
            Pattern::Relay => {
                let peer = self.relay_peer(k, direction);
                return before(peer, p - self.parts[0].root, p);
            }
            &Pattern::Hypercube(cube) => {
                let transfer = self.transfer(cube, k, direction);
                let peer = transfer.map_or(0, |transfer| transfer.peer);
                return before(peer, p - self.parts[0].root, p);
            }
            &Pattern::Moves(moves) => {
                let step = self.step(moves, k, direction);
                return step.map_or(self.rank, |step| step.peer);
            }
            Pattern::Ring => 1,
            Pattern::Bruck(steps) => steps.step(k).distance,
            Pattern::Circulant(..) => self.graph.skips()[k],
        };
        match direction {
            Direction::Receive => before(self.rank, skip, p),
            Direction::Send => before(self.rank, p - skip, p),
        }
    }

    /// The next piece that goes `way`. The cursor is left behind it, in its round.
    fn next(&self, at: &mut Cursor, direction: Direction) -> Option<Piece> {
        // By reference: steps and entries are long, and this is done for every piece.
        match &self.pattern {
            Pattern::Circulant(rounds, entries) => {
                self.next_circulant(rounds, entries, at, direction)
            }
            Pattern::Bruck(steps) => self.next_whole(at, direction, steps.count()),
            Pattern::Ring => self.next_whole(at, direction, self.graph.p() as usize - 1),
            &Pattern::Tree(family) => self.next_of_tree(family, at, direction),
            Pattern::Relay => self.next_of_relays(at, direction),
            &Pattern::Hypercube(cube) => self.next_of_cube(cube, at, direction),
            &Pattern::Moves(moves) => self.next_of_steps(moves, at, direction),
        }
    }

    /// How often each rank is a relay, at the most.
    fn turns(&self) -> u32 {
        self.blocks().div_ceil((self.graph.p() - 1).max(1))
    }

    /// This rank as the root of the only part counts, with itself as 0.
    fn relative(&self) -> u32 {
        before(self.rank, self.parts[0].root, self.graph.p())
    }

    /// The other rank, seen from the root, of messages in position `k` of a turn of all relays.
    ///
    /// All ranks send over the same distance at a time: the root a block to the rank at distance 1, 2, ... p-1, and
    /// each relay, from the moment at which it has its block, over the distances that follow and then those before, but
    /// not to the root. So nobody is sent two blocks at a time.
    fn relay_peer(&self, k: usize, direction: Direction) -> u32 {
        let (p, v, k) = (self.graph.p(), self.relative(), k as u32);
        let relays = p - 1;
        match direction {
            Direction::Send if v == 0 => 1 + k,
            Direction::Send => {
                let to_root = before(p - 1 - v, v % relays, relays);
                let turn = k + u32::from(k >= to_root);
                (v + 1 + (v + turn) % relays) % p
            }
            Direction::Receive if k == 0 => 0,
            Direction::Receive => before(v, 1 + (v + k - 1) % relays, p),
        }
    }

    /// In every turn the root sends each relay its block, and each relay sends its own to all others.
    fn next_of_relays(&self, at: &mut Cursor, direction: Direction) -> Option<Piece> {
        let part = self.parts.first()?;
        let (relays, v) = (self.graph.p() - 1, self.relative());
        let peers = match direction {
            Direction::Receive if v == 0 => 0,
            Direction::Receive => relays,
            Direction::Send if v == 0 => relays,
            Direction::Send => relays - 1,
        };
        let next = |at: &Cursor| {
            let relay = match direction {
                Direction::Send if v == 0 => at.k as u32 + 1,
                Direction::Receive if at.k > 0 => self.relay_peer(at.k, direction),
                Direction::Send | Direction::Receive => v,
            };
            at.phase * relays + relay - 1
        };
        next_of_part(part, at, (peers as usize, self.turns()), next)
    }

    /// What this rank does in a round over a hypercube, whose rank 0 is the root.
    fn transfer(&self, cube: Hypercube, round: usize, direction: Direction) -> Option<Transfer> {
        let sends = direction == Direction::Send;
        cube.transfer(self.relative(), round as u32, sends)
    }

    /// A block in every round, or none.
    fn next_of_cube(
        &self,
        cube: Hypercube,
        at: &mut Cursor,
        direction: Direction,
    ) -> Option<Piece> {
        let part = self.parts.first()?;
        next_of_part(part, at, (cube.rounds() as usize, 1), |at| {
            let transfer = self.transfer(cube, at.k, direction);
            transfer.map_or(u32::MAX, |transfer| transfer.block)
        })
    }

    /// Block by block, each to one peer after the other.
    fn next_of_tree(
        &self,
        family: &TreeNeighbors,
        at: &mut Cursor,
        direction: Direction,
    ) -> Option<Piece> {
        let part = self.parts.first()?;
        let edges = match direction {
            Direction::Receive => family.parents(),
            Direction::Send => family.children(),
        };
        let phases = family.phases(edges, part.blocks.count());
        next_of_part(part, at, (edges.len(), phases), |at| {
            family.block(&edges[at.k], at.phase)
        })
    }

    /// What this rank does in a step.
    fn step(&self, moves: Moves, k: usize, direction: Direction) -> Option<Move> {
        let (p, sends) = (self.graph.p(), direction == Direction::Send);
        match moves {
            Moves::Scatter => {
                let step = moves.step(p, self.relative(), k as u32, sends)?;
                let peer = before(step.peer, p - self.parts[0].root, p);
                Some(Move { peer, ..step })
            }
            Moves::Doubling | Moves::Neighbours | Moves::Mesh => {
                moves.step(p, self.rank, k as u32, sends)
            }
        }
    }

    /// The blocks of a part of a step, and what they belong to.
    fn blocks_of_step(&self, moves: Moves, part: u32) -> (&'a Part, Range<u32>) {
        match moves {
            Moves::Scatter => {
                let whole = &self.parts[0];
                let (n, p) = (u64::from(whole.blocks.count()), u64::from(self.graph.p()));
                let first = |part: u32| (u64::from(part) * n / p) as u32;
                (whole, first(part)..first(part + 1))
            }
            Moves::Doubling | Moves::Neighbours | Moves::Mesh => {
                let part = &self.parts[part as usize];
                (part, 0..part.blocks.count())
            }
        }
    }

    /// Whole parts, block by block, those of a step in ascending order.
    fn next_of_steps(&self, moves: Moves, at: &mut Cursor, direction: Direction) -> Option<Piece> {
        let count = moves.count(self.graph.p()) as usize;
        while at.k < count {
            let step = self.step(moves, at.k, direction);
            while let Some(step) = &step
                && at.part < step.count()
            {
                let (part, blocks) = self.blocks_of_step(moves, step.part(at.part));
                while at.block < blocks.end - blocks.start {
                    at.block += 1;
                    let block = blocks.start + at.block - 1;
                    if part.blocks.span(block).len > 0 {
                        return Some(part.piece(block));
                    }
                }
                (at.part, at.block) = (at.part + 1, 0);
            }
            (at.part, at.k) = (0, at.k + 1);
        }
        None
    }

    /// About how many bytes of a step this rank still sends.
    fn more_of_step(&self, moves: Moves, at: &Cursor) -> u64 {
        let Some(step) = self.step(moves, at.k, Direction::Send) else {
            return 0;
        };
        let parts = (at.part..step.count()).take(PARTS_AHEAD);
        let bytes = parts.map(|i| {
            let (part, blocks) = self.blocks_of_step(moves, step.part(i));
            let first = if i == at.part { at.block } else { 0 };
            let left = blocks.start + first..blocks.end;
            match left.is_empty() {
                true => 0,
                false => part.blocks.span(left.end - 1).end() - part.blocks.span(left.start).offset,
            }
        });
        bytes.sum()
    }

    fn next_circulant(
        &self,
        rounds: &Rounds,
        entries: &Entries,
        at: &mut Cursor,
        direction: Direction,
    ) -> Option<Piece> {
        let (p, q) = (self.graph.p(), self.graph.q());
        while at.phase < rounds.phases() {
            let receiver = match direction {
                Direction::Receive => self.rank,
                Direction::Send => self.peer(at.k, direction),
            };
            while let Some(part) = self.parts.get(at.part as usize) {
                let i = at.part as usize;
                at.part += 1;
                if part.root == receiver {
                    continue; // has it
                }
                let entry = match entries {
                    // What goes to a rank is what it receives.
                    Entries::Table(table) => {
                        table[before(receiver, part.root, p) as usize * q + at.k]
                    }
                    Entries::PerRoot(rows) if direction == Direction::Receive => {
                        rows.recv[i * q + at.k]
                    }
                    Entries::PerRoot(rows) => rows.send[i * q + at.k],
                };
                if let Some(block) = rounds.block(entry, at.k, at.phase) {
                    let span = part.blocks.span(block);
                    if span.len > 0 {
                        return Some(part.piece(block));
                    }
                }
            }
            at.part = 0;
            at.k += 1;
            if at.k == q {
                (at.k, at.phase) = (0, at.phase + 1);
            }
        }
        None
    }

    /// Whole parts, block by block: on Bruck's way those of the sender and of the ranks before it, on
    /// the ring that of a single rank.
    fn next_whole(&self, at: &mut Cursor, direction: Direction, messages: usize) -> Option<Piece> {
        while at.k < messages {
            let sender = match direction {
                Direction::Receive => self.peer(at.k, direction),
                Direction::Send => self.rank,
            };
            let (first, width) = match &self.pattern {
                Pattern::Bruck(steps) => (0, steps.step(at.k).width),
                Pattern::Ring => (at.k as u32, 1),
                Pattern::Circulant(..)
                | Pattern::Tree(_)
                | Pattern::Relay
                | Pattern::Hypercube(_)
                | Pattern::Moves(_) => return None,
            };
            while at.part < width {
                let root = before(sender, first + at.part, self.graph.p());
                let part = &self.parts[root as usize];
                while at.block < part.blocks.count() {
                    at.block += 1;
                    if part.blocks.span(at.block - 1).len > 0 {
                        return Some(part.piece(at.block - 1));
                    }
                }
                (at.part, at.block) = (at.part + 1, 0);
            }
            (at.part, at.k) = (0, at.k + 1);
        }
        None
    }
}
