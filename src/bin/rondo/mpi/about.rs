//! What MPI says of itself and of the machines.

#![allow(unsafe_code, reason = "texts come from functions in C")]

use super::{Blocks, Call, Collective, Mpi, Side, checked};
use crate::Failure;
use std::ffi::{c_char, c_int};

/// More than any MPI library wants for a text.
const TEXT_BYTES: usize = 16 << 10;
/// What is kept of the name of a node.
const NAME_BYTES: usize = 256;

impl Mpi {
    /// A short text from every rank.
    pub fn texts(&self, mine: &str) -> Result<Vec<String>, Failure> {
        let mut own = mine.as_bytes().to_vec();
        own.resize(NAME_BYTES, 0);
        let mut all = vec![0; NAME_BYTES * self.ranks];
        let blocks = Blocks::new(&vec![NAME_BYTES as u64; self.ranks]);
        let call = Call {
            collective: Collective::Allgather,
            blocks: &blocks.expect("names of fewer ranks than MPI can count"),
            op: None,
        };
        self.call(Side::Host, &call, &mut own, &mut all)?;
        let text = |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            text.trim_end_matches('\0').to_owned()
        };
        Ok(all.chunks(NAME_BYTES).map(text).collect())
    }

    /// What the MPI library calls the machine of this process.
    pub fn processor(&self) -> Result<String, Failure> {
        let name = self.loaded.functions.get_processor_name;
        text(name, "MPI_Get_processor_name")
    }

    /// The name and version that the MPI library says first about itself.
    pub fn version(&self) -> Result<String, Failure> {
        let version = self.loaded.functions.get_library_version;
        let text = text(version, "MPI_Get_library_version")?;
        let end = text.find(['\n', ',', '\0']).unwrap_or(text.len());
        Ok(text[..end].split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// One of MPI's functions that give a text and its length.
type Text = unsafe extern "C-unwind" fn(*mut c_char, *mut c_int) -> c_int;

fn text(function: Text, name: &str) -> Result<String, Failure> {
    let mut buffer = vec![0_u8; TEXT_BYTES];
    let mut length = 0;
    // SAFETY: it is MPI_Get_processor_name or MPI_Get_library_version, see above; the buffer is longer than the longest
    // text of any MPI library, and the length is an `int`.
    let code = unsafe { function(buffer.as_mut_ptr().cast(), &mut length) };
    checked(code, name)?;
    buffer.truncate(length as usize);
    Ok(String::from_utf8_lossy(&buffer).into_owned())
}
