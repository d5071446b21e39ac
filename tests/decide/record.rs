//! Who has a call, for many communicators, networks, collectives and sizes, as data: `tests/data/decisions-0.2.0.csv`.
//!
//! The record is there to see what a change of the choice changes. While its first line says that it is current, a
//! decision that differs from it fails, and `RONDO_TEST_WRITE=decisions` writes it anew. Otherwise differences are only
//! printed (with `--nocapture`).

use crate::{UNKNOWN, all_broadcast, apart, broadcast, config, full, parts};
use rondo::collective::{Collective, Family};
use rondo::config::{Config, Reproducible};
use rondo::decide::{
    Barrier, Choice, Context, Facts, Form, OperatorProperties, Problem, Reduction, Rooted,
    TotalExchange,
};
use rondo::learn::Candidate;
use rondo::network::Network;
use rondo::script::{fullest_rounds, share};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::{env, fs};

const FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/data/decisions-0.2.0.csv"
);
const HEAD: &str = "\
# Who has a call (decisions of 0.2.0; current: today's have to be equal), made by tests/decide/record.rs.
# From so many bytes on: the built-in choice (h: the host, and why); w if the host has the first calls until the set-up
# is worth it; behind / who competes with it. Behind an algorithm, (n): over n leaders of each node. Figures are the
# blocks of 512 B, 64 KiB, 1 MiB and 64 MiB, and behind : the microseconds that the model predicts.
communicator,network,collective,call,decisions,figures
";
/// Bytes of calls: 1 to 64 MiB.
const DIGITS: std::ops::Range<u32> = 0..27;
/// Of which of them there are figures: 512 bytes, 64 KiB, 1 MiB and 64 MiB.
const FIGURES: [u32; 4] = [9, 16, 20, 26];

const SUM_OF_INTEGERS: OperatorProperties = OperatorProperties {
    idempotent: false,
    ..OperatorProperties::ANY
};
const OF_THE_USER: OperatorProperties = OperatorProperties {
    built_in: false,
    ..OperatorProperties::INEXACT
};
const ORDERED: OperatorProperties = OperatorProperties {
    commutes: false,
    ..OperatorProperties::INEXACT
};

/// Communicators, by a name.
fn communicators() -> Vec<(String, Facts, Config)> {
    let mut all = Vec::new();
    let mut add = |name: &str, facts: Facts, config: Config| all.push((name.into(), facts, config));
    for (nodes, width) in [
        (3, 1),
        (8, 1),
        (17, 1),
        (36, 1),
        (64, 1),
        (100, 1),
        (1152, 1),
        (1, 4),
        (1, 64),
        (2, 8),
        (4, 4),
        (8, 8),
        (36, 16),
    ] {
        add(
            &format!("{nodes}x{width}"),
            full(nodes, width),
            Config::default(),
        );
    }
    let uneven = Facts {
        narrowest: 2,
        p: 14,
        ..full(4, 4)
    };
    add("4x4 but two ranks", uneven, Config::default());
    let scattered = Facts {
        consecutive: false,
        ..full(4, 4)
    };
    add("4x4 in any order", scattered, Config::default());
    for (nodes, width) in [(1, 4), (4, 4), (36, 16)] {
        let no_shm = config(|c| c.shm = false);
        add(
            &format!("{nodes}x{width} without shared memory"),
            full(nodes, width),
            no_shm,
        );
    }
    let placed = Facts {
        placed_bytes: 4096,
        ..apart(36)
    };
    add(
        "36x1 whose network puts 4 KiB into place",
        placed,
        Config::default(),
    );
    let leads = Facts {
        host_leads: true,
        ..full(4, 4)
    };
    add("4x4 whose host has leaders", leads, Config::default());
    let copies = Facts {
        host_copies: true,
        ..full(1, 4)
    };
    add(
        "1x4 whose host copies between processes",
        copies,
        Config::default(),
    );
    all
}

/// Of a network: microseconds of a short message and between two of them, and nanoseconds for 1024 bytes.
type Figures = (f64, f64, f64);

/// Networks, by a name.
const NETWORKS: [(&str, Option<Figures>); 5] = [
    ("unknown", None),
    ("1.9 us and 100 Gbit/s", Some((1.9, 0.3, 82.0))),
    ("30 us and 1 Gbit/s", Some((30.0, 10.0, 8000.0))),
    ("500 us and 200 Mbit/s", Some((500.0, 10.0, 41_000.0))),
    ("2 ms and 200 Mbit/s", Some((2000.0, 10.0, 41_000.0))),
];

fn network(figures: Option<Figures>) -> Network {
    let Some((alpha, gap, beta)) = figures else {
        return UNKNOWN;
    };
    Network {
        alpha_us: Some(alpha),
        gap_us: Some(gap),
        beta_ns_per_kb: Some(beta),
        node_alpha_us: Some(1.0),
        node_beta_ns_per_kb: Some(200.0),
    }
}

