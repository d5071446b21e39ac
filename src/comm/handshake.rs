//! The handshake: one reduction by the host at the first intercepted call on a communicator of three or more ranks. It is what makes
//! every later decision the same on all ranks, even where a launcher did not forward the environment; so it takes place whatever
//! this rank's own settings are.

#![forbid(unsafe_code)]

use super::waiting::{self, Waiting};
use super::words::Words;
use super::{ADD_UP, ALIVE, DUPLICATED, STATE, State, nodes, process, ruled};
use crate::collective::Collective;
use crate::config::{Config, Gpu, StatsFormat};
use crate::decide::{Facts, Why};
use crate::host::{self, Abi, Code, Comm, Host, Usable};
use crate::report;
use crate::topology::Topology;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Makes the state of a communicator. Collective.
pub fn handshake(
    host: &'static Host,
    usable: &'static Usable,
    comm: Comm,
    collective: Collective,
) -> Result<&'static State, Code> {
    let own = process(host);
    let (rank, p) = (usable.rank(comm)?, usable.size(comm)?);
    let mut state = State {
        comm,
        rank,
        facts: Facts {
            p,
            nodes: p,
            widest: 1,
            narrowest: 1,
            eager_bytes: Abi::BUILT.eager_bytes(),
        },
        topology: Topology::default(),
        config: own.clone(),
        closed: None,
        tag_mask: 0,
        rules: Arc::default(),
        learnt: Mutex::default(),
        gpu: AtomicBool::default(),
        strayed: AtomicBool::default(),
        duplicated: AtomicBool::new(
            cfg!(abi = "openmpi") && DUPLICATED.get(usable, comm)?.is_some(),
        ),
        private: OnceCell::default(),
        traced: Default::default(),
        work: Mutex::default(),
    };
    if usable.is_inter(comm)? {
        state.closed = Some(Why::Inter);
    } else if p < 3 && (p, usable.size(usable.world())?) != (2, 2) {
        state.closed = Some(Why::FewRanks);
    } else {
        match usable.world_ranks(comm, p)? {
            None => state.closed = Some(Why::Outside),
            // Two ranks have nothing to decide, but if they are the whole job, they have statistics to add up.
            Some(ranks) => state.agree(host, usable, own, &ranks, collective)?,
        }
    }
    let state = STATE.set(usable, comm, state)?;
    ALIVE.lock().push(state);
    Ok(state)
}

impl State {
    /// The handshake itself; `ranks` are those of the communicator in `MPI_COMM_WORLD`. Collective.
    fn agree(
        &mut self,
        host: &'static Host,
        usable: &'static Usable,
        own: &Config,
        ranks: &[u32],
        collective: Collective,
    ) -> Result<(), Code> {
        let (comm, rank, p) = (self.comm, self.rank, self.facts.p);
        let known = nodes::known(ranks);
        let tag_max = usable.tag_max(comm);
        let rules = ruled::known(host, usable, own, rank);
        let mut words = Words::offer(rank, &own.to_words(), tag_max, known.is_some(), &rules);
        let mut waiting = Waiting::new(rank, p, own.timeout_s, collective);
        let interval = waiting.interval();
        usable.max_words_in_time(comm, &mut words.0, interval, move |time| {
            waiting.look(host, usable, comm, time);
        })?;
        waiting::shook_hands();
        let spans_world = p == usable.size(usable.world())?;
        self.adopt(host, &words, spans_world);
        if self.closed.is_some() {
            return Ok(());
        }
        let names = match known.filter(|_| words.mapped()) {
            Some(names) => names,
            None => nodes::ask(usable, comm, rank, ranks, &own.node)?,
        };
        self.place(&names);
        self.rules = match words.rules_to_hand_out() {
            Some(count) => ruled::hand_out(usable, comm, rank, count, &rules)?,
            None => rules,
        };
        Ok(())
    }

    /// Takes in what the ranks agreed on.
    fn adopt(&mut self, host: &Host, words: &Words, spans_world: bool) {
        self.config = self.config.adopt(&words.config());
        // The largest 2^k - 1 that is a tag on every rank.
        self.tag_mask = ((1u64 << (words.tag_max() + 1).ilog2()) - 1) as u32;
        if !words.same_version() {
            self.closed = Some(Why::Versions);
        } else if !self.config.enabled {
            self.closed = Some(Why::Off);
        } else if self.facts.p < 3 {
            self.closed = Some(Why::FewRanks);
        } else if words.gpu() && self.config.gpu == Gpu::Auto {
            self.closed = Some(Why::Gpu);
        }
        if self.config.gpu == Gpu::Off {
            host::ignore_devices();
        }
        if self.rank == 0 {
            self.report_differences(host, words);
        }
        if self.config.stats.format != StatsFormat::Off && spans_world {
            ADD_UP.store(true, Relaxed);
        }
    }

    /// Takes in which ranks share a node.
    fn place(&mut self, names: &[u64]) {
        self.topology = Topology::new(names);
        self.facts.nodes = self.topology.nodes();
        self.facts.widest = self.topology.widest();
        self.facts.narrowest = self.topology.narrowest();
    }

    fn report_differences(&self, host: &Host, words: &Words) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        let differences = words.differences();
        let versions = !words.same_version();
        if (differences.is_empty() && !versions) || REPORTED.swap(true, Relaxed) {
            return;
        }
        let p = self.facts.p;
        let text = if versions {
            format!(
                "{p} ranks loaded different versions or builds of Rondo; it stays out of their way"
            )
        } else {
            format!(
                "{} not the same on all of {p} ranks; the values of this rank are used by all",
                differences.join(", ")
            )
        };
        report::line(host.world_rank(), &text);
    }
}
