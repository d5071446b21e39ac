#![forbid(unsafe_code)]
//! The table of options.

use super::size::size;
use super::{Config, Gpu, Hierarchy, Learn, Reproducible, Stats};
use crate::collective::{Collective, Family, LEAST_BYTES, NODE_LEAST_BYTES};

/// Where in [`Config`] an option lives.
pub type Field<T> = fn(&mut Config) -> &mut T;

/// What values an option takes, and the field that holds them. The lower bound is always 0.
#[derive(Clone, Copy, Debug)]
pub enum ValueType {
    /// On or off.
    Switch(Field<bool>),
    /// `auto`, `host`, or the name of one of the collective's algorithms.
    Algorithm(Collective),
    /// The fewest bytes of calls of a collective, or `auto`.
    MinBytes(Collective),
    /// A number of bytes up to the bound.
    Bytes(Field<u64>, u64),
    /// A number of bytes up to the bound, or `auto`.
    BytesOrAuto(Field<Option<u64>>, u64),
    /// A whole number up to the bound.
    Integer(Field<u32>, u32),
    /// A decimal number up to the bound, or `auto`.
    RealOrAuto(Field<Option<f64>>, f64),
    /// On, which goes by the name of what is traced too, or off.
    Trace(Field<bool>),
    /// On or off, and an optional file.
    Learn(Field<Learn>),
    /// The form of the statistics and an optional file.
    Stats(Field<Stats>),
    /// Which ranks talk to other nodes.
    Hierarchy(Field<Hierarchy>),
    /// What is made of processes with a GPU.
    Gpu(Field<Gpu>),
    /// What is promised of the bits of reductions.
    Reproducible(Field<Reproducible>),
    /// Any text, empty by default.
    Text(Field<String>),
}

/// Whose value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Rank 0's value is used by all ranks of a communicator, because the ranks must decide alike.
    Communicator,
    /// Every process uses its own value; nothing but its own output depends on it.
    Process,
}

/// One row of the table of options.
#[derive(Clone, Copy, Debug)]
pub struct Opt {
    /// The name without its prefix `RONDO_`; empty for the variable `RONDO` itself.
    pub name: &'static str,
    /// What values it takes.
    pub value_type: ValueType,
    /// The unit of a number, empty where there is none.
    pub unit: &'static str,
    /// The default, written as a user would write it.
    pub default: &'static str,
    /// Whose value counts.
    pub scope: Scope,
    /// What it does, if it is not said of every collective; see [`Opt::doc`].
    doc: &'static str,
}

/// The largest number of bytes that an option takes: beyond any message, so what exceeds it is a slip.
pub(super) const MOST_BYTES: u64 = 1 << 60;

/// The largest arity of a tree.
pub const ARITY_MAX: u32 = 1 << 16;

/// The largest radix of rounds with several messages.
pub const RADIX_MAX: u32 = 64;

/// Every option of Rondo: that of Rondo as a whole, those of the collectives, and the others.
pub const OPTIONS: &[Opt] = &ALL;

const ALL: [Opt; COUNT] = {
    let mut all = [WHOLE; COUNT];
    let mut place = 1;
    let mut of = 0;
    while of < COLLECTIVES.len() {
        all[place] = COLLECTIVES[of];
        (place, of) = (place + 1, of + 1);
    }
    let mut of = 0;
    while of < OTHERS.len() {
        all[place] = OTHERS[of];
        (place, of) = (place + 1, of + 1);
    }
    all
};

const COUNT: usize = 1 + COLLECTIVES.len() + OTHERS.len();

const WHOLE: Opt = Opt {
    name: "",
    value_type: ValueType::Switch(|c| &mut c.enabled),
    unit: "",
    default: "on",
    scope: Scope::Communicator,
    doc: "Rondo as a whole. Off passes every call to the MPI library.",
};

/// How many options the collectives have.
const OF_COLLECTIVES: usize = {
    let (mut of, mut count) = (0, 0);
    while of < Collective::COUNT {
        count += 1 + Collective::ALL[of].has_min_bytes() as usize;
        of += 1;
    }
    count
};

