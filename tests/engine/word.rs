//! What a rank of a node says in memory: the others see it some time later, and nothing may depend on when.

/// A number that one rank raises and the others see some time later.
#[derive(Clone, Debug)]
pub struct Word {
    history: Vec<u64>,
    /// For each rank, the place in the history of what it sees.
    seen: Vec<usize>,
}

impl Word {
    pub fn new(ranks: usize) -> Word {
        Word {
            history: vec![0],
            seen: vec![0; ranks],
        }
    }

    pub fn value(&self) -> u64 {
        self.history[self.history.len() - 1]
    }

    /// Its owner sees it at once.
    pub fn raise(&mut self, owner: u32, value: u64) -> Verdict {
        expect(value >= self.value(), || {
            format!("{value} after {}", self.value())
        })?;
        if value > self.value() {
            self.history.push(value);
        }
        self.seen[owner as usize] = self.history.len() - 1;
        Ok(())
    }

    pub fn seen_by(&self, rank: u32) -> u64 {
        self.history[self.seen[rank as usize]]
    }

    /// How many values there have been.
    pub fn age(&self) -> usize {
        self.history.len()
    }

    /// The last of these values that a rank sees.
    pub fn age_seen_by(&self, rank: u32) -> usize {
        self.seen[rank as usize]
    }

    /// Is there something that a rank does not see yet?
    pub fn is_news(&self, rank: u32) -> bool {
        self.seen[rank as usize] + 1 < self.history.len()
    }

    /// Shows a rank something that it has not seen: one of so many new values, of which `choose` says which.
    pub fn show(&mut self, rank: u32, choose: impl FnOnce(usize) -> usize) {
        let seen = &mut self.seen[rank as usize];
        let new = self.history.len() - 1 - *seen;
        *seen += 1 + choose(new);
    }
}

/// What a rank does wrong, if anything.
pub type Verdict<T = ()> = Result<T, String>;

pub fn expect(right: bool, fault: impl FnOnce() -> String) -> Verdict {
    if right { Ok(()) } else { Err(fault()) }
}
