//! Calls of one size class on one communicator, and the candidates for them.

#![forbid(unsafe_code)]

use super::{Candidate, Prior, Trials, Turn};

/// A row has a part of the calls so far, up to this many: the more there are, the less chance has a say in it.
const ROW_MAX: u16 = 32;

/// Calls of the incumbent that are timed before a challenger has one, if there is time.
const LOOKS: u32 = 3;

/// The part of the time spent so far that a trial may cost.
const SHARE: f64 = 0.05;

/// A challenger that is slower by more than this factor has one more call, and is out if it still is.
const CLOSE: f64 = 1.3;

/// A challenger whose call took so many times as long has two more when the cost of all three is within its share, and
/// is out if the last one takes as long again.
const CLEARLY: f64 = 2.0;

/// Each comparison that a candidate is in again costs a quarter of what the one before might, the second one less where
/// two single calls said the same.
const AGAIN: u64 = 4;
const AGAIN_AFTER_TWO: u64 = 16;

/// So many times: rows are long by then.
const LOST_MAX: u8 = 4;

/// No sooner than after so many calls, because ranks that agree on something take time as well.
const AGAIN_MIN: u64 = 100;

/// About so many calls until the next comparison, after so many. Programs make calls in a pattern, long and short ones
/// in turn for example. If comparisons kept step with it, one candidate would always have the long ones. All ranks get
/// the same number.
fn out_of_step(before: u64, calls: u64) -> u64 {
    calls + (before.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61)
}

/// Who took more times as long was late by chance, rather than slow.
const PLAUSIBLE: f64 = 16.0;

/// Rondo's ways but the first.
const OTHERS: [Candidate; 2] = [Candidate::Second, Candidate::Third];

/// The time of a rank that timed no call, as ranks exchange times.
const UNTIMED: u64 = i64::MAX as u64;

/// The least and the most of what nobody expected.
const NOTHING: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

/// What this rank measured of a candidate.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    sum: u64,
    most: u64,
    calls: u32,
}

impl Sample {
    fn add(&mut self, nanos: u64) {
        self.sum = self.sum.saturating_add(nanos);
        self.most = self.most.max(nanos);
        self.calls += 1;
    }

    /// Nanoseconds of a call: the mean without the longest one, if there are two or more; `u64::MAX` if there is none.
    /// A mean, because a candidate that is mostly slow and sometimes fast is slow.
    fn time(&self) -> u64 {
        match self.calls {
            0 => u64::MAX,
            1 => self.sum,
            calls => self.sum.saturating_sub(self.most) / u64::from(calls - 1),
        }
    }
}

/// What happens at call `next`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The incumbent is timed, so many times more.
    Looks(u16),
    /// The challenger has a call that is not timed, because its last one was long ago: caches are cold.
    Enter,
    /// The challenger has a call.
    Try(Stage),
    /// Each has a row of calls, first the challenger. This one's has so many left; the incumbent's will have so many.
    Race {
        challenger: bool,
        left: u16,
        of: u16,
        incumbent: u16,
    },
    /// The ranks agree.
    Verdict(Stage),
}

/// How much is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// One call.
    Glance,
    /// Two calls.
    Look,
    /// A row of calls.
    Race,
}

/// Who has the calls of one size class on one communicator, and how far that is known.
#[derive(Clone, Debug)]
pub struct Contest {
    /// Calls so far.
    calls: u64,
    /// The call at which the phase goes on; those before it are the incumbent's.
    next: u64,
    phase: Phase,
    incumbent: Candidate,
    challenger: Candidate,
    /// What this rank measured in this comparison: the incumbent, the challenger.
    own: [Sample; 2],
    /// The least and the most microseconds that the model expected of a timed call of Rondo's first way in it. All
    /// ranks know the same: to keep them rounds nothing, for ranks may round differently.
    expected: [f64; 2],
    /// The slowest rank's, of each candidate, by the last comparison that came to a verdict; `u64::MAX` if it was in
    /// none.
    agreed: [u64; Candidate::COUNT],
    /// The call at which each candidate may be tried; `u64::MAX` if it may not.
    due: [u64; Candidate::COUNT],
    /// What `due` of Rondo's other ways was before the first call; `u32::MAX` if they may not be tried.
    waits: [u32; OTHERS.len()],
    /// Comparisons that each candidate lost.
    lost: [u8; Candidate::COUNT],
    /// Candidates whose last call was so slow that another one is to show whether it always is, a bit each. The first
    /// one finds cold caches, and connections that are still to be made.
    suspected: u8,
    /// Has a race just shown how long the incumbent takes, so that it need not be timed again?
    fresh: bool,
    margin: f32,
}

