//! What a communicator costs while only broadcasts run on it.

use rondo::coll::SEND_WINDOW;
use rondo::engine::{
    AllBroadcast, Engine, Entries, Limits, Order, Part, Pattern, Progress, RootSchedules, Scratch,
};
use rondo::engine::{Event, Piece, Wire};
use rondo::group::{State, Work};
use rondo::host::{Requests, StagingRoom};
use rondo::model::BLOCKS_MAX;
use rondo::schedule::{Blocks, Circulant, Rounds};
use rondo::topology::Topology;
use std::collections::VecDeque;
use std::convert::Infallible;

/// A wire on which everything is complete at once.
#[derive(Default)]
struct Instant(VecDeque<Event>, u32);

impl Wire for Instant {
    type Error = Infallible;

    fn recv(&mut self, _from: u32, _pieces: &[Piece]) -> Result<bool, Infallible> {
        self.0.push_back(Event::Received(self.1));
        self.1 += 1;
        Ok(true)
    }

    fn send(&mut self, _to: u32, _pieces: &[Piece], _more: u64) -> Result<bool, Infallible> {
        self.0.push_back(Event::Sent);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Infallible> {
        Ok(self.0.pop_front())
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), Infallible> {
        Ok(())
    }
}

/// At most 21 KiB at p = 2^16, after a broadcast of the most blocks there are, carried out to its end.
/// Most of it are messages in flight, of which there are as many for any p up to 2^32; besides, it has where each rank
/// sits.
#[test]
fn the_state_of_a_communicator_is_small() {
    let (rank, root) = (12345, 54321);
    let graph = Circulant::new(1 << 16);
    let limits = Limits {
        receives: 2 * graph.q() as u32,
        sends: SEND_WINDOW,
        message: 64 << 10,
    };
    let mut requests = Requests::default();
    // A single part needs no staging.
    let staging = StagingRoom {
        messages: 0,
        bytes: limits.message,
        pieces: 1,
    };
    requests
        .reserve(&limits, graph.q() as u32, staging)
        .unwrap();
    let mut rows = RootSchedules::default();
    rows.set(&graph, rank, &[root]);
    let part = Part {
        root,
        first: 0,
        blocks: Blocks::new(1 << 33, BLOCKS_MAX),
    };
    let parts = [part];
    let rounds = Rounds::new(graph.q(), BLOCKS_MAX);
    let pattern = Pattern::Circulant(rounds, Entries::PerRoot(&rows));
    let order = Order::new(graph, rank, pattern, &parts);
    let mut scratch = Scratch::default();
    let mut all = AllBroadcast::new(order, limits, &mut scratch);
    let mut wire = Instant::default();
    while all.advance(&mut wire) == Ok(Progress::Moved) {}
    assert_eq!(all.advance(&mut wire), Ok(Progress::Done));
    assert_eq!(all.arrived(), 1 << 33);
    let blocks = BLOCKS_MAX as usize / 8;
    assert!(scratch.bytes() >= blocks, "a bit for each block");
    assert!(rows.bytes() >= 2 * graph.q(), "two schedules");
    let (fixed, heap) = (
        size_of::<State>(),
        [requests.bytes(), scratch.bytes(), rows.bytes()],
    );
    let bytes = fixed + heap.iter().sum::<usize>();
    println!("{bytes} bytes: {fixed} fixed; {heap:?} for requests, engine and schedules");
    assert!(
        fixed > size_of::<Work>(),
        "the state holds the memory of calls"
    );
    assert!(bytes <= 21 << 10, "{bytes} bytes");
}

/// 12 bytes for each rank and 4 for each node, and 4 more, in whatever order ranks and nodes are.
#[test]
fn the_nodes_of_a_communicator_are_a_few_numbers_for_each_rank() {
    let p = 1 << 16;
    for names in [
        (0..p).collect::<Vec<u64>>(),
        (0..p).map(|rank| rank % 512).collect(),
    ] {
        let topology = Topology::new(&names);
        let (ranks, nodes) = (topology.p() as usize, topology.nodes() as usize);
        assert_eq!(topology.bytes(), 12 * ranks + 4 * (nodes + 1));
    }
}
