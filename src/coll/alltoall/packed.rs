//! Exchanges of blocks of one size that are packed and travel together: on the circulant graph, in a grid,
//! or over nodes.

#![forbid(unsafe_code)]

use super::Exchange;
use crate::coll::Stop;
use crate::coll::room::{VECTORS, of_all};
use crate::coll::running::{PIECE_BYTES, Running, trim};
use crate::coll::slots::Inside;
use crate::engine::node::{Operand, Want};
use crate::group::Memory;
use crate::host::{
    self, Area, Code, Failure, Operands, Requests, Side, SlotVectors, Vectors, call_tag,
};
use crate::schedule::Grid;
use crate::script::{Group, Hop, NodeExchange, Script, circulant_exchange, grid_exchange};

/// Which way blocks travel.
pub(super) enum Route<'a> {
    /// On the circulant graph of all ranks.
    Circulant,
    /// Along the dimensions of this grid of all ranks.
    Grid(Grid),
    /// Over so many lanes of nodes, through this memory inside them if there is some.
    Nodes(u32, Option<&'a mut Memory>),
}

/// Where the blocks of an exchange lie in its area.
enum AreaPlaces<'a> {
    /// By the distance between two of so many ranks, of which this is one.
    Around(u32, u32),
    /// By the distance in a grid of so many ranks, of which this is one.
    Grid(Grid, u32, u32),
    /// By nodes.
    Nodes(NodeExchange<'a>),
}

impl AreaPlaces<'_> {
    /// Calls `each` with every rank and the block that is to have what is for it.
    fn sent<E>(&self, mut each: impl FnMut(u32, u32) -> Result<(), E>) -> Result<(), E> {
        match self {
            &AreaPlaces::Around(p, me) => {
                let mut ranks = (me..p).chain(0..me);
                (0..p).zip(&mut ranks).try_for_each(|(d, to)| each(to, d))
            }
            AreaPlaces::Grid(grid, p, me) => (0..*p).try_for_each(|d| each(grid.after(*me, d), d)),
            AreaPlaces::Nodes(nodes) => nodes.sent(each),
        }
    }

    /// Calls `each` with every rank and the block that has what came from it.
    fn received<E>(&self, mut each: impl FnMut(u32, u32) -> Result<(), E>) -> Result<(), E> {
        match self {
            &AreaPlaces::Around(p, me) => {
                let mut ranks = (0..=me).rev().chain((me + 1..p).rev());
                (0..p)
                    .zip(&mut ranks)
                    .try_for_each(|(d, from)| each(from, d))
            }
            AreaPlaces::Grid(grid, p, me) => (0..*p).try_for_each(|d| each(grid.before(*me, d), d)),
            AreaPlaces::Nodes(nodes) => nodes.received(each),
        }
    }
}

impl Exchange<'_> {
    /// Carries it out, `bytes` bytes for all ranks together.
    pub(super) fn packed(
        &self,
        route: Route,
        bytes: u64,
        (script, requests): (&mut Script, &mut Requests),
        count: impl FnOnce(),
    ) -> Result<(), Stop> {
        let (mpi, state) = (self.mpi, self.state);
        let (facts, me) = (state.facts(), state.rank());
        let p = facts.p;
        let block = bytes / u64::from(p);
        let most = facts.eager_bytes.min(PIECE_BYTES);
        let most_bytes = match &route {
            Route::Circulant | Route::Grid(_) => bytes.saturating_mul(VECTORS),
            Route::Nodes(lanes, _) => facts.node_exchange_bytes(bytes, *lanes),
        };
        let (places, which) = match &route {
            Route::Circulant => {
                let radix = || state.facts().exchange_radix(bytes, state.config());
                let radix = host::with_plain_floats(radix);
                circulant_exchange(script, &Group::all(p, me), radix, block, most);
                (AreaPlaces::Around(p, me), 1)
            }
            Route::Grid(grid) => {
                grid_exchange(script, &Group::all(p, me), grid, block, most);
                (AreaPlaces::Grid(grid.clone(), p, me), 3)
            }
            Route::Nodes(lanes, memory) => {
                let nodes = NodeExchange::new(state.topology(), me, memory.is_some(), *lanes);
                let radix = || state.facts().radix_inside(bytes, state.config());
                nodes.write(script, host::with_plain_floats(radix), block, most);
                (AreaPlaces::Nodes(nodes), 2)
            }
        };
        let operands = mpi.signals(self.channel.comm);
        let run = self.run(&operands, bytes, which);
        let area = reserve(&run, script, requests);
        let area = of_all(area, most_bytes / VECTORS, mpi, state);
        let area = area.inspect_err(|_| trim(script, requests))?;
        count();
        let pack = |side: &Side, rank, place: u32, out: bool| {
            let place = u64::from(place) * block;
            self.pack(side, rank, (&operands, area, place), out)
        };
        let sent = places.sent(|rank, place| pack(self.sides.sent(), rank, place, true));
        sent.map_err(Stop::Broken)?;
        match (&places, route) {
            (AreaPlaces::Nodes(nodes), Route::Nodes(_, Some(memory))) => {
                let inside = Inside {
                    run: &run,
                    sequence: self.sequence,
                    memory,
                };
                through_memory(nodes, inside, (&operands, area, block), || {
                    run.carry_out(script, requests, area)
                })?;
            }
            (
                AreaPlaces::Around(..) | AreaPlaces::Grid(..) | AreaPlaces::Nodes(_),
                Route::Circulant | Route::Grid(_) | Route::Nodes(..),
            ) => run.carry_out(script, requests, area)?,
        }
        let received = places.received(|rank, place| pack(&self.sides.receive, rank, place, false));
        received.map_err(Stop::Broken)
    }
}

