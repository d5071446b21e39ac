//! Measuring the figures of the network that the cost model needs, where neither the user nor rules say them.
//!
//! The leaders of two nodes each, and two ranks of each node, send each other a few messages; then all ranks agree. It
//! is done once, when the job begins. On a communicator it is done again if its calls contradict what is known.

#![forbid(unsafe_code)]

use super::{Job, fail};
use crate::config::Config;
use crate::host::{self, Channel, Failure, Mpi, Peer, Probe};
use crate::model::SLOW_NS_PER_KB;
use crate::network::{self, Known, Network};
use crate::report;
use crate::topology::Topology;

/// What this process knows of the networks of its communicators.
pub static KNOWN: Known = Known::new();

/// Whose network it is, and what is known of it.
pub struct Measuring<'a> {
    /// How the messages travel.
    pub channel: Channel<'a>,
    /// Which of its ranks share a node.
    pub topology: &'a Topology,
    /// Its options.
    pub config: &'a Config,
    /// What was measured before.
    pub known: Network,
    /// How often.
    pub times: u32,
}

/// Do the ranks of a node send each other messages?
fn sends_inside_nodes(topology: &Topology, config: &Config) -> bool {
    topology.widest() > 1 && !config.shm
}

/// The figures of the job's network, on all ranks the same; none if nothing is missing. Collective.
pub fn at_the_beginning(mpi: &Mpi, job: &Job, topology: &Topology) -> Network {
    let config = &job.config;
    let told = host::with_plain_floats(|| config.network.or(&job.rules.network()));
    // By an earlier job; all ranks have the rules. Calls that contradict it have it measured again.
    let known = job.rules.measured(job.placement()).unwrap_or_default();
    let lacks = told.or(&known).lacks(sends_inside_nodes(topology, config));
    // In one node there are few messages, and all of them are short.
    if !config.calibrate || topology.nodes() < 2 || !lacks {
        return known;
    }
    let measuring = Measuring {
        channel: job.channel(),
        topology,
        config,
        known,
        times: 0,
    };
    let measured = (measuring.measure(mpi))
        .unwrap_or_else(|failure| fail(mpi, "measuring the network", &failure));
    if config.trace && job.rank == 0 {
        tell(job.p, topology.nodes(), &told, &measured);
    }
    measured.or(&known)
}

impl Measuring<'_> {
    /// Measures. Collective.
    pub fn measure(&self, mpi: &Mpi) -> Result<Network, Failure> {
        let (topology, me) = (self.topology, self.channel.me);
        // Of the same number on all ranks, like all figures.
        let (pair, other) = network::pair(topology.node(me), topology.nodes(), self.times);
        let measured = self.probe(mpi, other)?;
        let mut offers = network::offers(&measured, pair);
        mpi.max_over(self.channel, &mut offers)?;
        Ok(host::with_plain_floats(|| network::agreed(&offers)))
    }

    /// The figures that this rank measures: a leader, those between its node and the `other` one; and the lowest rank
    /// of a node, those inside it.
    fn probe(&self, mpi: &Mpi, other: Option<u32>) -> Result<Network, Failure> {
        let (topology, me) = (self.topology, self.channel.me);
        let node = topology.node(me);
        let locals = topology.locals(node);
        let mut measured = Network::default();
        let peer = |rank| Peer {
            channel: self.channel,
            rank,
        };
        if let Some(other) = other.filter(|_| locals[0] == me) {
            let partner = topology.locals(other)[0];
            let probe = pair(mpi, peer(partner), node < other, true)?;
            measured.alpha_us = probe.latency.map(|seconds| seconds * 1e6);
            measured.gap_us = probe.sending.map(|seconds| seconds * 1e6);
            // Where long messages would have taken too long, the link is slow; but it may let a short one through
            // faster than it is. What long calls showed is better.
            let slow = (probe.slow_byte).map(|seconds| (seconds * 1024e9).max(SLOW_NS_PER_KB));
            let slow = slow.filter(|_| self.known.beta_ns_per_kb.is_none());
            measured.beta_ns_per_kb = probe.per_byte.map(|seconds| seconds * 1024e9).or(slow);
        }
        if sends_inside_nodes(topology, self.config)
            && let [first, second, ..] = *locals
            && (first == me || second == me)
        {
            let asks = first == me;
            let partner = if asks { second } else { first };
            let probe = pair(mpi, peer(partner), asks, false)?;
            measured.node_alpha_us = probe.latency.map(|seconds| seconds * 1e6);
            measured.node_beta_ns_per_kb = probe.per_byte.map(|seconds| seconds * 1024e9);
        }
        Ok(measured)
    }
}

/// Says what is known of a network.
pub fn tell(p: u32, nodes: u32, told: &Network, measured: &Network) {
    let figures = network::origins(told, measured);
    let line = format!("network of {p} ranks on {nodes} nodes: {figures}");
    report::line(host::host().world_rank(), &line);
}

/// This rank and another one measure: one asks, and knows the result.
fn pair(mpi: &Mpi, partner: Peer, asks: bool, gap: bool) -> Result<Probe, Failure> {
    match asks {
        true => mpi.probe(partner, gap),
        false => {
            mpi.answer_probe(partner)?;
            Ok(Probe::default())
        }
    }
}