/// The call by which a trial of a candidate that may take `ratio` times as long costs no more than its share.
fn due(ratio: f64) -> u64 {
    // Not the first two: one makes what is made once, and one of the incumbent's is timed.
    ((ratio - 1.0) / SHARE).ceil().clamp(3.0, 1e6) as u64
}

impl Contest {
    /// A size class of which nothing is measured.
    pub fn new(prior: &Prior) -> Contest {
        let due = prior.expected.map(|ratio| ratio.map_or(u64::MAX, due));
        let wait = |of: Candidate| u32::try_from(due[of as usize]).unwrap_or(u32::MAX);
        let mut contest = Contest {
            calls: 0,
            next: u64::MAX,
            phase: Phase::Try(Stage::Glance),
            incumbent: prior.default,
            challenger: prior.default,
            own: [Sample::default(); 2],
            expected: NOTHING,
            agreed: [u64::MAX; Candidate::COUNT],
            due,
            waits: OTHERS.map(wait),
            lost: [0; Candidate::COUNT],
            suspected: 0,
            fresh: false,
            margin: prior.margin as f32,
        };
        contest.due[prior.default as usize] = u64::MAX;
        contest.weigh_others();
        contest.challenge();
        contest
    }

    /// Who has the calls now, when nothing is tried.
    pub fn incumbent(&self) -> Candidate {
        self.incumbent
    }

    /// Who is compared: the incumbent and the challenger.
    pub fn parties(&self) -> [Candidate; 2] {
        [self.incumbent, self.challenger]
    }

    /// Calls so far.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// Nanoseconds of the slowest rank, of each candidate, as far as they are known.
    pub fn times(&self) -> [Option<u64>; Candidate::COUNT] {
        self.agreed.map(|time| (time != u64::MAX).then_some(time))
    }

    /// Has the incumbent been compared with another one?
    #[inline]
    pub fn is_measured(&self) -> bool {
        self.agreed[self.incumbent as usize] != u64::MAX
    }

    /// If the ranks must agree before the next call: this rank's times, of which the largest over all ranks are to
    /// be told to [`Contest::agree`].
    pub fn question(&self) -> Option<[u64; 2]> {
        let now = self.calls + 1 == self.next && matches!(self.phase, Phase::Verdict(_));
        now.then(|| self.own.map(|sample| sample.time()))
    }

    /// The ranks agreed on these times. True if that is news: who has the calls, or how long somebody takes of whom
    /// nothing was known.
    pub fn agree(&mut self, slowest: [u64; 2], trials: Trials) -> bool {
        let [incumbent, challenger] = slowest.map(|time| time.max(1) as f64);
        let stage = match self.phase {
            Phase::Verdict(stage) => stage,
            Phase::Looks(_) | Phase::Enter | Phase::Try(_) | Phase::Race { .. } => Stage::Race,
        };
        if slowest.iter().any(|&time| time >= UNTIMED) {
            // Calls with an error are not timed: another comparison has to show something.
            self.due[self.challenger as usize] = self.calls + AGAIN_MIN;
            self.fresh = false;
            self.challenge();
            return false;
        }
        let ratio = challenger / incumbent;
        let row = self.row(trials);
        let suspect = 1 << self.challenger as u8;
        let was_suspected = self.suspected & suspect != 0;
        self.suspected &= !suspect;
        if stage == Stage::Glance && row > 1 && ratio >= CLEARLY && !was_suspected {
            self.suspected |= suspect;
            let least = due(ratio.min(PLAUSIBLE));
            self.put_off(self.challenger, 5 * least, least, trials);
            self.challenge();
            return false;
        }
        match stage {
            Stage::Glance | Stage::Look if row > 1 && ratio <= CLOSE => {
                self.forget_calls();
                self.phase = Phase::Race {
                    challenger: true,
                    // The call that it has just had is the first one of its row.
                    left: row - 1,
                    of: row,
                    incumbent: match ratio * CLOSE < 1.0 && u32::from(row) == trials.calls {
                        _ if self.fresh => 0,
                        // In a short program, who seems to be much slower has no more calls than it takes.
                        true => 2,
                        false => row,
                    },
                };
                return false;
            }
            Stage::Glance if row > 1 && ratio < CLEARLY => {
                self.phase = Phase::Try(Stage::Look);
                return false;
            }
            Stage::Glance | Stage::Look | Stage::Race => {}
        }
        self.agreed[self.incumbent as usize] = slowest[0];
        self.agreed[self.challenger as usize] = slowest[1];
        let first = self.lost[self.incumbent as usize] + self.lost[self.challenger as usize] == 0;
        let again = match stage == Stage::Look || was_suspected {
            true => AGAIN_AFTER_TWO,
            false => AGAIN,
        };
        let displaced = self.rank(ratio, again, trials);
        if stage == Stage::Race {
            self.fresh = true;
            self.own.swap(0, usize::from(displaced));
        }
        self.challenge_again(trials);
        first || displaced
    }

