//! Which script carries a reduction out of which every rank has a part.

#![forbid(unsafe_code)]

use super::{Writing, blocks_of, in_segments};
use crate::algorithm::{Algorithm, ScatteredReductionAlgorithm};
use crate::collective::Reducing;
use crate::decide::Form;
use crate::schedule::Circulant;
use crate::script::{Scattered, Script, halving, ring_scatter};
use std::iter::once;
use std::ops::Range;

/// Blocks of fewer bytes are copied to share a message: for longer ones that takes longer than another message.
const COPIED_BYTES: u64 = 8 << 10;

impl Writing<'_> {
    pub(super) fn write_scattered_reduction(
        &self,
        script: &mut Script,
        algorithm: Algorithm,
        form: Form,
        blocks: u32,
    ) {
        let own = match algorithm.of_scattered_reduction() {
            ScatteredReductionAlgorithm::Halving | ScatteredReductionAlgorithm::FullLane => {
                self.halving(script, form, blocks)
            }
            ScatteredReductionAlgorithm::Ordered => self.ordered(script, blocks),
            ScatteredReductionAlgorithm::Split => self.split(script, blocks),
            ScatteredReductionAlgorithm::Circulant => self.scattered(script, blocks),
            ScatteredReductionAlgorithm::Ring => self.ring(script, blocks),
        };
        if !self.in_order {
            script.result(own);
            return;
        }
        // A node has the parts of its ranks together.
        self.members.hand_out(script, own);
        let rank = self.rank();
        script.result_elements(self.parts_cut().elements(&(rank..rank + 1)));
    }

    /// Writes a reduce-scatter. The blocks of this rank's part.
    pub(super) fn halving(&self, script: &mut Script, form: Form, segments: u32) -> Range<u32> {
        match form {
            Form::Flat => {
                script.begin(self.most, self.parts(segments));
                halving(script, &self.all(), |ranks| {
                    once(blocks_of(ranks, segments))
                });
                blocks_of(self.rank()..self.rank() + 1, segments)
            }
            Form::Nodes { .. } => {
                let mut own = 0..0;
                let ranks = self.order().unwrap_or_default();
                let parts = ranks.iter().map(|&rank| self.part(rank));
                if self.places().is_some() {
                    script.begin(self.most, in_segments(parts, segments));
                    self.with_lanes(|lanes| own = lanes.reduce_scatter(script, segments));
                    return own;
                }
                let start = |node| self.state.topology().start(node);
                self.with_leaders(|leaders| {
                    script.begin(self.most, in_segments(parts, segments));
                    own = leaders.reduce_scatter(script, segments, start);
                });
                own
            }
        }
    }

    /// Writes a reduce-scatter around a ring. The blocks of this rank's part.
    pub(super) fn ring(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let own = |rank: u32| blocks_of(rank..rank + 1, segments);
        script.begin(self.most, self.parts(segments));
        ring_scatter(script, &self.all(), own);
        own(self.rank())
    }

    /// The ranks in the order in which their parts lie in the area, if it is not their own: those in the same place of
    /// their nodes side by side or, where nodes have different numbers of ranks, those of a node.
    pub fn order(&self) -> Option<Vec<u32>> {
        if self.method.form == Form::Flat || self.reducing != Reducing::Scattered {
            return None;
        }
        let topology = self.state.topology();
        let Some(places) = self.places() else {
            return Some((0..self.p()).map(|place| topology.rank(place)).collect());
        };
        let ranks = (0..places as usize).flat_map(|place| {
            let nodes = 0..topology.nodes();
            nodes.map(move |node| topology.locals(node)[place])
        });
        Some(ranks.collect())
    }

    /// Writes a circulant reduce-scatter. The blocks of this rank's part.
    fn scattered(&self, script: &mut Script, segments: u32) -> Range<u32> {
        let group = self.all();
        let graph = Circulant::new(group.p);
        let parts = (0..group.p).map(|rank| self.part(rank));
        let element = self.bytes.div_ceil(self.total.max(1)).max(1);
        let scattered = Scattered::new(&group, &graph, segments, parts, COPIED_BYTES / element);
        script.begin(self.most, scattered.cut());
        scattered.write(script);
        blocks_of(group.me..group.me + 1, segments)
    }
}