/// The options of the collectives: the algorithms of those that share a limit, then the limit, if there is one.
const COLLECTIVES: [Opt; OF_COLLECTIVES] = {
    let mut all = [WHOLE; OF_COLLECTIVES];
    let (mut place, mut of) = (0, 0);
    while of < Collective::COUNT {
        let collective = Collective::ALL[of];
        of += 1;
        let mut other = 0;
        while other < Collective::COUNT {
            let member = Collective::ALL[other];
            if member.limits() as usize == collective as usize {
                let [name, _] = member.options();
                all[place] = Opt::automatic(name, ValueType::Algorithm(member), "");
                place += 1;
            }
            other += 1;
        }
        if collective.has_min_bytes() {
            let [_, min_bytes] = collective.options();
            all[place] = Opt::automatic(min_bytes, ValueType::MinBytes(collective), "bytes");
            place += 1;
        }
    }
    all
};

const OTHERS: &[Opt] = &[
    Opt {
        name: "SHORT_MSG",
        value_type: ValueType::BytesOrAuto(|c| &mut c.short_msg, MOST_BYTES),
        unit: "bytes",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Gather and scatter, hybrid: blocks of as many bytes or more go straight from or to the root. auto \
              follows from the cost model and the number of ranks.",
    },
    Opt {
        name: "MAX_TMP_SIZE",
        // A message of short blocks has at most as many bytes, and an MPI count ends at 2^31 - 1.
        value_type: ValueType::Bytes(|c| &mut c.max_tmp_size, 1 << 30),
        unit: "bytes",
        default: "512M",
        scope: Scope::Communicator,
        doc: "What the data of others may take up in the memory of a rank at the most. In a gather or scatter among p \
              ranks, blocks of more than a 2p-th of it go straight from or to the root. If p vectors would take more, \
              an allreduce by gather becomes one by halving or ordered. If three to five times a rank's blocks would, \
              an alltoall by circulant, hypercube or mesh becomes one by pairwise. So does an alltoallv or alltoallw \
              by circulant, if what passes through a rank would. A broadcast or allgather of 8 MiB or more of which a \
              rank needs a copy, because its datatype has gaps, goes to the MPI library if the copy would.",
    },
    Opt {
        name: "HIERARCHY",
        value_type: ValueType::Hierarchy(|c| &mut c.hierarchy),
        unit: "",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Who talks to other nodes: every rank (flat), one rank of each node (leader), or RONDO_LANES ranks of \
              each node, each for its share of the bytes (lanes). auto takes leaders where a node has several ranks, \
              unless the cost model says that every rank for itself is faster.",
    },
    Opt {
        name: "LANES",
        value_type: ValueType::Integer(|c| &mut c.lanes, 64),
        unit: "ranks",
        default: "2",
        scope: Scope::Communicator,
        doc: "Ranks of each node that talk to other nodes under RONDO_HIERARCHY=lanes; not more than the smallest node \
              has. MPI_Alltoall by linear has so many messages for each pair of nodes. full-lane and halving have a \
              lane for every rank, and gathers and scatters have one. 0 counts as 1.",
    },
    Opt {
        name: "SHM",
        value_type: ValueType::Switch(|c| &mut c.shm),
        unit: "",
        default: "on",
        scope: Scope::Communicator,
        doc: "Pass data between the ranks of a node through a shared memory segment. Off, or where the system grants \
              none, they use messages.",
    },
    Opt {
        name: "SHM_BYTES",
        value_type: ValueType::Bytes(|c| &mut c.shm_bytes, 1 << 30),
        unit: "bytes",
        default: "4M",
        scope: Scope::Communicator,
        doc: "The size of a segment: one for each node and communicator that needs one. Longer messages go through it \
              piece by piece.",
    },
    Opt {
        name: "MPMD",
        value_type: ValueType::Switch(|c| &mut c.mpmd),
        unit: "",
        default: "off",
        scope: Scope::Process,
        doc: "Every program of a job of several programs has Rondo. Unless this says so, as 'rondo run' does, all \
              calls of a job are the MPI library's where the launcher says that it has several (Open MPI's does).",
    },
    Opt {
        name: "NODE",
        value_type: ValueType::Text(|c| &mut c.node),
        unit: "",
        default: "",
        scope: Scope::Process,
        doc: "The name of this process's node; processes with the same name share a node. Without it, what \
              MPI_Get_processor_name says.",
    },
    Opt {
        name: "BLOCK_BYTES",
        // A block is one message, and an MPI count of bytes ends at 2^31 - 1.
        value_type: ValueType::Bytes(|c| &mut c.block_bytes, 1 << 30),
        unit: "bytes",
        default: "0",
        scope: Scope::Communicator,
        doc: "The size of a block of a broadcast. Of an allgather, and of a reduce-scatter by circulant: of the blocks \
              of all ranks together in a round (circulant), or of a block of the longest part (bruck, ring). Of a \
              reduction or scan: of the vector (circulant, pipelined, reduce-bcast, dual-root, trees), or of each \
              rank's part (halving, ordered, split, ring). 0 takes the best size by the cost model.",
    },
    Opt {
        name: "RADIX",
        value_type: ValueType::Integer(|c| &mut c.radix, RADIX_MAX),
        unit: "",
        default: "0",
        scope: Scope::Communicator,
        doc: "The radix of an allgather by bruck, an alltoall by circulant, a barrier, and the allgather at the end of \
              an allreduce: in a round a rank sends at most one message less than this. With 2 a round has one \
              message; larger numbers have fewer rounds. 0 takes the best by the cost model. 1 counts as 2.",
    },
    Opt {
        name: "TREE_ARITY",
        value_type: ValueType::Integer(|c| &mut c.tree_arity, ARITY_MAX),
        unit: "ranks",
        default: "4",
        scope: Scope::Communicator,
        doc: "Broadcast and reduction by kary: to how many ranks a rank passes a block on, or from how many it has \
              operands. 0 counts as 1. By knomial: how many times as many ranks have a block after each round; at \
              least 2.",
    },
    Opt {
        name: "REPRODUCIBLE",
        value_type: ValueType::Reproducible(|c| &mut c.reproducible),
        unit: "",
        default: "run",
        scope: Scope::Communicator,
        doc: "What is promised of the bits of reductions that depend on the order of operands, as sums of \
              floating-point numbers do: the same in every run with the same ranks on each node (run), the same \
              wherever the ranks are (placement), those of a loop over the ranks (order), those of the MPI \
              library (host), or nothing (off). placement and order hold for a collective whose own option is host, \
              too, and for what a rule leaves to the MPI library.",
    },
    Opt {
        name: "CALIBRATE",
        value_type: ValueType::Switch(|c| &mut c.calibrate),
        unit: "",
        default: "on",
        scope: Scope::Communicator,
        doc: "Measure the figures of the cost model that are auto, at the first collective among several nodes and \
              from long calls.",
    },
    Opt {
        name: "ALPHA_US",
        value_type: ValueType::RealOrAuto(|c| &mut c.network.alpha_us, 1e6),
        unit: "microseconds",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Cost model: the time that a message takes however short it is. auto is 10 until it is measured.",
    },
    Opt {
        name: "BETA_NS_PER_KB",
        value_type: ValueType::RealOrAuto(|c| &mut c.network.beta_ns_per_kb, 1e9),
        unit: "nanoseconds",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Cost model: the time that each 1024 bytes of a message add. auto is 8000 until it is measured.",
    },
    Opt {
        name: "GAP_US",
        value_type: ValueType::RealOrAuto(|c| &mut c.network.gap_us, 1e6),
        unit: "microseconds",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Cost model: from the beginning of a short message to when its sender can begin the next one. auto is 3 \
              until it is measured.",
    },
    Opt {
        name: "NODE_ALPHA_US",
        value_type: ValueType::RealOrAuto(|c| &mut c.network.node_alpha_us, 1e6),
        unit: "microseconds",
        default: "auto",
        scope: Scope::Communicator,
        doc: "What RONDO_ALPHA_US is, between two ranks of a node. auto is 1 until it is measured.",
    },
    Opt {
        name: "NODE_BETA_NS_PER_KB",
        value_type: ValueType::RealOrAuto(|c| &mut c.network.node_beta_ns_per_kb, 1e9),
        unit: "nanoseconds",
        default: "auto",
        scope: Scope::Communicator,
        doc: "What RONDO_BETA_NS_PER_KB is, between two ranks of a node. auto is 100 until it is measured.",
    },
    Opt {
        name: "RULES",
        value_type: ValueType::Text(|c| &mut c.rules),
        unit: "file",
        default: "",
        scope: Scope::Process,
        doc: "Rules for automatic choices, as JSON: which algorithm carries out what. Rank 0 of a communicator reads \
              the file, of up to 16 MiB, for all.",
    },
    Opt {
        name: "LEARN",
        value_type: ValueType::Learn(|c| &mut c.learn),
        unit: "",
        default: "on",
        scope: Scope::Communicator,
        doc: "Under auto, time some calls by the MPI library and by Rondo, and leave further ones to the faster. \
              Off, the file of rules and the built-in choice alone decide. With save, rank 0 of MPI_COMM_WORLD writes \
              what was learnt on its communicators to FILE in the end, as rules; of a spawned job, to a file named \
              as for RONDO_STATS. Rules for other calls stay in FILE, and a FILE that is something else is left as \
              it is.",
    },
    Opt {
        name: "LEARN_CALLS",
        value_type: ValueType::Integer(|c| &mut c.learn_calls, 1000),
        unit: "calls",
        default: "4",
        scope: Scope::Communicator,
        doc: "Calls that each of two candidates has in a row, at the least, when they are compared; the later half of \
              them is timed. With 0 or 1, single calls decide.",
    },
    Opt {
        name: "RELEARN",
        value_type: ValueType::Integer(|c| &mut c.relearn, 1 << 30),
        unit: "calls",
        default: "10000",
        scope: Scope::Communicator,
        doc: "After so many calls of a size class, all candidates are timed again. 0: never.",
    },
    Opt {
        name: "WINDOW",
        value_type: ValueType::Integer(|c| &mut c.window, 1024),
        unit: "messages",
        default: "0",
        scope: Scope::Communicator,
        doc: "Receives posted ahead, and long blocks in flight at the root of a gather or scatter. 0 takes 64, and at \
              least 2 ceil(log2 p) receives for p ranks, or up to 1024 that fill a network with much latency.",
    },
    Opt {
        name: "GPU",
        value_type: ValueType::Gpu(|c| &mut c.gpu),
        unit: "",
        default: "auto",
        scope: Scope::Communicator,
        doc: "Where a process has the library of a GPU's driver (CUDA, HIP, Level Zero), its buffers may be memory \
              that the processor cannot touch. host leaves all calls on communicators with such a process to the MPI \
              library. auto does so too, unless the process said by the MPI hint mpi_assert_memory_alloc_kinds that it \
              passes only memory of the kinds system and mpi there. Off says that all buffers are the processor's. A \
              driver that is loaded after the first collective counts too: under auto on machines that may have a GPU, \
              by host on all. Until the ranks know of it, the MPI library copies what Rondo would.",
    },
    Opt {
        name: "TRACE",
        value_type: ValueType::Trace(|c| &mut c.trace),
        unit: "",
        default: "off",
        scope: Scope::Communicator,
        doc: "Report who carries out the first call of a collective of about each size (powers of two) on a \
              communicator, with the reason, and what was measured, in one line each on the standard error output. On \
              means choice.",
    },
    Opt {
        name: "STATS",
        value_type: ValueType::Stats(|c| &mut c.stats),
        unit: "",
        default: "off",
        scope: Scope::Communicator,
        doc: "At the end, rank 0 of MPI_COMM_WORLD writes calls, bytes and seconds of each algorithm, what was saved, \
              and the memory of communicators, to FILE or to the standard error output. If the job is aborted or ended \
              by SIGTERM, it writes its own alone. A job that MPI_Comm_spawn started adds .spawned- and the number of \
              the process to the name. On means text.",
    },
    Opt {
        name: "HELP",
        value_type: ValueType::Switch(|c| &mut c.help),
        unit: "",
        default: "off",
        scope: Scope::Process,
        doc: "Rank 0 lists all options, their values and where these come from.",
    },
    Opt {
        name: "TIMEOUT_S",
        value_type: ValueType::Integer(|c| &mut c.timeout_s, 1_000_000),
        unit: "seconds",
        default: "0",
        scope: Scope::Communicator,
        doc: "A rank that waits longer without any progress aborts the job and names itself and the collective. 0 \
              waits forever.",
    },
];

