//! Packets within a node by mailboxes in shared memory: calls in turn on ranks that are threads and wait for
//! nobody but by their engines, and what is said of packets that cannot be right.

use super::net::{RootedOp, bytes_of};
use super::packets::GO;
use crate::case::rng;
use proptest::prelude::*;
use rondo::engine;
use rondo::engine::rooted::{Gather, RootedEvent, RootedTree, RootedWire, Scatter, Scratch, Terms};
use rondo::host::{self, Failure, InFlight, LocalPackets, MailboxEvent, MailboxState, Route};
use rondo::schedule::Parts;
use rondo::shm::{Arena, Shared};
use rondo::topology::Topology;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A call, the same for all ranks.
#[derive(Clone, Debug)]
struct Call {
    op: RootedOp,
    root: u32,
    sizes: Vec<u64>,
    long: u64,
    window: u32,
    /// A rank that only reports an error, if it has no part in the call but to say so.
    absent: Option<u32>,
}

impl Call {
    fn op(&self) -> host::RootedOp {
        match self.op {
            RootedOp::Gather => host::RootedOp::Gather,
            RootedOp::Scatter => host::RootedOp::Scatter,
        }
    }
}

/// What travels between ranks but not by mailboxes.
#[derive(Debug)]
enum Load {
    Packet(Vec<u8>),
    Block(u32),
}

/// A message: the call, its sender and what it is.
type Message = (u64, u32, Load);

/// Ranks on nodes with mailboxes, and the messages that have been sent to each.
struct Job {
    nodes: Topology,
    shared: Vec<Shared>,
    inboxes: Vec<Mutex<Vec<Message>>>,
    /// Packets between ranks of a node that were sent as messages, though a mailbox has room.
    strays: Mutex<Vec<(u32, u32)>>,
}

/// Bytes of pieces with small mailboxes and with large ones.
const PIECES: [u64; 2] = [16 << 10, 4 << 20];

impl Job {
    fn new(nodes: Topology, bytes: u64) -> Job {
        let shared = |node| {
            let (arena, _) = Arena::create(bytes).expect("there is memory");
            let piece = Arc::new(arena).reserve().expect("all are free");
            let width = nodes.locals(node).len() as u32;
            Shared::new(Arc::new(piece), width, 0).expect("there is room for mailboxes")
        };
        Job {
            shared: (0..nodes.nodes()).map(shared).collect(),
            inboxes: (0..nodes.p()).map(|_| Mutex::default()).collect(),
            strays: Mutex::default(),
            nodes,
        }
    }

    /// The longest packet that a mailbox on the node of `rank` holds.
    fn room(&self, rank: u32) -> usize {
        let node = self.nodes.node(rank) as usize;
        self.shared[node].mailboxes.room()
    }

    fn route(&self, rank: u32, root: u32, op: host::RootedOp, call: u64) -> Route<'_> {
        Route {
            nodes: &self.nodes,
            mailboxes: &self.shared[self.nodes.node(rank) as usize].mailboxes,
            rank,
            root,
            op,
            call,
        }
    }
}

/// One rank's wire in one call.
struct Desk<'a> {
    job: &'a Job,
    call: &'a Call,
    number: u64,
    rank: u32,
    in_flight: &'a mut InFlight,
    local: LocalPackets<'a>,
    expected: Vec<Option<u32>>,
    posted: Vec<u32>,
    sent: u32,
    placed: u32,
    since: Instant,
}

impl Desk<'_> {
    fn send_to(&mut self, to: u32, load: Load) {
        let mut inbox = self.job.inboxes[to as usize].lock().unwrap();
        inbox.push((self.number, self.rank, load));
        self.sent += 1;
    }

    /// The place in the inbox of something that this rank waits for.
    fn find(&self, inbox: &[Message]) -> Option<usize> {
        inbox.iter().position(|(number, from, load)| {
            let wanted = match load {
                Load::Packet(_) => {
                    let mut expected = self.expected.iter();
                    expected.any(|rank| rank.is_none_or(|rank| rank == *from))
                }
                Load::Block(block) => self.posted.contains(block),
            };
            *number == self.number && wanted
        })
    }
}

