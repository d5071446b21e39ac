//! Predictions for what moves data, or waits.

#![forbid(unsafe_code)]

use super::{Call, Model, Prediction};
use crate::algorithm::{
    AllBroadcastAlgorithm, AllReductionAlgorithm, BarrierAlgorithm, BroadcastAlgorithm,
    IrregularExchangeAlgorithm, RootedAlgorithm, TotalExchangeAlgorithm, trees,
};
use crate::collective::Collective;
use crate::model::{PASSING_NS, PIECE_US, Reach};
use crate::schedule::{Grid, Moves, Pace, Shape, Steps, TreeNeighbors};

use super::messages::Fan;
use std::iter;

impl Model {
    pub(super) fn predict_broadcast(
        &self,
        algorithm: BroadcastAlgorithm,
        call: &Call,
    ) -> Prediction {
        match algorithm {
            BroadcastAlgorithm::Circulant | BroadcastAlgorithm::FullLane => self.circulant(call),
            BroadcastAlgorithm::Postal => self.postal(call),
            BroadcastAlgorithm::Relay => self.relay(call),
            BroadcastAlgorithm::Hypercube => self.hypercube(call),
            trees!(BroadcastAlgorithm) => self.down_a_tree(call),
            BroadcastAlgorithm::ScatterAllgather => self.moves(Moves::Scatter, call),
        }
    }

    /// The root sends a block in every round.
    fn circulant(&self, call: &Call) -> Prediction {
        Prediction {
            us: self.circulant_us(call, &self.sending(call, call.block())),
            rounds: Some(call.pipelined()),
            sent: match call.q() {
                0 => 0,
                q => call.bytes + (q - 1) * call.block(),
            },
        }
    }

    /// The rounds are those of the circulant graph, but the way of a block may be longer. If ranks make pairs, the root
    /// has nothing to do in the last round.
    fn hypercube(&self, call: &Call) -> Prediction {
        let circulant = self.circulant(call);
        let more = call.q() - u64::from(call.p.max(1).ilog2());
        let among = Reach::among(call.p);
        let reach = Reach {
            latencies: (among.rounds + 1).min(call.p.max(1) - 1),
            ..among
        };
        Prediction {
            us: match call.n() {
                1 => self.sending(call, call.block()).hypercube_us(call.p),
                n => self
                    .of(call, call.block())
                    .pipeline_us(reach, call.bytes, 1, n as f64),
            },
            sent: circulant.sent - more * call.block(),
            ..circulant
        }
    }

    /// Blocks over the circulant graph. A single one comes to no rank in every round, so it is followed on its way.
    pub(super) fn circulant_us(&self, call: &Call, fan: &Fan) -> f64 {
        match call.n() {
            1 => fan.doubling_us(call.p),
            n => self.of(call, call.block()).pipeline_us(
                Reach::among(call.p),
                call.bytes,
                1,
                n as f64,
            ),
        }
    }

    /// A rank begins to send another block as soon as it has sent one to each of its children.
    pub(super) fn down_a_tree(&self, call: &Call) -> Prediction {
        self.over_a_tree(call, 0, &self.sending(call, call.block()))
    }

