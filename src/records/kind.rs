//! The words that say what `rondo check` found.

#![forbid(unsafe_code)]

use serde::Serialize;

/// Makes the list of all beside them.
macro_rules! kinds {
    ($($(#[$doc:meta])+ $name:ident,)+) => {
        /// What a finding of `rondo check` is about. As text it is a word for scripts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Kind {
            $($(#[$doc])+ $name,)+
        }

        impl Kind {
            /// All of them.
            pub const ALL: &[Kind] = &[$(Kind::$name),+];
        }
    };
}

kinds! {
    /// The launcher failed, maybe before a rank began.
    NotStarted,
    /// The library is not in all ranks.
    NotLoaded,
    /// MPI does not know of the launcher.
    JobsOfOne,
    /// Something before the program took the library away.
    LostOnTheWay,
    /// A program has the MPI library in itself.
    StaticMpi,
    /// A program has no MPI.
    NoMpi,
    /// Calls do not pass the library.
    CallsDoNotArrive,
    /// There were no collectives.
    NoCalls,
    /// The library is for another MPI than the program's.
    DoesNotFit,
    /// No library of Rondo's fits the MPI library.
    UnknownMpi,
    /// The job is to outlive failed processes.
    Outlives,
    /// Ranks have different libraries of Rondo.
    BuildsDiffer,
    /// RONDO=off.
    SwitchedOff,
    /// An option, or a file of rules, is not what it should be.
    Option,
    /// The ranks of a node share no memory.
    NoSharedMemory,
    /// Rank 0 did not write what it counted.
    NoStatistics,
    /// Calls were left to the MPI library because buffers may be on a GPU.
    Gpu,
    /// Which ranks share a machine.
    NodeNames,
    /// The job failed.
    JobFailed,
    /// The job did not end.
    JobHung,
    /// The library is in all ranks.
    Loaded,
    /// Calls come with sessions.
    Sessions,
    /// Calls come to the library.
    Calls,
    /// The library fits the MPI library.
    Fits,
    /// The ranks of a node share memory.
    SharedMemory,
    /// The job ended well.
    End,
}
