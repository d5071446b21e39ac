//! When the ranks agree on what they found of the network.

#![forbid(unsafe_code)]

/// Bytes of calls before the ranks agree for the first time, and between two agreements at the most.
const FIRST_AGREEMENT_BYTES: u64 = 256 << 10;
const AGREEMENT_BYTES_MAX: u64 = 1 << 30;

/// Bytes of calls whose bytes all ranks know, since they agreed on figures, and until they do so again.
#[derive(Debug, Default)]
pub struct Volume {
    bytes: u64,
    until: u64,
}

impl Volume {
    /// Counts the bytes of a call. Are the ranks to agree before it? Rarely, and ever less often, because that takes
    /// time as well; but often enough to see that the network is another one.
    pub fn is_to_agree(&mut self, bytes: u64) -> bool {
        let until = self.until.max(FIRST_AGREEMENT_BYTES);
        let due = self.bytes >= until;
        if due {
            (self.bytes, self.until) = (0, (until * 4).min(AGREEMENT_BYTES_MAX));
        }
        self.bytes = self.bytes.saturating_add(bytes);
        due
    }
}
