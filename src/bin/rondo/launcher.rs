//! Launchers: which one it is, and how it is told to set variables for the ranks.

#![forbid(unsafe_code)]

mod kinds;
mod slurm;

use crate::{Failure, program};
use kinds::{Form, is_launcher};
pub use kinds::{Launcher, ask};
use rondo::config;
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::Path,
};

/// The variable that Rondo gets into the ranks by.
pub const PRELOAD: &str = "LD_PRELOAD";

/// Variables to set for the ranks, and their values.
pub type Variables = BTreeMap<OsString, OsString>;

/// Fails if the first word is no launcher, but something of this tool's that its parser took for one: an option that is
/// misspelt, or the value of `with_value`, which must be in the same word.
pub fn check_word<A: clap::Args>(command: &[OsString], with_value: &str) -> Result<(), Failure> {
    let word = command[0].display();
    if starts(&command[0], "-") {
        let text = command[0].to_string_lossy();
        let name = text
            .trim_start_matches('-')
            .split('=')
            .next()
            .unwrap_or_default();
        let own = A::augment_args(clap::Command::new(""));
        let own = own.get_arguments().filter_map(clap::Arg::get_long);
        let rated = own.map(|own| (strsim::jaro_winkler(own, name), own));
        let best = rated.max_by(|a, b| a.0.total_cmp(&b.0));
        let hint = match best {
            Some((likeness, own)) if likeness >= 0.8 => format!("; did you mean --{own}?"),
            _ => ": the launcher comes first, and then its options".into(),
        };
        return Err(Failure::Usage(format!("unknown option {word}{hint}")));
    }
    match command.get(1) {
        Some(next) if !is_launcher(&command[0]) && is_launcher(next) => {
            let why = format!(
                "{word} is no launcher; if it belongs to {with_value}, write {with_value}={word}"
            );
            Err(Failure::Usage(why))
        }
        _ => Ok(()),
    }
}

/// How a launcher is to be started.
#[derive(Default)]
pub struct Line {
    pub arguments: Vec<OsString>,
    /// What its own environment is to have besides, or without a value is not to have.
    pub environment: Vec<(OsString, Option<OsString>)>,
    /// A word of the user's that sets LD_PRELOAD in a way that Rondo does not know, and so may take Rondo's away.
    pub against: Option<OsString>,
}

impl Launcher {
    /// Does it come back only when the job has ended?
    pub fn waits(&self, rest: &[OsString]) -> bool {
        self.form != Form::BehindSubcommand
            || subcommand(rest).last().is_none_or(|word| word != "submit")
    }

    /// The line of the launcher: what sets the variables, and `rest`. Where that has an LD_PRELOAD already, `join` adds
    /// Rondo to it.
    pub fn line(
        &self,
        set: &Variables,
        rest: &[OsString],
        join: impl Fn(&OsStr) -> OsString,
    ) -> Result<Line, Failure> {
        let mut line = Line {
            arguments: rest.to_vec(),
            ..Line::default()
        };
        let own = are_own(rest);
        if let Some(preload) = set.get(OsStr::new(PRELOAD)) {
            for at in 0..rest.len() {
                self.merge(&mut line, &own, at, preload, &join);
            }
        }
        let words = std::mem::take(&mut line.arguments);
        line.arguments = match self.form {
            Form::Each => {
                // Each program of several has variables of its own. None is set twice: no version has to choose.
                let programs = words.split(|word| word == ":");
                let programs: Vec<_> = programs.map(|it| self.with_own(set, it)).collect();
                programs.join(&OsString::from(":"))
            }
            Form::Once => {
                let each = |(name, value): (&OsString, &OsString)| {
                    [self.options[0].into(), name.clone(), value.clone()]
                };
                set.iter().flat_map(each).chain(words).collect()
            }
            Form::List => {
                line.environment = in_environment(set);
                if config::preloaded().is_some() {
                    // The launcher would prefer it to the list.
                    line.environment.push((PRELOAD.into(), None));
                }
                slurm::with_lists(set, words, &own, &mut line.against)?
            }
            Form::BehindSubcommand => {
                line.environment = in_environment(set);
                let before = subcommand(&words).to_vec();
                if !before
                    .last()
                    .is_some_and(|word| word == "run" || word == "submit")
                {
                    let why = "of flux's commands, Rondo knows 'flux run' and 'flux submit'";
                    return Err(Failure::Usage(why.into()));
                }
                let own = set.iter().filter(|(name, _)| *name == PRELOAD);
                let own = own.map(|set| with(b"--env=", &assignment(set)));
                let own: Vec<OsString> = own.collect();
                [&before[..], &own, &words[before.len()..]].concat()
            }
            Form::InFront => {
                let own = own.iter().take_while(|own| **own).count();
                let (own, program) = words.split_at(own);
                if program.is_empty() {
                    let why =
                        "no word behind ibrun names a program that is there and can be started";
                    return Err(Failure::Usage(why.into()));
                }
                let env = [OsString::from("env")].into_iter();
                let env: Vec<OsString> = env.chain(set.iter().map(assignment)).collect();
                [own, &env, program].concat()
            }
        };
        Ok(line)
    }

