//! A network of ranks in one thread: an in-process [`Wire`] whose delivery order is anyone's choice.

use rondo::engine::{Bcast, Event, Order, Progress, Scratch, Wire};
use rondo::schedule::{Blocks, Span};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// A message under way. The bytes are read when it is delivered, as a real network may do, so that a
/// sender which reuses its buffer too early is found out.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    pub from: u32,
    pub to: u32,
    pub span: Span,
}

#[derive(Clone, Copy)]
struct Posted {
    block: u32,
    span: Span,
    /// Place in the order in which this rank posted its receives.
    place: u64,
}

/// What one rank has at the network.
#[derive(Default)]
struct Port {
    memory: Vec<u8>,
    /// Receives that no message has matched yet, by sender, oldest first.
    receives: Vec<VecDeque<Posted>>,
    events: VecDeque<Event>,
    posted: u64,
    received: u64,
    bytes: u64,
    in_flight: u32,
    in_flight_most: u32,
    arrived: u64,
}

/// The network, shared by the wires of all ranks.
pub struct Net {
    ports: Vec<Port>,
    /// Messages under way in the order of their sending.
    pub under_way: VecDeque<Message>,
}

impl Net {
    fn new(p: u32, root: u32, message: &[u8]) -> Net {
        let port = |rank| Port {
            memory: if rank == root {
                message.to_vec()
            } else {
                vec![0; message.len()]
            },
            receives: vec![VecDeque::new(); p as usize],
            ..Port::default()
        };
        Net {
            ports: (0..p).map(port).collect(),
            under_way: VecDeque::new(),
        }
    }

    /// Which messages may be delivered next: between two ranks they keep their order, and the
    /// receiver has to have posted a receive.
    pub fn deliverable(&self) -> Vec<usize> {
        let first_of_its_pair = |i: usize, m: &Message| {
            !self
                .under_way
                .iter()
                .take(i)
                .any(|o| (o.from, o.to) == (m.from, m.to))
        };
        let posted = |m: &Message| !self.ports[m.to as usize].receives[m.from as usize].is_empty();
        let all = self.under_way.iter().enumerate();
        all.filter(|(i, m)| posted(m) && first_of_its_pair(*i, m))
            .map(|(i, _)| i)
            .collect()
    }

    /// Delivers message `i` of those under way; both sides are told at their next poll.
    pub fn deliver(&mut self, i: usize) {
        let m = self.under_way.remove(i).expect("it is under way");
        let (start, end) = (m.span.offset as usize, m.span.end() as usize);
        let bytes = self.ports[m.from as usize].memory[start..end].to_vec();
        self.ports[m.from as usize].events.push_back(Event::Sent);
        let port = &mut self.ports[m.to as usize];
        let posted = port.receives[m.from as usize]
            .pop_front()
            .expect("a receive is posted");
        assert_eq!(
            posted.span, m.span,
            "rank {} and rank {} name the same block",
            m.from, m.to
        );
        port.memory[start..end].copy_from_slice(&bytes);
        port.events.push_back(Event::Received(posted.block));
        port.received += 1;
        port.bytes += m.span.len;
        port.in_flight -= 1;
    }
}

/// One rank's wire.
pub struct Rank {
    net: Rc<RefCell<Net>>,
    rank: u32,
}

impl Wire for Rank {
    type Error = std::convert::Infallible;

    fn recv(&mut self, from: u32, block: u32, span: Span) -> Result<(), Self::Error> {
        let port = &mut self.net.borrow_mut().ports[self.rank as usize];
        let place = port.posted;
        port.posted += 1;
        port.receives[from as usize].push_back(Posted { block, span, place });
        port.in_flight += 1;
        port.in_flight_most = port.in_flight_most.max(port.in_flight);
        Ok(())
    }

    fn send(&mut self, to: u32, _block: u32, span: Span) -> Result<(), Self::Error> {
        assert_ne!(to, self.rank, "nobody sends to itself");
        let message = Message {
            from: self.rank,
            to,
            span,
        };
        self.net.borrow_mut().under_way.push_back(message);
        Ok(())
    }

    fn poll(&mut self) -> Result<Option<Event>, Self::Error> {
        Ok(self.net.borrow_mut().ports[self.rank as usize]
            .events
            .pop_front())
    }

