//! Predictions for reductions and scans.

#![forbid(unsafe_code)]

use super::messages::Fan;
use super::{Call, Model, Prediction};
use crate::algorithm::{
    AllReductionAlgorithm, ReductionAlgorithm, ScanAlgorithm, ScatteredReductionAlgorithm, trees,
};
use crate::collective::Collective;
use crate::schedule::{Circulant, DualRoot, Grid, Shape};

/// Blocks that rank 0 sends in a reduce-scatter that keeps the order of ranks, on a graph of these skips. There is one
/// for each distance to another rank, and all but the first of those that contain the skip 1 make another one be two.
fn split_blocks(skips: &[u32]) -> u64 {
    // Distances below each skip that contain the skip 1. Those from a skip on are that skip and a distance less.
    let mut below: Vec<u64> = Vec::with_capacity(skips.len());
    for &skip in skips {
        let (mut rest, mut count) = (skip, 0);
        for (&less, &below) in skips.iter().zip(&below).rev() {
            if less < rest {
                rest -= less;
                count += below.max(u64::from(less == 1));
            }
        }
        below.push(count);
    }
    let others = skips.last().map_or(0, |&p| u64::from(p) - 1);
    others + below.last().map_or(0, |&split| split.saturating_sub(1))
}

impl Prediction {
    /// One after the other.
    pub(super) fn then(self, next: Prediction) -> Prediction {
        Prediction {
            us: self.us + next.us,
            rounds: self.rounds.zip(next.rounds).map(|(a, b)| a + b),
            sent: self.sent + next.sent,
        }
    }
}

impl Call {
    /// Microseconds to reduce so many bytes.
    fn reducing_us(&self, bytes: u64) -> f64 {
        self.gamma_ns_per_kb * bytes as f64 / 1024.0 / 1000.0
    }
}

impl Model {
    /// Messages of so many bytes one after the other, each with its operand's reduction.
    fn rounds_of_us(&self, call: &Call, rounds: u64, bytes: u64) -> f64 {
        rounds as f64 * (self.of(call, bytes).alpha_us + self.beta_us() * bytes as f64)
    }

