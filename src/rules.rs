//! Rules that a user, or a measurement, made for a machine: which algorithm carries out what.
//!
//! A file of rules is one JSON object with the list `rules`; what else it says of itself is for people. The first rule
//! that fits a call counts. Only automatic choices go by rules: what an option names stays.

#![forbid(unsafe_code)]

use crate::collective::Collective;
use crate::config::{Setting, removed};
use crate::files::Beside;
use crate::hash;
use crate::network::{FIGURES, Network, Numbers, Placement};
use crate::report;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::fs::{self, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A file of rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct File {
    /// The MPI library that the rules were measured with, as it names itself; they serve no other one. Any, if empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Where, when and how they were made. For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub made: String,
    /// The figures of the network, as far as they are known; they need not be measured.
    #[serde(default, skip_serializing_if = "Network::is_empty")]
    pub network: Network,
    /// The nodes between which Rondo measured these figures. Between them they count until they are measured again, and
    /// elsewhere they do not. Without it a user wrote them, and they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_on: Option<MeasuredOn>,
    /// A key that 0.2 wrote: it is understood and not written.
    #[serde(default, skip_serializing)]
    pub gamma_ns_per_kb: Option<IgnoredAny>,
    /// The rules, the first that fits first.
    pub rules: Vec<Rule>,
}

/// Nodes, as a file says which they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct MeasuredOn {
    /// How many.
    pub nodes: u32,
    /// A number for their names, in hexadecimal digits: readers of JSON need not know as large ones.
    pub names: String,
}

impl MeasuredOn {
    /// These nodes.
    pub fn new(placement: Placement) -> MeasuredOn {
        MeasuredOn {
            nodes: placement.nodes,
            names: format!("{:016x}", placement.hash),
        }
    }

    fn placement(&self) -> Result<Placement, String> {
        let hash = u64::from_str_radix(&self.names, 16);
        match (self.nodes, hash) {
            (nodes @ 1.., Ok(hash)) => Ok(Placement { nodes, hash }),
            (0, _) => Err("nodes: 0 is none".into()),
            (_, Err(error)) => Err(format!("names: {:?}: {error}", self.names)),
        }
    }
}

/// A rule. What it does not bound fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Rule {
    /// The name of the collective, as in the statistics: `bcast`, `allgatherv` and so on.
    pub collective: String,
    /// `host` or one of the algorithms of the collective's option.
    pub algorithm: String,
    /// The fewest ranks.
    #[serde(default = "least")]
    pub comm_size_min: u64,
    /// The most ranks.
    #[serde(default = "most")]
    pub comm_size_max: u64,
    /// The fewest nodes.
    #[serde(default = "least")]
    pub nodes_min: u64,
    /// The most nodes.
    #[serde(default = "most")]
    pub nodes_max: u64,
    /// The fewest bytes: of a broadcast's message, of an allgather's ranks together, of a rank's block of a gather or
    /// scatter, of its vector in a reduction or scan, of its blocks together in an alltoall. What not all ranks know,
    /// the bytes of `MPI_Gatherv` and `MPI_Scatterv`, fits no bound.
    #[serde(default = "least")]
    pub msg_size_min: u64,
    /// The most bytes.
    #[serde(default = "most")]
    pub msg_size_max: u64,
    /// Bytes of a block, as in `RONDO_BLOCK_BYTES`. 0: as the model says.
    #[serde(default)]
    pub block_bytes: u64,
}

/// The bound that everything is above.
fn least() -> u64 {
    0
}

/// The bound that everything is below. A number of 53 bits, which every reader of JSON can read.
fn most() -> u64 {
    1 << 53
}

/// Numbers that stand for a rule.
const NUMBERS: usize = 9;

/// What stands for the collective in the row of the network's figures.
const NO_COLLECTIVE: i64 = -1;

/// Where in that row the nodes are between which they were measured: how many, a negative number if a user wrote the
/// figures, and the number for their names.
const NODES: usize = NUMBERS - 2;

/// Rules at the most.
pub const RULES: usize = 10_000;

/// Bytes of a file at the most: more than so many rules take.
const FILE_BYTES: u64 = 16 << 20;

/// Rules as ranks exchange them and calls look them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    compiled: Vec<[i64; NUMBERS]>,
    /// See [`Rules::hash`].
    hash: u64,
}

/// What a rule says of a call that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The host, or an algorithm.
    pub setting: Setting,
    /// Bytes of a block; 0: as the model says.
    pub block_bytes: u64,
}

/// Why a file is not written anew.
#[derive(Debug)]
pub enum Refusal {
    /// It cannot be read.
    Unreadable(io::Error),
    /// It is something else: a sentence's end behind its name.
    Other(String),
}

