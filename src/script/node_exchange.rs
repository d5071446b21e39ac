//! Every rank has a block of the same size for every rank, on several nodes: blocks are put together inside a node, and
//! one message goes from each node to each other one, or a few where nodes have more ranks than there are nodes.
//!
//! Nodes are on a circle. The messages to and from the node at a distance d are those of one rank of the node, which is
//! in *charge* of d; neighbouring distances are those of neighbouring ranks, so that all ranks of a node have as many
//! messages, or one more. Where there are more ranks than distances, or several lanes, a message is cut into parts by
//! its receivers.
//!
//! First the ranks of a node exchange blocks, so that each has those for the nodes that it is in charge of; then it
//! sends and receives; then the ranks of the node exchange what came. With a part for each rank of each node, ranks in
//! the same place exchange, and what comes is where it is to be: the full-lane all-to-all (J. L. Träff, S. Hunold,
//! "Decomposing MPI collectives for exploiting multi-lane communication", IEEE CLUSTER 2020).
//!
//! Where the ranks of a node share memory, they exchange through it ([`NodeExchange::out`], [`NodeExchange::home`]),
//! and the script has the messages between nodes only. Otherwise it has all of it, by [`Rounds`].

#![forbid(unsafe_code)]

use super::total_exchange::Rounds;
use super::{Group, Join, Script};
use crate::topology::Topology;
use std::iter::repeat_n;
use std::ops::Range;

/// An exchange over nodes as one rank sees it. Its area is one of blocks, in these pieces:
///
/// * *outbox*: this rank's blocks, put together for each rank of the node: the one for that rank, and those for the
///   nodes that it is in charge of
/// * *departures*: the messages to the nodes that this rank is in charge of, each ordered by receivers, then by senders
/// * *arrivals*: the messages from them
/// * *inbox*: the blocks for this rank, unless they are where they arrived
#[derive(Clone, Debug)]
pub struct NodeExchange<'a> {
    topology: &'a Topology,
    node: u32,
    /// This rank among those of its node, and how many these are.
    me: u32,
    width: u32,
    /// Parts of what a node has for another one.
    parts: u32,
    /// Do the ranks of a node share memory?
    shares: bool,
    /// Has every rank of every node a part? Then what arrives is for whom it comes to, and there is no way home.
    is_full: bool,
    /// Where departures, arrivals and the inbox begin, and where the inbox ends.
    starts: [u32; 4],
    /// Blocks for or from a rank of this node, of the one with most, each way. On the way home the own one is not among
    /// them. Where ranks share memory, nothing is as long as the longest.
    widest: [u32; 2],
    /// Where ranks share memory: the first block for this rank in the outbox of each rank of the node.
    place: u32,
    /// Where ranks share memory: for each rank of the node, the blocks in the inbox that came by those before it.
    before: Vec<u32>,
}

/// Blocks from this one on are to be at another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// So many.
    pub blocks: u32,
    /// From here, in the outbox or the arrivals of the other rank, which begin with 0.
    pub from: u32,
    /// To here, in the area.
    pub to: u32,
}

/// A message of a rank each way.
#[derive(Clone, Copy)]
struct Charge {
    /// To the node so much further, and from the one so much before.
    distance: u32,
    /// With the blocks for this part of its receivers.
    part: u32,
}

/// The direction of a distance.
#[derive(Clone, Copy)]
enum Way {
    To,
    From,
}