/// The kinds of calls of a collective, by a name: distributions of parts, or operators and promises.
fn calls(collective: Collective) -> &'static [&'static str] {
    match collective.family() {
        Family::AllBroadcast => &["equal", "one has all", "one in four has all"],
        Family::AllReduction => &[
            "integers",
            "doubles",
            "doubles in order",
            "doubles wherever",
            "user's",
            "ordered",
        ],
        Family::Reduction | Family::Scan => &["integers", "doubles", "doubles in order", "ordered"],
        Family::ScatteredReduction => &["integers", "doubles", "ordered", "integers for one"],
        Family::Broadcast
        | Family::Rooted
        | Family::Barrier
        | Family::TotalExchange
        | Family::IrregularExchange => &[""],
    }
}

/// Those whose decisions are recorded; the others decide as one of these.
const COLLECTIVES: [Collective; 12] = [
    Collective::Bcast,
    Collective::Allgatherv,
    Collective::Gather,
    Collective::Gatherv,
    Collective::Scatterv,
    Collective::Allreduce,
    Collective::Reduce,
    Collective::ReduceScatter,
    Collective::Scan,
    Collective::Barrier,
    Collective::Alltoall,
    Collective::Alltoallv,
];

/// What is decided on a call: who has it, in how many blocks, and how long it takes by the model.
struct Decision {
    who: String,
    blocks: u32,
    us: Option<f64>,
}

fn decide(problem: &impl Problem) -> Decision {
    use Candidate::{First, Host, Second, Third};
    let choice = problem.choose();
    let mut who = word(choice);
    if let Some(prior) = problem.prior(choice).filter(|_| problem.learns(choice)) {
        who.push('/');
        for (candidate, ratio) in [Host, First, Second, Third].into_iter().zip(prior.expected) {
            if ratio.is_some() && candidate != prior.default {
                match problem.candidate(candidate) {
                    Choice::Host(_) => who.push_str(" h"),
                    choice => write!(who, " {}", word(choice)).unwrap(),
                }
            }
        }
    }
    let blocks = match problem.candidate(First) {
        Choice::Rondo(method) => method.blocks,
        Choice::Host(_) => 0,
    };
    let us = problem.predicted_us();
    Decision { who, blocks, us }
}

fn word(choice: Choice) -> String {
    match choice {
        Choice::Host(why) => format!("h {why:?}"),
        Choice::Rondo(method) => match method.form {
            Form::Flat => method.algorithm.name().into(),
            Form::Nodes { lanes } => format!("{}({lanes})", method.algorithm.name()),
        },
    }
}

/// What is decided on a call of so many bytes: of all ranks together in an all-broadcast, of a block in a gather or
/// scatter, of a vector, of all blocks of a rank in an exchange.
fn decide_call(context: Context, call: &str, bytes: u64) -> Decision {
    let Context {
        collective, facts, ..
    } = context;
    let p = u64::from(facts.p);
    match collective.family() {
        Family::Broadcast => decide(&broadcast(facts, bytes, context.config)),
        Family::AllBroadcast => {
            let part_of = |ranks: u32, i: u32| match call {
                "equal" => share(bytes, ranks, i),
                "one has all" => bytes * u64::from(i == 0),
                _ => u64::from(i.is_multiple_of(4)) * share(bytes, ranks.div_ceil(4), i / 4),
            };
            let own: Vec<u64> = (0..facts.p).map(|i| part_of(facts.p, i)).collect();
            let of_nodes: Vec<u64> = match facts.places() {
                Some(width) => own
                    .chunks(width as usize)
                    .map(|node| node.iter().sum())
                    .collect(),
                None => (0..facts.nodes).map(|i| part_of(facts.nodes, i)).collect(),
            };
            decide(&all_broadcast(
                facts,
                &parts(&own),
                &parts(&of_nodes),
                context.config,
            ))
        }
        Family::Rooted => {
            let block = (collective == Collective::Gather).then_some(bytes);
            decide(&Rooted { context, block })
        }
        Family::AllReduction | Family::Reduction | Family::ScatteredReduction | Family::Scan => {
            let for_one = call.ends_with("for one");
            let of = |i: u32| {
                if for_one {
                    bytes * u64::from(i == 0)
                } else {
                    share(bytes, facts.p, i)
                }
            };
            let own: Vec<u64> = (0..facts.p).map(of).collect();
            decide(&Reduction {
                context,
                bytes,
                unit: 8,
                longest: if for_one { bytes } else { bytes.div_ceil(p) },
                fullest: if for_one { fullest_rounds(&own) } else { bytes },
                operator: match call.split(' ').next() {
                    Some("integers") => SUM_OF_INTEGERS,
                    Some("doubles") => OperatorProperties::INEXACT,
                    Some("user's") => OF_THE_USER,
                    _ => ORDERED,
                },
            })
        }
        Family::Barrier => decide(&Barrier { context }),
        Family::TotalExchange => decide(&TotalExchange {
            context,
            bytes: Some(bytes),
        }),
        Family::IrregularExchange => decide(&TotalExchange {
            context,
            bytes: None,
        }),
    }
}

