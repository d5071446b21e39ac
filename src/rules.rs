//! Rules that a user, or a measurement, made for a machine: which algorithm carries out what.
//!
//! A file of rules is one JSON object with the list `rules`; what else it says of itself is for people. The first rule
//! that fits a call counts. Only automatic choices go by rules: what an option names stays.

#![forbid(unsafe_code)]

use crate::collective::Collective;
use crate::config::Setting;
use crate::hash;
use crate::network::{FIGURES, Network};
use serde::{Deserialize, Serialize};

/// A file of rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// The rules, the first that fits first.
    pub rules: Vec<Rule>,
}

/// A rule. What it does not bound fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// scatter. What not all ranks know, the bytes of `MPI_Gatherv` and `MPI_Scatterv`, fits no bound.
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

/// Rules at the most.
const RULES: usize = 10_000;

/// Rules as ranks exchange them and calls look them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    compiled: Vec<[i64; NUMBERS]>,
}

/// What a rule says of a call that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The host, or an algorithm.
    pub setting: Setting,
    /// Bytes of a block; 0: as the model says.
    pub block_bytes: u64,
}

impl File {
    /// Reads a file of rules. The error is a sentence's end that says what is wrong and where.
    pub fn parse(text: &str) -> Result<File, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
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
            compiled.push(row);
        }
        Ok(Rules { compiled })
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
        let calls = |rule: &Rule| Rule {
            algorithm: String::new(),
            block_bytes: 0,
            ..rule.clone()
        };
        calls(self) == calls(other)
    }

    fn compile(&self) -> Result<[i64; NUMBERS], String> {
        let name = self.collective.as_str();
        let collective = Collective::ALL.iter().find(|known| known.name() == name);
        let collective = collective.ok_or_else(|| format!("collective: there is no {name:?}"))?;
        let mut settings = Setting::among(collective.algorithms()).filter(|s| *s != Setting::Auto);
        let setting = settings
            .find(|setting| setting.name() == self.algorithm)
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

impl Rules {
    /// What they say of the network.
    pub fn network(&self) -> Network {
        let row = self.compiled.iter().find(|row| row[0] == NO_COLLECTIVE);
        row.map_or(Network::default(), |row| {
            Network::from_numbers(std::array::from_fn(|i| row[1 + i]))
        })
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
        Rules {
            compiled: numbers.to_vec(),
        }
    }

    /// A number for all of them, the same on every rank and hardly ever for others; 0 if there are none.
    pub fn hash(&self) -> u64 {
        match self.is_empty() {
            true => 0,
            false => {
                hash::of_words(self.compiled.iter().flatten().map(|&number| number as u64)) | 1
            }
        }
    }

    /// What the first rule says that fits a call of `collective` on `p` ranks of `nodes` nodes, of `bytes` bytes if all
    /// ranks know them.
    pub fn find(
        &self,
        collective: Collective,
        (p, nodes): (u32, u32),
        bytes: Option<u64>,
    ) -> Option<Ruling> {
        let within = |value: u64, min: i64, max: i64| (min as u64..=max as u64).contains(&value);
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
