//! The collectives as this tool knows them.

#![forbid(unsafe_code)]

use crate::mpi::CountsAndDispls;
use clap::builder::{PossibleValue, TypedValueParser};
use rondo::collective::{Collective, Family};
use std::ffi::OsStr;

/// What an argument that names a collective can be: any name, of which the help text and shells have the short ones.
#[derive(Clone)]
pub struct Parser;

impl TypedValueParser for Parser {
    type Value = Collective;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Collective, clap::Error> {
        TypedValueParser::parse_ref(&by_any_name, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(all_names().map(PossibleValue::new)))
    }
}

/// The collective of this name or MPI name, or what is wrong with it.
pub fn by_any_name(name: &str) -> Result<Collective, String> {
    let wrong = || format!("take one of {}", all_names().collect::<Vec<_>>().join(", "));
    Collective::named(name).ok_or_else(wrong)
}

/// The names of all.
fn all_names() -> impl Iterator<Item = &'static str> {
    Collective::ALL.iter().map(|collective| collective.name())
}

/// The collective of this name, or what is wrong with it.
pub fn known(name: &str) -> Result<Collective, String> {
    let mut all = Collective::ALL.iter().copied();
    let found = all.find(|collective| collective.name() == name);
    found.ok_or_else(|| format!("'{name}' is no collective"))
}

/// The names of all that move data.
pub fn names() -> Vec<&'static str> {
    let all = Collective::ALL.iter();
    all.filter(|collective| collective.family() != Family::Barrier)
        .map(|collective| collective.name())
        .collect()
}

/// A size in a table: a barrier has none.
pub fn shown(collective: Collective, size: u64) -> String {
    match collective.family() == Family::Barrier {
        true => "-".into(),
        false => size.to_string(),
    }
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

/// Elements in the two buffers of a rank, where each is significant: its own block, or its vector, and all blocks, or
/// its part of the result.
pub fn elements(
    collective: Collective,
    blocks: &CountsAndDispls,
    rank: usize,
    (is_root, in_place): (bool, bool),
) -> (usize, usize) {
    let (own, total) = (blocks.count(rank), blocks.total());
    match collective.family() {
        Family::Broadcast => (0, total),
        Family::AllBroadcast => (own, total),
        Family::Rooted if is_root => (own, total),
        Family::Rooted => (own, 0),
        Family::Reduction if !is_root => (total, 0),
        Family::AllReduction | Family::Reduction | Family::Scan => (total, total),
        Family::ScatteredReduction if in_place => (total, total),
        Family::ScatteredReduction => (total, own),
        Family::Barrier => (0, 0),
        Family::TotalExchange | Family::IrregularExchange => (total, total),
    }
}
