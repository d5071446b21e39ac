//! A network of ranks in one thread: an in-process [`RootedWire`] whose delivery order is anyone's choice,
//! and which notes the first thing that a rank does wrong.
//!
//! It is as strict as a network may be. A block travels only once its receive is posted, nothing gets
//! to a rank that is done, and all memory for packets is accounted for.

use rondo::engine::rooted::{Misfit, RootedEvent, RootedWire};
use std::cell::RefCell;
use std::collections::VecDeque;

/// Which way blocks go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootedOp {
    Gather,
    Scatter,
}

/// What travels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Load {
    Packet(Vec<u8>),
    /// The block of a rank, with its size by the sender's account.
    Block(u32, u64),
}

/// A message under way.
#[derive(Clone, Debug)]
pub struct Message {
    pub from: u32,
    pub to: u32,
    pub load: Load,
    /// Bytes of memory that it takes up at its sender.
    memory: usize,
    /// Does its sender already know that it has left?
    told: bool,
    /// The round in which it was sent.
    pub round: u32,
}

/// What a rank will hear of at a later poll.
enum MailboxEvent {
    Packet { from: u32, packet: Vec<u8> },
    Received,
    Sent { memory: usize },
}

/// What one rank has at the network.
#[derive(Default)]
pub struct Port {
    news: VecDeque<MailboxEvent>,
    /// Whose packets the rank waits for; `None` for anybody's.
    expected: Vec<Option<u32>>,
    /// Is there news, or has the rank not begun?
    awake: bool,
    pub done: bool,
    /// Receives that no message has met: block and sender. Those in flight, until the rank knows of
    /// their end; at the most so far too.
    posted: Vec<(u32, u32)>,
    receives: usize,
    pub most_receives: usize,
    /// Sends in flight, at the most so far too.
    sends: usize,
    pub most_sends: usize,
    /// Memory that the rank holds: where it is and how many bytes; of packets that have not left; and of
    /// all together at the most.
    holds: Vec<(*const u8, usize)>,
    leaving: usize,
    pub most_memory: usize,
}

impl Port {
    fn hold(&mut self, memory: &[u8], bytes: usize) {
        if bytes > 0 {
            self.holds.push((memory.as_ptr(), bytes));
            let held: usize = self.holds.iter().map(|(_, bytes)| bytes).sum();
            self.most_memory = self.most_memory.max(held + self.leaving);
        }
    }

    /// The place of the first packet expected that may be one of rank `from`.
    fn expects(&self, from: u32) -> Option<usize> {
        let mut expected = self.expected.iter();
        expected.position(|rank| rank.is_none_or(|rank| rank == from))
    }

    /// The place of the first receive that a block from rank `from` meets.
    fn receiver_of(&self, from: u32) -> Option<usize> {
        self.posted.iter().position(|receive| receive.1 == from)
    }

    /// The bytes of memory that the rank has no longer, if it had it.
    fn let_go(&mut self, memory: &[u8]) -> Option<usize> {
        let mut holds = self.holds.iter();
        let i = holds.position(|(at, _)| *at == memory.as_ptr())?;
        Some(self.holds.swap_remove(i).1)
    }
}

/// The network, shared by the carriers of all ranks.
pub struct Net {
    pub op: RootedOp,
    pub root: u32,
    /// Bytes of each rank's block by the root's account, and by its own.
    pub sizes: Vec<u64>,
    pub own: Vec<u64>,
    pub ports: Vec<Port>,
    /// Ranks that can go on.
    pub awake: Vec<u32>,
    /// Messages under way in the order of their sending.
    pub under_way: Vec<Message>,
    /// All that was ever sent.
    pub log: Vec<(u32, u32, Load)>,
    /// How often each block left its place, and how often it got to one.
    pub left: Vec<u32>,
    pub placed: Vec<u32>,
    /// Blocks that travel by themselves, from the send to the end of the receive; at the most so far.
    blocks: usize,
    pub most_blocks: usize,
    /// Rounds in which messages were delivered.
    pub rounds: u32,
    /// Has anything been delivered, or a sender been told, since this was last reset?
    pub moved: bool,
    /// The first thing that went wrong.
    pub fault: Option<String>,
}

/// Byte by byte what is in a block.
pub fn bytes_of(block: u32, len: u64) -> impl Iterator<Item = u8> {
    (0..len).map(move |i| (u64::from(block) * 37 + i * i + i * 7) as u8)
}

impl Net {
    /// A network on which nothing has happened yet.
    pub fn new(op: RootedOp, root: u32, sizes: Vec<u64>, own: Vec<u64>) -> Net {
        let p = sizes.len();
        let port = |_| Port {
            awake: true,
            ..Port::default()
        };
        Net {
            op,
            root,
            sizes,
            own,
            ports: (0..p).map(port).collect(),
            awake: (0..p as u32).collect(),
            under_way: vec![],
            log: vec![],
            left: vec![0; p],
            placed: vec![0; p],
            blocks: 0,
            most_blocks: 0,
            rounds: 0,
            moved: false,
            fault: None,
        }
    }

