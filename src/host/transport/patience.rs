//! Waiting for messages: how long a rank polls, when it gives the processor away, and when nothing has happened for
//! too long.

use crate::engine::rooted::Misfit;
use crate::host::library::abi::Abi;
use crate::host::object::failure::Failure;
use std::time::{Duration, Instant};

/// Empty polls before the processor is given away. A message between two cores takes a microsecond
/// or less, about as long as these polls; beyond that a waiting rank may well be keeping the very
/// rank it waits for from running. (Where a poll asks the operating system, over TCP, it takes 5 us.)
const SPINS: u32 = 4;

/// Idle polls between two looks at the clock.
const POLLS_PER_LOOK: u32 = 256;

/// How long nothing must have happened before a rank looks for messages that do not fit.
const PATIENCE: Duration = Duration::from_millis(100);

/// Between two looks at the clock no more time than this counts: a job that was stopped in between, by a batch system
/// for example, must not take the time for one in which others had nothing to say.
const GAP_MAX: Duration = Duration::from_secs(1);

/// Time that passes while this process looks at it.
pub(super) struct Lapse {
    sum: Duration,
    last: Instant,
}

impl Lapse {
    /// It begins now.
    pub fn begin() -> Lapse {
        Lapse {
            sum: Duration::ZERO,
            last: Instant::now(),
        }
    }

    /// How long it is. To be called more often than every second.
    pub fn look(&mut self) -> Duration {
        let now = Instant::now();
        self.sum += (now - self.last).min(GAP_MAX);
        self.last = now;
        self.sum
    }
}

/// How long nothing has happened, and what to make of it.
pub(in crate::host) struct Patience {
    timeout: Option<Duration>,
    polls: u32,
    since: Option<Lapse>,
    /// A message that does not fit was seen at the last look.
    suspicion: bool,
}

impl Patience {
    /// For a call in which something must happen every `timeout_s` seconds, if that is not 0.
    pub fn new(timeout_s: u32) -> Patience {
        Patience {
            timeout: (timeout_s > 0).then(|| Duration::from_secs(timeout_s.into())),
            polls: 0,
            since: None,
            suspicion: false,
        }
    }

    /// Something happened.
    pub fn moved(&mut self) {
        (self.polls, self.since, self.suspicion) = (0, None, false);
    }

    /// Nothing happened: lets a moment pass. How long it has been so, if it is time to look around.
    pub fn wait(&mut self) -> Option<Duration> {
        if Abi::BUILT.is_simulated() {
            return None;
        }
        self.polls = self.polls.wrapping_add(1);
        if self.polls < SPINS {
            std::hint::spin_loop();
            return None;
        }
        std::thread::yield_now();
        if !self.polls.is_multiple_of(POLLS_PER_LOOK) {
            return None;
        }
        let idle = self.since.get_or_insert_with(Lapse::begin).look();
        (idle > PATIENCE).then_some(idle)
    }

    /// A message may have arrived between the last test and the look around: only if one from this
    /// rank is still there at the next look, with tests in between, does it not fit.
    pub fn suspect(&mut self, strange: Option<u32>) -> Result<(), Failure> {
        match strange {
            Some(from) if self.suspicion => Err(Misfit::Stranger(from).into()),
            _ => {
                self.suspicion = strange.is_some();
                Ok(())
            }
        }
    }

    /// Has the user's patience come to an end?
    pub fn check(&self, idle: Duration, from: Option<u32>) -> Result<(), Failure> {
        match self.timeout {
            Some(limit) if idle > limit => Err(Failure::Timeout(limit, from)),
            _ => Ok(()),
        }
    }
}
