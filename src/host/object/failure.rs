//! Why a collective that has begun cannot go on.

use super::code::Code;
use crate::engine::rooted::Misfit;
use crate::host::library::table::Mpi;
use std::time::Duration;

/// Why a collective ended early.
#[derive(Debug)]
pub enum Failure {
    /// The host reported an error.
    Host(Code, &'static str),
    /// The ranks disagree about the call.
    Misfit(Misfit),
    /// This rank sends so many bytes, but by its own receive counts it contributes another number.
    Contribution {
        /// By count and type of what it sends.
        sends: u64,
        /// By its own entry of the receive counts.
        expected: u64,
    },
    /// The type of the root's blocks is none, or not committed, and the host would not mind.
    Datatype,
    /// Nothing arrived for this long; with one rank that was waited for.
    Timeout(Duration, Option<u32>),
}

/// Whose fault it is where counts are known to differ. MPI libraries put up with some of that.
const PROGRAM: &str = "this is an error of the program, which RONDO=off may hide";

impl Failure {
    /// There is no memory for what is under way.
    pub fn memory(code: Code) -> Failure {
        Failure::Host(code, "making room")
    }

    /// Text for a person; `host` explains its own codes.
    pub fn text(&self, mpi: &Mpi) -> String {
        match self {
            Failure::Host(code, what) => format!("{what}: {}", mpi.error_string(code.get())),
            Failure::Misfit(Misfit::Stranger(from)) => format!(
                "what rank {from} sent does not fit: the ranks differ in counts, datatype, operator or root"
            ),
            Failure::Misfit(Misfit::Unexpected(to)) => format!(
                "rank {to} does not expect what it is to get: the ranks differ in counts, datatype, operator or root"
            ),
            Failure::Contribution { sends, expected } => format!(
                "it sends {sends} bytes, but by its receive counts it contributes {expected}; {PROGRAM}"
            ),
            Failure::Datatype => {
                "the datatype of the blocks at the root is null or not committed".to_owned()
            }
            Failure::Misfit(Misfit::Block { rank, own, root }) => {
                format!(
                    "rank {rank} has a block of {own} bytes, but by the root's counts it has {root}; {PROGRAM}"
                )
            }
            Failure::Timeout(limit, from) => {
                let seconds = limit.as_secs();
                let whom =
                    from.map_or_else(String::new, |rank| format!(", waiting for rank {rank}"));
                format!("no progress in {seconds} s (RONDO_TIMEOUT_S){whom}")
            }
        }
    }

    /// The MPI error to end the job with.
    pub fn code(&self) -> Code {
        match self {
            Failure::Host(code, _) => *code,
            Failure::Misfit(_) | Failure::Contribution { .. } => Code::truncate(),
            Failure::Datatype => Code::datatype(),
            Failure::Timeout(..) => Code::intern(),
        }
    }
}

/// Says what the host was asked for when it reported an error.
pub(in crate::host) fn at(what: &'static str) -> impl Fn(Code) -> Failure {
    move |code| Failure::Host(code, what)
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Failure {
        Failure::Misfit(misfit)
    }
}
