//! Gather: short blocks travel up a tree with their sizes in front, long ones go straight to the root.
//!
//! Every rank with a parent sends it one letter, also if it has no short block: the parent could not
//! know. The letter has the sizes of all blocks below, long ones too, so that the root can tell
//! whose count is not what it expects.

#![forbid(unsafe_code)]

use super::adaptive::Search;
use super::letter::{self, HEADING, Kind, NUMBER, Reader};
use super::{Carrier, Child, Engine, Event, Misfit, Scratch, Shape, Terms};
use crate::engine::Progress;
use crate::schedule::Parts;
use std::ops::Range;

/// One rank's part in a gather.
pub struct Gather<'a> {
    terms: Terms<'a>,
    /// Bytes of this rank's block.
    own: u64,
    /// The sizes of all blocks, at the root.
    parts: Option<&'a Parts>,
    scratch: &'a mut Scratch,
    /// The search for an adaptive tree, until it is over.
    search: Option<Search>,
    /// Is it still to be said that letters of the children are expected?
    silent: bool,
    parent: Option<u32>,
    /// Is this rank's letter to its parent still to be written?
    unwritten: bool,
    /// What is to happen next with its long block.
    long: Long,
    /// Does the root ask for long blocks, because it has no room for all at once?
    asks: bool,
    /// Sends in flight.
    sends: u32,
    /// At the root: the ranks below this one need no further look for long blocks; how many are in flight.
    looked: u32,
    receives: u32,
}

/// What is to happen next with a long block of this rank.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    /// Nothing: it is on its way, or there is none.
    Nothing,
    /// It is to be said that the root will ask.
    Expect,
    /// The root asks.
    Wait,
    /// It is sent.
    Send,
}

impl<'a> Gather<'a> {
    /// Begins a gather on a rank with `own` bytes; `parts` are the sizes of all blocks, at the root.
    pub fn new(
        terms: Terms<'a>,
        own: u64,
        parts: Option<&'a Parts>,
        scratch: &'a mut Scratch,
    ) -> Self {
        debug_assert_eq!(terms.is_root(), parts.is_some());
        scratch.children.clear();
        scratch.letters.clear();
        let tree = terms.tree();
        let is_known = matches!(terms.shape, Shape::Binomial | Shape::Nodes(_));
        if is_known {
            let child = |(rank, places)| Child::new(rank, places);
            scratch
                .children
                .extend(tree.children(terms.rank).map(child));
        }
        let short = if terms.is_short(own) { own } else { 0 };
        let asks = terms.p - 1 > terms.window;
        Gather {
            terms,
            own,
            parts,
            scratch,
            search: (terms.shape == Shape::Adaptive).then(|| Search::new(terms.rank, short)),
            silent: true,
            parent: tree.parent(terms.rank).filter(|_| is_known),
            unwritten: !terms.is_root() && terms.shape != Shape::Star,
            long: match terms.is_long(own) && !terms.is_root() {
                false => Long::Nothing,
                true if asks => Long::Expect,
                true => Long::Send,
            },
            asks,
            sends: 0,
            looked: 0,
            receives: 0,
        }
    }

    /// Starts what can be started.
    fn start<C: Carrier>(&mut self, carrier: &mut C) -> Result<bool, C::Error> {
        let mut moved = false;
        match self.long {
            Long::Expect => {
                carrier.expect(Some(self.terms.root));
                self.long = Long::Wait;
            }
            Long::Send => {
                carrier.send(self.terms.rank, self.terms.root)?;
                self.sends += 1;
                self.long = Long::Nothing;
                moved = true;
            }
            Long::Wait | Long::Nothing => {}
        }
        if let Some(parts) = self.parts {
            moved |= self.receive_long(parts, carrier)?;
        }
        if let Some(search) = &mut self.search
            && search.advance(&self.terms, self.scratch, carrier, &mut self.sends)?
        {
            self.parent = search.parent();
            self.search = None;
            moved = true;
        }
        if self.silent && self.search.is_none() {
            self.silent = false;
            for child in &self.scratch.children {
                carrier.expect(Some(child.rank));
            }
        }
        if self.unwritten && self.search.is_none() && self.missing() == 0 {
            self.write(carrier)?;
            (self.unwritten, moved) = (false, true);
        }
        Ok(moved)
    }

    /// Children whose letters have not come.
    fn missing(&self) -> usize {
        let missing = |child: &&Child| child.blocks.is_none();
        self.scratch.children.iter().filter(missing).count()
    }

    /// At the root: receives long blocks as far as the window has room.
    fn receive_long<C: Carrier>(
        &mut self,
        parts: &Parts,
        carrier: &mut C,
    ) -> Result<bool, C::Error> {
        let mut moved = false;
        while self.receives < self.terms.window && self.looked < self.terms.p {
            let rank = self.looked;
            self.looked += 1;
            if rank == self.terms.rank || !self.terms.is_long(parts.span(rank).len) {
                continue;
            }
            carrier.recv(rank, rank)?;
            self.receives += 1;
            moved = true;
            if self.asks {
                let mut mail = carrier.memory(HEADING)?;
                letter::begin(&mut mail, Kind::Go, self.terms.root);
                carrier.mail(rank, mail)?;
                self.sends += 1;
            }
        }
        Ok(moved)
    }