impl<'a> NodeExchange<'a> {
    /// On `rank`. What a node has for another one is in as many parts as there are lanes, or in more if that costs no
    /// rank another message.
    pub fn new(topology: &'a Topology, rank: u32, shares: bool, lanes: u32) -> NodeExchange<'a> {
        let node = topology.node(rank);
        let cheap = topology.narrowest() / (topology.nodes() - 1).max(1);
        let parts = cheap.max(lanes).max(1);
        let mut this = NodeExchange {
            topology,
            node,
            me: topology.local(rank),
            width: topology.locals(node).len() as u32,
            parts,
            shares,
            is_full: [topology.narrowest(), topology.widest()] == [parts; 2],
            starts: [0; 4],
            widest: [0; 2],
            place: 0,
            before: Vec::new(),
        };
        match shares {
            true => this.settle_places(),
            // What arrived does not go through places for ranks of this node.
            false if this.is_full => this.widest = [this.widest_place(Way::To), 0],
            false => this.widest = [this.widest_place(Way::To), this.widest_place(Way::From)],
        }
        let outbox = match shares {
            true => topology.p(),
            false => this.width * this.widest[0],
        };
        let departures = outbox + this.width * this.load(Way::To, this.me);
        let arrivals = departures + this.arrivals_of(this.me);
        let inbox = match (shares, this.is_full) {
            (true, false) => topology.p(),
            (true, true) => this.width,
            (false, _) => this.width * this.widest[1],
        };
        this.starts = [outbox, departures, arrivals, arrivals + inbox];
        this
    }

    /// Settles where blocks lie if ranks share memory.
    fn settle_places(&mut self) {
        self.place = (0..self.me)
            .map(|local| 1 + self.load(Way::To, local))
            .sum();
        let mut next = 0;
        let places = (0..self.width).map(|by| {
            let charges = self.charges_for(by, self.me);
            let blocks = charges.map(|charge| self.ranks(Way::From, charge).len() as u32);
            let before = next;
            next += blocks.sum::<u32>();
            before
        });
        self.before = places.collect();
    }

    /// What rank `local` of this node is in charge of.
    fn charges(&self, local: u32) -> impl Iterator<Item = Charge> + use<> {
        let parts = self.parts;
        let numbers = local..(self.topology.nodes() - 1) * parts;
        numbers
            .step_by(self.width as usize)
            .map(move |number| Charge {
                distance: 1 + number / parts,
                part: number % parts,
            })
    }

    /// The ranks of the node one way.
    fn neighbors(&self, way: Way, charge: Charge) -> &'a [u32] {
        let nodes = self.topology.nodes();
        let node = match way {
            Way::To => super::add(self.node, charge.distance, nodes),
            Way::From => super::sub(self.node, charge.distance, nodes),
        };
        self.topology.locals(node)
    }

    /// The one there that has the same message.
    fn partner(&self, way: Way, charge: Charge) -> u32 {
        let number = (charge.distance - 1) * self.parts + charge.part;
        let ranks = self.neighbors(way, charge);
        ranks[number as usize % ranks.len()]
    }

    /// Of so many ranks of a node, those that get what is in a message.
    fn receivers(&self, charge: Charge, ranks: u32) -> Range<u32> {
        let start = |part| (u64::from(ranks) * u64::from(part) / u64::from(self.parts)) as u32;
        start(charge.part)..start(charge.part + 1)
    }

