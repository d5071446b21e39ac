//! Did a rank begin at all?

#![forbid(unsafe_code)]

use super::{
    Evidence, Finding, problem,
    reach::{cannot_start, keeps_out, not_handed_on},
};
use crate::check::job::End;
use rondo::records::Kind;

/// So many of a launcher's last lines are repeated.
const LINES: usize = 5;

/// What the loader says in a rank: so there was one.
const OF_A_RANK: &str = "cannot be preloaded";

const TOO_MANY: &str = "there is no room for so many ranks: start fewer (-n), or ask for more nodes or cores; on one \
                        machine, Open MPI starts more ranks than cores with --oversubscribe";
const UNKNOWN_OPTION: &str = "a word in front of the program is no option of this launcher: its --help lists them; \
                              options of the program are written behind it";
const NO_LOGIN: &str = "the launcher cannot log in to a node: let 'ssh NODE true' work without a question, or use the \
                        batch system's own launcher";

/// What launchers write, in small letters, and what to do then.
const CAUSES: &[(&str, &str)] = &[
    ("not enough slots", TOO_MANY),
    ("more processors requested than permitted", TOO_MANY),
    ("requested node configuration is not available", TOO_MANY),
    (
        "attempt to run as root",
        "Open MPI starts nothing for root: be another user, or, in a container, add --allow-run-as-root",
    ),
    ("unknown option", UNKNOWN_OPTION),
    ("unrecognized option", UNKNOWN_OPTION),
    ("unrecognized argument", UNKNOWN_OPTION),
    ("invalid option", UNKNOWN_OPTION),
    ("permission denied (publickey", NO_LOGIN),
    ("host key verification failed", NO_LOGIN),
];

/// What is wrong with the launcher, where no process had the library: either it failed by itself, or it may still have
/// waited when the job was ended.
pub fn start(evidence: &Evidence) -> Option<Finding> {
    let ended = match evidence.end {
        End::Status(0) | End::Waiting => return None,
        End::Limit(_) => {
            return keeps_out(evidence)
                .is_none()
                .then(|| still_waiting(evidence));
        }
        End::Status(status) => format!("ended with status {status}"),
        End::Signal(signal) => format!("was ended by signal {signal}"),
    };
    let line_of = |mark: &str| {
        let mut lines = evidence.said.iter();
        lines.position(|line| line.to_lowercase().contains(mark))
    };
    let cause = CAUSES
        .iter()
        .find_map(|(mark, advice)| Some((line_of(mark)?, advice)));
    let had_ranks = keeps_out(evidence).is_some() || line_of(OF_A_RANK).is_some();
    if had_ranks && cause.is_none_or(|(_, advice)| *advice == UNKNOWN_OPTION) {
        return None; // the program itself may not know an option
    }
    let advice = match cause {
        Some((_, advice)) => (*advice).to_owned(),
        None => cannot_start(evidence).unwrap_or_else(|| why(evidence)),
    };
    let from = match cause {
        Some((line, _)) => line,
        None => evidence.said.len().saturating_sub(LINES),
    };
    // Where nothing says why, there may have been ranks without the library.
    let is_certain = cause.is_some() || cannot_start(evidence).is_some();
    let what = match is_certain {
        true => format!("the launcher {ended} before a rank began"),
        false => format!("the launcher {ended}, and no rank had the library"),
    };
    Some(Finding {
        said: evidence
            .said
            .iter()
            .skip(from)
            .take(LINES)
            .cloned()
            .collect(),
        ..problem(Kind::NotStarted, what, advice)
    })
}

/// What to do if nothing says why.
fn why(evidence: &Evidence) -> String {
    let first = match evidence.end {
        End::Signal(_) => {
            "find out who sent the signal: the system, when memory was short, the batch system, at a limit, or \
             somebody"
        }
        End::Status(_) | End::Limit(_) | End::Waiting => {
            "try the command without 'rondo check': if it fails in the same way, the launcher has to be mended first"
        }
    };
    format!("{first}. If ranks do begin, {}", not_handed_on(evidence))
}

/// Batch systems let launchers wait for their turn.
fn still_waiting(evidence: &Evidence) -> Finding {
    let from = evidence.said.len().saturating_sub(LINES);
    let advice = format!(
        "if the launcher waited for its turn, start it where nodes are granted already, or take a longer --limit. \
         Otherwise {}",
        cannot_start(evidence).unwrap_or_else(|| not_handed_on(evidence))
    );
    let what = "the library reached no process of the job";
    Finding {
        said: evidence.said[from..].to_vec(),
        ..problem(Kind::NotLoaded, what, advice)
    }
}