    /// The first block has come everywhere, and then the others come one after the other.
    pub(super) fn over_a_tree(&self, call: &Call, root: u32, fan: &Fan) -> Prediction {
        let tree = call.tree.filter(|_| call.p > 1);
        let pace = tree.map_or(Pace::ALONE, |tree| tree.pace_from(call.p, root));
        let first_us = tree.map_or(0.0, |tree| tree.time(call.p, root, &|i, k| fan.hop(i, k)));
        Prediction {
            us: match tree {
                None => 0.0,
                Some(_) => first_us + (call.n() - 1) as f64 * fan.block_us(pace.every),
            },
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
        let part = call.bytes.div_ceil(call.ranks());
        let alpha_us = |k| {
            let step = moves.step(call.p, 0, k, true);
            let parts = step.map_or(0, |step| step.count());
            self.of(call, part * u64::from(parts)).alpha_us
        };
        let sent = call.others() * (1 + u64::from(twice));
        let alphas_us: f64 = (0..moves.count(call.p)).map(alpha_us).sum();
        let early_us = match moves {
            Moves::Doubling => call.early() * self.of(call, part).alpha_us,
            Moves::Neighbours | Moves::Mesh | Moves::Scatter => 0.0,
        };
        Prediction {
            us: alphas_us - early_us + self.beta_us() * sent as f64,
            rounds: Some(moves.count(call.p).into()),
            sent,
        }
    }

    pub(super) fn predict_exchange(
        &self,
        algorithm: TotalExchangeAlgorithm,
        call: &Call,
    ) -> Prediction {
        let steps = Steps::new(call.p, call.radix);
        let others = call.ranks() - 1;
        match algorithm {
            TotalExchangeAlgorithm::Circulant => Prediction {
                us: self.bursts_us(call, &steps),
                rounds: Some(steps.rounds().count() as u64),
                sent: steps.travelling() * (call.bytes / call.ranks()),
            },
            TotalExchangeAlgorithm::Pairwise => Prediction {
                us: self.pairwise_us(call),
                rounds: Some(others + others.min(1) * (call.ranks() % 2)),
                sent: call.others(),
            },
            TotalExchangeAlgorithm::Linear | TotalExchangeAlgorithm::FullLane => Prediction {
                us: self.straight_us(call.p, call.bytes),
                rounds: Some(others.min(1)),
                sent: call.others(),
            },
            TotalExchangeAlgorithm::Hypercube => {
                self.exchange_in_grid(&Grid::hypercube(call.p), call)
            }
            TotalExchangeAlgorithm::Mesh => self.exchange_in_grid(&Grid::mesh(call.p), call),
        }
    }

    /// Those on the circulant graph follow their sizes, and an allreduce of the MPI library's in which ranks agree that
    /// there is room for them. It is taken for the usual one, and its rounds do not count.
    pub(super) fn predict_irregular_exchange(
        &self,
        algorithm: IrregularExchangeAlgorithm,
        call: &Call,
    ) -> Prediction {
        let blocks = self.predict_exchange(algorithm.into(), call);
        match algorithm {
            IrregularExchangeAlgorithm::Circulant => {
                let sizes = Call {
                    bytes: size_of::<u64>() as u64 * call.ranks(),
                    ..*call
                };
                let room = Call {
                    collective: Collective::Allreduce,
                    bytes: size_of::<i64>() as u64,
                    blocks: 1,
                    ..*call
                };
                let agreeing = self.predict_all_reduction(AllReductionAlgorithm::Doubling, &room);
                let exchanges = self.predict_exchange(algorithm.into(), &sizes).then(blocks);
                Prediction {
                    us: exchanges.us + agreeing.us,
                    ..exchanges
                }
            }
            IrregularExchangeAlgorithm::Pairwise | IrregularExchangeAlgorithm::Linear => blocks,
        }
    }

    /// Every block straight to its rank, one at a time, while two receives are posted. Short ones leave before anything
    /// comes; then two at a time travel, and are received. A long one leaves when the one before is there.
    fn pairwise_us(&self, call: &Call) -> f64 {
        let (others, block) = ((call.ranks() - 1) as f64, call.bytes / call.ranks());
        let link_us = self.beta_us() * block as f64;
        match call.is_placed(block) {
            true => others * (self.of(call, block).alpha_us + link_us),
            false => {
                let two_us = 2.0 * self.gap_us + (self.alpha_us - self.gap_us + link_us);
                (others * two_us / 2.0).max(self.straight_us(call.p, call.bytes))
            }
        }
    }

    /// A rank sends so many messages of as many bytes, and then receives as many, without what the bytes take: it is
    /// busy with all of them, and the first one has to come before.
    fn burst_us(&self, call: &Call, messages: u64, bytes: u64) -> f64 {
        let busy_us = match call.is_placed(bytes) {
            true => 0.0,
            false => messages as f64 * self.gap(),
        };
        let further_us = messages.saturating_sub(1) as f64 * self.further_us(call, bytes);
        busy_us.max(self.of(call, bytes).alpha_us + further_us)
    }

    /// Rounds of several messages, each of the blocks of one value of a digit, about as many as any other.
    fn bursts_us(&self, call: &Call, steps: &Steps) -> f64 {
        let blocks = steps.travelling() as f64 / steps.count().max(1) as f64;
        let bytes = blocks * call.bytes as f64 / call.ranks() as f64;
        let message_us = self.beta_us() * bytes + blocks * piece_us(call);
        let round_us = |(_, messages): (u32, u32)| {
            self.burst_us(call, messages.into(), bytes as u64) + f64::from(messages) * message_us
        };
        steps.rounds().map(round_us).sum()
    }

    /// In each message, what travels has one of all values of a digit. Those of a dimension leave one after the other.
    fn exchange_in_grid(&self, grid: &Grid, call: &Call) -> Prediction {
        let none = Prediction {
            us: 0.0,
            rounds: Some(0),
            sent: 0,
        };
        grid.dimensions().fold(none, |before, dimension| {
            let (rounds, digits) = (u64::from(dimension.size - 1), u64::from(dimension.size));
            let pieces_us = piece_us(call) * call.ranks() as f64 / digits as f64;
            let bytes_us = self.beta_us() * call.bytes as f64 / digits as f64;
            before.then(Prediction {
                us: self.burst_us(call, rounds, call.bytes / digits)
                    + rounds as f64 * (bytes_us + pieces_us),
                rounds: Some(rounds),
                sent: rounds * (call.bytes / digits),
            })
        })
    }

    /// The root has the most children.
    fn postal(&self, call: &Call) -> Prediction {
        let mut tree = TreeNeighbors::default();
        tree.set(Shape::Postal(self.latency(call.bytes)), call.p, 0, 0);
        Prediction {
            us: self.down_a_tree(call).us,
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
        let link_us = self.beta_us() * call.block() as f64;
        let round_us = self.gap() + link_us;
        let latencies = relays.min(2) as f64;
        // The root only sends while the first turn lasts.
        let root_us = match call.is_placed(call.block()) {
            true => round_us,
            false => self.gap_us.max(link_us),
        };
        let first_turn = relays.saturating_sub(1) as f64;
        Prediction {
            us: rounds as f64 * round_us - first_turn * (round_us - root_us)
                + latencies * (self.alpha_us - self.gap()),
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
            AllBroadcastAlgorithm::Circulant | AllBroadcastAlgorithm::FullLane => {
                self.circulant_of_all(call)
            }
            AllBroadcastAlgorithm::Bruck => self.bruck(call),
            AllBroadcastAlgorithm::Ring => self.ring_of_all(call),
            AllBroadcastAlgorithm::Doubling => self.moves(Moves::Doubling, call),
            AllBroadcastAlgorithm::Neighbor => self.moves(Moves::Neighbours, call),
            AllBroadcastAlgorithm::Mesh => self.moves(Moves::Mesh, call),
        }
    }

    /// Whole parts go by the algorithm of Bruck. Else every rank has a message each way in every round, and receives
    /// every byte once.
    fn circulant_of_all(&self, call: &Call) -> Prediction {
        if call.n() == 1 {
            return self.bruck(call);
        }
        let pieces = match call.copies_free {
            true => 1,
            false => call.ranks(),
        };
        let model = self.of(call, call.block());
        // There are always blocks that came in the round before.
        let round_us = model.round_us(pieces).max(model.alpha_us);
        let latencies = f64::from(Reach::among(call.p).latencies);
        let rounds_us =
            call.pipelined() as f64 * round_us + latencies * (model.alpha_us - round_us).max(0.0);
        Prediction {
            us: rounds_us + self.beta_us() * call.others() as f64,
            rounds: Some(call.pipelined()),
            sent: call.others(),
        }
    }

    /// The rounds of whole parts of so many bytes, without what their bytes take.
    pub(super) fn stepped_us(&self, call: &Call, part: u64) -> f64 {
        let round_us = |(width, messages): (u32, u32)| {
            let bytes = part * u64::from(width);
            self.of(call, bytes).alpha_us + f64::from(messages - 1) * self.further_us(call, bytes)
        };
        call.steps().rounds().map(round_us).sum()
    }

    /// What an all-reduction ends with. Ranks leave a reduction one after another: no byte passes while another message
    /// is begun.
    pub(super) fn spread(&self, call: &Call) -> Prediction {
        let part = call.bytes.div_ceil(call.ranks());
        Prediction {
            us: self.stepped_us(call, part) + self.beta_us() * call.others() as f64,
            rounds: Some(call.stepped()),
            sent: call.others(),
        }
    }

    /// In a round a message begins when the one before has left.
    pub(super) fn bruck(&self, call: &Call) -> Prediction {
        let part = call.bytes.div_ceil(call.ranks());
        let steps = call.steps();
        let mut sent = 0;
        let mut round_us = |(width, messages): (u32, u32)| {
            sent += messages as usize;
            let bytes = |width: u32| part * u64::from(width);
            let link_us = |width| self.beta_us() * bytes(width) as f64;
            let further_us = self.further_us(call, bytes(width)).max(link_us(width));
            self.of(call, bytes(width)).alpha_us
                + f64::from(messages - 1) * further_us
                + link_us(steps.step(sent - 1).width)
        };
        Prediction {
            us: steps.rounds().map(&mut round_us).sum(),
            rounds: Some(call.stepped()),
            sent: call.others(),
        }
    }

    fn ring_of_all(&self, call: &Call) -> Prediction {
        let part = call.bytes.div_ceil(call.ranks());
        Prediction {
            us: self.of(call, part).ring_us(call.p, part),
            rounds: Some(call.ranks() - 1),
            sent: call.others(),
        }
    }

    pub(super) fn predict_rooted(&self, algorithm: RootedAlgorithm, call: &Call) -> Prediction {
        let scatters = matches!(call.collective, Collective::Scatter | Collective::Scatterv);
        match algorithm {
            RootedAlgorithm::Linear => self.straight(call, scatters),
            _ if call.bytes >= call.long_block => self.straight(call, scatters),
            // Of blocks of one size, of which a root that scatters knows all.
            RootedAlgorithm::Adaptive if !scatters => self.found(call),
            RootedAlgorithm::Hybrid | RootedAlgorithm::Binomial | RootedAlgorithm::Adaptive => {
                self.grouped(call, scatters)
            }
        }
    }

    /// Every block straight: a root that scatters only sends, and one that gathers spends time on what it receives, and
    /// asks for it where that is much.
    fn straight(&self, call: &Call, scatters: bool) -> Prediction {
        let others = call.ranks() - 1;
        let bytes = others * call.bytes;
        let link_us = self.beta_us() * call.bytes as f64;
        let root_us = match (scatters, call.is_placed(call.bytes)) {
            (true, _) => self.gap_us.max(link_us) * others.saturating_sub(1) as f64 + link_us,
            (false, placed) => {
                let root_us = if placed { 0.0 } else { self.root_us() };
                (others as f64 * (root_us + link_us))
                    .max(self.asked_us(others, call.asked_at_a_time))
            }
        };
        Prediction {
            us: match others {
                0 => 0.0,
                _ => self.of(call, call.bytes).alpha_us + root_us,
            },
            rounds: Some(others),
            sent: if scatters {
                bytes
            } else {
                others.min(1) * call.bytes
            },
        }
    }

    /// A gather through the tree of groups, which ranks find by a message a round, while packets travel. The last group
    /// is made of complete ones, as many as its number of ranks has bits that are set; and what the last rank has goes
    /// over the roots of all of these when it has done with the search. The root has all other packets by then.
    fn found(&self, call: &Call) -> Prediction {
        let (q, others) = (call.q(), call.ranks() - 1);
        let packets = self.of(call, 2 * call.bytes);
        let (hops, last_us) = match q as u32 {
            0 => (0, 0.0),
            q => {
                let last_group = call.p - (1 << (q - 1));
                let at_root = packets.receiving(call, 0);
                (last_group.count_ones(), at_root.hop(q - 1, q))
            }
        };
        Prediction {
            us: q as f64 * self.alpha_us
                + f64::from(hops.saturating_sub(1)) * packets.alpha_us
                + last_us
                + self.beta_us() * (others * call.bytes) as f64
                + passing_us(call),
            rounds: Some(q + u64::from(hops)),
            sent: call.bytes * largest_group(call.ranks()),
        }
    }

    /// Through the tree of groups; without the sizes of blocks, which travel as well.
    fn grouped(&self, call: &Call, scatters: bool) -> Prediction {
        let (q, others) = (call.q(), call.ranks() - 1);
        let largest = largest_group(call.ranks());
        let link_us = self.beta_us() * (others * call.bytes) as f64;
        // Without bytes, which the link of the root carries one after the other. Most messages have several blocks.
        let model = self.of(call, 2 * call.bytes);
        let messages = match scatters {
            true => model.sending(call, 0),
            false => model.receiving(call, 0),
        };
        let groups_us = match scatters && call.is_placed(2 * call.bytes) {
            true => model.shared_us(call),
            false => Shape::BINOMIAL.time(call.p, 0, &|i, k| messages.hop(i, k)) + link_us,
        };
        Prediction {
            us: groups_us + passing_us(call),
            rounds: Some(q),
            sent: call.bytes * if scatters { others } else { largest },
        }
    }

    /// A scatter through the tree of groups whose packets are long: all that a rank sends share its link, so that the
    /// one for the largest group is there when all are.
    fn shared_us(&self, call: &Call) -> f64 {
        let block_us = self.beta_us() * call.bytes as f64;
        let groups = iter::successors(Some(call.ranks()), |&ranks| Some(largest_group(ranks)));
        let packets_us = |ranks| self.alpha_us + (ranks - 1) as f64 * block_us;
        groups.take_while(|&ranks| ranks > 1).map(packets_us).sum()
    }

    pub(super) fn predict_barrier(&self, algorithm: BarrierAlgorithm, call: &Call) -> Prediction {
        match algorithm {
            BarrierAlgorithm::Dissemination => Prediction {
                us: self.stepped_us(call, 0),
                rounds: Some(call.stepped()),
                sent: 0,
            },
        }
    }
}

/// Microseconds to pack a block that travels with others, and to unpack it.
fn piece_us(call: &Call) -> f64 {
    match call.copies_free {
        true => 0.0,
        false => PIECE_US,
    }
}

/// Microseconds in which the blocks of a tree of groups are copied on their way.
fn passing_us(call: &Call) -> f64 {
    match call.copies_free {
        true => 0.0,
        false => call.q() as f64 * PASSING_NS * call.bytes as f64 / 1000.0,
    }
}

/// Ranks of the largest group that one of so many sends to, or has blocks from: the upper one of the last round or of
/// the one before.
fn largest_group(ranks: u64) -> u64 {
    match Reach::among(ranks as u32).rounds {
        0 => 0,
        q => (ranks - (1 << (q - 1))).max(1 << (q - 1) >> 1),
    }
}
