//! The handshake: one reduction by the host at the first intercepted call on a communicator of three or more ranks, or
//! of two if they are the whole job: they add up statistics. It is what makes every later decision the same on all
//! ranks, even where a launcher did not forward the environment; so it takes place whatever this rank's own settings
//! are.

#![forbid(unsafe_code)]

use super::calibration::KNOWN;
use super::gpu::ASSERTED;
use super::private::Place;
use super::proposal::Proposal;
use super::waiting::{self, Waiting};
use super::{
    ADD_UP, ALIVE, DUPLICATED, PROMISED, STATE, State, end, nodes, process, record, ruled,
};
use crate::collective::Collective;
use crate::config::{Config, Gpu, StatsFormat};
use crate::decide::{Facts, Why};
use crate::host::{self, Abi, Code, Comm, Host, Mpi, SYNCHRONOUS_BYTES};
use crate::learn;
use crate::network::{Network, Placement};
use crate::records::Concern;
use crate::report;
use crate::topology::Topology;
use once_cell::sync::OnceCell;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Makes the state of a communicator. Collective; but if the call `is_refused` on this rank of so many, others need not
/// make it: then there is no state yet.
pub fn handshake(
    host: &'static Host,
    mpi: &'static Mpi,
    comm: Comm,
    collective: Collective,
    is_refused: impl FnOnce(u32, u32) -> bool,
) -> Result<Option<&'static State>, Code> {
    report::enter(collective.mpi_name());
    let mut own = process(host).clone();
    if let Some(&promise) = PROMISED.get(mpi, comm)? {
        own.reproducible = promise;
    }
    end::prepare(host, mpi, &own.stats);
    let mut state = State::before_agreement(mpi, comm, &own)?;
    let p = state.facts.p;
    if mpi.is_inter(comm)? {
        state.closed = Some(Why::Inter);
    } else if p < 3 && (p, mpi.size(mpi.world())?) != (2, 2) {
        state.closed = Some(Why::FewRanks);
    } else {
        match mpi.world_ranks(comm, p)? {
            None => {
                state.closed = Some(Why::Outside);
                state.report_broken_promise(host, Why::Outside);
            }
            Some(_) if is_refused(state.rank, p) => return Ok(None),
            // Two ranks have nothing to decide, but if they are the whole job, they have statistics to add up.
            Some(ranks) => state.agree(host, mpi, &own, &ranks, collective)?,
        }
    }
    let state = STATE.set(mpi, comm, state)?;
    ALIVE.lock().push(state);
    Ok(Some(state))
}

impl State {
    /// What is known before ranks have spoken to each other.
    ///
    /// A state is large, and threads may have small stacks: what it takes there, copies included, is given back before
    /// the host is called for the handshake.
    #[inline(never)]
    fn before_agreement(mpi: &'static Mpi, comm: Comm, own: &Config) -> Result<Box<Self>, Code> {
        static SERIALS: AtomicU64 = AtomicU64::new(0);
        let (rank, p) = (mpi.rank(comm)?, mpi.size(comm)?);
        let (asserted, duplicated) = (ASSERTED.get(mpi, comm)?, DUPLICATED.get(mpi, comm)?);
        let learnt = learn::Table::default();
        Ok(Box::new(State {
            serial: SERIALS.fetch_add(1, Relaxed),
            comm,
            was_freed_before: host::was_freed_before(comm),
            rank,
            facts: Facts {
                p,
                nodes: p,
                widest: 1,
                narrowest: 1,
                consecutive: true,
                eager_bytes: Abi::BUILT.eager_bytes(),
                // There receivers spend no time on synchronous messages.
                placed_bytes: match Abi::BUILT.is_simulated() {
                    true => SYNCHRONOUS_BYTES,
                    false => u64::MAX,
                },
                host_leads: Abi::BUILT.host_leads(),
                host_copies: Abi::BUILT.host_copies(),
                network: Network::default(),
            },
            topology: Topology::default(),
            placement: Placement::default(),
            ruled: None,
            network: Default::default(),
            uncalibrated: AtomicBool::default(),
            early: Default::default(),
            short: AtomicU32::default(),
            config: own.clone(),
            closed: None,
            tag_mask: 0,
            rules: Box::default(),
            futile: AtomicBool::default(),
            passing: Arc::clone(learnt.passing()),
            learnt: Mutex::new(learnt),
            gpu_may_come: false,
            gpu: AtomicBool::default(),
            asserted: asserted.copied().unwrap_or(false).into(),
            reduced: AtomicBool::default(),
            duplicated: AtomicBool::new(cfg!(abi = "openmpi") && duplicated.is_some()),
            place: None,
            private: OnceCell::default(),
            traced: Default::default(),
            traced_instead: AtomicU32::default(),
            work: Default::default(),
        }))
    }