    pub fn expect(&mut self, right: bool, fault: impl FnOnce() -> String) {
        if !right && self.fault.is_none() {
            self.fault = Some(fault());
        }
    }

    fn port(&mut self, rank: u32) -> &mut Port {
        &mut self.ports[rank as usize]
    }

    /// Bytes of `block` as `rank` has it.
    fn account(&self, rank: u32, block: u32) -> u64 {
        let account = if rank == self.root {
            &self.sizes
        } else {
            &self.own
        };
        account[block as usize]
    }

    fn tell(&mut self, rank: u32, news: MailboxEvent) {
        let port = self.port(rank);
        port.news.push_back(news);
        if !port.awake {
            port.awake = true;
            self.awake.push(rank);
        }
    }

    /// The rank at a place among those that are awake goes on: it is not until there is news again.
    pub fn wake(&mut self, at: usize) -> u32 {
        let rank = self.awake.swap_remove(at);
        self.port(rank).awake = false;
        rank
    }

    /// May message `i` be delivered next? Between two ranks packets keep their order, and so do blocks.
    /// A packet has to be expected, and for a block a receive has to be posted.
    pub fn deliverable(&self, i: usize) -> bool {
        let message = &self.under_way[i];
        let to = &self.ports[message.to as usize];
        let packet = matches!(message.load, Load::Packet(_));
        let welcome = match packet {
            true => to.expects(message.from).is_some(),
            false => to.receiver_of(message.from).is_some(),
        };
        let behind = |m: &Message| {
            let same = matches!(m.load, Load::Packet(_)) == packet;
            same && (m.from, m.to) == (message.from, message.to)
        };
        !to.done && welcome && !self.under_way[..i].iter().any(behind)
    }

    /// Delivers message `i` of those under way; both sides are told at a later poll.
    pub fn deliver(&mut self, i: usize) {
        self.tell_sender(i);
        self.moved = true;
        let Message { from, to, load, .. } = self.under_way.remove(i);
        match load {
            Load::Packet(packet) => {
                let port = self.port(to);
                if let Some(i) = port.expects(from) {
                    port.expected.remove(i);
                }
                self.tell(to, MailboxEvent::Packet { from, packet });
            }
            Load::Block(block, bytes) => {
                let port = self.port(to);
                let receive = port.receiver_of(from).expect("a receive is posted");
                let place = port.posted.remove(receive).0;
                let room = self.account(to, place);
                self.expect((place, room) == (block, bytes), || {
                    let at = format!("rank {to} receives {room} bytes as block {place}");
                    format!("{at}, rank {from} sends {bytes} of {block}")
                });
                self.tell(to, MailboxEvent::Received);
            }
        }
    }

    /// The sender of message `i` is told that it has left, if this is still to be done.
    pub fn tell_sender(&mut self, i: usize) -> bool {
        let Message {
            from, memory, told, ..
        } = self.under_way[i];
        if !told {
            self.under_way[i].told = true;
            self.moved = true;
            self.tell(from, MailboxEvent::Sent { memory });
        }
        !told
    }

    /// The same before message `i` arrives, if it is a packet.
    pub fn buffer(&mut self, i: usize) -> bool {
        matches!(self.under_way[i].load, Load::Packet(_)) && self.tell_sender(i)
    }

    /// `rank` says that it is done: nothing of it may be open.
    pub fn finish(&mut self, rank: u32) {
        let port = self.port(rank);
        port.done = true;
        let open = [
            port.news.len(),
            port.expected.len(),
            port.receives,
            port.sends,
            port.holds.len(),
        ];
        self.expect(open == [0; 5], || {
            format!("rank {rank} is done with {open:?} news, packets, receives, sends, memory")
        });
    }

    fn push(&mut self, from: u32, to: u32, load: Load, memory: usize) {
        self.log.push((from, to, load.clone()));
        let message = Message {
            from,
            to,
            load,
            memory,
            told: false,
            round: self.rounds,
        };
        self.under_way.push(message);
        let port = self.port(from);
        port.sends += 1;
        port.most_sends = port.most_sends.max(port.sends);
        let known = to != from && (to as usize) < self.ports.len();
        self.expect(known, || format!("rank {from} sends to {to}"));
    }