impl RootedWire for Desk<'_> {
    type Error = Failure;

    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Failure> {
        self.in_flight.memory(bytes)
    }

    fn give_back(&mut self, memory: Vec<u8>) {
        self.in_flight.give_back(memory);
    }

    fn send_packet(&mut self, to: u32, packet: Vec<u8>) -> Result<(), Failure> {
        let Some(packet) = self.local.send_packet(to, packet) else {
            return Ok(());
        };
        let near = self.job.nodes.node(to) == self.job.nodes.node(self.rank);
        if near && packet[0] != GO && packet.len() + 4 <= self.job.room(to) {
            self.job.strays.lock().unwrap().push((self.rank, to));
        }
        self.send_to(to, Load::Packet(packet));
        Ok(())
    }

    fn send(&mut self, block: u32, to: u32) -> Result<(), Failure> {
        self.send_to(to, Load::Block(block));
        Ok(())
    }

    fn recv(&mut self, block: u32, _from: u32) -> Result<(), Failure> {
        self.posted.push(block);
        Ok(())
    }

    fn read(&mut self, block: u32, packet: &mut Vec<u8>) -> Result<(), Failure> {
        packet.extend(bytes_of(block, self.call.sizes[block as usize]));
        Ok(())
    }

    fn write(&mut self, block: u32, bytes: &[u8]) -> Result<(), Failure> {
        let right = bytes_of(block, self.call.sizes[block as usize]);
        assert!(right.eq(bytes.iter().copied()), "{:?}: {block}", self.call);
        self.placed += 1;
        Ok(())
    }

    fn expect(&mut self, from: Option<u32>) {
        if self.local.expect(from) {
            self.expected.push(from);
        }
    }

    fn poll(&mut self) -> Result<Option<RootedEvent>, Failure> {
        while let Some(news) = self.local.poll(self.in_flight)? {
            match news {
                MailboxEvent::Packet { from, packet } => {
                    let any = self.expected.iter().position(Option::is_none);
                    any.map(|any| self.expected.remove(any));
                    return Ok(Some(RootedEvent::Packet { from, packet }));
                }
                MailboxEvent::Sent(memory) => {
                    self.give_back(memory);
                    return Ok(Some(RootedEvent::Sent));
                }
                MailboxEvent::Send { to, packet } => {
                    assert!(packet.len() > self.job.room(to), "{to} could have it");
                    self.send_to(to, Load::Packet(packet));
                }
                MailboxEvent::Expect(from) => self.expected.push(Some(from)),
            }
        }
        if self.sent > 0 {
            self.sent -= 1;
            return Ok(Some(RootedEvent::Sent));
        }
        let mut inbox = self.job.inboxes[self.rank as usize].lock().unwrap();
        let Some(at) = self.find(&inbox) else {
            return Ok(None);
        };
        let (_, from, load) = inbox.remove(at);
        drop(inbox);
        Ok(Some(match load {
            Load::Packet(packet) => {
                let may_be = |rank: &Option<u32>| rank.is_none_or(|rank| rank == from);
                let at = self.expected.iter().position(may_be).unwrap();
                if self.expected.remove(at).is_none() {
                    self.local.came_as_message();
                }
                RootedEvent::Packet { from, packet }
            }
            Load::Block(block) => {
                self.posted.retain(|posted| *posted != block);
                self.placed += 1;
                RootedEvent::Received
            }
        }))
    }

    fn idle(&mut self) -> Result<(), Failure> {
        thread::yield_now();
        self.local.look_around().map_or(Ok(()), Err)?;
        let waits = self.since.elapsed() < Duration::from_secs(120);
        assert!(waits, "rank {} waits: {:?}", self.rank, self.call);
        Ok(())
    }
}

/// What one rank keeps from call to call.
#[derive(Default)]
struct Kept {
    in_flight: InFlight,
    state: MailboxState,
    scratch: Scratch,
}

