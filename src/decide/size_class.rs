//! Calls that are alike in size.

#![forbid(unsafe_code)]

/// Calls that are alike: of about as many bytes, distributed evenly or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeClass {
    /// Binary digits of the bytes; 0 if nobody knows these.
    digits: u8,
    /// Has no rank much more than the average? Of a reduction: may the host have it, for it gives the same bits?
    pub even: bool,
}

impl SizeClass {
    /// That of calls of `bytes` bytes.
    pub fn of(bytes: u64, even: bool) -> SizeClass {
        let digits = (64 - bytes.leading_zeros()) as u8;
        SizeClass { digits, even }
    }

    /// Its number, less than [`crate::learn::SIZE_CLASSES`].
    pub fn number(self) -> u8 {
        2 * self.digits + u8::from(!self.even)
    }

    /// The size class with this number.
    pub fn with(number: u8) -> SizeClass {
        SizeClass {
            digits: number / 2,
            even: number.is_multiple_of(2),
        }
    }

    /// The least and the most bytes of such calls, up to 2^53.
    pub fn bounds(self) -> (u64, u64) {
        match self.digits {
            0 => (0, 1 << 53),
            digits @ 1..=53 => (1 << (digits - 1), (1 << digits) - 1),
            _ => (1 << 53, 1 << 53),
        }
    }

    /// Bytes of one in the middle.
    pub fn bytes(self) -> u64 {
        let (least, most) = self.bounds();
        if self.digits == 0 {
            1
        } else {
            least.midpoint(most)
        }
    }
}
