//! Predictions for what moves data, or waits.

#![forbid(unsafe_code)]

use super::{Call, Model, Prediction};
use crate::algorithm::{
    AllBroadcastAlgorithm, BarrierAlgorithm, BroadcastAlgorithm, RootedAlgorithm,
    TotalExchangeAlgorithm,
};
use crate::collective::Collective;
use crate::model::{PASSING_NS, Reach};
use crate::schedule::{Moves, Pace, Shape, TreeNeighbors};

impl Model {
    pub(super) fn predict_broadcast(
        &self,
        algorithm: BroadcastAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            BroadcastAlgorithm::Circulant => self.circulant(call),
            BroadcastAlgorithm::Postal => self.postal(call),
            BroadcastAlgorithm::Relay => self.relay(call),
            BroadcastAlgorithm::Binomial
            | BroadcastAlgorithm::Chain
            | BroadcastAlgorithm::Linear
            | BroadcastAlgorithm::Binary
            | BroadcastAlgorithm::Kary
            | BroadcastAlgorithm::Fibonacci
            | BroadcastAlgorithm::InOrder
            | BroadcastAlgorithm::TwoTree
            | BroadcastAlgorithm::Mesh => self.down_a_tree(call),
            BroadcastAlgorithm::ScatterAllgather => self.moves(Moves::Scatter, call),
        }
    }

    /// The root sends a block in every round.
    fn circulant(&self, call: &Call) -> Prediction {
        let n = f64::from(call.blocks);
        Prediction {
            us: self.pipeline_us(Reach::among(call.p), call.bytes, 1, n),
            rounds: Some(call.pipelined()),
            sent: match call.q() {
                0 => 0,
                q => call.bytes + (q - 1) * call.block(),
            },
        }
    }

    /// A rank begins to send another block as soon as it has sent one to each of its children.
    pub(super) fn down_a_tree(&self, call: &Call) -> Prediction {
        let pace = call.pace.unwrap_or(Pace::ALONE);
        Prediction {
            us: self.tree_in_blocks_us(pace, call.bytes, f64::from(call.blocks)),
            rounds: Some(match pace.first {
                0 => 0,
                first => u64::from(first) + u64::from(pace.every) * (call.n() - 1),
            }),
            sent: match pace.first {
                0 => 0,
                _ => u64::from(pace.every) * call.bytes,
            },
        }
    }

    /// Whole parts, step by step.
    fn moves(&self, moves: Moves, call: &Call) -> Prediction {
        let twice = moves == Moves::Scatter || moves.has_pairs(call.p);
        Prediction {
            us: self.moves_us(moves, call.p, call.bytes),
            rounds: Some(moves.count(call.p).into()),
            sent: call.others() * (1 + u64::from(twice)),
        }
    }

    pub(super) fn predict_exchange(
        &self,
        algorithm: TotalExchangeAlgorithm,
        call: &Call,
    ) -> Prediction {
        let [circulant_us, linear_us] = self.exchange_us(call.p, call.bytes);
        let others = call.ranks() - 1;
        match algorithm {
            TotalExchangeAlgorithm::Circulant => Prediction {
                us: circulant_us,
                rounds: Some(call.q()),
                sent: call.q() * call.bytes / 2,
            },
            TotalExchangeAlgorithm::Pairwise => Prediction {
                us: others as f64 * self.alpha_us + self.beta_us() * call.others() as f64,
                rounds: Some(others + others.min(1) * (call.ranks() % 2)),
                sent: call.others(),
            },
            TotalExchangeAlgorithm::Linear => Prediction {
                us: linear_us,
                rounds: Some(others.min(1)),
                sent: call.others(),
            },
        }
    }

    /// The root has the most children.
    pub(super) fn postal(&self, call: &Call) -> Prediction {
        let mut tree = TreeNeighbors::default();
        tree.set(Shape::Postal(self.latency(call.bytes)), call.p, 0, 0);
        Prediction {
            us: self.tree_us(call.p, call.bytes),
            rounds: None,
            sent: tree.children().len() as u64 * call.bytes,
        }
    }

    /// The root sends every block once, each relay its share to all others.
    fn relay(&self, call: &Call) -> Prediction {
        let relays = call.ranks() - 1;
        let rounds = match relays {
            0 => 0,
            _ => call.n() - 1 + relays,
        };
        let round_us = self.gap() + self.beta_us() * call.block() as f64;
        let latencies = relays.min(2) as f64;
        Prediction {
            us: rounds as f64 * round_us + latencies * (self.alpha_us - self.gap()),
            rounds: Some(rounds),
            sent: relays.min(1) * call.bytes,
        }
    }

    pub(super) fn predict_all_broadcast(
        &self,
        algorithm: AllBroadcastAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            AllBroadcastAlgorithm::Circulant => self.circulant_of_all(call),
            AllBroadcastAlgorithm::Bruck => self.bruck(call),
            AllBroadcastAlgorithm::Ring => self.ring_of_all(call),
            AllBroadcastAlgorithm::Doubling => self.moves(Moves::Doubling, call),
            AllBroadcastAlgorithm::Neighbor => self.moves(Moves::Neighbours, call),
            AllBroadcastAlgorithm::Mesh => self.moves(Moves::Mesh, call),
        }
    }

    fn circulant_of_all(&self, call: &Call) -> Prediction {
        let n = f64::from(call.blocks);
        Prediction {
            us: self.pipeline_us(Reach::among(call.p), call.bytes, call.ranks(), n),
            rounds: Some(call.pipelined()),
            sent: call.others(),
        }
    }

    /// Also what an all-reduction ends with.
    pub(super) fn bruck(&self, call: &Call) -> Prediction {
        Prediction {
            us: self.whole_us(&call.steps(), call.others()),
            rounds: Some(call.stepped()),
            sent: call.others(),
        }
    }

    fn ring_of_all(&self, call: &Call) -> Prediction {
        Prediction {
            us: self.ring_us(call.p, call.bytes.div_ceil(call.ranks())),
            rounds: Some(call.ranks() - 1),
            sent: call.others(),
        }
    }

    pub(super) fn predict_rooted(
        &self,
        algorithm: RootedAlgorithm,
        call: &Call,
    ) -> Result<Prediction, &'static str> {
        let scatters = matches!(call.collective, Collective::Scatter | Collective::Scatterv);
        match algorithm {
            RootedAlgorithm::Linear => Ok(self.straight(call, scatters)),
            RootedAlgorithm::Hybrid if call.bytes >= call.long_block => {
                Ok(self.straight(call, scatters))
            }
            RootedAlgorithm::Hybrid | RootedAlgorithm::Binomial => Ok(self.grouped(call, scatters)),
            RootedAlgorithm::Adaptive => Err("the time to find the tree is not modelled"),
        }
    }

    fn straight(&self, call: &Call, scatters: bool) -> Prediction {
        let others = call.ranks() - 1;
        let bytes = others * call.bytes;
        Prediction {
            us: match others {
                0 => 0.0,
                _ => self.alpha_us + others as f64 * self.root_us() + self.beta_us() * bytes as f64,
            },
            rounds: Some(others),
            sent: if scatters {
                bytes
            } else {
                others.min(1) * call.bytes
            },
        }
    }

    /// Through the tree of groups; without the sizes of blocks, which travel as well. The largest group that sends is
    /// the upper one of the last round or of the one before.
    fn grouped(&self, call: &Call, scatters: bool) -> Prediction {
        let (q, others) = (call.q(), call.ranks() - 1);
        let largest = match q {
            0 => 0,
            _ => (call.ranks() - (1 << (q - 1))).max(1 << (q - 1) >> 1),
        };
        let link_us = self.beta_us() * (others * call.bytes) as f64;
        let passing_us = q as f64 * PASSING_NS * call.bytes as f64 / 1000.0;
        Prediction {
            us: q as f64 * self.alpha_us + link_us + passing_us,
            rounds: Some(q),
            sent: call.bytes * if scatters { others } else { largest },
        }
    }

    pub(super) fn predict_barrier(&self, algorithm: BarrierAlgorithm, call: &Call) -> Prediction {
        match algorithm {
            BarrierAlgorithm::Dissemination => Prediction {
                us: self.rounds_us(&call.steps()),
                rounds: Some(call.stepped()),
                sent: 0,
            },
        }
    }
}
