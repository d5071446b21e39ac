//! Info objects of the program's.

use crate::host::library::abi::{RawHandle, text};
use crate::host::library::table::Mpi;
use std::ffi::{CStr, c_char, c_int};

/// Characters of a value that are of interest. What of a longer one is cut off does not count.
const VALUE_MAX: usize = 255;

impl Mpi {
    /// The value under a key of an info object, if the object has the key. The host has taken the object just now.
    pub fn info_value(&self, info: RawHandle, key: &CStr) -> Option<String> {
        let info = info.info();
        if info == self.h.info_null {
            return None;
        }
        let mut value = [0 as c_char; VALUE_MAX + 1];
        let mut found: c_int = 0;
        // SAFETY: the object is one of the host's, which accepted it; the buffer has room for so many characters and a
        // NUL.
        let code = unsafe {
            (self.f.info_get)(
                info,
                key.as_ptr(),
                VALUE_MAX as c_int,
                value.as_mut_ptr(),
                &mut found,
            )
        };
        (code == 0 && found != 0).then(|| text(&value))
    }
}
