//! In how many blocks a reduction or a scan is carried out.

#![forbid(unsafe_code)]

use super::Reduction;
use crate::algorithm::{Algorithm, reduces_nothing, trees};
use crate::collective::Reducing;
use crate::decide::{self, Context, Form};
use crate::model::{BLOCKS_MAX, FULL_PIPELINE, Model, Reach, blocks_of, least_blocks};
use crate::schedule::{DualRoot, Pace};

/// Bytes of a block on a slow link, at the most: a rank joins a block before it passes it on, and over latency shorter
/// ones wait less for each other (measured: docs/results/reductions.md).
const SLOW_LINK_BLOCK: u64 = 16 << 10;

/// Blocks of up to `size` bytes in `bytes` bytes, as far as there may be so many.
fn most(bytes: u64, size: u64) -> u32 {
    let blocks = bytes.div_ceil(size.max(1)).max(1);
    u32::try_from(blocks).unwrap_or(u32::MAX).min(BLOCKS_MAX)
}

impl Reduction<'_> {
    /// No fewer blocks in a pipeline: a rank joins a block before it passes it on, so it pays less than in a broadcast
    /// to have longer ones than the host sends eagerly. Unless the link is known to be slow, a full pipeline is enough:
    /// where clocks may not choose the bits, every link counts as slow that the user does not describe.
    fn fewest(&self, model: &Model, bytes: u64, eager_bytes: u64) -> u32 {
        let is_known = self.operator.exact || self.context.config.network.beta_ns_per_kb.is_some();
        match is_known && model.is_slow() {
            true => most(bytes, eager_bytes),
            false => most(bytes, eager_bytes).min(FULL_PIPELINE as u32),
        }
    }

    /// The blocks of the vector (circulant, pipelined), or of each part.
    pub(super) fn blocks(&self, algorithm: Algorithm, form: Form, block_bytes: u64) -> u32 {
        let facts = self.context.facts;
        let algorithm = self.context.collective.family().in_lanes(algorithm);
        let ranks = match form {
            Form::Flat => facts.p,
            Form::Nodes { .. } => facts.nodes,
        };
        // Of what travels between nodes.
        let bytes = match form {
            Form::Nodes { lanes } if algorithm == Algorithm::Circulant => {
                self.bytes.div_ceil(lanes.into())
            }
            Form::Flat | Form::Nodes { .. } => self.bytes,
        };
        match algorithm {
            Algorithm::Pipelined if block_bytes == 0 => match form {
                Form::Flat => self.chain_blocks(),
                Form::Nodes { .. } => most(self.bytes, facts.eager_bytes),
            },
            Algorithm::DualRoot if block_bytes == 0 => {
                self.pipelined_blocks(DualRoot::pace(facts.p))
            }
            // Nothing travels between nodes; inside, without shared memory, no more than a message carries.
            _ if ranks == 1 && algorithm != Algorithm::Pipelined => least_blocks(self.bytes),
            // So many of each part.
            Algorithm::Circulant if self.reducing() == Reducing::Scattered => {
                self.scattered_blocks(block_bytes)
            }
            Algorithm::Circulant
            | Algorithm::ReduceBcast
            | Algorithm::Pipelined
            | Algorithm::DualRoot
                if block_bytes > 0 =>
            {
                most(bytes, block_bytes)
            }
            // The tree of a block depends on its number.
            Algorithm::Circulant | Algorithm::ReduceBcast => {
                let model = self.model();
                let short = match model.is_slow() {
                    true => facts.eager_bytes.min(SLOW_LINK_BLOCK),
                    false => facts.eager_bytes,
                };
                self.circulant_blocks(ranks, bytes, short)
            }
            Algorithm::Mesh if self.reducing() == Reducing::Scan => {
                most(self.bytes, facts.eager_bytes)
            }
            Algorithm::Postal => least_blocks(self.bytes),
            trees!(Algorithm) => self.tree_blocks(algorithm, block_bytes),
            Algorithm::Pipelined
            | Algorithm::DualRoot
            | Algorithm::Doubling
            | Algorithm::Census
            | Algorithm::Hypercube
            | Algorithm::Dissemination => most(self.bytes, facts.eager_bytes),
            Algorithm::Halving | Algorithm::Ordered | Algorithm::Split | Algorithm::Ring => {
                // In the order of ranks, a node has those of its ranks together.
                let (parts, of_ranks) = match (form, self.reducing()) {
                    (Form::Nodes { .. }, Reducing::Scattered) if self.is_in_order() => {
                        (facts.nodes, facts.widest)
                    }
                    (Form::Flat, _) | (_, Reducing::Scattered) => (facts.p, 1),
                    (Form::Nodes { lanes }, _) => (facts.nodes.saturating_mul(lanes), 1),
                };
                let part = match self.reducing() {
                    Reducing::Scattered => {
                        let longest = self.longest.saturating_mul(of_ranks.into());
                        longest.min(self.bytes)
                    }
                    Reducing::All | Reducing::Root | Reducing::Scan => {
                        self.bytes.div_ceil(parts.into())
                    }
                };
                let size = match block_bytes {
                    0 => facts.eager_bytes,
                    size => size,
                };
                let blocks = most(part, size).min(BLOCKS_MAX.div_ceil(parts));
                blocks.max(least_blocks(part))
            }
            Algorithm::Gather | Algorithm::FullLane | reduces_nothing!(Algorithm) => 1,
        }
    }

    /// The blocks of `bytes` bytes on the circulant graph.
    fn circulant_blocks(&self, ranks: u32, bytes: u64, eager_bytes: u64) -> u32 {
        let model = self.model();
        let blocks = model.blocks(Reach::among(ranks), bytes, eager_bytes, 1);
        blocks.max(self.fewest(&model, bytes, eager_bytes))
    }

    /// The blocks of a vector that comes up a tree. Of two trees each has every other block.
    fn tree_blocks(&self, algorithm: Algorithm, block_bytes: u64) -> u32 {
        let Context { facts, config, .. } = self.context;
        if block_bytes > 0 {
            return blocks_of(self.bytes, block_bytes);
        }
        let shape = decide::shape(algorithm, facts.p, 1, config);
        let pace = shape.map_or(Pace::ALONE, |shape| shape.pace(facts.p));
        self.paced_blocks(&self.model(), pace)
    }

    fn paced_blocks(&self, model: &Model, pace: Pace) -> u32 {
        let eager_bytes = self.context.facts.eager_bytes;
        let blocks = model.tree_blocks(pace, self.bytes, eager_bytes);
        blocks.max(self.fewest(model, self.bytes, eager_bytes))
    }

    /// The blocks of a vector that goes along the ranks.
    pub(super) fn chain_blocks(&self) -> u32 {
        let others = self.context.facts.p - 1;
        self.pipelined_blocks(Pace {
            first: others,
            every: 1,
            latencies: others,
        })
    }

    /// The blocks of a vector that goes along the ranks, or up and down two trees, at this pace. Operands are joined in
    /// the same way whatever the blocks are: so what was measured of the network counts, if the operator does not mind.
    fn pipelined_blocks(&self, pace: Pace) -> u32 {
        let Context { facts, config, .. } = self.context;
        let (between, inside) = match self.is_cut_freely() {
            true => facts.models(config),
            false => config.network.models(),
        };
        let model = if facts.nodes == 1 { inside } else { between };
        self.paced_blocks(&model, pace)
    }

    /// The blocks of each part in a circulant reduce-scatter. `block_bytes` is for those of all parts in a round.
    fn scattered_blocks(&self, block_bytes: u64) -> u32 {
        let facts = self.context.facts;
        let blocks = match block_bytes {
            0 => self.circulant_blocks(facts.p, self.bytes, facts.eager_bytes),
            size => u32::try_from(self.bytes.div_ceil(size)).unwrap_or(BLOCKS_MAX),
        };
        let most = BLOCKS_MAX.div_ceil(facts.p);
        blocks.min(most).max(least_blocks(self.longest))
    }
}
