//! Which ranks share a node.

#![forbid(unsafe_code)]

use crate::hash;
use crate::host::{Code, Mpi};
use crate::network::Placement;

/// The nodes with these names, whatever ranks are on them.
pub fn placement(names: &[u64]) -> Placement {
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    Placement {
        nodes: names.len() as u32,
        hash: hash::of_words(names),
    }
}

/// Asks all `p` ranks of the world for the names of their nodes. Collective. `name` is the user's for this process, if
/// not empty.
pub fn ask(mpi: &Mpi, rank: u32, p: u32, name: &str) -> Result<Vec<u64>, Code> {
    let host = mpi.node_name();
    let own = hash::of_bytes(if name.is_empty() { &host } else { name }.as_bytes());
    let mut numbers = vec![i64::MIN; p as usize];
    numbers[rank as usize] = own as i64;
    mpi.max(mpi.world(), &mut numbers)?;
    Ok(numbers.into_iter().map(|number| number as u64).collect())
}