    fn idle(&mut self, arrived: u64) -> Result<(), Self::Error> {
        self.net.borrow_mut().ports[self.rank as usize].arrived = arrived;
        Ok(())
    }
}

/// What a broadcast among all ranks of a network came to.
pub struct Outcome {
    /// The message as each rank has it at the end.
    pub memories: Vec<Vec<u8>>,
    /// Messages and bytes that each rank received.
    pub received: Vec<(u64, u64)>,
    /// Steps in which at least one message was delivered.
    pub steps: u64,
    /// Receives in flight at the most on any rank.
    pub receives_most: u32,
}

/// A broadcast to be tried.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub p: u32,
    pub root: u32,
    pub bytes: u64,
    pub n: u32,
    pub receive_window: u32,
    pub send_window: u32,
}

/// Runs `case` on all ranks to its end. After every step in which no rank can do more, `deliver` moves
/// messages; if it moves none, the engines are stuck and the test fails.
pub fn broadcast(case: Case, mut deliver: impl FnMut(&mut Net)) -> Outcome {
    let message: Vec<u8> = (0..case.bytes)
        .map(|i| (i * 7 + i / 251 + 1) as u8)
        .collect();
    let net = Rc::new(RefCell::new(Net::new(case.p, case.root, &message)));
    let orders: Vec<Order> = (0..case.p)
        .map(|r| Order::new(case.p, r, case.root))
        .collect();
    let mut scratch: Vec<Scratch> = (0..case.p).map(|_| Scratch::default()).collect();
    let mut engines: Vec<(Bcast, Rank)> = orders
        .iter()
        .zip(&mut scratch)
        .zip(0..)
        .map(|((order, scratch), rank)| {
            let blocks = Blocks::new(case.bytes, case.n);
            let (receives, sends) = (case.receive_window, case.send_window);
            let bcast = Bcast::new(order, blocks, receives, sends, scratch);
            (
                bcast,
                Rank {
                    net: net.clone(),
                    rank,
                },
            )
        })
        .collect();
    let mut steps = 0;
    loop {
        let mut done = true;
        for (engine, wire) in &mut engines {
            loop {
                match engine.advance(wire).unwrap() {
                    Progress::Moved => {}
                    Progress::Waiting => {
                        done = false;
                        wire.idle(engine.arrived()).unwrap();
                        break;
                    }
                    Progress::Done => break,
                }
            }
        }
        let before = net.borrow().under_way.len();
        if done {
            assert_eq!(before, 0, "{case:?}: nothing is under way at the end");
            break;
        }
        deliver(&mut net.borrow_mut());
        let moved = net.borrow().under_way.len() < before;
        assert!(moved, "{case:?}: no rank can go on");
        steps += 1;
    }
    drop(engines);
    let net = Rc::into_inner(net)
        .expect("all wires are gone")
        .into_inner();
    for (rank, port) in net.ports.iter().enumerate() {
        let prefix = &port.memory[..port.arrived as usize];
        assert_eq!(
            prefix,
            &message[..prefix.len()],
            "rank {rank}: what is said to be here is"
        );
    }
    Outcome {
        received: net
            .ports
            .iter()
            .map(|port| (port.received, port.bytes))
            .collect(),
        receives_most: net
            .ports
            .iter()
            .map(|port| port.in_flight_most)
            .max()
            .unwrap(),
        memories: net.ports.into_iter().map(|port| port.memory).collect(),
        steps,
    }
}

/// The machine of the papers: in a step every rank sends one message and receives one. A rank takes
/// the message first that it asked for first.
pub fn in_rounds(net: &mut Net) {
    let mut candidates = net.deliverable();
    candidates.sort_by_key(|&i| {
        let m = net.under_way[i];
        net.ports[m.to as usize].receives[m.from as usize][0].place
    });
    let (mut sending, mut receiving) = (vec![], vec![]);
    let mut now = vec![];
    for i in candidates {
        let m = net.under_way[i];
        if !sending.contains(&m.from) && !receiving.contains(&m.to) {
            sending.push(m.from);
            receiving.push(m.to);
            now.push(i);
        }
    }
    now.sort_unstable();
    for i in now.into_iter().rev() {
        net.deliver(i);
    }
}
