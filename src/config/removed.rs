#![forbid(unsafe_code)]
//! What earlier versions understood and this one does not: it is passed over with a word, so that old scripts run.

/// Names as users write them, each with why it does nothing: variables, values of variables (`RONDO_X=value`), and keys
/// of files of rules.
const REMOVED: &[(&str, &str)] = &[
    (
        "RONDO_PMPI",
        "calls by PMPI_ names are always taken, because ranks may call a collective by different names",
    ),
    (
        "RONDO_GPU=direct",
        "calls on communicators with a GPU's driver are the MPI library's; see RONDO_GPU=off and the MPI hint \
         mpi_assert_memory_alloc_kinds",
    ),
    (
        "gamma_ns_per_kb",
        "no choice went by what it takes to reduce",
    ),
];

/// The sentence about this name, if it is one of them.
pub fn removed(name: &str) -> Option<String> {
    let (known, why) = REMOVED.iter().find(|(known, _)| *known == name)?;
    Some(format!("{known} does nothing any more: {why}"))
}

/// All of the names.
pub fn removed_names() -> impl Iterator<Item = &'static str> {
    REMOVED.iter().map(|(name, _)| *name)
}
