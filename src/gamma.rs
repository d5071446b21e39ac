//! What it takes to reduce a byte, gamma: measured for each class of operators in the reductions that a rank carries
//! out in its memory anyway.
//!
//! Only pieces are timed that are so long that looking at the clock does not count. What is joined in the memory of a
//! node, a little of all operands at a time, is one piece. A rank may be kept from running in the middle of any of
//! them. So a piece counts by its bytes, and the figure is the pace of the median byte.
//!
//! A figure is one rank's own and the ranks do not agree on it: no decision may rest on it (docs/design.md).

#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Operators that take about as long as each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Predefined ones on integers, by Rondo's kernels.
    Integers,
    /// Predefined ones on floating-point numbers, by Rondo's kernels.
    Floats,
    /// Predefined ones that the MPI library carries out: on pairs, on complex numbers, and where its bits are others
    /// than those of a kernel.
    Host,
    /// The program's own.
    User,
}

impl Class {
    /// All of them, with their names.
    pub const ALL: [(Class, &str); 4] = [
        (Class::Integers, "integers"),
        (Class::Floats, "floats"),
        (Class::Host, "host"),
        (Class::User, "user"),
    ];
}

/// Nanoseconds that it takes to reduce 1024 bytes, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Gamma {
    /// [`Class::Integers`]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub integers: Option<f64>,
    /// [`Class::Floats`]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floats: Option<f64>,
    /// [`Class::Host`]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<f64>,
    /// [`Class::User`]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<f64>,
}

impl Gamma {
    /// That of the class of this name.
    pub fn named(&self, name: &str) -> Option<f64> {
        let named = Class::ALL.iter().find(|(_, known)| *known == name);
        named.and_then(|(class, _)| self.of(*class))
    }

    /// That of a class.
    pub fn of(&self, class: Class) -> Option<f64> {
        match class {
            Class::Integers => self.integers,
            Class::Floats => self.floats,
            Class::Host => self.host,
            Class::User => self.user,
        }
    }

    /// These figures, and those of `other` where these are not known.
    pub fn or(&self, other: &Gamma) -> Gamma {
        Gamma {
            integers: self.integers.or(other.integers),
            floats: self.floats.or(other.floats),
            host: self.host.or(other.host),
            user: self.user.or(other.user),
        }
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        *self == Gamma::default()
    }

    /// What is wrong with one of them, if anything is.
    pub fn check(&self) -> Result<(), String> {
        let figures = Class::ALL.map(|(class, _)| self.of(class));
        match figures
            .into_iter()
            .flatten()
            .find(|figure| !(0.0..=1e9).contains(figure))
        {
            Some(figure) => Err(format!("{figure:?} is not between 0 and 1e9")),
            None => Ok(()),
        }
    }

    /// What is known, in words.
    pub fn text(&self) -> String {
        let known = Class::ALL.iter().filter_map(|&(class, name)| {
            let figure = self.of(class)?;
            Some(format!("{name} {figure:.0} ns/KiB"))
        });
        known.collect::<Vec<_>>().join(", ")
    }
}

/// Bytes of a piece that is timed, at the least: to read the clock takes some hundredths of a microsecond, and the
/// fastest kernel some tenths for so many.
pub const PIECE_BYTES: u64 = 8 << 10;

/// Bytes of pieces that say something, at the least.
const ENOUGH_BYTES: u64 = 128 << 10;

/// Paces are told apart by powers of two: of nanoseconds for 1024 bytes.
const PACES: usize = 32;

/// Pieces that were timed. All threads may add to them.
#[derive(Debug)]
pub struct Pieces([Pace; PACES]);

/// Those of about one pace.
#[derive(Debug)]
struct Pace {
    bytes: AtomicU64,
    nanos: AtomicU64,
}

/// So many nanoseconds for so many bytes, as nanoseconds for 1024 bytes.
fn ns_per_kb(nanos: u64, bytes: u64) -> f64 {
    nanos as f64 * 1024.0 / bytes.max(1) as f64
}

impl Pieces {
    /// None yet.
    pub const fn new() -> Pieces {
        Pieces(
            [const {
                Pace {
                    bytes: AtomicU64::new(0),
                    nanos: AtomicU64::new(0),
                }
            }; PACES],
        )
    }

    /// A piece of so many bytes took so many nanoseconds.
    pub fn add(&self, bytes: u64, nanos: u64) {
        let pace = nanos.saturating_mul(1024) / bytes.max(1);
        let place = pace.max(1).ilog2() as usize;
        let of_pace = &self.0[place.min(PACES - 1)];
        of_pace.bytes.fetch_add(bytes, Relaxed);
        of_pace.nanos.fetch_add(nanos, Relaxed);
    }

    /// Nanoseconds for 1024 bytes, where the pieces say something: the mean of those whose pace is about that of the
    /// median byte.
    pub fn figure(&self) -> Option<f64> {
        let all = (self.0)
            .each_ref()
            .map(|pace| (pace.bytes.load(Relaxed), pace.nanos.load(Relaxed)));
        let total: u64 = all.iter().map(|(bytes, _)| bytes).sum();
        let mut faster = 0;
        let median = all.iter().find(|(bytes, _)| {
            faster += bytes;
            faster > total / 2
        });
        let &(bytes, nanos) = median.filter(|_| total >= ENOUGH_BYTES)?;
        Some(ns_per_kb(nanos, bytes))
    }
}

impl Default for Pieces {
    fn default() -> Pieces {
        Pieces::new()
    }
}

/// Those of this process.
static OWN: [Pieces; Class::ALL.len()] = [const { Pieces::new() }; Class::ALL.len()];

/// This process reduced a piece of so many bytes in so many nanoseconds.
pub fn add(class: Class, bytes: u64, nanos: u64) {
    OWN[class as usize].add(bytes, nanos);
}

/// What this process measured.
pub fn measured() -> Gamma {
    let [integers, floats, host, user] = OWN.each_ref().map(Pieces::figure);
    Gamma {
        integers,
        floats,
        host,
        user,
    }
}
