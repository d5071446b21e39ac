//! A network of ranks in one thread: an in-process [`Wire`] whose delivery order is anyone's choice, and
//! which notes the first thing that a rank does wrong.
//!
//! It is as strict as a network may be. What is sent has to be there when the send starts, and is read
//! when the message is delivered; what is received gets to its place only when the receive is reported.
//! A place is written once.

use rondo::engine::{Event, Piece, Wire};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

/// A message under way.
#[derive(Clone, Debug)]
pub struct Message {
    pub from: u32,
    pub to: u32,
    pub pieces: Vec<Piece>,
    /// Is it the oldest between its two ranks, and has the receiver posted a receive for it? Kept, because networks of
    /// many ranks ask for it at each of their messages.
    can_arrive: bool,
}

impl Message {
    fn is_between(&self, from: u32, to: u32) -> bool {
        (self.from, self.to) == (from, to)
    }
}

/// A receive in flight.
struct Receive {
    /// Its place among all receives of the rank.
    number: usize,
    from: u32,
    pieces: Vec<Piece>,
    /// The message, once it is delivered.
    bytes: Option<Vec<u8>>,
}

/// What one rank has at the network.
#[derive(Default)]
pub struct Port {
    /// The parts of all ranks one behind the other; 0 where nothing has arrived.
    pub memory: Vec<u8>,
    /// Receives in flight, oldest first.
    receives: VecDeque<Receive>,
    /// Receives started so far.
    started: usize,
    /// Sends in flight, and those of them that are complete.
    sends: u32,
    sent: u32,
    /// What was sent, in order.
    pub log: Vec<(u32, Vec<Piece>)>,
    /// Messages, pieces and bytes that were received.
    pub received: (u64, u64, u64),
    /// Receives and sends in flight at the most.
    pub most: (u32, u32),
    /// Times that the wire had no memory.
    pub refused: u64,
    /// Has something happened here that the rank has not been asked about since?
    pub news: bool,
    arrived: u64,
}

/// Where in the message the bytes of a piece are.
pub type PiecePlaces = Box<dyn Fn(&Piece) -> Vec<Range<usize>> + Send>;

/// What all ranks know.
pub struct Rules {
    /// The parts of all ranks one behind the other. No byte of it is 0.
    pub message: Vec<u8>,
    pub places: PiecePlaces,
    /// Bytes up to which pieces may share a message.
    pub most: u64,
    /// Receives, and as many sends, that the wire has memory for; at least 1.
    pub room: u32,
}

/// The places of pieces where each part begins at one of `starts`.
pub fn in_parts(starts: Vec<u64>) -> PiecePlaces {
    Box::new(move |piece| {
        let start = (starts[piece.root as usize] + piece.span.offset) as usize;
        std::iter::once(start..start + piece.span.len as usize).collect()
    })
}

/// The network, shared by the wires of all ranks.
pub struct Net {
    pub rules: Rules,
    pub ports: Vec<Port>,
    /// Messages under way in the order of their sending.
    pub under_way: VecDeque<Message>,
    /// The first thing that went wrong.
    pub fault: Option<String>,
}

impl Net {
    /// A network in which every rank has its own part of the message and nothing else.
    pub fn new(rules: Rules, sizes: &[u64]) -> Net {
        let mut end = 0;
        let port = |&size: &u64| {
            let own = end..end + size as usize;
            end = own.end;
            let mut memory = vec![0; rules.message.len()];
            memory[own.clone()].copy_from_slice(&rules.message[own]);
            Port {
                memory,
                news: true,
                ..Port::default()
            }
        };
        Net {
            ports: sizes.iter().map(port).collect(),
            under_way: VecDeque::new(),
            fault: None,
            rules,
        }
    }

    fn expect(&mut self, right: bool, fault: impl FnOnce() -> String) {
        if !right && self.fault.is_none() {
            self.fault = Some(fault());
        }
    }

