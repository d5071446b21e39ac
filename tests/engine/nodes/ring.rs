//! The memory of a node as strict as memory may be: what a rank says is seen by each of the others at another
//! time, and nothing may depend on that.

use crate::word::{Verdict, Word, expect};
use proptest::prelude::*;
use proptest::test_runner::TestRng;

/// Bytes of a cache line, which has one writer.
const LINE: u64 = 64;

/// What was written to a place last.
#[derive(Clone, Copy, Debug)]
struct Cell {
    at: u64,
    writer: usize,
    byte: u8,
}

/// The ring of one node.
pub struct Ring {
    pub capacity: u64,
    cells: Vec<Option<Cell>>,
    /// For each rank: below which position all it writes is there, and which it does not need any more.
    published: Vec<Word>,
    released: Vec<Word>,
    /// Up to which position each rank knows that there is room.
    granted: Vec<u64>,
    /// For each reader and writer: the call whose mark was checked.
    checked: Vec<Vec<Option<usize>>>,
    /// Most positions that were under way at a time.
    pub most: u64,
}

impl Ring {
    pub fn new(capacity: u64, ranks: usize) -> Ring {
        Ring {
            capacity,
            cells: vec![None; capacity as usize],
            published: vec![Word::new(ranks); ranks],
            released: vec![Word::new(ranks); ranks],
            granted: vec![0; ranks],
            checked: vec![vec![None; ranks]; ranks],
            most: 0,
        }
    }

    fn place(&self, at: u64) -> usize {
        (at % self.capacity) as usize
    }

    /// As far as `me` can see, is there room?
    pub fn has_room(&mut self, me: usize, end: u64) -> bool {
        let released = self
            .released
            .iter()
            .map(|word| word.seen_by(me as u32))
            .min();
        let has = released.unwrap() + self.capacity >= end;
        if has {
            self.granted[me] = self.granted[me].max(end);
        }
        has
    }

    pub fn put(&mut self, me: usize, at: u64, bytes: &[u8]) -> Verdict {
        let end = at + bytes.len() as u64;
        let what = || format!("rank {me} of the node writes {at}..{end}");
        expect(end <= self.granted[me], || {
            format!("{} without room", what())
        })?;
        let published = self.published[me].value();
        expect(at >= published, || {
            format!("{}, published is {published}", what())
        })?;
        let released = self.released[me].value();
        expect(at >= released, || {
            format!("{}, it has released {released}", what())
        })?;
        for (at, &byte) in (at..).zip(bytes) {
            // Other writers go by what they see: the truth is what counts.
            let room = self
                .released
                .iter()
                .map(|word| word.value() + self.capacity);
            let room = room.min().unwrap();
            expect(at < room, || format!("{} beyond {room}", what()))?;
            let place = self.place(at);
            let before = self.cells[place].replace(Cell {
                at,
                writer: me,
                byte,
            });
            expect(before.is_none_or(|cell| cell.at < at), || {
                format!("{}: {at} is written", what())
            })?;
        }
        self.one_writer(me, at, end)?;
        let last = self.released.iter().map(Word::value).min().unwrap();
        self.most = self.most.max(end.saturating_sub(last));
        Ok(())
    }

    /// Two ranks that write to one cache line wait for each other, invisibly.
    fn one_writer(&self, me: usize, at: u64, end: u64) -> Verdict {
        let (first, last) = (at / LINE * LINE, end.next_multiple_of(LINE));
        for at in first..last {
            let shared = self.cells[self.place(at)].filter(|cell| cell.at == at);
            expect(shared.is_none_or(|cell| cell.writer == me), || {
                format!("two ranks write to the line of {at}")
            })?;
        }
        Ok(())
    }

    pub fn publish(&mut self, me: usize, until: u64) -> Verdict {
        let raised = self.published[me].raise(me as u32, until);
        raised.map_err(|fault| format!("rank {me} publishes {fault}"))
    }

    /// As far as `me` can see.
    pub fn written(&self, me: usize, writer: usize) -> u64 {
        self.published[writer].seen_by(me as u32)
    }

    /// Reads `len` bytes, and says who has written them.
    fn read(&self, me: usize, at: u64, len: u64) -> Verdict<(usize, Vec<u8>)> {
        let what = || format!("rank {me} of the node reads {at} and {len} more");
        let released = self.released[me].value();
        expect(at >= released, || {
            format!("{}: it has released {released}", what())
        })?;
        let (mut writer, mut bytes) = (me, Vec::new());
        for at in at..at + len {
            let cell = self.cells[self.place(at)].filter(|cell| cell.at == at);
            let Some(cell) = cell else {
                return Err(format!("{}: {at} is not written", what()));
            };
            let seen = self.written(me, cell.writer);
            expect(at < seen, || {
                format!("{}: it sees {seen} at the most", what())
            })?;
            (writer, _) = (cell.writer, bytes.push(cell.byte));
        }
        Ok((writer, bytes))
    }

    /// Reads the mark of `writer`.
    pub fn check(&mut self, me: usize, at: u64, len: u64, writer: usize, call: usize) -> Verdict {
        let (by, bytes) = self.read(me, at, len)?;
        expect(by == writer && bytes == mark(call), || {
            format!("rank {me} finds {bytes:?} of {by} for {writer}'s mark of call {call}")
        })?;
        self.checked[me][writer] = Some(call);
        Ok(())
    }

    /// Reads bytes of a writer whose mark was checked.
    pub fn get(&mut self, me: usize, at: u64, len: u64, call: usize) -> Verdict<Vec<u8>> {
        let (writer, bytes) = self.read(me, at, len)?;
        expect(self.checked[me][writer] == Some(call), || {
            format!("rank {me} trusts {writer} in call {call} without its mark")
        })?;
        Ok(bytes)
    }

    pub fn release(&mut self, me: usize, until: u64) -> Verdict {
        let raised = self.released[me].raise(me as u32, until);
        raised.map_err(|fault| format!("rank {me} releases {fault}"))
    }

    /// Shows one rank something that another one has said. False if there is nothing left to show.
    pub fn reveal(&mut self, rng: &mut TestRng) -> bool {
        let ranks = 0..self.published.len() as u32;
        let words = self.published.iter_mut().chain(&mut self.released);
        let mut late = vec![];
        for word in words {
            let ranks: Vec<u32> = ranks.clone().filter(|&rank| word.is_news(rank)).collect();
            if !ranks.is_empty() {
                late.push((word, ranks));
            }
        }
        if late.is_empty() {
            return false;
        }
        let i = rng.random_range(0..late.len());
        let (word, ranks) = &mut late[i];
        let rank = ranks[rng.random_range(0..ranks.len())];
        word.show(rank, |new| rng.random_range(0..new));
        true
    }
}

/// The mark of a call.
pub fn mark(call: usize) -> Vec<u8> {
    (0xfeed_0000 + call as u64).to_le_bytes().to_vec()
}
