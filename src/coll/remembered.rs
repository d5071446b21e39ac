//! Built-in choices that a thread remembers. Programs repeat few calls again and again, and to choose takes several
//! times as long as to look at what was chosen.
//!
//! A choice depends on nothing else than its question. So it makes no difference which of them a thread remembers, and
//! ranks need not remember the same.

#![forbid(unsafe_code)]

use super::select::Open;
use crate::collective::Collective;
use crate::decide::Choice;
use crate::group::State;
use crate::host::Abi;
use crate::remembered::{self, Remembered};

/// All that a built-in choice depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The number of the communicator's state: its ranks and nodes, its options and rules.
    serial: u64,
    /// The number of what is known of its network.
    edition: u32,
    collective: Collective,
    /// The bytes of the call, if all ranks know them.
    known: Option<u64>,
    /// The rest.
    rest: Rest,
}

/// What a choice of some collectives depends on besides the bytes. No array, which is compared in memory that has just
/// been written to in parts: a processor waits for that.
pub type Rest = (u64, u64, u64, u64);

impl Question {
    /// What is asked about a call of so many bytes, if all ranks know them.
    #[inline]
    pub fn new(state: &State, collective: Collective, known: Option<u64>, rest: Rest) -> Question {
        Question {
            serial: state.serial(),
            edition: state.edition(),
            collective,
            known,
            rest,
        }
    }

    /// A number that tells most questions of a program apart, and the two of a reduction, before it has looked at its
    /// operator and behind that.
    #[inline]
    fn mixed(&self) -> u64 {
        let (.., operator) = self.rest;
        let collective = self.collective as u64;
        self.known.unwrap_or(1) ^ self.serial << 32 ^ operator << 48 ^ collective << 56
    }
}

/// The choice, and what may be said otherwise of it.
type Answer = (Choice, Option<Open>);

thread_local! {
    static ANSWERS: Remembered<Question, Answer> = const { Remembered::nothing() };
}

/// The answer to a question, by `choose` unless it is remembered.
#[inline]
pub fn remembered(question: Question, choose: impl Fn() -> Answer) -> Answer {
    // There ranks share a thread, and each has its own numbers of communicators.
    if Abi::BUILT.is_simulated() {
        return choose();
    }
    remembered::answer(&ANSWERS, question.mixed(), question, choose)
}
