//! How srun is told to set variables for the ranks: by a list. If there are several, the last one counts, so that what
//! Rondo sets is added to each that the user gives.

use super::{Failure, Line, PRELOAD, Variables, assignment, starts, takes_value};
use rondo::config;
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
};

/// The option, and the same with its value in the same word.
const EXPORT: &str = "--export";
const EXPORT_WITH: &str = "--export=";

/// Options of srun's that have no value, so that a program may follow.
const FLAGS: [&str; 24] = [
    "-E",
    "-H",
    "-K",
    "-O",
    "-Q",
    "-X",
    "-Z",
    "-k",
    "-l",
    "-s",
    "-u",
    "-v",
    "-vv",
    "--contiguous",
    "--exact",
    "--exclusive",
    "--kill-on-bad-exit",
    "--label",
    "--overcommit",
    "--overlap",
    "--oversubscribe",
    "--pty",
    "--unbuffered",
    "--verbose",
];

/// A list of the user's.
pub struct List {
    /// The number of the word that it is in.
    pub word: usize,
    /// Where it begins there.
    from: usize,
}

/// The lists in the launcher's line. Which words may be the launcher's `own` is known; a word behind one that is no
/// option is a program, even if it cannot be started here.
pub fn lists(words: &[OsString], own: &[bool]) -> Vec<List> {
    let (mut lists, mut is_own) = (vec![], true);
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| &*words[at]);
        let is_value =
            before.is_some_and(|word| takes_value(word) && !FLAGS.iter().any(|flag| word == *flag));
        let may_be = own[at] && (starts(word, "-") || is_value);
        is_own = word == ":" || (is_own && may_be);
        if is_own && starts(word, EXPORT_WITH) {
            let from = EXPORT_WITH.len();
            lists.push(List { word: at, from });
        } else if is_own && before.is_some_and(|word| word == EXPORT) {
            lists.push(List { word: at, from: 0 });
        }
    }
    lists
}

impl List {
    /// What it sets, unless it is to set nothing.
    fn items<'a>(&self, word: &'a OsStr) -> Option<Vec<&'a [u8]>> {
        let list = &word.as_bytes()[self.from..];
        let is_closed = ["NONE", "NIL"]
            .iter()
            .any(|name| list.eq_ignore_ascii_case(name.as_bytes()));
        // A comma in quotes is part of a value.
        let mut quote = None;
        let items = list.split(move |&byte| {
            match quote {
                Some(open) if byte == open => quote = None,
                None if byte == b'"' || byte == b'\'' => quote = Some(byte),
                Some(_) | None => {}
            }
            byte == b',' && quote.is_none()
        });
        (!is_closed).then(|| items.filter(|item| !item.is_empty()).collect())
    }

    /// What the user wrote: the option and the list.
    pub fn with_option(&self, words: &[OsString]) -> OsString {
        let option = if self.from == 0 {
            self.word - 1
        } else {
            self.word
        };
        words[option..=self.word].join(OsStr::new(" "))
    }

    /// The word with what `preload` makes of the user's LD_PRELOAD, if that is in the list. `None`: it sets nothing.
    pub fn merged(
        &self,
        word: &OsStr,
        preload: impl Fn(Option<&OsStr>) -> OsString,
    ) -> Option<OsString> {
        let merge = |item: &[u8]| {
            let value = match item.strip_prefix(PRELOAD.as_bytes()) {
                Some([]) => preload(None),
                Some([b'=', value @ ..]) => preload(Some(OsStr::from_bytes(value))),
                Some(_) | None => return item.to_vec(),
            };
            assignment((&PRELOAD.into(), &value)).into_vec()
        };
        let items = self.items(word)?.into_iter().map(merge);
        let items: Vec<Vec<u8>> = items.collect();
        let items: Vec<&[u8]> = items.iter().map(Vec::as_slice).collect();
        Some(self.with(word, &items))
    }

    /// The word with these items in the list.
    fn with(&self, word: &OsStr, items: &[&[u8]]) -> OsString {
        let option = &word.as_bytes()[..self.from];
        OsString::from_vec([option, &items.join(&b',')].concat())
    }
}

/// The arguments: what the variables are added to, or, if there is no list for the first program, a list of Rondo's
/// own. Programs behind the first have lists of their own, or all that srun has itself.
pub fn line(set: &Variables, rest: &[OsString], lists: &[List]) -> Result<Line, Failure> {
    let environment = environment(set)?;
    let mut words = rest.to_vec();
    let first = rest.iter().position(|word| word == ":");
    let first = first.unwrap_or(rest.len());
    let mut is_set = false;
    for list in lists {
        let Some(items) = list.items(&rest[list.word]) else {
            continue;
        };
        let more = assignments(set, &items);
        let all: Vec<&[u8]> = items
            .into_iter()
            .chain(more.iter().map(|item| item.as_bytes()))
            .collect();
        words[list.word] = list.with(&rest[list.word], &all);
        is_set |= list.word < first;
    }
    if !is_set {
        let all = [OsString::from("ALL")].into_iter();
        let all: Vec<OsString> = all.chain(assignments(set, &[b"ALL"])).collect();
        let mut list = OsString::from(EXPORT_WITH);
        list.push(all.join(OsStr::new(",")));
        words.insert(0, list);
    }
    Ok(Line {
        arguments: words,
        environment,
    })
}

/// Would a list be split within this value?
fn splits(value: &OsStr) -> bool {
    value.as_bytes().iter().any(|byte| b",'\"".contains(byte))
}

/// What has to be changed in srun's own environment: with ALL in the list, srun prefers that to the list, and only
/// there a value may have a comma or a quote in it. The library is not for srun itself, so LD_PRELOAD comes by the list
/// alone.
fn environment(set: &Variables) -> Result<Vec<(OsString, Option<OsString>)>, Failure> {
    let inherited = config::variables();
    let mut changes = vec![];
    for (name, value) in set {
        let splits = splits(value);
        if name == PRELOAD {
            if splits {
                let value = value.display();
                let why = format!(
                    "srun cannot set {PRELOAD}={value}: a comma or a quote in it would end the value; install Rondo, \
                     or copy the library, where the path has none"
                );
                return Err(Failure::Usage(why));
            }
            if config::preloaded().is_some() {
                changes.push((name.clone(), None));
            }
            continue;
        }
        let before = inherited.iter().find(|(it, _)| it == name);
        let is_there = before.is_some_and(|(_, before)| before == value);
        if !is_there && (splits || before.is_some()) {
            changes.push((name.clone(), Some(value.clone())));
        }
    }
    Ok(changes)
}

/// What is to be added to a list that has these items already.
fn assignments(set: &Variables, items: &[&[u8]]) -> Vec<OsString> {
    let inherited = config::variables();
    let has_all = items.iter().any(|item| item.eq_ignore_ascii_case(b"ALL"));
    let mut all = vec![];
    for (name, value) in set {
        let is_set = |item: &&[u8]| {
            let value = item.strip_prefix(name.as_bytes());
            value.is_some_and(|value| value.starts_with(b"="))
        };
        // The environment reaches the ranks by itself, with any character in it.
        let is_named = items.contains(&name.as_bytes());
        let is_there = inherited.contains(&(name.clone(), value.clone()));
        let comes = (has_all || is_named) && (is_there || splits(value));
        if comes || items.iter().any(is_set) {
            continue;
        }
        all.push(match splits(value) {
            true => name.clone(),
            false => assignment((name, value)),
        });
    }
    all
}
