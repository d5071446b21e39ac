//! What `rondo check` says of Rondo's own options.

use super::{executable, jobs, said};
use std::fs;

#[test]
fn a_file_of_rules_that_is_ignored_is_a_problem() {
    let jobs = jobs();
    fs::write(jobs.file("rules.json"), "[]").unwrap();
    let said = said(
        jobs.tool(&[], 3, &["./checked"])
            .env("RONDO_RULES", "rules.json"),
    );
    let text = said.problems(&["option"]);
    assert!(
        text.contains("RONDO_RULES=rules.json: it is no object"),
        "{text}"
    );
}

/// By a script that takes a variable away on one of them.
#[test]
fn options_that_differ_between_ranks_are_a_problem() {
    let jobs = jobs();
    let script =
        "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" != 1 ] || unset RONDO_BCAST\nexec \"$@\"\n";
    executable(jobs.file("differing"), script);
    let mut command = jobs.tool(&[], 3, &["./differing", "./checked"]);
    let text = said(command.env("RONDO_BCAST", "circulant")).problems(&["option"]);
    assert!(
        text.contains("RONDO_BCAST not the same on all of 3 ranks")
            && text.contains("something changes them"),
        "{text}"
    );
}

#[test]
fn what_is_switched_off_is_said() {
    let said = super::said(jobs().tool(&[], 3, &["./checked"]).env("RONDO", "off"));
    said.problems(&["switched-off"]);
}

#[test]
fn statistics_that_go_elsewhere_are_missed() {
    let said = jobs().check(&[], 3, &["env", "RONDO_STATS=text", "./checked"]);
    let text = said.problems(&["no-statistics"]);
    assert!(
        text.contains("and leave RONDO_STATS to 'rondo check'"),
        "{text}"
    );
}