impl Exchange<'_> {
    /// Carries scripts out in a call of so many bytes; `which` says which script it is.
    pub(super) fn run<'a>(&'a self, operands: &'a Operands, bytes: u64, which: u64) -> Running<'a> {
        let [a, b] = self.facts();
        Running {
            mpi: self.mpi,
            state: self.state,
            channel: self.channel,
            tag: call_tag([a, b, bytes, which], self.channel.tags),
            operands,
        }
    }

    /// Packs the block for a rank into an area of bytes, in which it begins at this place, or unpacks that of a rank.
    pub(super) fn pack(
        &self,
        side: &Side,
        rank: u32,
        (operands, area, place): (&Operands, Area, u64),
        out: bool,
    ) -> Result<(), Failure> {
        let found = side.block(self.mpi, rank);
        let found = found.map_err(|code| Failure::Host(code, "looking at a block"))?;
        match (found, out) {
            (None, _) => Ok(()),
            (Some(found), true) => operands.pack(&found, area, place),
            (Some(found), false) => operands.unpack(&found, area, place),
        }
    }
}

/// Makes room for a script of bytes.
pub(super) fn reserve(
    run: &Running,
    script: &Script,
    requests: &mut Requests,
) -> Result<Area, Code> {
    let vectors = Vectors {
        first: script.cut().total(),
        other: 0,
    };
    run.reserve(script, requests, vectors, None)
}

/// Exchanges blocks inside the node, calls `cross`, and exchanges what came for others.
fn through_memory(
    nodes: &NodeExchange,
    mut inside: Inside,
    (operands, area, block): (&Operands, Area, u64),
    cross: impl FnOnce() -> Result<(), Stop>,
) -> Result<(), Stop> {
    let vectors = SlotVectors {
        operands,
        from: area,
        to: area,
    };
    let ranks = 0..inside.run.state.locals().len() as u32;
    let want = |hop: &Hop| Want {
        elements: u64::from(hop.from) * block..u64::from(hop.from + hop.blocks) * block,
        to: u64::from(hop.to) * block,
        of: Operand::All,
    };
    let wants = |hops: Vec<Hop>| hops.iter().map(want).collect();
    let elements = |blocks: u32| u64::from(blocks) * block;
    let (out, arrivals) = (nodes.outbox(), nodes.arrivals());
    let of_all: Vec<Vec<Want>> = ranks.clone().map(|rank| wants(nodes.out(rank))).collect();
    inside.shuffle(vectors, 0..elements(out.end), elements(out.end), &of_all)?;
    cross()?;
    if !nodes.goes_home() {
        return Ok(());
    }
    let of_all: Vec<Vec<Want>> = ranks.map(|rank| wants(nodes.home(rank))).collect();
    let own = elements(arrivals.start)..elements(arrivals.end);
    inside.shuffle(vectors, own, elements(nodes.most_arrivals()), &of_all)
}