/// One call on one rank, to its end; the blocks that got to it.
fn take_part(
    job: &Job,
    call: &Call,
    number: u64,
    rank: u32,
    kept: &mut Kept,
) -> Result<u32, Failure> {
    let route = job.route(rank, call.root, call.op(), number);
    let mut local = LocalPackets::new(route, &mut kept.state);
    if call.absent == Some(rank) {
        return Ok(0);
    }
    local.reserve().expect("there is memory");
    let mut parts = Parts::default();
    let set = parts.set(call.sizes.iter().copied().map(Some));
    set.expect("the sizes are few");
    let terms = Terms {
        rank,
        p: job.nodes.p(),
        root: call.root,
        shape: RootedTree::Nodes(&job.nodes),
        long: call.long,
        window: call.window,
    };
    let mut desk = Desk {
        job,
        call,
        number,
        rank,
        in_flight: &mut kept.in_flight,
        local,
        expected: vec![],
        posted: vec![],
        sent: 0,
        placed: 0,
        since: Instant::now(),
    };
    let own = call.sizes[rank as usize];
    let parts = (rank == call.root).then_some(&parts);
    match call.op {
        RootedOp::Gather => {
            engine::run(Gather::new(terms, own, parts, &mut kept.scratch), &mut desk)?
        }
        RootedOp::Scatter => engine::run(
            Scatter::new(terms, own, parts, &mut kept.scratch),
            &mut desk,
        )?,
    }
    assert!(desk.expected.is_empty() && desk.posted.is_empty() && desk.sent == 0);
    Ok(desk.placed)
}

/// All calls on all ranks. `pause` is called before each call with its number and the rank.
fn carry_out(job: &Job, calls: &[Call], pause: impl Fn(u64, u32) + Sync) {
    let (job, pause) = (&job, &pause);
    thread::scope(|scope| {
        for rank in 0..job.nodes.p() {
            scope.spawn(move || {
                let mut kept = Kept::default();
                for (number, call) in (1..).zip(calls) {
                    pause(number, rank);
                    let placed = take_part(job, call, number, rank, &mut kept);
                    let placed = placed.unwrap_or_else(|failure| panic!("{call:?}: {failure:?}"));
                    let mut blocks = (0..).zip(&call.sizes);
                    let expected = match call.op {
                        _ if call.absent.is_some() => continue,
                        RootedOp::Gather if rank == call.root => blocks
                            .filter(|(block, bytes)| *block != rank && **bytes > 0)
                            .count(),
                        RootedOp::Gather => 0,
                        RootedOp::Scatter => usize::from(
                            rank != call.root && *blocks.nth(rank as usize).unwrap().1 > 0,
                        ),
                    };
                    assert_eq!(placed as usize, expected, "rank {rank}: {call:?}");
                }
            });
        }
    });
}

/// Calls with packets of all sizes about the room of a mailbox, in which some blocks are empty and some long.
fn any_calls(p: u32, room: u64, count: usize, seed: u64) -> Vec<Call> {
    let mut rng = rng(seed);
    let call = |_| {
        let around = room.saturating_sub(rng.random_range(0..40)) + 20;
        let mut size = |kind: u32| match kind {
            0 => 0,
            1 => around / u64::from(p),
            2 => around,
            _ => rng.random_range(1..=2 * room),
        };
        let all = size(3) % 4;
        let sizes = (0..p)
            .map(|rank| size((u64::from(rank) * 7 + all) as u32 % 4))
            .collect();
        Call {
            op: [RootedOp::Gather, RootedOp::Scatter][rng.random_range(0..2)],
            root: rng.random_range(0..p),
            sizes,
            long: [u64::MAX, room, 30][rng.random_range(0..3)],
            window: [1, 2, 64][rng.random_range(0..3)],
            absent: None,
        }
    };
    (0..count).map(call).collect()
}

fn topologies() -> [Topology; 5] {
    let names: [&[u64]; 5] = [
        &[0, 0, 0, 0],
        &[0, 1, 0, 1, 0, 1],
        &[5, 3, 3, 3, 3, 3, 4, 4],
        &[0, 0, 1, 1, 2, 2, 3, 3],
        &[0, 1, 2],
    ];
    names.map(Topology::new)
}

