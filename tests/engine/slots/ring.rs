//! The ring of a node as the engine of slots sees it, stricter than memory: what a rank says is seen by each of the
//! others at a time of its own, and the ring stops at the first thing that a rank does without the right to do it.
//!
//! An element is an expression of ranks: which operands it was made of, in which order, and with which brackets.

use crate::word::{Verdict, Word, expect};
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use std::collections::HashMap;
use std::ops::Range;

/// Bytes of a cache line, which only one rank writes at a time.
pub const LINE: u64 = 64;

/// An expression: two that are the same have the same number.
pub type Term = u32;

/// Expressions of ranks.
pub struct Terms {
    ranks: u32,
    numbers: HashMap<(Term, Term), Term>,
    operands: Vec<(Term, Term)>,
}

impl Terms {
    pub fn new(ranks: u32) -> Terms {
        Terms {
            ranks,
            numbers: HashMap::new(),
            operands: vec![],
        }
    }

    /// What a rank has in the beginning.
    pub fn of(&self, rank: u32) -> Term {
        assert!(rank < self.ranks);
        rank
    }

    pub fn join(&mut self, left: Term, right: Term) -> Term {
        let next = self.ranks + self.operands.len() as u32;
        let number = *self.numbers.entry((left, right)).or_insert(next);
        if number == next {
            self.operands.push((left, right));
        }
        number
    }

    pub fn show(&self, term: Term) -> String {
        match term.checked_sub(self.ranks) {
            None => term.to_string(),
            Some(i) => {
                let (left, right) = self.operands[i as usize];
                format!("({} {})", self.show(left), self.show(right))
            }
        }
    }
}

/// The words of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Written,
    Joined,
    Released,
}

/// Who did something last, and which word of its tells the others.
#[derive(Clone, Copy)]
struct Touch {
    rank: u32,
    kind: Kind,
    /// The place in the word's history from which on it does.
    from: usize,
}

/// What begins at a place.
#[derive(Clone, Copy)]
struct Cell {
    at: u64,
    bytes: u64,
    /// Whose slot it is in.
    writer: u32,
    what: What,
    last: Touch,
    /// Who joins it.
    joiner: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The mark of this call.
    Mark(usize),
    /// What has become of the element of this number.
    Element(u64, Term),
}

/// A cache line, and a rank to which it belongs.
#[derive(Clone, Copy, Default)]
struct Line {
    /// Its position and one.
    at: u64,
    rank: u32,
}

/// Takes a line for a rank.
fn belongs(lines: &mut [Line], capacity: u64, at: u64, rank: u32) -> Verdict {
    let at = at / LINE * LINE;
    let line = &mut lines[(at % capacity / LINE) as usize];
    let other = line.rank;
    expect(line.at != at + 1 || other == rank, || {
        format!("the line of {at} is that of rank {other}")
    })?;
    (line.at, line.rank) = (at + 1, rank);
    Ok(())
}

pub struct Ring {
    pub capacity: u64,
    pub terms: Terms,
    ranks: u32,
    /// Each word of each rank.
    words: [Vec<Word>; 3],
    /// Where something begins.
    cells: Vec<Option<Cell>>,
    /// Who puts something into a line, and who joins something in it.
    put: Vec<Line>,
    joins: Vec<Line>,
    /// Up to which position each rank knows that there is room.
    granted: Vec<u64>,
    /// For each reader and writer: the call whose mark was checked.
    checked: Vec<Vec<Option<usize>>>,
    /// How often ranks joined elements that lie side by side.
    pub join_calls: u64,
    /// The call that each rank is in.
    pub calls: Vec<Option<usize>>,
    rng: TestRng,
    /// How often in 8 a look does not show what is new.
    lag: u32,
}

impl Ring {
    pub fn new(ranks: u32, capacity: u64, mut rng: TestRng) -> Ring {
        assert!(capacity.is_multiple_of(LINE));
        let (n, lines) = (ranks as usize, (capacity / LINE) as usize);
        let words = || vec![Word::new(n); n];
        Ring {
            join_calls: 0,
            capacity,
            terms: Terms::new(ranks),
            ranks,
            words: [words(), words(), words()],
            cells: vec![None; capacity as usize],
            put: vec![Line::default(); lines],
            joins: vec![Line::default(); lines],
            granted: vec![0; n],
            checked: vec![vec![None; n]; n],
            calls: vec![None; n],
            lag: rng.random_range(0..8),
            rng,
        }
    }

