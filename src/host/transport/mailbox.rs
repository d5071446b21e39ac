//! Letters between ranks of one node, through boxes in the memory that they share.
//!
//! In a gather, the rank that speaks for a node finds the letters of the others in their up boxes. In a
//! scatter, a rank finds its letter in its down box, whoever on its node put it there. All else goes by
//! message, and so does a letter that is too long for a box.
//!
//! A box is free for the next letter when the one before was taken, and a down box, which any rank of the
//! node may fill, when its owner has been through the scatter before: every owner marks every scatter, also
//! those in which it gets nothing, and those in which it only reports an error.
//!
//! Nothing here waits, and nothing here asks the host for messages: both are the carrier's.

use super::pool::Post;
use crate::engine::rooted::Misfit;
use crate::host::call::Way;
use crate::host::object::code::Code;
use crate::host::object::failure::Failure;
use crate::shm::{Boxes, Found, Side};
use crate::topology::Topology;
use std::collections::TryReserveError;

/// The way of letters within a node, in one call over nodes.
#[derive(Clone, Copy)]
pub struct Route<'a> {
    /// The nodes.
    pub nodes: &'a Topology,
    /// Those of this rank's node.
    pub boxes: &'a Boxes,
    /// This rank.
    pub rank: u32,
    /// The root.
    pub root: u32,
    /// What kind of call it is.
    pub way: Way,
    /// The number of the call: the same on all ranks, more than that of any call before.
    pub call: u64,
}

/// What one call leaves to the next.
#[derive(Default)]
pub struct Shelf {
    /// The last call in which this rank put a letter into its up box, or marked it; and for whom.
    put: u64,
    reader: u32,
    /// A gather in which this rank was the reader, if its up box is still to be marked.
    unmarked: Option<u64>,
    /// The last scatter; and the last one in which this rank took a letter from its down box.
    scatter: u64,
    taken: u64,
    /// Letters to ranks whose boxes are not empty yet.
    waiting: Vec<(u32, Vec<u8>)>,
    /// Whose up boxes are looked into.
    expected: Vec<u32>,
    /// A letter as it comes out of a box.
    letter: Vec<u8>,
}

/// What [`LocalMail::poll`] reports.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// A letter for this rank.
    Mail {
        /// Its sender.
        from: u32,
        /// What was sent.
        mail: Vec<u8>,
    },
    /// A letter of this rank is in its box; the memory that it was in.
    Sent(Vec<u8>),
    /// A letter has to go as a message, for which its receiver looks from now on.
    Send {
        /// To whom.
        to: u32,
        /// What is to be sent.
        mail: Vec<u8>,
    },
    /// A letter comes as a message from this rank.
    Expect(u32),
}

/// Bytes behind a letter in a down box: who put it there.
const SENDER_BYTES: usize = 4;

/// One rank's letters from and to others of its node in one call.
pub struct LocalMail<'a> {
    route: Route<'a>,
    shelf: &'a mut Shelf,
    /// The scatter before this one.
    previous: u64,
    /// May a letter still come into this rank's down box?
    awaits: bool,
}