/// A line without decisions, and what these are: from so many bytes on, and blocks.
type Record = BTreeMap<String, (Vec<(u64, String)>, String)>;

fn today() -> Record {
    let mut record = Record::new();
    for (name, mut facts, default) in communicators() {
        for (network_name, figures) in NETWORKS {
            facts.network = network(figures);
            for collective in COLLECTIVES {
                for call in calls(collective) {
                    let mut config = default.clone();
                    config.reproducible = match call.split(' ').next_back() {
                        Some("order") => Reproducible::Order,
                        Some("wherever") => Reproducible::Placement,
                        _ => Reproducible::Run,
                    };
                    let key = format!("{name},{network_name},{},{call}", collective.name());
                    let config = &config;
                    let context = Context {
                        collective,
                        facts,
                        config,
                    };
                    record.insert(key, decide_all(context, call));
                }
            }
        }
    }
    record
}

/// What is decided on calls of all sizes, and the figures of some.
fn decide_all(context: Context, call: &str) -> (Vec<(u64, String)>, String) {
    let collective = context.collective;
    let knows = collective.family().knows_bytes() || collective == Collective::Gather;
    let (mut decisions, mut figures) = (Vec::<(u64, String)>::new(), Vec::new());
    for digits in if knows { DIGITS } else { 0..1 } {
        let Decision { who, blocks, us } = decide_call(context, call, 1 << digits);
        if FIGURES.contains(&digits) {
            figures.push(us.map_or(blocks.to_string(), |us| format!("{blocks}:{us:.1}")));
        }
        if decisions.last().is_none_or(|(_, last)| *last != who) {
            decisions.push((1 << digits, who));
        }
    }
    (decisions, figures.join(" "))
}

fn written(record: &Record) -> String {
    let mut text = HEAD.to_string();
    for (key, (decisions, blocks)) in record {
        let list: Vec<String> = decisions
            .iter()
            .map(|(from, who)| format!("{from} {who}"))
            .collect();
        writeln!(text, "{key},{},{blocks}", list.join("; ")).unwrap();
    }
    text
}

fn read(text: &str) -> Record {
    let lines = text.lines().filter(|line| !line.starts_with('#')).skip(1);
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let decisions = fields[4].split("; ").map(|run| {
                let (from, who) = run.split_once(' ').unwrap();
                (from.parse().unwrap(), who.to_string())
            });
            (
                fields[..4].join(","),
                (decisions.collect(), fields[5].to_string()),
            )
        })
        .collect()
}

/// Who has a call of so many bytes by a list of decisions.
fn at(decisions: &[(u64, String)], bytes: u64) -> &str {
    decisions
        .iter()
        .rev()
        .find(|(from, _)| *from <= bytes)
        .map_or("", |(_, who)| who)
}

/// A table of what differs: a row for each line of the record and each change in it.
fn differences(before: &Record, now: &Record) -> Vec<String> {
    let mut rows = Vec::new();
    let nothing = (Vec::new(), String::new());
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    for key in keys {
        let (old, new) = (
            before.get(key).unwrap_or(&nothing),
            now.get(key).unwrap_or(&nothing),
        );
        let mut last = None;
        for bytes in DIGITS.map(|digits| 1 << digits) {
            let (was, is) = (at(&old.0, bytes), at(&new.0, bytes));
            if was != is && last != Some((was, is)) {
                rows.push(format!("{key}: from {bytes} bytes on {was:?} is {is:?}"));
            }
            last = (was != is).then_some((was, is));
        }
        if old.1 != new.1 {
            rows.push(format!("{key}: blocks {:?} are {:?}", old.1, new.1));
        }
    }
    rows
}

#[test]
fn decisions_are_those_of_the_record_while_it_is_current() {
    let now = today();
    if env::var("RONDO_TEST_WRITE").is_ok_and(|what| what == "decisions") {
        fs::write(FILE, written(&now)).unwrap();
    }
    let text = fs::read_to_string(FILE).expect("the record");
    let rows = differences(&read(&text), &now);
    println!(
        "{} lines, {} differences\n{}",
        now.len(),
        rows.len(),
        rows.join("\n")
    );
    let is_current = text.lines().next().unwrap().contains("current");
    assert!(
        !is_current || rows.is_empty(),
        "{} decisions are others than in {FILE}",
        rows.len()
    );
}

/// That a difference is seen: in who, in where it begins, and in blocks.
#[test]
fn a_changed_decision_is_found() {
    let text = format!("{HEAD}8x1,unknown,bcast,,1 h Small; 32768 circulant/ h,2 8 16\n");
    let record = read(&text);
    assert_eq!(written(&record), text);
    for (change, by) in [
        ("32768", "65536"),
        ("circulant", "postal"),
        ("2 8 16", "2 8 17"),
        ("8x1", "9x1"),
    ] {
        let changed = read(&text.replace(change, by));
        assert!(!differences(&record, &changed).is_empty(), "{change}");
    }
    assert!(differences(&record, &record).is_empty());
}