    fn word(&mut self, kind: Kind, rank: u32) -> &mut Word {
        &mut self.words[kind as usize][rank as usize]
    }

    fn touch(&mut self, rank: u32, kind: Kind) -> Touch {
        let from = self.word(kind, rank).age();
        Touch { rank, kind, from }
    }

    /// What `me` sees of a word now.
    fn look(&mut self, me: u32, kind: Kind, rank: u32) -> u64 {
        let Ring {
            words, rng, lag, ..
        } = self;
        let word = &mut words[kind as usize][rank as usize];
        if word.is_news(me) && rng.random_range(0..8) >= *lag {
            word.show(me, |new| rng.random_range(0..new));
        }
        word.seen_by(me)
    }

    /// All see all that was said. False if they do already.
    pub fn reveal(&mut self) -> bool {
        let mut any = false;
        for word in self.words.iter_mut().flatten() {
            for rank in 0..self.ranks {
                if word.is_news(rank) {
                    any = true;
                    word.show(rank, |new| new - 1);
                }
            }
        }
        any
    }

    pub fn written(&mut self, me: u32, rank: u32) -> u64 {
        self.look(me, Kind::Written, rank)
    }

    pub fn joined(&mut self, me: u32, rank: u32) -> u64 {
        self.look(me, Kind::Joined, rank)
    }

    /// As far as `me` sees, is there room?
    pub fn has_room(&mut self, me: u32, end: u64) -> bool {
        let released = (0..self.ranks).map(|rank| self.look(me, Kind::Released, rank));
        let room = released.min().unwrap() + self.capacity;
        if room >= end {
            self.granted[me as usize] = self.granted[me as usize].max(end);
        }
        room >= end
    }

    pub fn publish(&mut self, me: u32, until: u64) -> Verdict {
        let raised = self.word(Kind::Written, me).raise(me, until);
        raised.map_err(|fault| format!("rank {me} publishes {fault}"))
    }

    pub fn publish_joined(&mut self, me: u32, until: u64) -> Verdict {
        let raised = self.word(Kind::Joined, me).raise(me, until);
        raised.map_err(|fault| format!("rank {me} publishes as joined {fault}"))
    }

    pub fn release(&mut self, me: u32, until: u64) -> Verdict {
        let raised = self.word(Kind::Released, me).raise(me, until);
        raised.map_err(|fault| format!("rank {me} releases {fault}"))
    }

    /// Where bytes lie, which must not wrap.
    fn places(&self, at: u64, bytes: u64) -> Verdict<Range<usize>> {
        let place = at % self.capacity;
        expect(place + bytes <= self.capacity, || {
            format!("{bytes} bytes at {at} wrap")
        })?;
        Ok(place as usize..(place + bytes) as usize)
    }

    /// Makes room for bytes that `me` writes.
    fn clear(&mut self, me: u32, at: u64, bytes: u64) -> Verdict {
        let end = at + bytes;
        let what = || format!("rank {me} writes {at}..{end}");
        let places = self.places(at, bytes)?;
        let granted = self.granted[me as usize];
        expect(end <= granted, || format!("{} without room", what()))?;
        let released = self.words[Kind::Released as usize].iter().map(Word::value);
        let room = released.min().unwrap() + self.capacity;
        expect(end <= room, || format!("{} beyond {room}", what()))?;
        let released = self.word(Kind::Released, me).value();
        expect(at >= released, || {
            format!("{}, it has released {released}", what())
        })?;
        for line in (at / LINE..end.div_ceil(LINE)).filter(|_| bytes > 0) {
            belongs(&mut self.put, self.capacity, line * LINE, me)
                .map_err(|fault| format!("{}: {fault}", what()))?;
        }
        for place in places.start.saturating_sub(LINE as usize)..places.end {
            let Some(cell) = self.cells[place] else {
                continue;
            };
            if place + cell.bytes as usize <= places.start {
                continue;
            }
            expect(cell.at + self.capacity <= end, || {
                format!("{}: {} is written", what(), cell.at)
            })?;
            self.cells[place] = None;
        }
        Ok(())
    }

    fn write(&mut self, me: u32, at: u64, bytes: u64, what: What) {
        let place = (at % self.capacity) as usize;
        self.cells[place] = Some(Cell {
            at,
            bytes,
            writer: me,
            what,
            last: self.touch(me, Kind::Written),
            joiner: None,
        });
    }

    /// Bytes of which nothing is known.
    pub fn put_bytes(&mut self, me: u32, at: u64, bytes: u64) -> Verdict {
        let first = bytes.min(self.capacity - at % self.capacity);
        self.clear(me, at, first)?;
        self.clear(me, at + first, bytes - first)
    }