/// The text of a file of rules. Nothing else than a file is read, because others need not have an end.
fn text_of(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = String::new();
    let file = fs::File::open(path)?;
    file.take(FILE_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > FILE_BYTES {
        let most = FILE_BYTES >> 20;
        return Err(io::Error::other(format!("it has more than {most} MiB")));
    }
    Ok(text)
}

/// A text without the control characters that it quotes from a file: a terminal would obey them.
pub fn printable(text: &str) -> String {
    let mut printable = String::new();
    for character in text.chars() {
        match character.is_control() {
            true => printable.extend(character.escape_default()),
            false => printable.push(character),
        }
    }
    printable
}

/// The line about a file of rules that is of no use.
pub fn ignored(path: &str, what: &str) -> String {
    printable(&format!("RONDO_RULES={path}: {what}; all of it is ignored"))
}

/// The line about what does nothing in a file of rules that is used.
pub fn passed_over(path: &str, what: &str) -> String {
    printable(&format!("RONDO_RULES={path}: {what}"))
}

/// New rules, and behind them the old ones that are not for the `same` calls as one of them. Not more than a file may
/// have.
pub fn merged(new: &[Rule], old: Vec<Rule>, same: impl Fn(&Rule, &Rule) -> bool) -> Vec<Rule> {
    let mut all = new.to_vec();
    let stays = |old: &Rule| !new.iter().any(|new| same(old, new));
    all.extend(old.into_iter().filter(stays));
    all.truncate(RULES);
    all
}

/// How long a job waits for others that write.
const PATIENCE: Duration = Duration::from_secs(2);

/// Keeps other jobs from changing the file of rules at `path` as long as this lives. For what is changed is read first.
/// `None` if there are no locks there (NFS has none for folders), or another job keeps its one for long: of jobs that
/// end at the same time the last one's file stays then.
fn alone(path: &Path) -> Option<fs::File> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let folder = fs::File::open(folder.unwrap_or(Path::new("."))).ok()?;
    let begin = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) if begin.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
        }
    }
}

impl File {
    /// Reads a file of rules. The error is a sentence's end that says what is wrong and where, in one line.
    pub fn parse(text: &str) -> Result<File, String> {
        // A list of values in the order of the keys would do for the parser.
        if !text.trim_start().starts_with('{') {
            return Err("it is no object of JSON".into());
        }
        serde_json::from_str(text).map_err(|error| printable(&error.to_string()))
    }

    /// A sentence about a key that does nothing any more, if there is one.
    pub fn removed(&self) -> Option<String> {
        self.gamma_ns_per_kb
            .and_then(|_| removed("gamma_ns_per_kb"))
    }

    /// Reads the file at `path`.
    pub fn read(path: &Path) -> Result<File, String> {
        let text = text_of(path).map_err(|error| error.to_string())?;
        File::parse(&text)
    }

    /// The rules of the file at `path`, if they are for this MPI library, and what does nothing in it.
    pub fn rules_for(path: &Path, host: &str) -> Result<(Rules, Option<String>), String> {
        let file = File::read(path)?;
        match file.host.is_empty() || file.host == host {
            true => Ok((file.compile()?, file.removed())),
            false => Err(format!(
                "made for {}, and this is {host}; measure again with 'rondo tune', or remove \"host\" from the file",
                file.host
            )),
        }
    }

    /// What there is at `path`, where a file of rules for this MPI library is to be written: such a file, or none yet.
    pub fn before(path: &Path, host: &str) -> Result<File, Refusal> {
        let text = match text_of(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(Refusal::Unreadable(error)),
        };
        if text.trim().is_empty() {
            return Ok(File::default());
        }
        let old = File::parse(&text).and_then(|old| old.compile().map(|_| old));
        let old = old
            .map_err(|what| Refusal::Other(format!("is there and is no file of rules: {what}")))?;
        if !old.rules.is_empty() && old.host != host {
            let of = match old.host.as_str() {
                "" => "any MPI library".into(),
                host => printable(host),
            };
            return Err(Refusal::Other(format!(
                "has rules for {of}, and this is {host}"
            )));
        }
        Ok(old)
    }

