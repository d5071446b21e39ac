//! A mistake of a launcher.

/// What Open MPI's launcher says, once in thousands of runs, of a rank that did call `MPI_Finalize`, if it hears of the
/// rank's end first (open-mpi/ompi, issue 7833).
pub const MISTAKEN: &str = "with PID 0 on";
