//! How flux is told to set variables for the ranks: behind its subcommand.

use super::{Failure, Variables, assignment};
use rondo::config;
use std::ffi::OsString;

/// The words that name what flux is to do.
fn subcommand(rest: &[OsString]) -> &[OsString] {
    let words = match rest.first() {
        Some(word) if word == "mini" => 2,
        _ => 1,
    };
    &rest[..words.min(rest.len())]
}

/// Does flux come back only when the job has ended?
pub fn waits(rest: &[OsString]) -> bool {
    subcommand(rest).last().is_none_or(|word| word != "submit")
}

/// The arguments: those that set the variables, in `rest`.
pub fn arguments(set: &Variables, rest: &[OsString]) -> Result<Vec<OsString>, Failure> {
    let subcommand = subcommand(rest);
    let is_known = subcommand
        .last()
        .is_some_and(|word| word == "run" || word == "submit");
    if !is_known {
        let why = "of flux's commands, Rondo knows 'flux run' and 'flux submit'";
        return Err(Failure::Usage(why.into()));
    }
    let rest = &rest[subcommand.len()..];
    Ok([subcommand, &environment(set)?, rest].concat())
}

/// The arguments that make flux set variables for the ranks, besides all that it has itself.
fn environment(set: &Variables) -> Result<Vec<OsString>, Failure> {
    let inherited = config::variables();
    let mut arguments = vec![];
    for (name, value) in set {
        if inherited.contains(&(name.clone(), value.clone())) {
            continue;
        }
        let text = value.to_string_lossy();
        if text.contains('$') || text.contains("{{") {
            let (name, value) = (name.display(), value.display());
            let why =
                format!("flux cannot set {name}={value}: it would replace a part of the value");
            return Err(Failure::Usage(why));
        }
        let mut argument = OsString::from("--env=");
        argument.push(assignment((name, value)));
        arguments.push(argument);
    }
    Ok(arguments)
}