    /// Calls in a row of each candidate in a race; 0 or 1: there are no races.
    fn row(&self, trials: Trials) -> u16 {
        match u16::try_from(trials.calls).unwrap_or(u16::MAX) {
            row @ 0..=1 => row,
            row => row
                .max((self.calls as f64 * SHARE) as u16)
                .min(row.max(ROW_MAX)),
        }
    }

    /// Names the incumbent, where the challenger takes `ratio` times as long, and the call at which the loser comes
    /// back: its next comparison is to cost that part of what it may. True if the incumbent is another one.
    fn rank(&mut self, ratio: f64, again: u64, trials: Trials) -> bool {
        let row = self.row(trials);
        let (mut loser, mut ratio) = (self.challenger, ratio);
        let displaced = ratio < f64::from(self.margin);
        if displaced {
            loser = std::mem::replace(&mut self.incumbent, self.challenger);
            ratio = ratio.recip();
            if loser == Candidate::Host {
                self.call_back();
            }
        }
        self.due[self.incumbent as usize] = u64::MAX;
        self.due[loser as usize] = u64::MAX;
        if displaced || loser == Candidate::First {
            self.weigh_others();
        }
        let lost = self.lost[loser as usize];
        if lost < LOST_MAX {
            // Who is slower by much has no row of calls next time.
            let cost = match ratio <= CLOSE {
                true => f64::from(row) * (ratio - 1.0),
                false => ratio.min(PLAUSIBLE) - 1.0,
            };
            let least = due(1.0 + cost);
            let calls = (again * least).max(AGAIN_MIN) * AGAIN.pow(lost.into());
            self.lost[loser as usize] += 1;
            self.put_off(loser, calls, least, trials);
        }
        displaced
    }

    /// A candidate comes back after so many calls, or after those at which all are tried again, but not before `least`.
    fn put_off(&mut self, who: Candidate, calls: u64, least: u64, trials: Trials) {
        let most = match trials.relearn {
            0 => u64::MAX,
            relearn => relearn.max(least),
        };
        self.due[who as usize] = self.calls + out_of_step(self.calls, calls.min(most));
    }

    /// Rondo has the calls after all: so its other ways, if they were never tried, are worth a comparison.
    fn call_back(&mut self) {
        for (candidate, wait) in OTHERS.into_iter().zip(self.waits) {
            let place = candidate as usize;
            if self.agreed[place] == u64::MAX && wait != u32::MAX {
                let due = u64::from(wait);
                self.due[place] = self.due[place].min(due);
            }
        }
    }

    /// How many of the next calls are the host's in any case, so that nobody need ask until they are over.
    pub fn foregone(&self) -> u32 {
        match self.incumbent {
            Candidate::Host => {
                let calls = self.next.saturating_sub(self.calls + 1);
                u32::try_from(calls).unwrap_or(u32::MAX)
            }
            Candidate::First | Candidate::Second | Candidate::Third => 0,
        }
    }

    /// So many of them were made.
    pub fn pass(&mut self, calls: u32) {
        self.calls += u64::from(calls);
    }

    /// Counts a call, and says who has it.
    #[inline]
    pub fn begin(&mut self) -> Turn {
        self.calls += 1;
        if self.calls < self.next {
            return Turn {
                candidate: self.incumbent,
                timed: false,
            };
        }
        self.next = self.calls + 1;
        let (candidate, timed, phase) = match self.phase {
            Phase::Looks(1) => (self.incumbent, true, self.trial()),
            Phase::Looks(left) => (self.incumbent, true, Phase::Looks(left - 1)),
            Phase::Enter => (self.challenger, false, Phase::Try(Stage::Glance)),
            Phase::Try(stage) => (self.challenger, true, Phase::Verdict(stage)),
            Phase::Race {
                challenger,
                left,
                of,
                incumbent,
            } => {
                let candidate = match challenger {
                    true => self.challenger,
                    false => self.incumbent,
                };
                let phase = match (left, challenger) {
                    (1, false) => Phase::Verdict(Stage::Race),
                    (1, true) if incumbent == 0 => Phase::Verdict(Stage::Race),
                    (1, true) => Phase::Race {
                        challenger: false,
                        left: incumbent,
                        of: incumbent,
                        incumbent,
                    },
                    _ => Phase::Race {
                        challenger,
                        left: left - 1,
                        of,
                        incumbent,
                    },
                };
                (candidate, left <= of.div_ceil(2), phase)
            }
            // Nobody asked the ranks: without their times everything stays as it is.
            Phase::Verdict(_) => {
                self.next = u64::MAX;
                (self.incumbent, false, self.phase)
            }
        };
        self.phase = phase;
        Turn { candidate, timed }
    }

