//! The radix that makes rounds of several messages fastest.

#![forbid(unsafe_code)]

use super::{Model, OUT_OF_STEP, RADIX_MAX, Reach};
use crate::remembered::{self, Remembered};
use crate::schedule::Steps;

/// What is asked for: a radix that fits...
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    /// ...an all-broadcast of whole parts,
    AllBroadcast,
    /// ...one behind a reduction,
    Behind,
    /// ...or an exchange on the circulant graph.
    Exchange,
}

/// All that an answer depends on: the rounds, the bits of the model's figures, ranks and bytes.
type Question = (Rounds, [u64; 3], u32, u64);

thread_local! {
    /// A call may ask several times, and finding the answer anew took microseconds of each short one.
    static ANSWERS: Remembered<Question, u32> = const { Remembered::nothing() };
}

/// The answer to a question, by `find` unless it is remembered.
fn remembered(question: Question, find: impl Fn() -> u32) -> u32 {
    let (rounds, figures, ranks, bytes) = question;
    let network = figures.iter().fold(0, |mixed, bits| mixed ^ bits);
    let mixed = bytes ^ network ^ u64::from(ranks) << 40 ^ (rounds as u64) << 60;
    remembered::answer(&ANSWERS, mixed, question, find)
}

impl Model {
    fn question(&self, rounds: Rounds, ranks: u32, bytes: u64) -> Question {
        let figures = [self.alpha_us, self.gap_us, self.beta_ns_per_kb].map(f64::to_bits);
        (rounds, figures, ranks, bytes)
    }

    /// The radix that makes an all-broadcast of whole parts, of `bytes` bytes in all, among `p` ranks fastest
    /// ([`crate::schedule::steps`]). All ways send as many bytes.
    pub fn radix(&self, p: u32, bytes: u64) -> u32 {
        let part = bytes as f64 / f64::from(p.max(1));
        self.radix_by(Rounds::AllBroadcast, p, bytes, |steps| {
            self.whole_us(steps, part)
        })
    }

    /// The same behind a reduction, which ranks leave one after another: there no byte passes while another message is
    /// begun (simulated: 80 and 400 kB among 36 ranks).
    pub fn radix_behind(&self, p: u32, bytes: u64) -> u32 {
        self.radix_by(Rounds::Behind, p, bytes, |steps| self.spread_us(steps, 0))
    }

    /// The same where steps take so many microseconds.
    fn radix_by(&self, rounds: Rounds, p: u32, bytes: u64, us: impl Fn(&Steps) -> f64) -> u32 {
        if self.alpha_us < 2.0 * self.gap() {
            return 2;
        }
        remembered(self.question(rounds, p, bytes), || {
            let more_us = OUT_OF_STEP * self.beta_us() * bytes as f64;
            fastest_radix(p, 1, |radix, steps| match radix {
                2 => us(steps),
                _ => more_us + us(steps),
            })
        })
    }

    /// The radix that makes an exchange on the circulant graph fastest ([`Model::packed_us`]). In a single round it
    /// would be every block straight to its rank.
    pub fn exchange_radix(&self, ranks: u32, bytes: u64) -> u32 {
        remembered(self.question(Rounds::Exchange, ranks, bytes), || {
            fastest_radix(ranks, 2, |_, steps| self.packed_us(steps, ranks, bytes))
        })
    }
}

/// The radix with the least time for so many ranks, of those that are the least ones for a number of rounds, from
/// `fewest` on.
fn fastest_radix(p: u32, fewest: u32, us: impl Fn(u32, &Steps) -> f64) -> u32 {
    let mut best = (2, us(2, &Steps::new(p, 2)));
    for rounds in fewest..Reach::among(p).rounds {
        // The least one with so many rounds, by whole numbers: powers of fractions differ between processors.
        let reaches = |radix: &u32| {
            let reach = u64::from(*radix).checked_pow(rounds);
            reach.is_none_or(|reach| reach >= p.into())
        };
        let Some(radix) = (3..=RADIX_MAX).find(reaches) else {
            continue;
        };
        let time = us(radix, &Steps::new(p, radix));
        if time < best.1 {
            best = (radix, time);
        }
    }
    best.0
}