    pub(super) fn predict_all_reduction(
        &self,
        algorithm: AllReductionAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            AllReductionAlgorithm::Halving | AllReductionAlgorithm::FullLane => {
                self.halving(call).then(self.spread(call))
            }
            AllReductionAlgorithm::Gather => self.gathered(call),
            AllReductionAlgorithm::Ordered => self.ordered(call).then(self.spread(call)),
            AllReductionAlgorithm::Split => self.split(call).then(self.spread(call)),
            AllReductionAlgorithm::Census => self.census(call),
            AllReductionAlgorithm::Dissemination => self.doubling_rounds(call),
            AllReductionAlgorithm::Doubling => self.exchange(call),
            AllReductionAlgorithm::Ring => self.reducing(call).around(call).then(self.around(call)),
            AllReductionAlgorithm::ReduceBcast => self.reduce_bcast(call),
            AllReductionAlgorithm::DualRoot => self.dual_root(call),
            trees!(AllReductionAlgorithm) => self.up_and_down(call),
        }
    }

    /// Also a reduce-scatter.
    fn halving(&self, call: &Call) -> Prediction {
        let bytes = call.others();
        let graph = Circulant::new(call.p);
        let rounds = graph.skips().iter().zip(&graph.skips()[1..]);
        let part = call.bytes.div_ceil(call.ranks());
        let alphas_us =
            rounds.map(|(less, more)| self.of(call, part * u64::from(more - less)).alpha_us);
        Prediction {
            us: alphas_us.sum::<f64>() + self.reducing(call).beta_us() * bytes as f64,
            rounds: Some(call.q()),
            sent: bytes,
        }
    }

    /// The vectors of all, and all of them reduced.
    fn gathered(&self, call: &Call) -> Prediction {
        let bytes = (call.ranks() - 1) * call.bytes;
        Prediction {
            us: self.stepped_us(call, call.bytes)
                + self.beta_us() * bytes as f64
                + call.reducing_us(bytes),
            rounds: Some(call.stepped()),
            sent: bytes,
        }
    }

    /// Also a reduce-scatter: a message to every other rank, of its part.
    fn ordered(&self, call: &Call) -> Prediction {
        let (messages, bytes) = (call.ranks() - 1, call.others());
        let part = call.bytes.div_ceil(call.ranks());
        let gap_us = match call.is_placed(part) {
            true => self.gap_us,
            false => self.gap(),
        };
        let further_us = messages.saturating_sub(1) as f64 * gap_us;
        // The link is busy while the rank is.
        Prediction {
            us: messages.min(1) as f64 * self.of(call, part).alpha_us
                + further_us.max(self.beta_us() * bytes as f64)
                + call.reducing_us(bytes),
            rounds: Some(messages),
            sent: bytes,
        }
    }

    /// Also a reduce-scatter. Rank 0 sends most: a sum that is split, unless it is of one operand.
    fn split(&self, call: &Call) -> Prediction {
        let graph = Circulant::new(call.p);
        let part = call.bytes.div_ceil(call.ranks());
        let bytes = part * split_blocks(graph.skips());
        let alpha_us = |round: u64| {
            let blocks = call.ranks().div_ceil(2 << round);
            self.of(call, part * blocks).alpha_us
        };
        Prediction {
            us: (0..call.q()).map(alpha_us).sum::<f64>()
                + self.reducing(call).beta_us() * bytes as f64,
            rounds: Some(call.q()),
            sent: bytes,
        }
    }

    /// Joins are twice as many from the second round to the one before the last, unless p is a power of two.
    fn census(&self, call: &Call) -> Prediction {
        let q = call.q();
        let joins = match call.p.is_power_of_two() {
            true => q,
            false => 2 * (q - 1),
        };
        Prediction {
            us: self.rounds_of_us(call, q, call.bytes) + call.reducing_us(joins * call.bytes),
            rounds: Some(q),
            sent: q * call.bytes,
        }
    }

    /// The whole vector, and its reduction, in every round: dissemination, a binomial tree and an inclusive scan.
    fn doubling_rounds(&self, call: &Call) -> Prediction {
        let q = call.q();
        Prediction {
            us: self.reducing(call).rounds_of_us(call, q, call.bytes),
            rounds: Some(q),
            sent: q * call.bytes,
        }
    }

    /// Among a power of two, and two messages more for the ranks that are too many.
    fn exchange(&self, call: &Call) -> Prediction {
        let among = u64::from(call.p.max(1).ilog2());
        let (more, less) = match call.p.is_power_of_two() {
            true => (0, 0),
            false => (1, 1),
        };
        Prediction {
            us: (self.reducing(call)).rounds_of_us(call, among + more, call.bytes)
                + self.rounds_of_us(call, less, call.bytes)
                - call.early() * self.of(call, call.bytes).alpha_us,
            rounds: Some(among + more + less),
            // Among those that exchange, one that has been joined also hands the result back.
            sent: (among + less) * call.bytes,
        }
    }

    /// A part of each rank goes around.
    fn around(&self, call: &Call) -> Prediction {
        let (rounds, part) = (call.ranks() - 1, call.bytes.div_ceil(call.ranks()));
        Prediction {
            us: self.rounds_of_us(call, rounds, part),
            rounds: Some(rounds),
            sent: call.others(),
        }
    }

    /// In most rounds a rank has to do with a block of the reduction and with one of the broadcast.
    fn reduce_bcast(&self, call: &Call) -> Prediction {
        let (up, q) = (self.reducing(call), call.q());
        Prediction {
            us: up.circulant_us(call, &up.receiving(call, call.block()))
                + self.circulant_us(call, &self.sending(call, call.block())),
            rounds: Some(match q {
                0 => 0,
                q => 2 * (call.n() - 1 + q),
            }),
            // The rank after the root gets the first block of the broadcast at once, and sends ever after.
            sent: match q {
                0 => 0,
                q => 2 * call.bytes + q.saturating_sub(2) * call.block(),
            },
        }
    }

    /// Up both trees, over to the other root, and down again; and then a block with each neighbour, both ways.
    fn dual_root(&self, call: &Call) -> Prediction {
        let pace = DualRoot::pace(call.p);
        let up = self.reducing(call).receiving(call, call.block());
        let down = self.sending(call, call.block());
        let (messages, further) = (call.q().min(1), call.n() - 1);
        let last = |fan: &Fan| match pace.every - 1 {
            0 => 0.0,
            children => fan.hop(children - 1, children),
        };
        let levels = f64::from(pace.latencies / 2);
        let first_us = levels * (last(&up) + last(&down)) + up.hop(0, 1);
        Prediction {
            us: messages as f64 * (first_us + further as f64 * up.block_us(pace.every)),
            rounds: Some(u64::from(pace.first) + messages * u64::from(pace.every) * further),
            sent: messages * u64::from(pace.every) * call.bytes,
        }
    }

    pub(super) fn predict_reduction(
        &self,
        algorithm: ReductionAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            ReductionAlgorithm::Circulant | ReductionAlgorithm::FullLane => {
                self.circulant_backwards(call, call.bytes)
            }
            ReductionAlgorithm::Halving => self.halving(call).then(self.collect(call)),
            ReductionAlgorithm::Ring => self.reducing(call).around(call).then(self.collect(call)),
            ReductionAlgorithm::Ordered => self.ordered(call).then(self.collect(call)),
            ReductionAlgorithm::Postal | trees!(ReductionAlgorithm) => {
                let up = self.reducing(call);
                // Of a pair of trees a rank has to do with blocks in turn.
                let fan = match call.tree == Some(Shape::Two) {
                    true => up.receiving(call, call.block()),
                    false => up.passing_up(call, call.block()),
                };
                up.up_a_tree(call, 0, &fan)
            }
        }
    }

    /// The broadcast of blocks backwards: every rank sends its vector once.
    fn up_a_tree(&self, call: &Call, root: u32, fan: &Fan) -> Prediction {
        Prediction {
            sent: call.q().min(1) * call.bytes,
            ..self.over_a_tree(call, root, fan)
        }
    }

    /// An all-reduction or a scan: the last block goes down when it has come up.
    fn up_and_down(&self, call: &Call) -> Prediction {
        let root = call.tree.map_or(0, |tree| tree.top(call.p));
        let down = self.over_a_tree(call, root, &self.sending(call, call.block()));
        let up = self.reducing(call);
        up.up_a_tree(call, root, &up.receiving(call, call.block()))
            .then(down)
    }

    /// The broadcast of blocks, backwards: the busiest rank sends `sent` bytes.
    fn circulant_backwards(&self, call: &Call, sent: u64) -> Prediction {
        let up = self.reducing(call);
        Prediction {
            us: up.circulant_us(call, &up.receiving(call, call.block())),
            rounds: Some(call.pipelined()),
            sent: call.q().min(1) * sent,
        }
    }

    /// Every rank's part straight to the root.
    fn collect(&self, call: &Call) -> Prediction {
        let messages = call.ranks() - 1;
        let part = call.bytes.div_ceil(call.ranks());
        let root_us = match call.is_placed(part) {
            true => 0.0,
            false => self.root_us(),
        };
        let further_us = messages.saturating_sub(1) as f64 * root_us;
        Prediction {
            us: messages.min(1) as f64 * self.of(call, part).alpha_us
                + further_us
                + self.beta_us() * call.others() as f64,
            rounds: Some(messages),
            sent: messages.min(1) * call.bytes.div_ceil(call.ranks()),
        }
    }

    pub(super) fn predict_scattered(
        &self,
        algorithm: ScatteredReductionAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            ScatteredReductionAlgorithm::Halving | ScatteredReductionAlgorithm::FullLane => {
                self.halving(call)
            }
            ScatteredReductionAlgorithm::Ordered => self.ordered(call),
            ScatteredReductionAlgorithm::Split => self.split(call),
            ScatteredReductionAlgorithm::Circulant => self.circulant_backwards(call, call.others()),
            ScatteredReductionAlgorithm::Ring => self.reducing(call).around(call),
        }
    }

    pub(super) fn predict_scan(&self, algorithm: ScanAlgorithm, call: &Call) -> Prediction {
        match algorithm {
            ScanAlgorithm::Doubling => self.scan(call),
            ScanAlgorithm::Pipelined => self.chain(call),
            ScanAlgorithm::Hypercube => self.scan_in_grid(&Grid::hypercube_around(call.p), call),
            ScanAlgorithm::Mesh => self.scan_in_grid(&Grid::mesh_around(call.p), call),
            ScanAlgorithm::InOrder | ScanAlgorithm::TwoTree => self.up_and_down(call),
        }
    }

    /// What comes from the first ranks is there early, for they wait for few others: so no message waits for more than
    /// floor(log2 p) - 1 others. An exclusive scan joins twice after the first round, unless it is by 123-doubling:
    /// where that has q rounds.
    fn scan(&self, call: &Call) -> Prediction {
        let inclusive = self.doubling_rounds(call);
        let early = call.q() - u64::from(call.p.max(1).ilog2());
        let early_us = early as f64 * self.of(call, call.bytes).alpha_us;
        let covered = 3 * (1u64 << call.q()) / 4;
        let joins_twice = call.collective == Collective::Exscan && call.ranks() > covered + 1;
        let more = match joins_twice {
            true => call.q() - 1,
            false => 0,
        };
        Prediction {
            us: inclusive.us - early_us + call.reducing_us(more * call.bytes),
            ..inclusive
        }
    }

    /// A vector from every other rank of a line in each dimension. It joins the result, and all but in the last one
    /// what goes on as well.
    fn scan_in_grid(&self, grid: &Grid, call: &Call) -> Prediction {
        let rounds = grid.dimensions().map(|d| u64::from(d.size - 1));
        let last = rounds.clone().last().unwrap_or(0);
        let rounds: u64 = rounds.sum();
        Prediction {
            us: self.reducing(call).rounds_of_us(call, rounds, call.bytes)
                + call.reducing_us((rounds - last) * call.bytes),
            rounds: Some(rounds),
            sent: rounds * call.bytes,
        }
    }

    /// From rank to rank, block by block.
    fn chain(&self, call: &Call) -> Prediction {
        let (others, n) = (call.ranks() - 1, call.n());
        let block_us = self.reducing(call).beta_us() * call.block() as f64;
        let alpha_us = self.of(call, call.block()).alpha_us;
        let (first, further) = match others {
            0 => (0, 0),
            others => (others, n - 1),
        };
        Prediction {
            us: first as f64 * (alpha_us + block_us) + further as f64 * (self.gap() + block_us),
            rounds: Some(first + further),
            sent: others.min(1) * call.bytes,
        }
    }
}