    /// The call of this turn took so long on this rank.
    pub fn time(&mut self, turn: Turn, nanos: u64) {
        self.own[usize::from(turn.candidate != self.incumbent)].add(nanos);
    }

    /// Of the call of this turn, which is timed, the model expects so many microseconds, if it is Rondo's first way.
    pub fn expect(&mut self, us: f64) {
        let [least, most] = self.expected;
        self.expected = [least.min(us), most.max(us)];
    }

    /// The least and the most microseconds that it expected of one of those that are compared now, as far as any are
    /// Rondo's first way.
    pub fn expected(&self) -> Option<(f64, f64)> {
        let [least, most] = self.expected;
        (least <= most).then_some((least, most))
    }

    /// What the model says is another thing now.
    pub(super) fn expect_anew(&mut self) {
        self.expected = NOTHING;
    }

    /// Other calls are compared now, but for those of an incumbent that has just had a row.
    fn forget_calls(&mut self) {
        self.own[1] = Sample::default();
        if !self.fresh {
            self.own[0] = Sample::default();
        }
        if !self.fresh || self.incumbent != Candidate::First {
            self.expected = NOTHING;
        }
    }

    /// The comparison is over: what is next?
    fn challenge_again(&mut self, trials: Trials) {
        if self.due.iter().all(|&due| due == u64::MAX) && trials.relearn > 0 {
            let best = self.agreed[self.incumbent as usize].max(1) as f64;
            self.lost = [0; Candidate::COUNT];
            for candidate in Candidate::ALL {
                let time = self.agreed[candidate as usize];
                if time != u64::MAX && candidate != self.incumbent {
                    let calls = due(time as f64 / best).max(trials.relearn);
                    self.due[candidate as usize] = self.calls + out_of_step(self.calls, calls);
                }
            }
        }
        self.challenge();
    }

    /// Where the host has the calls, Rondo's best way by the model is to come near it before its others have their
    /// turns: what is expected of these is how many times as long as that one they take.
    fn weigh_others(&mut self) {
        if self.incumbent != Candidate::Host {
            return;
        }
        let [host, first] = [Candidate::Host, Candidate::First].map(|c| self.agreed[c as usize]);
        let ratio = first as f64 / host.max(1) as f64;
        let is_near = first != u64::MAX && ratio < CLEARLY;
        for (other, wait) in OTHERS.into_iter().zip(self.waits) {
            let is_new = self.agreed[other as usize] == u64::MAX && wait != u32::MAX;
            let expected = ratio * (1.0 + SHARE * f64::from(wait));
            self.due[other as usize] = match is_near && is_new {
                true => due(expected),
                false => u64::MAX,
            };
        }
    }

    /// How the challenger's trial begins.
    fn trial(&self) -> Phase {
        match self.suspected & 1 << self.challenger as u8 {
            0 => Phase::Try(Stage::Glance),
            _ => Phase::Enter,
        }
    }

    /// Waits for the next challenger that is due.
    fn challenge(&mut self) {
        let first = Candidate::ALL
            .into_iter()
            .min_by_key(|&c| self.due[c as usize]);
        let challenger = first.expect("there are some");
        self.challenger = challenger;
        let due = self.due[challenger as usize];
        self.fresh &= due <= self.calls + 1;
        self.forget_calls();
        (self.next, self.phase) = match due {
            u64::MAX => (u64::MAX, Phase::Try(Stage::Glance)),
            _ if self.fresh => (self.calls + 1, self.trial()),
            due => {
                let next = due.saturating_sub(LOOKS.into()).max(self.calls + 1).max(2);
                let looks = due.saturating_sub(next).clamp(1, LOOKS.into());
                (next, Phase::Looks(looks as u16))
            }
        };
    }
}