    /// Takes mail in.
    fn take<C: Carrier>(
        &mut self,
        from: u32,
        mail: Vec<u8>,
        carrier: &mut C,
    ) -> Result<(), C::Error> {
        let stranger = || C::Error::from(Misfit::Stranger(from));
        let root = self.terms.root;
        let asks = from == root && Reader::new(&mail, Kind::Go, root).is_some();
        if asks && self.long == Long::Wait {
            self.long = Long::Send;
            carrier.give_back(mail);
            return Ok(());
        }
        if self.search.is_some() {
            self.scratch.letters.push((from, mail));
            return Ok(());
        }
        let mut children = self.scratch.children.iter_mut();
        let child = children.find(|child| child.rank == from && child.blocks.is_none());
        let child = child.ok_or_else(stranger)?;
        let blocks = Blocks::of(mail, child.places.len(), &self.terms).ok_or_else(stranger)?;
        match self.parts {
            Some(parts) => {
                blocks.deliver(child.places.clone(), parts, &self.terms, carrier)?;
                child.blocks = Some(Blocks::default());
                carrier.give_back(blocks.mail);
            }
            None => child.blocks = Some(blocks),
        }
        Ok(())
    }

    /// Writes this rank's letter: the sizes of all blocks below it, then the short ones.
    fn write<C: Carrier>(&mut self, carrier: &mut C) -> Result<(), C::Error> {
        let Terms { rank, root, .. } = self.terms;
        let children = &mut self.scratch.children;
        children.sort_unstable_by_key(|child| child.places.start);
        // This rank stands between the children with lower places and the others.
        let place = self.terms.tree().place(rank);
        let own = children.partition_point(|child| child.places.start < place);
        let below: usize = children.iter().map(|child| child.letter().mail.len()).sum();
        let short = self.terms.is_short(self.own);
        let room = if short { self.own as usize } else { 0 };
        let mut mail = carrier.memory(HEADING + NUMBER + room + below)?;
        letter::begin(&mut mail, Kind::Gather, root);
        let (lower, upper) = children.split_at(own);
        for child in lower {
            mail.extend_from_slice(child.letter().sizes());
        }
        letter::put(&mut mail, self.own);
        for child in upper {
            mail.extend_from_slice(child.letter().sizes());
        }
        for child in lower {
            mail.extend_from_slice(child.letter().data());
        }
        if short {
            carrier.read(rank, &mut mail)?;
        }
        for child in upper {
            mail.extend_from_slice(child.letter().data());
        }
        for child in self.scratch.children.drain(..) {
            carrier.give_back(child.blocks.unwrap_or_default().mail);
        }
        self.sends += 1;
        carrier.mail(self.parent.unwrap_or(root), mail)
    }
}

impl Engine for Gather<'_> {
    fn advance<C: Carrier>(&mut self, carrier: &mut C) -> Result<Progress, C::Error> {
        let mut moved = self.start(carrier)?;
        while let Some(event) = carrier.poll()? {
            moved = true;
            match event {
                Event::Mail { from, mail } => self.take(from, mail, carrier)?,
                Event::Received => self.receives -= 1,
                Event::Sent => self.sends -= 1,
            }
            self.start(carrier)?;
        }
        let sent = !self.unwritten && self.long == Long::Nothing && self.sends == 0;
        let received = match self.parts {
            Some(_) => self.looked == self.terms.p && self.receives == 0,
            None => true,
        };
        // A search that is not over, or a child that is missing, keeps a rank from writing; the root
        // writes nothing.
        let complete = self.search.is_none() && self.missing() == 0;
        Ok(match (sent && received && complete, moved) {
            (true, _) => Progress::Done,
            (false, true) => Progress::Moved,
            (false, false) => Progress::Waiting,
        })
    }
}

impl Child {
    fn letter(&self) -> &Blocks {
        self.blocks
            .as_ref()
            .expect("nothing is written before all letters are here")
    }
}

/// A letter with blocks, and where in it sizes and blocks begin.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    mail: Vec<u8>,
    sizes: usize,
    data: usize,
}

impl Blocks {
    /// The blocks of `ranks` ranks in `mail`; `None` if they are not.
    fn of(mail: Vec<u8>, ranks: usize, terms: &Terms) -> Option<Blocks> {
        let mut reader = Reader::new(&mail, Kind::Gather, terms.root)?;
        let sizes = reader.at();
        let mut short = 0u64;
        for _ in 0..ranks {
            let bytes = reader.number()?;
            if terms.is_short(bytes) {
                short = short.checked_add(bytes)?;
            }
        }
        let data = reader.at();
        (short == reader.left()).then_some(Blocks { mail, sizes, data })
    }

    fn sizes(&self) -> &[u8] {
        &self.mail[self.sizes..self.data]
    }

    fn data(&self) -> &[u8] {
        &self.mail[self.data..]
    }

    /// Puts the short blocks of the ranks at `places` where they belong, if all sizes are what the root
    /// expects.
    fn deliver<C: Carrier>(
        &self,
        places: Range<u32>,
        parts: &Parts,
        terms: &Terms,
        carrier: &mut C,
    ) -> Result<(), C::Error> {
        let mut sizes = Reader::behind(&self.mail, self.sizes);
        let mut data = self.data();
        let tree = terms.tree();
        for rank in places.map(|place| tree.rank(place)) {
            let (own, root) = (sizes.number().unwrap_or(0), parts.span(rank).len);
            if own != root {
                return Err(Misfit::Block { rank, own, root }.into());
            }
            if terms.is_short(own) {
                let (block, rest) = data.split_at(own as usize);
                carrier.write(rank, block)?;
                data = rest;
            }
        }
        Ok(())
    }
}