#[test]
fn calls_in_turn_that_wait_for_nobody() {
    for (nodes, seed) in topologies().into_iter().zip(31..) {
        for bytes in PIECES {
            let job = Job::new(nodes.clone(), bytes);
            let calls = any_calls(nodes.p(), job.room(0) as u64, 150, seed);
            carry_out(&job, &calls, |_, _| {});
            assert_eq!(*job.strays.lock().unwrap(), []);
            let left = job.inboxes.iter().map(|inbox| inbox.lock().unwrap().len());
            assert_eq!(left.sum::<usize>(), 0, "messages are left");
        }
    }
}

/// The others run ahead of a rank as far as they can.
#[test]
fn a_rank_that_comes_late_finds_its_packets() {
    for (nodes, seed) in topologies().into_iter().zip(41..) {
        for slow in [0, nodes.p() / 2, nodes.p() - 1] {
            let job = Job::new(nodes.clone(), PIECES[0]);
            let calls = any_calls(nodes.p(), job.room(0) as u64, 30, seed);
            carry_out(&job, &calls, |number, rank| {
                if rank == slow && number % 3 == 0 {
                    thread::sleep(Duration::from_millis(2));
                }
            });
        }
    }
}

/// A gather whose root only reports an error, and a scatter in which a rank that gets nothing does: the
/// others do their part, and the next calls find all mailboxes free.
#[test]
fn a_rank_that_only_reports_an_error_leaves_no_mailbox_shut() {
    for (nodes, seed) in topologies().into_iter().zip(51..) {
        let p = nodes.p();
        let job = Job::new(nodes, PIECES[1]);
        let mut calls = any_calls(p, 300, 24, seed);
        for call in calls.iter_mut().step_by(3) {
            let empty = (call.root + 1) % p;
            call.long = u64::MAX;
            call.absent = match call.op {
                RootedOp::Gather => Some(call.root),
                RootedOp::Scatter => Some(empty),
            };
            call.sizes[empty as usize] = 0;
        }
        carry_out(&job, &calls, |_, _| {});
    }
}

/// Two ranks of one node, and their packet in a call.
struct Two {
    job: Job,
    kept: [Kept; 2],
}

impl Two {
    fn new() -> Two {
        Two {
            job: Job::new(Topology::new(&[0, 0]), PIECES[0]),
            kept: Default::default(),
        }
    }

    /// Has `rank` take part in a call in which it does this, then leave it.
    fn on<T>(
        &mut self,
        rank: u32,
        (op, root, call): (host::RootedOp, u32, u64),
        act: impl FnOnce(&mut LocalPackets, &mut InFlight) -> T,
    ) -> T {
        let Kept {
            in_flight, state, ..
        } = &mut self.kept[rank as usize];
        let route = self.job.route(rank, root, op, call);
        let mut local = LocalPackets::new(route, state);
        local.reserve().expect("there is memory");
        act(&mut local, in_flight)
    }
}

fn poll(local: &mut LocalPackets, in_flight: &mut InFlight) -> Option<MailboxEvent> {
    local.poll(in_flight).expect("nothing fails")
}

fn put(
    to: u32,
    packet: &'static [u8],
) -> impl Fn(&mut LocalPackets, &mut InFlight) -> Option<MailboxEvent> {
    move |local, in_flight| {
        assert_eq!(local.send_packet(to, packet.to_vec()), None);
        poll(local, in_flight)
    }
}

use rondo::host::RootedOp::{Gather as Up, Scatter as Down};

