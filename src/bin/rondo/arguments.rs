//! Arguments that several commands have: collectives, numbers, sizes.

#![forbid(unsafe_code)]

use rondo::collective::{Collective, Family};
use rondo::config;
use std::{iter, str::FromStr};

/// The collective of this name or MPI name, or what is wrong with it.
pub fn collective(name: &str) -> Result<Collective, String> {
    let all = || Collective::ALL.iter().map(|collective| collective.name());
    let wrong = || format!("take one of {}", all().collect::<Vec<_>>().join(", "));
    Collective::named(name).ok_or_else(wrong)
}

/// The names of all that move data.
pub fn names() -> Vec<&'static str> {
    let all = Collective::ALL.iter();
    all.filter(|collective| collective.family() != Family::Barrier)
        .map(|collective| collective.name())
        .collect()
}

/// A number, or several from MIN up to MAX, which are written as sizes.
#[derive(Clone, Copy)]
pub struct Numbers {
    min: u64,
    max: u64,
}

/// More than any call moves.
const MOST: u64 = 1 << 40;

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Numbers, String> {
        let number = |text: &str| {
            let wrong = |_| format!("'{text}' is no whole number like 64, 64K or 8M");
            config::bytes(text.trim(), MOST).map_err(wrong)
        };
        let (min, max) = text.split_once(':').unwrap_or((text, text));
        match (number(min)?, number(max)?) {
            (0, _) => Err("numbers begin with 1".into()),
            (min, max) if min > max => Err("the first number is the larger one".into()),
            (min, max) => Ok(Numbers { min, max }),
        }
    }
}

/// All numbers that are given, in order; those of MIN:MAX are each `step` times the one before.
pub fn numbers(given: &[Numbers], step: u64) -> Vec<u64> {
    let all = given.iter().flat_map(|&Numbers { min, max }| {
        iter::successors(Some(min), move |number| Some(number * step))
            .take_while(move |&number| number <= max)
    });
    let mut all: Vec<u64> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A size in a table: a barrier has none.
pub fn shown(collective: Collective, size: u64) -> String {
    if collective.family() == Family::Barrier {
        return "-".into();
    }
    size.to_string()
}

/// What the sizes of this tool are those of.
pub fn size_of(collective: Collective) -> &'static str {
    match collective.family() {
        Family::Broadcast => "the message",
        Family::AllBroadcast => "all ranks together",
        Family::Rooted => "a block, on the average",
        Family::AllReduction | Family::Reduction | Family::ScatteredReduction | Family::Scan => {
            "a rank's vector"
        }
        Family::Barrier => "nothing",
        Family::TotalExchange | Family::IrregularExchange => "a rank's blocks together",
    }
}