    /// Adds Rondo to what a word of the launcher's own preloads already.
    fn merge(
        &self,
        line: &mut Line,
        own: &[bool],
        at: usize,
        preload: &OsStr,
        join: &impl Fn(&OsStr) -> OsString,
    ) {
        let word = line.arguments[at].as_bytes().to_vec();
        let mut parts = word.windows(PRELOAD.len());
        let Some(from) = parts.position(|part| part == PRELOAD.as_bytes()) else {
            return;
        };
        let (prefix, rest) = (&word[..from], &word[from + PRELOAD.len()..]);
        let is_list = self.form == Form::List;
        let is_value = at > 0 && self.options.iter().any(|it| line.arguments[at - 1] == *it);
        let has_option = |it: &&str| prefix.strip_suffix(b"=") == Some(it.as_bytes());
        let is_item = is_list && prefix.ends_with(b",");
        let fits = (is_value && (prefix.is_empty() || is_item))
            || self.options.iter().any(has_option)
            || (is_item && starts(&line.arguments[at], "--export="));
        let end = rest.iter().position(|byte| is_list && *byte == b',');
        let (value, behind) = rest.split_at(end.unwrap_or(rest.len()));
        let merged = match value {
            _ if !fits || !own[at] => None,
            [] if self.form == Form::Once => {
                if let Some(value) = line.arguments.get_mut(at + 1) {
                    *value = join(value);
                }
                return;
            }
            [] => Some(preload.to_owned()),
            [b'=', value @ ..] => Some(join(OsStr::from_bytes(value))),
            _ => None,
        };
        let Some(merged) = merged else {
            line.against.get_or_insert(OsString::from_vec(word));
            return;
        };
        let word = [prefix, b"LD_PRELOAD=", merged.as_bytes(), behind].concat();
        line.arguments[at] = OsString::from_vec(word);
    }

    /// A program with its options, and those that set the variables in front.
    fn with_own(&self, set: &Variables, program: &[OsString]) -> Vec<OsString> {
        let is_own = are_own(program);
        let mut own = program.iter().zip(is_own).filter(|(_, own)| *own);
        let is_set =
            own.any(|(word, _)| starts(word, "LD_PRELOAD=") || starts(word, "--env=LD_PRELOAD="));
        let added = set.iter().filter(|(name, _)| !is_set || *name != PRELOAD);
        let added = added.flat_map(|set| [self.options[0].into(), assignment(set)]);
        added.chain(program.iter().cloned()).collect()
    }
}

/// Which words are the launcher's own, and not those of a program that it starts. That is the first one that can be
/// started, but no name without a folder behind an option, which may be its value (`--map-by node`).
fn are_own(words: &[OsString]) -> Vec<bool> {
    let takes_value = |word: &OsString| starts(word, "-") && !word.as_bytes().contains(&b'=');
    let mut own = true;
    let is_own = words.iter().enumerate().map(|(at, word)| {
        let is_value = at > 0 && takes_value(&words[at - 1]) && !word.as_bytes().contains(&b'/');
        let is_program = !is_value && program::is_executable(Path::new(word));
        own = word == ":" || (own && !is_program);
        own
    });
    is_own.collect()
}

/// The words that name what flux is to do.
fn subcommand(rest: &[OsString]) -> &[OsString] {
    let words = match rest.first() {
        Some(word) if word == "mini" => 2,
        _ => 1,
    };
    &rest[..words.min(rest.len())]
}

/// What is to be changed in a launcher's own environment, which it hands on: all but LD_PRELOAD, because the library is
/// not for the launcher itself.
fn in_environment(set: &Variables) -> Vec<(OsString, Option<OsString>)> {
    let inherited = config::variables();
    let new = set.iter().filter(|(name, value)| {
        *name != PRELOAD && !inherited.contains(&((*name).clone(), (*value).clone()))
    });
    new.map(|(name, value)| (name.clone(), Some(value.clone())))
        .collect()
}

fn starts(word: &OsStr, with: &str) -> bool {
    word.as_bytes().starts_with(with.as_bytes())
}

fn with(prefix: &[u8], word: &OsStr) -> OsString {
    OsString::from_vec([prefix, word.as_bytes()].concat())
}

/// `NAME=VALUE`.
pub fn assignment((name, value): (&OsString, &OsString)) -> OsString {
    with(&[name.as_bytes(), b"="].concat(), value)
}