    /// As text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).expect("names and numbers are always JSON") + "\n"
    }

    /// Writes it to `path`. A reader finds the old file or the new one, whatever happens meanwhile.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        // A link stays one.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let mut new = Beside::new(&path)?;
        new.fill(&self.text())?;
        new.take_place()
    }

    /// Adds to the file at `path` what a job has learnt: rules, and figures of the network. Rules that are there
    /// already, for other calls, stay. If it cannot be written, all of it is reported.
    pub fn learn(
        path: &Path,
        host: String,
        learnt: &[Rule],
        set: Network,
        known: (Placement, Network),
    ) {
        let _alone = alone(path);
        let (old, why) = match File::before(path, &host) {
            Ok(old) => (old, None),
            Err(Refusal::Unreadable(error)) => (File::default(), Some(error.to_string())),
            Err(Refusal::Other(what)) => (File::default(), Some(format!("it {what}"))),
        };
        let mut file = old.with_learnt(host, learnt, set, known);
        file.add_made(concat!("learnt by rondo ", env!("CARGO_PKG_VERSION")));
        let why = why.or_else(|| Some(file.write(path).err()?.to_string()));
        if let Some(why) = why {
            let path = path.display();
            let line = format!("cannot write what was learnt to {path}: {why}; it follows here");
            report::line(0, &printable(&line));
            report::block(&file.text());
        }
    }

    /// This file with what a later job has `learnt` with this host; and with figures, where it measured so much between
    /// these nodes. If a user wrote some, in the rules that were in use or in this file, all of them stay.
    fn with_learnt(
        self,
        host: String,
        learnt: &[Rule],
        set: Network,
        (nodes, measured): (Placement, Network),
    ) -> File {
        let on = Some(MeasuredOn::new(nodes));
        let is_users = self.measured_on.is_none() && !self.network.is_empty();
        let (network, measured_on) = if !set.is_empty() || is_users {
            (set.or(&measured).or(&self.network), None)
        } else if measured.is_empty() {
            (self.network, self.measured_on)
        } else if on == self.measured_on {
            (measured.or(&self.network), on)
        } else {
            (measured, on)
        };
        File {
            host,
            network,
            measured_on,
            gamma_ns_per_kb: None,
            rules: merged(learnt, self.rules, Rule::bounds_as),
            made: self.made,
        }
    }

    /// Says that it was made in this way, too.
    pub fn add_made(&mut self, made: &str) {
        if !self.made.split("; ").any(|old| old == made) {
            let all = [made, &self.made].join("; ");
            self.made = all.trim_end_matches("; ").into();
        }
    }

    /// The rules as numbers, or what is wrong with the first bad one.
    pub fn compile(&self) -> Result<Rules, String> {
        if self.rules.len() > RULES {
            return Err(format!("{} rules are more than {RULES}", self.rules.len()));
        }
        let compiled = (1..).zip(&self.rules).map(|(number, rule)| {
            let numbers = rule.compile();
            numbers.map_err(|what| format!("rule {number}: {what}"))
        });
        let mut compiled = compiled.collect::<Result<Vec<_>, _>>()?;
        if !self.network.is_empty() {
            self.network
                .check()
                .map_err(|what| format!("network: {what}"))?;
            let mut row = [NO_COLLECTIVE; NUMBERS];
            row[1..][..FIGURES].copy_from_slice(&self.network.numbers());
            if let Some(on) = &self.measured_on {
                let nodes = on.placement();
                let nodes = nodes.map_err(|what| format!("measured_on: {what}"))?;
                row[NODES..].copy_from_slice(&[nodes.nodes.into(), nodes.hash as i64]);
            }
            compiled.push(row);
        }
        Ok(Rules::of(compiled))
    }
}

impl Rule {
    /// A rule that fits every call of a collective.
    pub fn all(collective: &str, algorithm: &str, block_bytes: u64) -> Rule {
        Rule {
            collective: collective.into(),
            algorithm: algorithm.into(),
            comm_size_min: least(),
            comm_size_max: most(),
            nodes_min: least(),
            nodes_max: most(),
            msg_size_min: least(),
            msg_size_max: most(),
            block_bytes,
        }
    }

    /// Is this for the same calls?
    pub fn bounds_as(&self, other: &Rule) -> bool {
        let sizes = |rule: &Rule| (rule.msg_size_min, rule.msg_size_max);
        self.ranks_as(other) && sizes(self) == sizes(other)
    }

    /// Is this for calls of the same collective on the same ranks and nodes, of whatever size?
    pub fn ranks_as(&self, other: &Rule) -> bool {
        let ranks = |rule: &Rule| (rule.comm_size_min, rule.comm_size_max);
        let nodes = |rule: &Rule| (rule.nodes_min, rule.nodes_max);
        ranks(self) == ranks(other)
            && nodes(self) == nodes(other)
            && self.collective == other.collective
    }