    pub fn mark(&mut self, me: u32, at: u64, call: usize) -> Verdict {
        self.clear(me, at, 8)?;
        self.write(me, at, 8, What::Mark(call));
        Ok(())
    }

    /// Puts elements of so many bytes each into a slot.
    pub fn put(&mut self, me: u32, at: u64, unit: u64, elements: &[(u64, Term)]) -> Verdict {
        self.clear(me, at, unit * elements.len() as u64)?;
        for (i, &(element, term)) in (0..).zip(elements) {
            self.write(me, at + i * unit, unit, What::Element(element, term));
        }
        Ok(())
    }

    /// What `me` may look at now.
    fn read(&self, me: u32, at: u64, bytes: u64) -> Verdict<Cell> {
        let what = || format!("rank {me} reads {at}");
        let released = self.words[Kind::Released as usize][me as usize].value();
        expect(at >= released, || {
            format!("{}: it has released {released}", what())
        })?;
        let there = self.cells[(at % self.capacity) as usize];
        let there = there.filter(|cell| cell.at == at && cell.bytes == bytes);
        let cell = there.ok_or_else(|| format!("{}: it is not written", what()))?;
        let Touch { rank, kind, from } = cell.last;
        let seen = self.words[kind as usize][rank as usize].age_seen_by(me);
        expect(rank == me || seen >= from, || {
            format!("{}: of rank {rank} it does not see {kind:?}", what())
        })?;
        Ok(cell)
    }

    /// An element of a call, of a writer whose mark was checked.
    fn element(&self, me: u32, at: u64, unit: u64, call: usize) -> Verdict<(u64, Term)> {
        let cell = self.read(me, at, unit)?;
        let writer = cell.writer;
        let trusts = writer == me || self.checked[me as usize][writer as usize] == Some(call);
        expect(trusts, || {
            format!("rank {me} trusts {writer} in call {call} without its mark")
        })?;
        match cell.what {
            What::Element(element, term) => Ok((element, term)),
            What::Mark(_) => Err(format!("rank {me} takes the mark at {at} for an element")),
        }
    }

    pub fn check(&mut self, me: u32, at: u64, writer: u32, call: usize) -> Verdict {
        let cell = self.read(me, at, 8)?;
        let right = cell.writer == writer && cell.what == What::Mark(call);
        expect(right, || {
            let (what, of) = (cell.what, cell.writer);
            format!("rank {me} finds {what:?} of {of} for {writer}'s mark of call {call}")
        })?;
        self.checked[me as usize][writer as usize] = Some(call);
        Ok(())
    }

    /// Joins elements of so many bytes. With `lines`, no two ranks may do so in the same line.
    pub fn join(
        &mut self,
        me: u32,
        (left, to, count): (u64, u64, u64),
        (unit, lines): (u64, bool),
        call: usize,
    ) -> Verdict {
        self.join_calls += 1;
        self.places(left, count * unit)?;
        self.places(to, count * unit)?;
        for at in (0..count).map(|i| i * unit) {
            let (left_element, left_term) = self.element(me, left + at, unit, call)?;
            let (element, term) = self.element(me, to + at, unit, call)?;
            expect(left_element == element && left != to, || {
                format!("rank {me} joins {left_element} to {element}")
            })?;
            let joined = self.terms.join(left_term, term);
            let last = self.touch(me, Kind::Joined);
            for at in [left + at, to + at] {
                if lines {
                    belongs(&mut self.joins, self.capacity, at, me)?;
                }
                let cell = self.cells[(at % self.capacity) as usize].as_mut();
                let cell = cell.expect("it was read");
                let joiner = *cell.joiner.get_or_insert(me);
                expect(joiner == me, || {
                    format!("rank {me} joins {at}, which rank {joiner} joins")
                })?;
                cell.last = last;
            }
            let cell = self.cells[((to + at) % self.capacity) as usize].as_mut();
            cell.expect("it was read").what = What::Element(element, joined);
        }
        Ok(())
    }

    /// Reads elements of so many bytes.
    pub fn get(
        &self,
        me: u32,
        (at, count): (u64, u64),
        unit: u64,
        call: usize,
    ) -> Verdict<Vec<(u64, Term)>> {
        self.places(at, count * unit)?;
        let one = |i| self.element(me, at + i * unit, unit, call);
        (0..count).map(one).collect()
    }
}
