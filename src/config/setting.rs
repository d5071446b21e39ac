//! What a user may say of one collective.

#![forbid(unsafe_code)]

use crate::algorithm::Algorithm;
use crate::collective::Collective;

/// Who is to carry a collective out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Rondo chooses for every call.
    Auto,
    /// Every call goes to the MPI library.
    Host,
    /// This algorithm, for every size.
    Use(Algorithm),
}

impl Setting {
    /// What can be said of a collective that has these algorithms.
    pub fn among(algorithms: &[Algorithm]) -> impl Iterator<Item = Setting> + Clone {
        let named = algorithms.iter().copied().map(Setting::Use);
        [Setting::Auto, Setting::Host].into_iter().chain(named)
    }

    /// What can be said of a collective with its name, and other names of some algorithms behind.
    pub(crate) fn named(collective: Collective) -> impl Iterator<Item = (&'static str, Setting)> {
        let others = [Setting::Auto, Setting::Host].map(|setting| (setting.name(), setting));
        let names = collective.family().names();
        let named = names.map(|(name, algorithm)| (name, Setting::Use(algorithm)));
        others.into_iter().chain(named)
    }

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Setting::Auto => "auto",
            Setting::Host => "host",
            Setting::Use(algorithm) => algorithm.name(),
        }
    }

    /// The number that ranks exchange.
    pub(crate) fn encode(self) -> u64 {
        let place = Setting::among(Algorithm::ALL).position(|setting| setting == self);
        place.map_or(u64::MAX, |place| place as u64)
    }

    /// The setting behind a number; `None` if it is none of a collective with these algorithms.
    pub(crate) fn decode(number: u64, algorithms: &[Algorithm]) -> Option<Setting> {
        Setting::among(algorithms).find(|setting| setting.encode() == number)
    }
}

/// What a user says of one collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    /// `RONDO_BCAST` and its like: who carries it out.
    pub setting: Setting,
    /// `_MIN_BYTES`: the fewest bytes that automatic choice takes; `None` if it depends on where the ranks are.
    pub min_bytes: Option<u64>,
}

impl Wish {
    /// Nothing is said.
    pub const NONE: Wish = Wish {
        setting: Setting::Auto,
        min_bytes: None,
    };
}
