//! How what the ranks contribute is cut into blocks.

#![forbid(unsafe_code)]

use super::Piece;
use crate::schedule::Blocks;

/// What one rank contributes, and how it is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The rank.
    pub root: u32,
    /// Number of its first block among all blocks of all parts.
    pub first: u32,
    /// Its blocks; empty ones do not travel.
    pub blocks: Blocks,
}

impl Part {
    /// Bytes of the part.
    pub fn bytes(&self) -> u64 {
        self.blocks.span(self.blocks.count() - 1).end()
    }

    pub(super) fn piece(&self, block: u32) -> Piece {
        Piece {
            root: self.root,
            number: self.first + block,
            span: self.blocks.span(block),
        }
    }
}

/// Cuts the parts of contributors, each of so many bytes, into as many blocks each.
pub fn cut_alike(contributors: impl Iterator<Item = (u32, u64)>, blocks: u32, cut: &mut Vec<Part>) {
    cut.clear();
    cut.extend((0..).zip(contributors).map(|(i, (root, len))| Part {
        root,
        first: i * blocks,
        blocks: Blocks::new(len, blocks),
    }));
}

/// Cuts the part of every rank into blocks of one size, so that the longest has this many.
pub fn cut_long(parts: impl Iterator<Item = u64> + Clone, blocks: u32, cut: &mut Vec<Part>) {
    cut.clear();
    let longest = parts.clone().max().unwrap_or(0);
    let size = longest.div_ceil(blocks.into()).max(1);
    let mut first = 0;
    cut.extend((0..).zip(parts).map(|(root, len)| {
        let blocks = Blocks::new(len, len.div_ceil(size).max(1) as u32);
        let part = Part {
            root,
            first,
            blocks,
        };
        first += blocks.count();
        part
    }));
}
