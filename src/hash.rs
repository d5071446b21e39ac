//! THE hash: the same number on every rank, for words and for texts. Hardly ever the same for different ones, but
//! whoever wants to can make such.
//!
//! `sources.rs`, which the build uses, has this file as well.

#![forbid(unsafe_code)]

/// A number for these words (FNV-1a, and what the multiplication carries up is carried round).
pub fn of_words(words: impl IntoIterator<Item = u64>) -> u64 {
    let step = |h: u64, word: u64| {
        (h ^ word)
            .wrapping_mul(0x0000_0100_0000_01b3)
            .rotate_left(23)
    };
    words.into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// A number for these bytes.
pub fn of_bytes(bytes: &[u8]) -> u64 {
    of_words(bytes.iter().map(|&byte| byte.into()))
}
