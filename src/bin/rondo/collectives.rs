//! The collectives as this tool knows them.

#![forbid(unsafe_code)]

use clap::builder::{PossibleValuesParser, TypedValueParser};
use rondo::collective::{Collective, Family};

/// What an argument that names a collective can be.
pub fn parser() -> impl TypedValueParser<Value = Collective> {
    let names = Collective::ALL.iter().map(|collective| collective.name());
    PossibleValuesParser::new(names).try_map(|name| known(&name))
}

/// The collective of this name, or what is wrong with it.
pub fn known(name: &str) -> Result<Collective, String> {
    let mut all = Collective::ALL.iter().copied();
    let found = all.find(|collective| collective.name() == name);
    found.ok_or_else(|| format!("'{name}' is no collective"))
}

/// The names of all.
pub fn names() -> Vec<&'static str> {
    Collective::ALL
        .iter()
        .map(|collective| collective.name())
        .collect()
}

/// What the sizes of this tool are those of.
pub fn size_of(collective: Collective) -> &'static str {
    match collective.family() {
        Family::Broadcast => "the message",
        Family::AllBroadcast => "all ranks together",
        Family::Rooted => "a block, on the average",
    }
}

/// Is the memory of all blocks significant on a rank?
pub fn needs_all(collective: Collective, is_root: bool) -> bool {
    match collective.family() {
        Family::Broadcast | Family::AllBroadcast => true,
        Family::Rooted => is_root,
    }
}
