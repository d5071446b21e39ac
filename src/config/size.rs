//! Numbers of bytes as text.

#![forbid(unsafe_code)]

/// A number of bytes with the largest unit that leaves it whole.
pub(super) fn size(bytes: u64) -> String {
    let unit = |shift: u32, letter| {
        let whole = bytes != 0 && bytes.is_multiple_of(1 << shift);
        whole.then(|| format!("{}{letter}", bytes >> shift))
    };
    unit(30, "G")
        .or_else(|| unit(20, "M"))
        .or_else(|| unit(10, "K"))
        .unwrap_or(bytes.to_string())
}