#[test]
fn a_packet_is_sent_when_it_is_in_the_mailbox_and_taken_once() {
    let mut two = Two::new();
    for call in 1..4 {
        let sent = two.on(1, (Up, 0, call), put(0, &[1, 2, 3]));
        assert_eq!(sent, Some(MailboxEvent::Sent(vec![1, 2, 3])));
        two.on(0, (Up, 0, call), |local, in_flight| {
            assert_eq!(poll(local, in_flight), None, "not expected yet");
            assert!(!local.expect(Some(1)), "it does not come as a message");
            assert_eq!(local.awaited(), Some(1));
            let (from, packet) = (1, vec![1, 2, 3]);
            assert_eq!(
                poll(local, in_flight),
                Some(MailboxEvent::Packet { from, packet })
            );
            assert_eq!((poll(local, in_flight), local.awaited()), (None, None));
        });
    }
    for call in 4..7 {
        let sent = two.on(0, (Down, 0, call), put(1, &[7, 8]));
        assert!(matches!(sent, Some(MailboxEvent::Sent(_))));
        two.on(1, (Down, 0, call), |local, in_flight| {
            assert_eq!(poll(local, in_flight), None, "not expected yet");
            assert!(local.expect(None), "it may come as a message");
            let (from, packet) = (0, vec![7, 8]);
            assert_eq!(
                poll(local, in_flight),
                Some(MailboxEvent::Packet { from, packet })
            );
            assert_eq!(poll(local, in_flight), None);
        });
    }
}

/// In a gather the mailbox says so, and the message follows; in a scatter a rank looks for both.
#[test]
fn a_packet_that_is_too_long_is_a_message() {
    let mut two = Two::new();
    let room = two.job.room(0);
    two.on(1, (Up, 0, 1), |local, in_flight| {
        assert_eq!(local.send_packet(0, vec![5; room + 1]), None);
        let (to, packet) = (0, vec![5; room + 1]);
        assert_eq!(
            poll(local, in_flight),
            Some(MailboxEvent::Send { to, packet })
        );
        assert_eq!(poll(local, in_flight), None);
    });
    two.on(0, (Up, 0, 1), |local, in_flight| {
        assert!(!local.expect(Some(1)));
        assert_eq!(poll(local, in_flight), Some(MailboxEvent::Expect(1)));
        assert_eq!(poll(local, in_flight), None);
    });
    let sent = two.on(1, (Up, 0, 2), |local, in_flight| {
        assert_eq!(local.send_packet(0, vec![5; room]), None);
        poll(local, in_flight)
    });
    assert_eq!(sent, Some(MailboxEvent::Sent(vec![5; room])));
    two.on(0, (Down, 0, 3), |local, _| {
        let packet = vec![6; room - 3];
        assert_eq!(local.send_packet(1, packet.clone()), Some(packet));
        assert_eq!(local.send_packet(1, vec![6; room - 4]), None);
    });
}

/// What goes to another node, and what the root asks of a rank for its long block, are messages.
#[test]
fn other_packets_are_messages() {
    let job = Job::new(Topology::new(&[0, 0, 1, 1]), PIECES[0]);
    let mut kept: [Kept; 4] = Default::default();
    let mut local = |rank: u32, op, act: &dyn Fn(&mut LocalPackets) -> bool| {
        let route = job.route(rank, 0, op, 1);
        act(&mut LocalPackets::new(
            route,
            &mut kept[rank as usize].state,
        ))
    };
    for (op, rank, to) in [(Up, 0, 1), (Up, 0, 2), (Up, 2, 0), (Up, 2, 3), (Down, 0, 2)] {
        assert!(local(rank, op, &|local| local
            .send_packet(to, vec![1])
            .is_some()));
    }
    for (op, rank, from) in [
        (Up, 1, Some(0)),
        (Up, 0, Some(2)),
        (Up, 2, Some(0)),
        (Up, 3, Some(0)),
    ] {
        assert!(local(rank, op, &|local| local.expect(from)));
    }
}

