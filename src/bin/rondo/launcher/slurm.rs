//! Lists of variables for srun.

#![forbid(unsafe_code)]

use super::{Failure, PRELOAD, Variables, assignment, with};
use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

/// The words with LD_PRELOAD and the names of the other variables in each list, or, if there is none for the first
/// program, in one of Rondo's own. Programs behind the first have lists of their own, or all of the environment.
pub fn with_lists(
    set: &Variables,
    mut words: Vec<OsString>,
    own: &[bool],
    against: &mut Option<OsString>,
) -> Result<Vec<OsString>, Failure> {
    let preload = set.iter().find(|(name, _)| *name == PRELOAD);
    if let Some((_, value)) = preload.filter(|(_, value)| splits(value)) {
        let value = value.display();
        return Err(Failure::Usage(format!(
            "srun cannot set {PRELOAD}={value}: a comma or a quote in it would end the value; install Rondo, or \
             copy the library, where the path has none"
        )));
    }
    let first = words.iter().position(|word| word == ":");
    let first = first.unwrap_or(words.len());
    let mut is_set = false;
    for at in 0..words.len() {
        let is_value = at > 0 && words[at - 1] == "--export";
        let list = match words[at].as_bytes() {
            word if is_value => word,
            word => word.strip_prefix(b"--export=").unwrap_or_default(),
        };
        let is_closed = [&b"NONE"[..], b"NIL"]
            .iter()
            .any(|it| list.eq_ignore_ascii_case(it));
        if list.is_empty() || !own[at] {
            continue;
        }
        if is_closed {
            against.get_or_insert(words[at].clone());
            continue;
        }
        let items: Vec<&[u8]> = list.split(|byte| *byte == b',').collect();
        let has_all = items.iter().any(|item| item.eq_ignore_ascii_case(b"ALL"));
        let mut more = OsString::new();
        for (name, value) in set {
            let is_there = |item: &&[u8]| {
                let rest = item.strip_prefix(name.as_bytes());
                rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'=')))
            };
            if items.iter().any(is_there) || (has_all && name != PRELOAD) {
                continue;
            }
            more.push(",");
            if name == PRELOAD {
                more.push(assignment((name, value)));
            } else {
                more.push(name);
            }
        }
        words[at].push(more);
        is_set |= at < first;
    }
    if !is_set {
        let own = preload
            .map(|set| with(b",", &assignment(set)))
            .unwrap_or_default();
        words.insert(0, with(b"--export=ALL", &own));
    }
    Ok(words)
}

/// Would a list be split within this value?
fn splits(value: &OsStr) -> bool {
    value.as_bytes().iter().any(|byte| b",'\"".contains(byte))
}
