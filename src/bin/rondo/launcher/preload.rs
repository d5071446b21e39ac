//! What a launcher's line says of LD_PRELOAD already.

#![forbid(unsafe_code)]

use super::{Dialect, PRELOAD, slurm, starts};
use crate::program;
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::Path,
};

/// How the option for a variable is written whose value is the next word: first, as Rondo writes it.
pub fn options(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::OpenMpi => &["-x", "--x"],
        Dialect::Pals => &["--env", "-env"],
        Dialect::Aprun => &["-e", "--environment-override"],
        Dialect::Hydra => &["-genv", "-env"],
        Dialect::Flux => &["--env"],
        Dialect::Slurm | Dialect::Ibrun => &[],
    }
}

/// What `rest`, the launcher's line of the user, says of LD_PRELOAD.
pub struct Merged {
    /// The line, where `preload` made a value of each that is given, or of none where the launcher is to take that of
    /// the environment.
    pub rest: Vec<OsString>,
    /// A word that sets the variable in another way, and so takes Rondo's away.
    pub other: Option<OsString>,
}

/// May the next word be the value of this one? It is an option without one in the same word.
pub fn takes_value(word: &OsStr) -> bool {
    starts(word, "-") && !word.as_bytes().contains(&b'=')
}

/// Which words are the launcher's own, and not those of a program that it starts. That is the first one that can be
/// started, but no name without a folder behind an option, which may be its value (`--map-by node`).
pub fn are_own(words: &[OsString]) -> Vec<bool> {
    let mut own = true;
    let is_own = words.iter().enumerate().map(|(at, word)| {
        let is_value = at > 0 && takes_value(&words[at - 1]) && !word.as_bytes().contains(&b'/');
        let is_program = !is_value && program::is_executable(Path::new(word));
        own = word == ":" || (own && !is_program);
        own
    });
    is_own.collect()
}

/// Looks for LD_PRELOAD in the launcher's line: what is set there counts, and not what Rondo sets.
pub fn merged(
    dialect: Dialect,
    rest: &[OsString],
    preload: impl Fn(Option<&OsStr>) -> OsString,
) -> Merged {
    let options = options(dialect);
    let (mut rest, mut other) = (rest.to_vec(), None);
    let own = are_own(&rest);
    let lists = match dialect {
        Dialect::Slurm => slurm::lists(&rest, &own),
        Dialect::OpenMpi | Dialect::Pals | Dialect::Aprun => vec![],
        Dialect::Hydra | Dialect::Flux | Dialect::Ibrun => vec![],
    };
    for at in 0..rest.len() {
        let word = rest[at].clone();
        if let Some(list) = lists.iter().find(|list| list.word == at) {
            match list.merged(&word, &preload) {
                Some(merged) => rest[at] = merged,
                None => _ = other.get_or_insert(list.with_option(&rest)),
            }
            continue;
        }
        let is_value = own[at] && at > 0 && options.iter().any(|option| rest[at - 1] == *option);
        let (option, set) = match word.as_bytes().strip_prefix(b"--env=") {
            Some(set) if own[at] && options.contains(&"--env") => ("--env=", set),
            _ if is_value => ("", word.as_bytes()),
            _ => ("", &b""[..]),
        };
        let value = match set.strip_prefix(PRELOAD.as_bytes()) {
            Some([]) if dialect == Dialect::Hydra => {
                if let Some(value) = rest.get_mut(at + 1) {
                    *value = preload(Some(value));
                }
                continue;
            }
            Some([]) => preload(None),
            Some([b'=', value @ ..]) => preload(Some(OsStr::from_bytes(value))),
            _ => {
                let mut parts = word.as_bytes().windows(PRELOAD.len());
                if parts.any(|part| part == PRELOAD.as_bytes()) {
                    other.get_or_insert(word);
                }
                continue;
            }
        };
        rest[at] = [option, PRELOAD, "="].concat().into();
        rest[at].push(value);
    }
    Merged { rest, other }
}
