//! Which script carries a scan out.

#![forbid(unsafe_code)]

use super::writing::Writing;
use crate::algorithm::{Algorithm, ScanAlgorithm};
use crate::collective::Reducing;
use crate::decide::{Form, Method};
use crate::engine::node::{Operand, Want};
use crate::host::ReductionOp;
use crate::schedule::Grid;
use crate::script::{
    GRID_PLACES, Group, NodeScan, Prefix, Script, chain, doubling, grid_scan, share, tree_scan,
};
use std::ops::Range;

impl Writing<'_> {
    pub(super) fn write_scan(&self, script: &mut Script, algorithm: Algorithm, blocks: u32) {
        let prefix = self.prefix();
        let over_nodes = self.with_node_scan(|scan| {
            self.begin_scan(script, scan.places(), blocks);
            match self.shares {
                true => scan.between(script),
                false => scan.by_messages(script),
            }
        });
        if over_nodes.is_some() {
            return;
        }
        let places = match algorithm.of_scan() {
            ScanAlgorithm::Doubling => prefix.places(self.p()),
            ScanAlgorithm::Pipelined => prefix.places(self.p()).min(2),
            ScanAlgorithm::Hypercube | ScanAlgorithm::Mesh => GRID_PLACES,
            ScanAlgorithm::InOrder | ScanAlgorithm::TwoTree => prefix.tree_places(),
        };
        self.begin_scan(script, places, blocks);
        let (p, rank) = (self.p(), self.rank());
        match algorithm.of_scan() {
            ScanAlgorithm::Doubling => doubling(script, p, rank, blocks, prefix),
            ScanAlgorithm::Pipelined => chain(script, p, rank, blocks, prefix),
            ScanAlgorithm::Hypercube => {
                let grid = Grid::hypercube_around(p);
                grid_scan(script, &grid, (p, rank), blocks, prefix);
            }
            ScanAlgorithm::Mesh => {
                let grid = Grid::mesh_around(p);
                grid_scan(script, &grid, (p, rank), blocks, prefix);
            }
            ScanAlgorithm::InOrder | ScanAlgorithm::TwoTree => {
                let shape = self.shape(algorithm);
                let family = self.neighbors(shape, shape.top(self.p()));
                tree_scan(script, &family, rank, blocks, prefix);
            }
        }
    }

    /// Begins a script for an area of so many vectors, each in as many blocks.
    fn begin_scan(&self, script: &mut Script, places: u32, blocks: u32) {
        let vector = (0..blocks).map(|i| share(self.total, blocks, i));
        script.begin(self.most, (0..places).flat_map(|_| vector.clone()));
    }

    /// Which prefix a rank gets in a scan.
    fn prefix(&self) -> Prefix {
        match self.call.which() {
            ReductionOp::Exscan => Prefix::Exclusive,
            ReductionOp::Scan
            | ReductionOp::Allreduce
            | ReductionOp::Reduce
            | ReductionOp::ReduceScatter
            | ReductionOp::ReduceScatterBlock => Prefix::Inclusive,
        }
    }

    /// Calls `write` if the call is a scan over nodes.
    fn with_node_scan<T>(&self, write: impl FnOnce(NodeScan) -> T) -> Option<T> {
        let Method {
            algorithm: Algorithm::Doubling,
            form: Form::Nodes { .. },
            blocks,
            ..
        } = self.method
        else {
            return None;
        };
        if self.reducing != Reducing::Scan {
            return None;
        }
        let topology = self.state.topology();
        let last = |node| topology.start(node + 1) - 1; // its ranks follow each other
        let leaders: Vec<u32> = (0..topology.nodes()).map(last).collect();
        let locals = self.state.locals();
        Some(write(NodeScan {
            node: Group {
                members: Some(locals),
                p: locals.len() as u32,
                me: topology.local(self.rank()),
            },
            leaders: Group {
                members: Some(&leaders),
                p: leaders.len() as u32,
                me: topology.node(self.rank()),
            },
            n: blocks,
            prefix: self.prefix(),
        }))
    }

    /// The elements of a vector of the area.
    fn vector(&self, vector: u32) -> Range<u64> {
        let first = u64::from(vector) * self.total;
        first..first + self.total
    }

    /// What this rank gets of the vectors of its node.
    pub(super) fn prefixes(&self) -> Vec<Want> {
        let want = |of, to| Want {
            elements: 0..self.total,
            to,
            of,
        };
        let place = self.state.topology().local(self.rank());
        let last = match self.prefix() {
            Prefix::Inclusive => Some(place),
            Prefix::Exclusive => place.checked_sub(1),
        };
        let prefix = |to| last.map(|last| want(Operand::Upto(last), to)).into_iter();
        let over_nodes = self.with_node_scan(|scan| {
            let whole = want(Operand::All, self.vector(NodeScan::WHOLE).start);
            let wants = prefix(self.vector(scan.inside()).start);
            wants.chain(scan.leads().then_some(whole)).collect()
        });
        over_nodes.unwrap_or_else(|| prefix(0).collect())
    }

    /// What the leader hands out of a scan over nodes: of each rank of this node, elements of the area.
    pub(super) fn before_node(&self) -> Option<Vec<Range<u64>>> {
        let elements = self.with_node_scan(|scan| {
            let elements = self.vector(NodeScan::BEFORE);
            let of = |place| match place + 1 == scan.node.p {
                true => elements.clone(),
                false => 0..0,
            };
            scan.is_behind().then(|| (0..scan.node.p).map(of).collect())
        });
        elements.flatten()
    }

    /// Writes what is left of a scan over nodes when that is handed out, for the same area. Is it one?
    pub(super) fn write_join(&self, script: &mut Script) -> bool {
        let joined = self.with_node_scan(|scan| {
            self.begin_scan(script, scan.places(), self.method.blocks);
            scan.join(script);
        });
        joined.is_some()
    }
}