    /// The receive that takes the next message between two ranks: its place among those in flight.
    fn receive_of(&self, from: u32, to: u32) -> Option<usize> {
        let mut receives = self.ports[to as usize].receives.iter();
        receives.position(|r| r.from == from && r.bytes.is_none())
    }

    /// Looks which message between two ranks may be delivered next, if one may.
    fn look_at(&mut self, from: u32, to: u32) {
        let can_arrive = self.receive_of(from, to).is_some();
        let mut all = self.under_way.iter_mut();
        if let Some(oldest) = all.find(|message| message.is_between(from, to)) {
            oldest.can_arrive = can_arrive;
        }
    }

    /// Which messages may be delivered next: between two ranks they keep their order, and the
    /// receiver has to have posted a receive.
    pub fn deliverable(&self) -> Vec<usize> {
        let all = self.under_way.iter().enumerate();
        all.filter(|(_, message)| message.can_arrive)
            .map(|(i, _)| i)
            .collect()
    }

    /// Place in the order of its receives that the receiver of message `i` gave it.
    pub fn place_of(&self, i: usize) -> usize {
        let message = &self.under_way[i];
        let receive = self.receive_of(message.from, message.to);
        self.ports[message.to as usize].receives[receive.expect("a receive is posted")].number
    }

    /// Delivers message `i` of those under way; both sides are told at a later poll.
    pub fn deliver(&mut self, i: usize) {
        let message = self.under_way.remove(i).expect("it is under way");
        let receive = self.receive_of(message.from, message.to);
        let memory = &self.ports[message.from as usize].memory;
        let mut bytes = Vec::new();
        for place in message.pieces.iter().flat_map(&self.rules.places) {
            bytes.extend_from_slice(&memory[place]);
        }
        let from = &mut self.ports[message.from as usize];
        (from.sent, from.news) = (from.sent + 1, true);
        let to = &mut self.ports[message.to as usize];
        to.news = true;
        let receive = &mut to.receives[receive.expect("a receive is posted")];
        receive.bytes = Some(bytes);
        let same = receive.pieces == message.pieces;
        self.look_at(message.from, message.to);
        self.expect(same, || {
            let Message {
                from, to, pieces, ..
            } = &message;
            format!("rank {to} does not expect what rank {from} sends: {pieces:?}")
        });
    }

    /// Receive `i` of those of `rank` in flight is complete: its pieces get to their places.
    fn report(&mut self, rank: u32, i: usize) -> Event {
        let Net { rules, ports, .. } = self;
        let port = &mut ports[rank as usize];
        let receive = port.receives.remove(i).expect("it is in flight");
        let bytes = receive.bytes.expect("it is complete");
        port.received.0 += 1;
        port.received.1 += receive.pieces.len() as u64;
        port.received.2 += bytes.len() as u64;
        let (mut bytes, mut twice) = (&bytes[..], None);
        for piece in &receive.pieces {
            for place in (rules.places)(piece) {
                let place = &mut port.memory[place];
                if place.iter().any(|&byte| byte != 0) {
                    twice = Some(*piece);
                }
                // What a wrong schedule sends may have another length.
                let len = place.len().min(bytes.len());
                place[..len].copy_from_slice(&bytes[..len]);
                bytes = &bytes[len..];
            }
        }
        self.expect(twice.is_none(), || {
            format!("rank {rank} receives what it has: {twice:?}")
        });
        Event::Received(receive.number as u32)
    }

    /// `rank` starts to receive, if there is memory.
    pub fn recv(&mut self, rank: u32, from: u32, pieces: &[Piece]) -> bool {
        self.expect(from != rank && !pieces.is_empty(), || {
            format!("rank {rank} receives {pieces:?} from {from}")
        });
        let port = &mut self.ports[rank as usize];
        if port.receives.len() >= self.rules.room as usize {
            port.refused += 1;
            return false;
        }
        port.receives.push_back(Receive {
            number: port.started,
            from,
            pieces: pieces.to_vec(),
            bytes: None,
        });
        port.started += 1;
        port.most.0 = port.most.0.max(port.receives.len() as u32);
        self.look_at(from, rank);
        true
    }

