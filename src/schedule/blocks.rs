//! The division of a message into blocks of nearly equal size.

#![forbid(unsafe_code)]

/// A run of bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first byte, counted from the start of the message.
    pub offset: u64,
    /// The number of bytes; an empty span still has its place.
    pub len: u64,
}

impl Span {
    /// The first byte after the span, counted from the start of the message.
    pub fn end(self) -> u64 {
        self.offset + self.len
    }
}

/// A message of m bytes cut into n blocks, in order and without gaps.
///
/// The first m mod n blocks have ceil(m/n) bytes and the others floor(m/n). Block 0 is thus never
/// shorter than another, and if there are more blocks than bytes, the empty blocks come last. Every
/// rank that knows m and n knows every block, which is why messages need no headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    n: u32,
    len: u64,
    longer: u64,
}

impl Blocks {
    /// Cuts `bytes` bytes into `n` blocks.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn new(bytes: u64, n: u32) -> Blocks {
        assert!(n > 0, "a message has at least one block");
        Blocks {
            n,
            len: bytes / u64::from(n),
            longer: bytes % u64::from(n),
        }
    }

    /// The number of blocks, n.
    pub fn count(&self) -> u32 {
        self.n
    }

    /// The bytes of block `i`, in constant time.
    ///
    /// # Panics
    /// If there is no block `i`.
    pub fn span(&self, i: u32) -> Span {
        assert!(i < self.n, "there is no block {i} of {}", self.n);
        let i = u64::from(i);
        // No product here exceeds the message, so nothing overflows however long the message is.
        Span {
            offset: i * self.len + i.min(self.longer),
            len: self.len + u64::from(i < self.longer),
        }
    }
}
