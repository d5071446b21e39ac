//! Memory that a call takes for itself, before its first message.

#![forbid(unsafe_code)]

use super::Stop;
use crate::decide::Why;
use crate::group::State;
use crate::host::{Abi, Code, Data, Failure, Mpi};

/// Before calls of so many bytes and more the ranks tell each other whether all have the memory that the call takes. At
/// 100 Gbit/s so many bytes take 700 us, and among 36 nodes it takes some 15 us to tell each other: 2 % of the shortest
/// such call. It is more where latencies are long: the ranks wait for as many as a short all-reduction has.
///
/// A rank that has no memory for a shorter call ends the job.
const AGREED_BYTES: u64 = 8 << 20;

/// A call that takes memory for more vectors than so many is agreed on from fewer bytes on: it may take 40 MiB without.
pub const VECTORS: u64 = 5;

/// This rank alone has no memory: the others may have begun, and would wait for it. So the job ends.
pub fn lacking(code: Code) -> Stop {
    Stop::Broken(Failure::memory(code))
}

/// The memory for a call of so many bytes, which all ranks know. Of a long call all ranks report that there is none if
/// one of them has none. Collective then.
pub fn of_all<T>(room: Result<T, Code>, bytes: u64, mpi: &Mpi, state: &State) -> Result<T, Stop> {
    agreed((room, false), bytes, mpi, state)
}

/// The same of the data of a broadcast or all-broadcast. Where a rank would need a copy of all because its datatype has
/// gaps, and that is more than the options allow, a long call is the host's, which may do without.
pub fn of_data<'a>(
    data: Result<Data<'a>, Code>,
    bytes: u64,
    mpi: &Mpi,
    state: &State,
) -> Result<Data<'a>, Stop> {
    // No memory is lacking for anything but a copy.
    let copies = matches!(data, Err(_) | Ok(Data::Packed(_)));
    let leaves = copies && bytes > state.config().max_tmp_size && mpi.takes(bytes);
    agreed((data, leaves), bytes, mpi, state)
}

/// The room of this rank, if all have theirs, and if none of them `leaves` the call to the host.
fn agreed<T>(
    (room, leaves): (Result<T, Code>, bool),
    bytes: u64,
    mpi: &Mpi,
    state: &State,
) -> Result<T, Stop> {
    // Ranks that are simulated have the memory of one process, which says nothing of a cluster's.
    let is_short = bytes < AGREED_BYTES;
    if is_short || Abi::BUILT.is_simulated() {
        return room.map_err(lacking);
    }
    let [lacks, leaves] = any([room.is_err(), leaves], mpi, state)?;
    match room {
        _ if leaves => Err(Stop::Host(Why::Memory)),
        Ok(room) if !lacks => Ok(room),
        Ok(_) | Err(_) => Err(Stop::Error(Code::no_mem())),
    }
}

/// Do all ranks have the memory of which this one says whether it has it? Collective.
pub fn have_all(has: bool, mpi: &Mpi, state: &State) -> Result<bool, Stop> {
    any([!has], mpi, state).map(|[lacks]| !lacks)
}

/// Which of these are so on any rank? Collective.
fn any<const N: usize>(own: [bool; N], mpi: &Mpi, state: &State) -> Result<[bool; N], Stop> {
    let mut numbers = own.map(i64::from);
    state.max(mpi, &mut numbers).map_err(Stop::Broken)?;
    Ok(numbers.map(|number| number != 0))
}