    /// The ranks of the other node whose blocks are in a message: its receivers, or its senders.
    fn ranks(&self, way: Way, charge: Charge) -> &'a [u32] {
        let ranks = self.neighbors(way, charge);
        match way {
            Way::To => {
                let receivers = self.receivers(charge, ranks.len() as u32);
                &ranks[receivers.start as usize..receivers.end as usize]
            }
            Way::From => ranks,
        }
    }

    /// Ranks of other nodes with which a rank of this node has to do by rank `local`, one way, at the most.
    fn load(&self, way: Way, local: u32) -> u32 {
        let charges = self.charges(local);
        charges.map(|c| self.ranks(way, c).len() as u32).sum()
    }

    /// Blocks in the arrivals of rank `local` of this node.
    fn arrivals_of(&self, local: u32) -> u32 {
        let messages = self.messages(Way::From, local, 0);
        messages.last().map_or(0, |(_, arrival)| arrival.end)
    }

    /// What rank `by` of this node is in charge of and has blocks for rank `to`.
    fn charges_for(&self, by: u32, to: u32) -> impl Iterator<Item = Charge> {
        let charges = self.charges(by);
        charges.filter(move |&charge| self.receivers(charge, self.width).contains(&to))
    }

    /// See `widest`.
    fn widest_place(&self, way: Way) -> u32 {
        let loads = (0..self.width).map(|local| self.load(way, local));
        let own = match way {
            Way::To => 1,
            Way::From => 0,
        };
        loads.max().unwrap_or(0) + own
    }

    /// Where the blocks for rank `local` of the node lie in the outbox.
    fn outgoing(&self) -> impl Iterator<Item = (u32, u32)> {
        let place = self.widest[0];
        let mut next = 0;
        (0..self.width).map(move |local| {
            let start = match self.shares {
                true => next,
                false => super::sub(local, self.me, self.width) * place,
            };
            next += 1 + self.load(Way::To, local);
            (local, start)
        })
    }

    /// Calls `each` with every rank and the block of the area that is to have what is for it.
    pub fn sent<E>(&self, mut each: impl FnMut(u32, u32) -> Result<(), E>) -> Result<(), E> {
        let own = self.topology.locals(self.node);
        for (local, start) in self.outgoing() {
            each(own[local as usize], start)?;
            let ranks = (self.charges(local)).flat_map(|charge| self.ranks(Way::To, charge));
            for (block, &rank) in (start + 1..).zip(ranks) {
                each(rank, block)?;
            }
        }
        Ok(())
    }

    /// Calls `each` with every rank and the block of the area that has what came from it.
    pub fn received<E>(&self, mut each: impl FnMut(u32, u32) -> Result<(), E>) -> Result<(), E> {
        let own = self.topology.locals(self.node);
        for (local, &rank) in (0..).zip(own) {
            each(rank, self.own(local))?;
        }
        for local in 0..self.width {
            let charges = self.charges_for(local, self.me);
            let ranks = charges.flat_map(|charge| self.ranks(Way::From, charge));
            for (block, &rank) in (self.incoming(local)..).zip(ranks) {
                each(rank, block)?;
            }
        }
        Ok(())
    }

    /// Where the block of rank `local` of the node is in the end.
    fn own(&self, local: u32) -> u32 {
        match self.shares {
            true => self.starts[2] + local,
            false => super::sub(self.me, local, self.width) * self.widest[0],
        }
    }

    /// Where the blocks that came from other nodes by rank `local` are in the end.
    fn incoming(&self, local: u32) -> u32 {
        let inbox = self.starts[2];
        match self.shares {
            _ if self.is_full => self.starts[1],
            true => inbox + self.width + self.before[local as usize],
            false => inbox + super::sub(self.me, local, self.width) * self.widest[1],
        }
    }

    /// The messages of rank `local` of the node one way: blocks side by side from `first` on.
    fn messages(
        &self,
        way: Way,
        local: u32,
        first: u32,
    ) -> impl Iterator<Item = (Charge, Range<u32>)> {
        let mut next = first;
        self.charges(local).map(move |charge| {
            let first = next;
            let own = match way {
                Way::To => self.width,
                Way::From => self.receivers(charge, self.width).len() as u32,
            };
            next += own * self.ranks(way, charge).len() as u32;
            (charge, first..next)
        })
    }

    fn departures(&self) -> impl Iterator<Item = (Charge, Range<u32>)> {
        self.messages(Way::To, self.me, self.starts[0])
    }

    /// How what rank `from` of the node has put together for this rank, from `place` on, becomes part of departures.
    fn depart(&self, from: u32, place: u32, mut each: impl FnMut(Hop)) {
        let mut next = place + 1;
        for (_, departure) in self.departures() {
            for to in departure.skip(from as usize).step_by(self.width as usize) {
                each(Hop {
                    blocks: 1,
                    from: next,
                    to,
                });
                next += 1;
            }
        }
    }

    /// How what rank `by` of the node has in its arrivals, which begin with `first`, comes to `place` for rank `to`.
    fn arrive(&self, (by, first): (u32, u32), (to, place): (u32, u32), mut each: impl FnMut(Hop)) {
        let mut next = place;
        for (charge, arrival) in self.messages(Way::From, by, first) {
            let receivers = self.receivers(charge, self.width);
            if receivers.contains(&to) {
                let blocks = self.ranks(Way::From, charge).len() as u32;
                each(Hop {
                    blocks,
                    from: arrival.start + (to - receivers.start) * blocks,
                    to: next,
                });
                next += blocks;
            }
        }
    }

    /// Where ranks share memory: what this rank copies from the outbox of rank `from` of the node, in ascending order.
    pub fn out(&self, from: u32) -> Vec<Hop> {
        let mut copies = vec![Hop {
            blocks: 1,
            from: self.place,
            to: self.own(from),
        }];
        self.depart(from, self.place, |copy| copies.push(copy));
        copies
    }

    /// Do the ranks of a node exchange what arrived?
    pub fn goes_home(&self) -> bool {
        !self.is_full
    }

    /// Where ranks share memory: what this rank copies from the arrivals of rank `by` of the node, in ascending order.
    pub fn home(&self, by: u32) -> Vec<Hop> {
        let mut copies = Vec::new();
        let to = (self.me, self.incoming(by));
        self.arrive((by, 0), to, |copy| copies.push(copy));
        copies
    }

    /// The outbox.
    pub fn outbox(&self) -> Range<u32> {
        0..self.starts[0]
    }

    /// The arrivals.
    pub fn arrivals(&self) -> Range<u32> {
        self.starts[1]..self.starts[2]
    }

    /// Blocks in the arrivals of the rank of the node that has most.
    pub fn most_arrivals(&self) -> u32 {
        let blocks = (0..self.width).map(|local| self.arrivals_of(local));
        blocks.max().unwrap_or(0)
    }

    /// Writes the script, for blocks of `elements` elements, with no messages of more than `most` elements unless a
    /// block has more. Inside nodes it goes by rounds of fewer messages than `radix` each.
    pub fn write(&self, script: &mut Script, radix: u32, elements: u64, most: u64) {
        let end = self.starts[3];
        if self.shares {
            script.begin(most, repeat_n(elements, end as usize));
            self.cross(script);
            return;
        }
        let rounds = Rounds::new(self.width, radix);
        let places = self.widest;
        let blocks = end + rounds.copies() * places[0].max(places[1]);
        script.begin(most, repeat_n(elements, blocks as usize));
        let node = Group {
            members: Some(self.topology.locals(self.node)),
            p: self.width,
            me: self.me,
        };
        rounds.exchange(script, &node, places[0], [0, end]);
        for from in 0..self.width {
            self.depart(from, self.own(from), |Hop { from, to, .. }| {
                script.fold(from, to..to + 1, Join::Store);
            });
        }
        self.cross(script);
        if self.is_full {
            return;
        }
        let (arrivals, inbox) = (self.starts[1], self.starts[2]);
        for to in 0..self.width {
            let place = inbox + super::sub(to, self.me, self.width) * places[1];
            self.arrive((self.me, arrivals), (to, place), |copy| {
                script.fold(copy.from, copy.to..copy.to + copy.blocks, Join::Store);
            });
        }
        rounds.exchange(script, &node, places[1], [self.starts[2], end]);
    }

    /// The messages between nodes.
    fn cross(&self, script: &mut Script) {
        let arrivals = self.messages(Way::From, self.me, self.starts[1]);
        let both = self.departures().zip(arrivals);
        for ((charge, departure), (_, arrival)) in both {
            script.send(self.partner(Way::To, charge), departure);
            script.receive(self.partner(Way::From, charge), arrival, Join::Store);
        }
    }
}