    /// `rank` takes `block` from the user's memory, or puts it there: may it?
    fn touch(&mut self, rank: u32, block: u32, from_here: bool) {
        let right = match (self.op, from_here) {
            (RootedOp::Gather, true) | (RootedOp::Scatter, false) => {
                block == rank && rank != self.root
            }
            (RootedOp::Gather, false) | (RootedOp::Scatter, true) => {
                block != rank && rank == self.root
            }
        };
        let right = right && self.account(rank, block) > 0;
        self.expect(right, || {
            format!("rank {rank} has no business with block {block}")
        });
        let count = match from_here {
            true => &mut self.left[block as usize],
            false => &mut self.placed[block as usize],
        };
        *count += 1;
        let once = *count == 1;
        self.expect(once, || format!("rank {rank} handles block {block} twice"));
    }
}

/// Why a rank stops before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Misfit(Misfit),
    /// It waits, and nobody will come.
    Idle,
}

impl From<Misfit> for Stop {
    fn from(misfit: Misfit) -> Stop {
        Stop::Misfit(misfit)
    }
}

/// One rank's wire.
pub struct Desk<'a> {
    pub net: &'a RefCell<Net>,
    pub rank: u32,
}

impl RootedWire for Desk<'_> {
    type Error = Stop;

    fn memory(&mut self, bytes: usize) -> Result<Vec<u8>, Stop> {
        let memory = Vec::with_capacity(bytes);
        self.net.borrow_mut().port(self.rank).hold(&memory, bytes);
        Ok(memory)
    }

    fn give_back(&mut self, memory: Vec<u8>) {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        let known = memory.capacity() == 0 || net.port(rank).let_go(&memory).is_some();
        net.expect(known, || {
            format!("rank {rank} gives back what it does not have")
        });
    }

    fn send_packet(&mut self, to: u32, packet: Vec<u8>) -> Result<(), Stop> {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        let memory = net.port(rank).let_go(&packet).unwrap_or(0);
        net.port(rank).leaving += memory;
        let len = packet.len();
        net.expect(0 < len && len <= memory, || {
            format!("rank {rank} sends {len} bytes in memory for {memory}")
        });
        net.push(rank, to, Load::Packet(packet), memory);
        Ok(())
    }

    fn send(&mut self, block: u32, to: u32) -> Result<(), Stop> {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        net.touch(rank, block, true);
        net.expect(to == net.root || to == block, || {
            format!("rank {rank} sends block {block} to {to}")
        });
        net.blocks += 1;
        net.most_blocks = net.most_blocks.max(net.blocks);
        let bytes = net.account(rank, block);
        net.push(rank, to, Load::Block(block, bytes), 0);
        Ok(())
    }

    fn recv(&mut self, block: u32, from: u32) -> Result<(), Stop> {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        net.touch(rank, block, false);
        let right = from == net.root || from == block;
        net.expect(right && from != rank, || {
            format!("rank {rank} receives block {block} from {from}")
        });
        let port = net.port(rank);
        port.posted.push((block, from));
        port.receives += 1;
        port.most_receives = port.most_receives.max(port.receives);
        Ok(())
    }

    fn read(&mut self, block: u32, packet: &mut Vec<u8>) -> Result<(), Stop> {
        let net = &mut *self.net.borrow_mut();
        net.touch(self.rank, block, true);
        packet.extend(bytes_of(block, net.account(self.rank, block)));
        Ok(())
    }

    fn write(&mut self, block: u32, bytes: &[u8]) -> Result<(), Stop> {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        net.touch(rank, block, false);
        let right = bytes_of(block, net.account(rank, block)).eq(bytes.iter().copied());
        net.expect(right, || {
            format!("rank {rank} gets wrong bytes as block {block}")
        });
        Ok(())
    }

    fn expect(&mut self, from: Option<u32>) {
        let net = &mut *self.net.borrow_mut();
        net.port(self.rank).expected.push(from);
        let known = from.is_none_or(|from| from != self.rank && (from as usize) < net.ports.len());
        net.expect(known, || {
            format!("rank {} expects a packet from {from:?}", self.rank)
        });
    }

    fn poll(&mut self) -> Result<Option<RootedEvent>, Stop> {
        let (net, rank) = (&mut *self.net.borrow_mut(), self.rank);
        let Some(news) = net.port(rank).news.pop_front() else {
            return Ok(None);
        };
        Ok(Some(match news {
            MailboxEvent::Packet { from, packet } => {
                net.port(rank).hold(&packet, packet.len());
                RootedEvent::Packet { from, packet }
            }
            MailboxEvent::Received => {
                net.blocks -= 1;
                net.port(rank).receives -= 1;
                RootedEvent::Received
            }
            MailboxEvent::Sent { memory } => {
                let port = net.port(rank);
                port.sends -= 1;
                port.leaving -= memory;
                RootedEvent::Sent
            }
        }))
    }

    fn idle(&mut self) -> Result<(), Stop> {
        Err(Stop::Idle)
    }
}