    fn compile(&self) -> Result<[i64; NUMBERS], String> {
        let name = self.collective.as_str();
        let collective = Collective::ALL.iter().find(|known| known.name() == name);
        let collective = collective.ok_or_else(|| format!("collective: there is no {name:?}"))?;
        let mut settings = Setting::named(*collective).filter(|(_, s)| *s != Setting::Auto);
        let (_, setting) = settings
            .find(|(name, _)| *name == self.algorithm)
            .ok_or_else(|| format!("algorithm: {name} has no {:?}", self.algorithm))?;
        for (key, min, max) in [
            ("comm_size", self.comm_size_min, self.comm_size_max),
            ("nodes", self.nodes_min, self.nodes_max),
            ("msg_size", self.msg_size_min, self.msg_size_max),
        ] {
            if min > max {
                return Err(format!("{key}_min: {min} is more than {key}_max, {max}"));
            }
        }
        if self.block_bytes > 1 << 30 {
            return Err(format!(
                "block_bytes: {} is more than 1 GiB",
                self.block_bytes
            ));
        }
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Ok([
            *collective as i64,
            number(setting.encode()),
            number(self.comm_size_min),
            number(self.comm_size_max),
            number(self.nodes_min),
            number(self.nodes_max),
            number(self.msg_size_min),
            number(self.msg_size_max),
            number(self.block_bytes),
        ])
    }
}

/// Is a value between these bounds?
fn within(value: u64, min: i64, max: i64) -> bool {
    (min as u64..=max as u64).contains(&value)
}

impl Rules {
    fn of(compiled: Vec<[i64; NUMBERS]>) -> Rules {
        let words = compiled.iter().flatten().map(|&number| number as u64);
        let hash = match compiled.is_empty() {
            true => 0,
            false => hash::of_words(words) | 1,
        };
        Rules { compiled, hash }
    }

    /// Those for calls on `p` ranks of `nodes` nodes, in their order.
    pub fn among(&self, (p, nodes): (u32, u32)) -> Rules {
        let fits = |numbers: &&[i64; NUMBERS]| {
            let [place, _, p_min, p_max, nodes_min, nodes_max, ..] = **numbers;
            place != NO_COLLECTIVE
                && within(p.into(), p_min, p_max)
                && within(nodes.into(), nodes_min, nodes_max)
        };
        Rules::of(self.compiled.iter().filter(fits).copied().collect())
    }

    /// What they say of the network, and between which nodes that was measured, unless a user wrote it.
    fn figures(&self) -> Option<(Numbers, Option<Placement>)> {
        let row = self.compiled.iter().find(|row| row[0] == NO_COLLECTIVE)?;
        let numbers = std::array::from_fn(|i| row[1 + i]);
        let nodes = u32::try_from(row[NODES]).ok().map(|nodes| Placement {
            nodes,
            hash: row[NODES + 1] as u64,
        });
        Some((numbers, nodes))
    }

    /// What a user says in them of the network.
    pub fn network(&self) -> Network {
        let users = self.figures().filter(|(_, nodes)| nodes.is_none());
        users.map_or(Network::default(), |(numbers, _)| {
            Network::from_numbers(numbers)
        })
    }

    /// What an earlier job measured of the network between these nodes.
    pub fn measured(&self, nodes: Placement) -> Option<Network> {
        let measured = self.figures().filter(|(_, on)| *on == Some(nodes));
        measured.map(|(numbers, _)| Network::from_numbers(numbers))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.compiled.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// Numbers for other ranks.
    pub fn encode(&self) -> Vec<i64> {
        self.compiled.concat()
    }

    /// How many numbers so many rules are.
    pub fn encoded_len(rules: usize) -> usize {
        rules * NUMBERS
    }

    /// The rules that another rank has.
    pub fn decode(numbers: &[i64]) -> Rules {
        let (numbers, _) = numbers.as_chunks::<NUMBERS>();
        Rules::of(numbers.to_vec())
    }

    /// A number for all of them, the same on every rank and hardly ever for others; 0 if there are none.
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// What the first rule says that fits a call of `collective` on `p` ranks of `nodes` nodes, of `bytes` bytes if all
    /// ranks know them.
    pub fn find(
        &self,
        collective: Collective,
        (p, nodes): (u32, u32),
        bytes: Option<u64>,
    ) -> Option<Ruling> {
        let fits = |numbers: &&[i64; NUMBERS]| {
            let [place, _, p_min, p_max, nodes_min, nodes_max, min, max, _] = **numbers;
            let unbounded = min == least() as i64 && max == most() as i64;
            place == collective as i64
                && within(p.into(), p_min, p_max)
                && within(nodes.into(), nodes_min, nodes_max)
                && bytes.map_or(unbounded, |bytes| within(bytes, min, max))
        };
        let numbers = self.compiled.iter().find(fits)?;
        Some(Ruling {
            setting: Setting::decode(numbers[1] as u64, collective.algorithms())?,
            block_bytes: numbers[8] as u64,
        })
    }
}
