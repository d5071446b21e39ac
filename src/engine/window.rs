//! Operations that end in any order, and leave in the order in which they began.

#![forbid(unsafe_code)]

use std::collections::VecDeque;

/// Operations from the oldest one on that has not ended, with something to be known of each. They are numbered from 0
/// in the order in which they begin.
#[derive(Clone, Debug)]
pub struct Window<T> {
    /// How many have left.
    gone: u32,
    /// Those after them, and whether they have ended.
    held: VecDeque<(T, bool)>,
}

impl<T> Default for Window<T> {
    fn default() -> Window<T> {
        Window {
            gone: 0,
            held: VecDeque::new(),
        }
    }
}

impl<T> Window<T> {
    /// Begins anew, with room for so many operations.
    pub fn clear(&mut self, room: usize) {
        self.gone = 0;
        self.held.clear();
        self.held.reserve(room);
    }

    /// The next operation begins.
    pub fn begin(&mut self, what: T) {
        self.held.push_back((what, false));
    }

    /// Operation number `number` has ended. Calls `leave` with all that leave now, oldest first.
    pub fn end(&mut self, number: u32, mut leave: impl FnMut(T)) {
        self.held[(number - self.gone) as usize].1 = true;
        while let Some((_, true)) = self.held.front()
            && let Some((what, _)) = self.held.pop_front()
        {
            self.gone += 1;
            leave(what);
        }
    }

    /// How many have left: all of them up to the first one that has not ended.
    pub fn gone(&self) -> u32 {
        self.gone
    }

    /// How many have begun and not left.
    pub fn held(&self) -> u32 {
        self.held.len() as u32
    }

    /// Those that have not left, up to number `number`.
    pub fn up_to(&self, number: u32) -> impl Iterator<Item = &T> {
        let held = self.held.range(..=(number - self.gone) as usize);
        held.map(|(what, _)| what)
    }

    /// Those that have not ended.
    pub fn under_way(&self) -> impl Iterator<Item = &T> {
        let under_way = self.held.iter().filter(|(_, ended)| !ended);
        under_way.map(|(what, _)| what)
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.held.capacity() * size_of::<(T, bool)>()
    }
}