    /// The handshake itself; `ranks` are those of the communicator in `MPI_COMM_WORLD`. Collective.
    fn agree(
        &mut self,
        host: &'static Host,
        mpi: &'static Mpi,
        own: &Config,
        ranks: &[u32],
        collective: Collective,
    ) -> Result<(), Code> {
        let (comm, rank, p) = (self.comm, self.rank, self.facts.p);
        let known = nodes::known(ranks);
        let tag_max = mpi.tag_max();
        let rules = ruled::known(host, mpi, own, rank);
        let mut proposal = Proposal::offer(
            rank,
            &own.encode(),
            tag_max,
            known.is_some(),
            self.asserted.load(Relaxed),
            &rules,
            &KNOWN.numbers(known.as_deref().map(nodes::placement)),
        );
        let (place, taken) = Place::take();
        proposal.offer_places(taken);
        if mpi.is_of_mpich() && process::PROCESS.get().is_some_and(|own| own.outlives) {
            proposal.outlive();
            mpi.outlive();
        }
        let mut waiting = Waiting::new(rank, p, own.timeout_s, collective);
        let interval = waiting.interval();
        mpi.max_in_time(comm, &mut proposal.0, interval, move |time| {
            waiting.look(host, mpi, comm, time);
        })?;
        waiting::shook_hands();
        let spans_world = p == mpi.size(mpi.world())?;
        if spans_world {
            record::agreed();
        }
        self.adopt(host, &proposal, spans_world);
        if self.closed.is_some() {
            return Ok(());
        }
        self.place = (proposal.places_taken() < self.config.max_comms).then_some(place);
        let names = match known.filter(|_| proposal.mapped()) {
            Some(names) => names,
            None => nodes::ask(mpi, comm, rank, ranks, &own.node)?,
        };
        self.place(&names);
        let mut numbers = proposal.network();
        if !proposal.mapped() && !Network::from_numbers(numbers).is_empty() {
            // Some ranks did not know of which nodes to tell.
            numbers = KNOWN.numbers(Some(self.placement));
            mpi.max(comm, &mut numbers)?;
        }
        let rules = match proposal.rules_to_hand_out() {
            Some(count) => ruled::hand_out(mpi, comm, rank, count, &rules)?,
            None => rules,
        };
        *self.rules = rules.among((self.facts.p, self.facts.nodes));
        // Like the options they go before what is measured here. But a job may have measured them, and saved them: the
        // order of sums, which follows from the options' figures, may not follow from them.
        let ruled = host::with_plain_floats(|| rules.network());
        self.ruled = (!ruled.is_empty()).then(|| Box::new(ruled));
        let measured = rules.measured(self.placement);
        host::with_plain_floats(|| {
            self.network.set(&numbers);
            if let Some(numbers) = &measured {
                // By an earlier job; all ranks have the rules. Calls that contradict it have it measured again.
                self.network.join(numbers);
                KNOWN.join(self.placement, numbers);
            }
        });
        let lacks = self.facts().network.lacks(self.sends_inside_nodes());
        // In one node there are few messages, and all of them are short.
        self.uncalibrated = (self.config.calibrate && self.facts.nodes > 1 && lacks).into();
        Ok(())
    }

    /// Takes in what the ranks agreed on.
    fn adopt(&mut self, host: &Host, proposal: &Proposal, spans_world: bool) {
        // What the others mean by their numbers is not known then.
        if !proposal.same_version() {
            self.closed = Some(Why::Versions);
            if self.rank == 0 {
                self.report_differences(host, proposal);
            }
            return;
        }
        self.config = self.config.adopt(&proposal.config());
        // Simulated ranks have no memory in common.
        self.config.shm &= !Abi::BUILT.is_simulated();
        // The largest 2^k - 1 that is a tag on every rank.
        self.tag_mask = ((1u64 << (proposal.tag_max() + 1).ilog2()) - 1) as u32;
        if !self.config.enabled {
            self.closed = Some(Why::Off);
        } else if proposal.outlives() {
            self.closed = Some(Why::Outlives);
            say_that_it_outlives(host);
        } else if self.facts.p < 3 {
            self.closed = Some(Why::FewRanks);
        } else if proposal.leaves_for_gpus(self.config.gpu) {
            self.closed = Some(Why::Gpu);
            self.report_broken_promise(host, Why::Gpu);
        }
        self.gpu_may_come = match self.config.gpu {
            Gpu::Auto => proposal.gpu_may_be_there(),
            Gpu::Host => true,
            Gpu::Off => false,
        };
        if self.rank == 0 {
            self.report_differences(host, proposal);
        }
        // In the end not all may be there to add up.
        let adds_up = spans_world && !proposal.outlives();
        if self.config.stats.format != StatsFormat::Off && adds_up {
            ADD_UP.store(true, Relaxed);
        }
    }

    /// Takes in which ranks share a node.
    fn place(&mut self, names: &[u64]) {
        self.topology = Topology::new(names);
        self.placement = nodes::placement(names);
        self.facts.nodes = self.topology.nodes();
        self.facts.widest = self.topology.widest();
        self.facts.narrowest = self.topology.narrowest();
        self.facts.consecutive = self.topology.is_sorted();
    }

    /// Says once in a process what ranks do not have in common. `rondo check` finds different builds by itself.
    fn report_differences(&self, host: &Host, proposal: &Proposal) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        let differences = proposal.differences();
        let versions = !proposal.same_version();
        if (differences.is_empty() && !versions) || REPORTED.swap(true, Relaxed) {
            return;
        }
        let p = self.facts.p;
        let text = if versions {
            format!(
                "{p} ranks loaded different versions or builds of Rondo; all calls on this communicator go to the MPI \
                 library. Let all ranks load the same librondo.so ('rondo check' names the files)"
            )
        } else {
            format!(
                "{} not the same on all of {p} ranks; the values of this rank are used by all. To set them \
                 everywhere: 'rondo run', mpirun -x NAME, srun --export=ALL",
                differences.join(", ")
            )
        };
        report::line(host.world_rank(), &text);
        if !versions {
            record::warned(Concern::OptionsDiffer, text);
        }
    }
}

/// Says once in the job that it is left alone.
fn say_that_it_outlives(host: &Host) {
    static SAID: AtomicBool = AtomicBool::new(false);
    if host.world_rank() == 0 && !SAID.swap(true, Relaxed) {
        report::line(0, host::OUTLIVES);
    }
}
