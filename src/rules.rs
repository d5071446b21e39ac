//! Rules that a user, or a measurement, made for a machine: which algorithm carries out what.
//!
//! A file of rules is one JSON object with the list `rules`; what else it says of itself is for people. The first rule that fits
//! a call counts. Only automatic choices go by rules: what an option names stays.

#![forbid(unsafe_code)]

use crate::config::{Algorithm, Setting};
use crate::hash;
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
    /// The rules, the first that fits first.
    pub rules: Vec<Rule>,
}

/// A rule. What it does not bound fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The name of the collective, as in the statistics: `bcast`, `allgatherv`, `allgather`, `gatherv`, `gather`,
    /// `scatterv` or `scatter`.
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
    /// The fewest bytes: of a broadcast's message, of an allgather's ranks together, of a rank's block of a gather or scatter. What not all ranks
    /// know, the bytes of `MPI_Gatherv` and `MPI_Scatterv`, fits no bound.
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
const WORDS: usize = 9;

/// Rules at the most.
const RULES: usize = 10_000;

/// Rules as ranks exchange them and calls look them up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    words: Vec<[i64; WORDS]>,
}

/// What a rule says of a call that it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// The host, or an algorithm.
    pub setting: Setting,
    /// Bytes of a block; 0: as the model says.
    pub block_bytes: u64,
}

/// A collective as rules see it: its name, and the algorithms that it has.
pub type Known<'a> = (&'a str, &'a [Algorithm]);

impl File {
    /// Reads a file of rules. The error is a sentence's end that says what is wrong and where.
    pub fn parse(text: &str) -> Result<File, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// The rules for collectives in this order, or what is wrong with the first bad one.
    pub fn compile(&self, collectives: &[Known]) -> Result<Rules, String> {
        if self.rules.len() > RULES {
            return Err(format!("{} rules are more than {RULES}", self.rules.len()));
        }
        let words = (1..).zip(&self.rules).map(|(number, rule)| {
            let words = rule.compile(collectives);
            words.map_err(|what| format!("rule {number}: {what}"))
        });
        let words = words.collect::<Result<_, _>>()?;
        Ok(Rules { words })
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

    fn compile(&self, collectives: &[Known]) -> Result<[i64; WORDS], String> {
        let name = self.collective.as_str();
        let place = collectives.iter().position(|(known, _)| *known == name);
        let place = place.ok_or_else(|| format!("collective: there is no {name:?}"))?;
        let (_, algorithms) = collectives[place];
        let mut settings = Setting::among(algorithms).filter(|s| *s != Setting::Auto);
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
        let word = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        Ok([
            place as i64,
            word(setting.to_word()),
            word(self.comm_size_min),
            word(self.comm_size_max),
            word(self.nodes_min),
            word(self.nodes_max),
            word(self.msg_size_min),
            word(self.msg_size_max),
            word(self.block_bytes),
        ])
    }
}

impl Rules {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Numbers for other ranks.
    pub fn to_words(&self) -> Vec<i64> {
        self.words.concat()
    }

    /// How many numbers so many rules are.
    pub fn words_of(rules: usize) -> usize {
        rules * WORDS
    }

    /// The rules that another rank has.
    pub fn from_words(words: &[i64]) -> Rules {
        let (words, _) = words.as_chunks::<WORDS>();
        Rules {
            words: words.to_vec(),
        }
    }

    /// A number for all of them, the same on every rank and hardly ever for others; 0 if there are none.
    pub fn hash(&self) -> u64 {
        match self.is_empty() {
            true => 0,
            false => hash::of_words(self.words.iter().flatten().map(|&word| word as u64)) | 1,
        }
    }

    /// What the first rule says that fits a call of collective number `collective`, which has these algorithms, on `p` ranks of `nodes`
    /// nodes, of `bytes` bytes if all ranks know them.
    pub fn find(
        &self,
        collective: usize,
        algorithms: &[Algorithm],
        (p, nodes): (u32, u32),
        bytes: Option<u64>,
    ) -> Option<Ruling> {
        let within = |value: u64, min: i64, max: i64| (min as u64..=max as u64).contains(&value);
        let fits = |words: &&[i64; WORDS]| {
            let [place, _, p_min, p_max, nodes_min, nodes_max, min, max, _] = **words;
            let unbounded = min == least() as i64 && max == most() as i64;
            place == collective as i64
                && within(p.into(), p_min, p_max)
                && within(nodes.into(), nodes_min, nodes_max)
                && bytes.map_or(unbounded, |bytes| within(bytes, min, max))
        };
        let words = self.words.iter().find(fits)?;
        Some(Ruling {
            setting: Setting::from_word(words[1] as u64, algorithms)?,
            block_bytes: words[8] as u64,
        })
    }
}
