#![forbid(unsafe_code)]
//! What earlier versions understood and this one does not: it is passed over with a word, so that old scripts run.

const OF_RULES: &str = "a file of rules says which calls are whose, by ranks too (RONDO_RULES)";

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
    ("RONDO_BCAST_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_ALLGATHERV_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_GATHERV_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_SCATTERV_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_ALLREDUCE_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_REDUCE_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_REDUCE_SCATTER_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_SCAN_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_BARRIER_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_ALLTOALL_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_ALLTOALLV_MIN_COMM_SIZE", OF_RULES),
    ("RONDO_ALLTOALLW_MIN_COMM_SIZE", OF_RULES),
    (
        "RONDO_MAX_COMMS",
        "all communicators share one private communicator, and 2047 at a time have a number there",
    ),
    (
        "RONDO_SYNC_FREQ",
        "one in 128 short messages from a rank to another waits until it is received",
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
