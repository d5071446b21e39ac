//! Where the bytes of an all-broadcast over nodes are.

#![forbid(unsafe_code)]

use crate::schedule::{Blocks, Parts, Span};
use crate::topology::Topology;

/// Where the bytes of an all-broadcast are among the parts of all ranks, put one behind the other.
#[derive(Clone, Copy, Debug)]
pub enum Places<'a> {
    /// One rank of this node has a part, of so many bytes.
    One(u32, u32, u64),
    /// The part of each place.
    Many(&'a Topology, &'a Parts),
}

impl Places<'_> {
    /// The node part of `node`.
    pub fn node_part(&self, node: u32) -> Span {
        match self {
            Places::One(_, home, len) => Span {
                offset: 0,
                len: if *home == node { *len } else { 0 },
            },
            Places::Many(topology, parts) => {
                let [first, end] = [node, node + 1].map(|node| topology.start(node));
                Span {
                    offset: parts.span(first).offset,
                    len: parts.window(first, end - first),
                }
            }
        }
    }

    /// The part of `rank`.
    pub fn part(&self, rank: u32) -> Span {
        match self {
            Places::One(root, _, len) => Span {
                offset: 0,
                len: if *root == rank { *len } else { 0 },
            },
            Places::Many(topology, parts) => parts.span(topology.place(rank)),
        }
    }

    /// The share of lane `lane` of `lanes` in the node part of `node`.
    pub fn share(&self, node: u32, (lane, lanes): (u32, u32)) -> Span {
        let node_part = self.node_part(node);
        let share = Blocks::new(node_part.len, lanes).span(lane);
        cut(node_part, share.offset, share.len)
    }

    /// Calls `each` with the ranks and the bytes of their parts that `span` consists of.
    pub fn each(&self, span: Span, mut each: impl FnMut(u32, Span)) {
        match self {
            Places::One(rank, ..) => each(*rank, span),
            Places::Many(topology, parts) => {
                let mut place = parts.find(span.offset);
                let mut offset = span.offset;
                while offset < span.end() {
                    let part = parts.span(place);
                    let len = part.end().min(span.end()).saturating_sub(offset);
                    if len > 0 {
                        let inside = Span {
                            offset: offset - part.offset,
                            len,
                        };
                        each(topology.rank(place), inside);
                    }
                    offset += len;
                    place += 1;
                }
            }
        }
    }
}

/// The `len` bytes of `span` from byte `from` on.
pub(super) fn cut(span: Span, from: u64, len: u64) -> Span {
    Span {
        offset: span.offset + from,
        len,
    }
}