    /// `rank` starts to send, if there is memory.
    pub fn send(&mut self, rank: u32, to: u32, pieces: &[Piece]) -> bool {
        let (rules, port) = (&self.rules, &mut self.ports[rank as usize]);
        if port.sends >= rules.room {
            port.refused += 1;
            return false;
        }
        port.sends += 1;
        port.most.1 = port.most.1.max(port.sends);
        port.log.push((to, pieces.to_vec()));
        let is_there = |place: Range<usize>| port.memory[place.clone()] == rules.message[place];
        let missing = pieces.iter().find(|piece| {
            let mut places = (rules.places)(piece).into_iter();
            piece.span.len == 0 || !places.all(is_there)
        });
        let length: u64 = pieces.iter().map(|piece| piece.span.len).sum();
        let too_long = pieces.len() > 1 && length > rules.most;
        self.expect(to != rank && !pieces.is_empty(), || {
            format!("rank {rank} sends {pieces:?} to {to}")
        });
        self.expect(missing.is_none(), || {
            format!("rank {rank} sends what it does not have: {missing:?}")
        });
        self.expect(!too_long, || {
            format!("rank {rank} sends a message of {length} bytes: {pieces:?}")
        });
        self.under_way.push_back(Message {
            from: rank,
            to,
            pieces: pieces.to_vec(),
            can_arrive: false,
        });
        self.look_at(rank, to);
        true
    }

    /// What is complete on `rank`.
    pub fn poll(&mut self, rank: u32) -> Option<Event> {
        let port = &mut self.ports[rank as usize];
        // The newest of those that may be reported: of each rank, the oldest comes first.
        let may_be_reported = |&i: &usize| {
            let receive = &port.receives[i];
            let mut older = port.receives.range(..i);
            receive.bytes.is_some() && older.all(|older| older.from != receive.from)
        };
        if let Some(i) = (0..port.receives.len()).rev().find(may_be_reported) {
            Some(self.report(rank, i))
        } else if port.sent > 0 {
            port.sent -= 1;
            port.sends -= 1;
            Some(Event::Sent)
        } else {
            None
        }
    }

    /// `rank` says that so many bytes are there without a gap.
    fn idle(&mut self, rank: u32, arrived: u64) {
        let port = &mut self.ports[rank as usize];
        // To be looked for from where it was the last time: nothing disappears.
        let from = (port.arrived as usize).min(port.memory.len());
        let gap = port.memory[from..].iter().position(|&byte| byte == 0);
        let here = gap.map_or(port.memory.len(), |gap| from + gap) as u64;
        port.arrived = arrived;
        self.expect(arrived == here, || {
            format!("rank {rank} has {here} bytes without a gap and says {arrived}")
        });
    }
}

/// One rank's wire.
pub struct Rank {
    pub net: Rc<RefCell<Net>>,
    pub rank: u32,
}

impl Wire for Rank {
    type Error = Infallible;

    fn recv(&mut self, from: u32, pieces: &[Piece]) -> Result<bool, Infallible> {
        Ok(self.net.borrow_mut().recv(self.rank, from, pieces))
    }

    fn send(&mut self, to: u32, pieces: &[Piece], _more: u64) -> Result<bool, Infallible> {
        Ok(self.net.borrow_mut().send(self.rank, to, pieces))
    }

    fn poll(&mut self) -> Result<Option<Event>, Infallible> {
        Ok(self.net.borrow_mut().poll(self.rank))
    }

    fn idle(&mut self, arrived: u64) -> Result<(), Infallible> {
        self.net.borrow_mut().idle(self.rank, arrived);
        Ok(())
    }
}