impl Opt {
    /// An option of a collective.
    const fn automatic(name: &'static str, value_type: ValueType, unit: &'static str) -> Opt {
        Opt {
            name,
            value_type,
            unit,
            default: "auto",
            scope: Scope::Communicator,
            doc: "",
        }
    }

    /// What it does, in a sentence or two.
    pub fn doc(&self) -> String {
        match self.value_type {
            ValueType::Algorithm(collective) => {
                let others = collective.family().other_names().iter();
                let others = others.map(|(other, algorithm)| {
                    let name = algorithm.name();
                    format!(" {other} is another name of {name}.")
                });
                format!(
                    "The algorithm of {}. A named one is used for every size; host means never Rondo's.{}",
                    collective.mpi_name(),
                    others.collect::<String>()
                )
            }
            ValueType::MinBytes(collective) if collective.family().is_exchange() => format!(
                "Under auto, calls of {} with as many bytes{} or more are Rondo's, unless measurement says otherwise. \
                 auto takes short blocks between several nodes, once the network is measured and where the model \
                 finds Rondo faster.",
                sharing(collective),
                collective.family().whose_bytes(),
            ),
            ValueType::MinBytes(collective) if collective.family() == Family::Scan => format!(
                "Under auto, calls of {} with as many bytes{} or more are Rondo's, and the others the MPI library's, \
                 unless measurement or RONDO_REPRODUCIBLE says otherwise. auto takes those by exact operators that \
                 the model finds faster (docs/tuning.md), and leaves the others to the MPI library.",
                sharing(collective),
                collective.family().whose_bytes(),
            ),
            ValueType::MinBytes(collective) if collective.family().reduces() => format!(
                "Under auto, calls of {} with fewer bytes{} go to the MPI library, and the others to Rondo, unless \
                 measurement or RONDO_REPRODUCIBLE says otherwise. auto follows from operator, ranks, nodes and \
                 network: docs/tuning.md has the table.",
                sharing(collective),
                collective.family().whose_bytes(),
            ),
            ValueType::MinBytes(collective) => format!(
                "Under auto, calls of {} with fewer bytes{} go to the MPI library. auto is {} where the ranks are on \
                 several nodes, and {} within one node if it has shared memory, as long as nothing else is measured.",
                sharing(collective),
                collective.family().whose_bytes(),
                size(LEAST_BYTES),
                size(NODE_LEAST_BYTES),
            ),
            ValueType::Switch(_)
            | ValueType::Bytes(..)
            | ValueType::BytesOrAuto(..)
            | ValueType::Integer(..)
            | ValueType::RealOrAuto(..)
            | ValueType::Trace(_)
            | ValueType::Learn(_)
            | ValueType::Stats(_)
            | ValueType::Hierarchy(_)
            | ValueType::Gpu(_)
            | ValueType::Reproducible(_)
            | ValueType::Text(_) => self.doc.into(),
        }
    }

    /// The environment variable of this option.
    pub fn variable(&self) -> String {
        match self.name {
            "" => "RONDO".into(),
            name => format!("RONDO_{name}"),
        }
    }
}

/// The collectives that share the limits of one.
fn sharing(limits: Collective) -> String {
    let all = Collective::ALL.iter().filter(|c| c.limits() == limits);
    all.map(|c| c.mpi_name()).collect::<Vec<_>>().join(" and ")
}