impl<'a> LocalMail<'a> {
    /// Begins a call. To be made on every rank whose node has boxes, whatever it has to do in the call.
    pub fn new(route: Route<'a>, shelf: &'a mut Shelf) -> LocalMail<'a> {
        shelf.waiting.clear();
        shelf.expected.clear();
        let previous = shelf.scatter;
        if route.way == Way::Scatter {
            shelf.scatter = route.call;
        }
        LocalMail {
            route,
            shelf,
            previous,
            awaits: false,
        }
    }

    /// Makes room for all letters of the call.
    pub fn reserve(&mut self) -> Result<(), Code> {
        let most = self.route.nodes.widest() as usize;
        let mut reserve = || {
            self.shelf.waiting.try_reserve(most)?;
            self.shelf.expected.try_reserve(most)?;
            self.shelf.letter.clear();
            self.shelf.letter.try_reserve(self.route.boxes.room())
        };
        reserve().map_err(|_: TryReserveError| Code::no_mem())
    }

    /// Does `rank` share this rank's node?
    fn is_near(&self, rank: u32) -> bool {
        let nodes = self.route.nodes;
        nodes.node(rank) == nodes.node(self.route.rank)
    }

    /// Who speaks for this rank's node.
    fn leader(&self) -> u32 {
        let Route {
            nodes, rank, root, ..
        } = self.route;
        nodes.leader(nodes.node(rank), root)
    }

    /// Takes on a letter to rank `to`, or gives it back to be sent as a message.
    pub fn mail(&mut self, to: u32, mut mail: Vec<u8>) -> Option<Vec<u8>> {
        let Route {
            boxes, rank, way, ..
        } = self.route;
        let by_box = match way {
            Way::Gather => rank != to && self.leader() == to,
            Way::Scatter => {
                let fits = mail.len() + SENDER_BYTES <= boxes.room();
                self.is_near(to) && fits && mail.try_reserve(SENDER_BYTES).is_ok()
            }
        };
        if !by_box {
            return Some(mail);
        }
        if way == Way::Scatter {
            mail.extend_from_slice(&rank.to_le_bytes());
        }
        self.shelf.waiting.push((to, mail));
        None
    }

    /// Expects a letter from rank `from`, or from anybody. May it come as a message?
    pub fn expect(&mut self, from: Option<u32>) -> bool {
        let Route { rank, way, .. } = self.route;
        match (way, from) {
            (Way::Gather, Some(from)) if self.leader() == rank && self.is_near(from) => {
                self.shelf.expected.push(from);
                false
            }
            (Way::Scatter, None) => {
                self.awaits = true;
                true
            }
            _ => true,
        }
    }

    /// The letter from anybody came as a message.
    pub fn came_as_message(&mut self) {
        self.awaits = false;
    }

    /// One thing that happened, if there is any.
    pub fn poll(&mut self, post: &mut Post) -> Result<Option<News>, Failure> {
        for i in 0..self.shelf.waiting.len() {
            let (to, mail) = &self.shelf.waiting[i];
            let letter = (mail.len() <= self.route.boxes.room()).then_some(&mail[..]);
            if self.put(*to, letter) {
                let by_box = letter.is_some();
                let (to, mail) = self.shelf.waiting.swap_remove(i);
                if self.route.way == Way::Gather {
                    (self.shelf.put, self.shelf.reader) = (self.route.call, to);
                    self.shelf.unmarked = None;
                }
                return Ok(Some(match by_box {
                    true => News::Sent(mail),
                    false => News::Send { to, mail },
                }));
            }
        }
        for i in 0..self.shelf.expected.len() {
            let from = self.shelf.expected[i];
            let Some(found) = self.take(Side::Up, from) else {
                continue;
            };
            self.shelf.expected.swap_remove(i);
            return Ok(Some(match found {
                Found::Letter(_) => News::Mail {
                    from,
                    mail: copy(&self.shelf.letter, post)?,
                },
                Found::Elsewhere => News::Expect(from),
            }));
        }
        if !self.awaits || self.take(Side::Down, self.route.rank).is_none() {
            return Ok(None);
        }
        (self.awaits, self.shelf.taken) = (false, self.route.call);
        let Some((from, letter)) = sender(&self.shelf.letter) else {
            return Err(Misfit::Stranger(self.route.root).into());
        };
        let mail = copy(letter, post)?;
        Ok(Some(News::Mail { from, mail }))
    }

    /// Puts a letter to rank `to` into its box, or word that it comes as a message, if the box is empty.
    fn put(&self, to: u32, letter: Option<&[u8]>) -> bool {
        let Route {
            nodes,
            boxes,
            rank,
            way,
            call,
            ..
        } = self.route;
        let (side, owner, previous) = match way {
            Way::Gather => (Side::Up, rank, self.shelf.put),
            Way::Scatter => (Side::Down, to, self.previous),
        };
        boxes.put(side, nodes.local(owner), previous, call, letter)
    }

    /// Takes the letter of this call out of a box of `rank`, if it is there.
    fn take(&mut self, side: Side, rank: u32) -> Option<Found> {
        let Route {
            nodes, boxes, call, ..
        } = self.route;
        self.shelf.letter.clear();
        boxes.take(side, nodes.local(rank), call, &mut self.shelf.letter)
    }

    /// A rank that is waited for.
    pub fn awaited(&self) -> Option<u32> {
        let waiting = self.shelf.waiting.first().map(|(to, _)| *to);
        self.shelf.expected.first().copied().or(waiting)
    }

    /// To be called when nothing has happened for long: what cannot be right at the boxes, if anything.
    pub fn look_around(&mut self) -> Option<Misfit> {
        self.mark();
        if self.route.way == Way::Gather && !self.shelf.waiting.is_empty() {
            self.take_back()
        } else {
            None
        }
        .or_else(|| self.misfit())
    }

    /// This rank's letter of the gather before may still lie in its box. If its reader is through with that
    /// call, which it only reported an error of, the letter is nobody's. If the reader put a letter into its
    /// own box then, the two did not agree on who reads.
    fn take_back(&mut self) -> Option<Misfit> {
        let (boxes, Shelf { put, reader, .. }) = (self.route.boxes, &*self.shelf);
        let (put, reader) = (*put, *reader);
        let local = self.route.nodes.local(reader);
        let own = self.route.nodes.local(self.route.rank);
        if put == 0 || boxes.empty_since(Side::Up, own).is_some() {
            return None;
        }
        let newest = boxes.latest(Side::Up, local);
        if newest == put {
            return Some(Misfit::Stranger(reader));
        }
        let since = boxes.empty_since(Side::Up, local).unwrap_or(newest);
        if since >= put {
            let letter = &mut self.shelf.letter;
            boxes.take(Side::Up, own, put, letter);
        }
        None
    }

    /// Marks this rank's up box, so that whose letters it did not take as a reader can see that it will not.
    /// That has to wait while a letter of its own is there.
    fn mark(&mut self) {
        let Some(call) = self.shelf.unmarked else {
            return;
        };
        let own = self.route.nodes.local(self.route.rank);
        self.route.boxes.pass(Side::Up, own, call);
        if self.route.boxes.empty_since(Side::Up, own) == Some(call) {
            (self.shelf.put, self.shelf.unmarked) = (call, None);
        }
    }

    fn misfit(&self) -> Option<Misfit> {
        let Route {
            nodes,
            boxes,
            rank,
            root,
            way,
            call,
        } = self.route;
        let later = |from: &&u32| boxes.latest(Side::Up, nodes.local(**from)) > call;
        if let Some(from) = self.shelf.expected.iter().find(later) {
            return Some(Misfit::Stranger(*from));
        }
        // Whoever is to get a letter is through with this call.
        let through = |(to, _): &&(u32, Vec<u8>)| {
            let since = boxes.empty_since(Side::Down, nodes.local(*to));
            way == Way::Scatter && since.is_some_and(|since| since >= call)
        };
        if let Some((to, _)) = self.shelf.waiting.iter().find(through) {
            return Some(Misfit::Unexpected(*to));
        }
        // A letter lies in this rank's box for which it did not look, or does not look now.
        let own = nodes.local(rank);
        let newest = boxes.latest(Side::Down, own);
        let right = newest <= self.shelf.taken
            || match (way, self.awaits) {
                (Way::Scatter, true) => newest == call,
                (Way::Scatter, false) => newest > call,
                (Way::Gather, _) => newest >= call,
            };
        if right {
            return None;
        }
        let mut letter = Vec::new();
        boxes.take(Side::Down, own, newest, &mut letter);
        let from = sender(&letter).map_or(root, |(from, _)| from);
        Some(Misfit::Stranger(from))
    }
}

/// Who put a letter into a down box, and the letter itself.
fn sender(letter: &[u8]) -> Option<(u32, &[u8])> {
    let (letter, from) = letter.split_last_chunk::<SENDER_BYTES>()?;
    Some((u32::from_le_bytes(*from), letter))
}

/// A letter in memory of its own.
fn copy(letter: &[u8], post: &mut Post) -> Result<Vec<u8>, Failure> {
    let mut mail = post.memory(letter.len())?;
    mail.extend_from_slice(letter);
    Ok(mail)
}

impl Drop for LocalMail<'_> {
    /// Whoever fills this rank's down box next need not know whether there was a letter in this call.
    fn drop(&mut self) {
        let Route {
            nodes,
            boxes,
            rank,
            way,
            call,
            ..
        } = self.route;
        if way == Way::Scatter && self.shelf.taken != call {
            boxes.pass(Side::Down, nodes.local(rank), call);
        }
        if way == Way::Gather && self.leader() == rank {
            self.shelf.unmarked = Some(call);
            self.mark();
        }
    }
}