/// The next writer waits until the owner of a down mailbox has been through the call before, even if it got
/// nothing; and so does a rank with its next packet up.
#[test]
fn a_packet_waits_for_the_one_before() {
    let mut two = Two::new();
    two.on(0, (Down, 0, 1), |_, _| {});
    assert_eq!(two.on(0, (Down, 0, 2), put(1, &[1])), None);
    two.on(1, (Down, 0, 1), |_, _| {});
    assert!(
        two.on(0, (Down, 0, 3), put(1, &[1])).is_none(),
        "2 is not over"
    );
    two.on(1, (Down, 0, 2), |_, _| {});
    assert!(two.on(0, (Down, 0, 4), put(1, &[1])).is_none(), "nor is 3");
    two.on(1, (Down, 0, 3), |_, _| {});
    assert!(two.on(0, (Down, 0, 4), |_, _| true));
    two.on(1, (Down, 0, 4), |_, _| {});
    assert!(two.on(0, (Down, 0, 5), put(1, &[1])).is_some());

    let mut two = Two::new();
    assert!(two.on(1, (Up, 0, 1), put(0, &[1])).is_some());
    assert!(two.on(1, (Up, 0, 2), put(0, &[2])).is_none());
    two.on(0, (Up, 0, 1), |local, in_flight| {
        local.expect(Some(1));
        assert!(poll(local, in_flight).is_some());
    });
    assert!(two.on(1, (Up, 0, 2), put(0, &[2])).is_some());
}

/// A packet came by message from another node: the mailbox is marked all the same.
#[test]
fn who_got_a_message_needs_no_mailbox() {
    let mut two = Two::new();
    two.on(1, (Down, 0, 1), |local, in_flight| {
        local.expect(None);
        local.came_as_message();
        two_mailboxes_hold_nothing(local, in_flight);
    });
    two.on(0, (Down, 0, 1), |_, _| {});
    assert!(two.on(0, (Down, 0, 2), put(1, &[1])).is_some());
}

fn two_mailboxes_hold_nothing(local: &mut LocalPackets, in_flight: &mut InFlight) {
    assert_eq!((poll(local, in_flight), local.look_around()), (None, None));
}

/// What a rank may find while others are early or late in calls that are right.
#[test]
fn packets_that_may_be_right_are_left_alone() {
    // A packet of a later scatter, for a rank that is in a gather, or has its packet already.
    let mut two = Two::new();
    assert!(two.on(0, (Down, 0, 2), put(1, &[1])).is_some());
    two.on(1, (Up, 1, 1), |local, in_flight| {
        local.expect(Some(0));
        two_mailboxes_hold_nothing(local, in_flight);
    });
    two.on(1, (Down, 0, 2), |local, in_flight| {
        local.expect(None);
        assert_eq!(local.look_around(), None, "it is about to look");
        assert!(poll(local, in_flight).is_some());
        two_mailboxes_hold_nothing(local, in_flight);
    });
    // A packet up that its reader has not come to.
    assert!(two.on(1, (Up, 0, 3), put(0, &[1])).is_some());
    two.on(1, (Up, 0, 4), |local, in_flight| {
        local.send_packet(0, vec![1]);
        two_mailboxes_hold_nothing(local, in_flight);
    });
    // A packet down to a rank that has not come to the call before.
    two.on(0, (Down, 0, 5), |_, _| {});
    two.on(0, (Down, 0, 6), |local, in_flight| {
        local.send_packet(1, vec![1]);
        two_mailboxes_hold_nothing(local, in_flight);
    });
}

/// The reader of a gather only reported an error: the packet is taken back, and the next one is put.
#[test]
fn a_packet_that_nobody_takes_is_taken_back() {
    let mut two = Two::new();
    assert!(two.on(1, (Up, 0, 1), put(0, &[1])).is_some());
    two.on(0, (Up, 0, 1), |_, _| {});
    two.on(1, (Up, 0, 2), |local, in_flight| {
        local.send_packet(0, vec![2]);
        assert_eq!(poll(local, in_flight), None);
        assert_eq!(local.look_around(), None);
        assert!(poll(local, in_flight).is_some());
    });
    two.on(0, (Up, 0, 2), |local, in_flight| {
        local.expect(Some(1));
        let (from, packet) = (1, vec![2]);
        assert_eq!(
            poll(local, in_flight),
            Some(MailboxEvent::Packet { from, packet })
        );
    });
    // The one that read goes on with a packet of its own.
    assert!(two.on(0, (Up, 1, 3), put(1, &[3])).is_some());
}
