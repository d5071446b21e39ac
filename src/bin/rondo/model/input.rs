//! The network of `rondo model`.

#![forbid(unsafe_code)]

use crate::Failure;
use rondo::network::{Network, START};
use rondo::rules::File;
use std::{fs, path::PathBuf};

/// A network with a name.
pub struct Preset {
    pub name: &'static str,
    pub network: Network,
    /// Bytes up to which a message needs no answer before it leaves.
    pub eager: u64,
    /// Bytes from which on the network puts a message into its place, and whether copying takes no time
    /// ([`rondo::model::Call`]).
    pub placed_bytes: u64,
    pub copies_free: bool,
    /// Nanoseconds to reduce 1024 bytes.
    pub gamma_ns_per_kb: f64,
    pub source: &'static str,
}

const fn network(between: [f64; 3], inside: [f64; 2]) -> Network {
    Network {
        alpha_us: Some(between[0]),
        gap_us: Some(between[1]),
        beta_ns_per_kb: Some(between[2]),
        node_alpha_us: Some(inside[0]),
        node_beta_ns_per_kb: Some(inside[1]),
    }
}

/// All of them; the first one is the default.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "gigabit",
        network: START,
        eager: 32 << 10,
        placed_bytes: u64::MAX,
        copies_free: false,
        gamma_ns_per_kb: 0.0,
        source: "1 Gbit/s Ethernet, what Rondo takes a network for before it is measured (docs/tuning.md)",
    },
    Preset {
        name: "200-mbit",
        // 1024 bytes at 200 Mbit/s; the rest is as above.
        network: Network {
            beta_ns_per_kb: Some(40_960.0),
            ..START
        },
        eager: 32 << 10,
        placed_bytes: u64::MAX,
        copies_free: false,
        gamma_ns_per_kb: 0.0,
        source: "the emulated links of docs/results/long-messages.md: 200 Mbit/s, and latencies as of gigabit",
    },
    Preset {
        name: "100-gbit",
        network: network([1.9, 0.3, 82.0], [1.2, 102.0]),
        eager: 1 << 20,
        placed_bytes: 4096,
        copies_free: true,
        gamma_ns_per_kb: 0.0,
        source: "the simulated cluster of docs/results/simulated.md, as Rondo measures it",
    },
];

impl Preset {
    /// What it does with a message, besides the figures of its network.
    pub fn manners(&self) -> String {
        let eager = self.eager >> 10;
        let placed = match self.placed_bytes {
            u64::MAX => String::new(),
            bytes => format!(", put into place from {bytes} bytes on"),
        };
        let copies = if self.copies_free { "free" } else { "not free" };
        format!("messages leave without an answer up to {eager} KiB{placed}, copies are {copies}")
    }
}

/// The names with what they are, for the help text.
pub fn presets() -> String {
    let line = |preset: &Preset| {
        format!(
            "  {:9} {}\n            {}\n            {}\n",
            preset.name,
            preset.network.text(),
            preset.manners(),
            preset.source
        )
    };
    format!("PRESETS:\n{}", PRESETS.iter().map(line).collect::<String>())
}

/// A network as it is given.
#[derive(clap::Args)]
pub struct Given {
    /// A network with a name; see PRESETS
    #[arg(long, value_name = "NAME", conflicts_with = "from")]
    preset: Option<String>,
    /// The network in a file of rules, as RONDO_LEARN=save:FILE writes it
    #[arg(long, value_name = "RULES")]
    from: Option<PathBuf>,
    /// Nanoseconds to reduce 1024 bytes
    #[arg(
        long,
        value_name = "NS_PER_KB",
        allow_negative_numbers = true,
        default_value_t = 0.0
    )]
    gamma: f64,
}

/// The most nanoseconds that `--gamma` takes, as the other figures do.
const GAMMA_MAX: f64 = 1e9;

impl Given {
    fn preset(&self) -> Result<&'static Preset, Failure> {
        Ok(match &self.preset {
            None => &PRESETS[0],
            Some(name) => {
                let found = PRESETS.iter().find(|preset| preset.name == name);
                found.ok_or_else(|| {
                    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
                    Failure::Usage(format!(
                        "'{name}' is no preset: take one of {}",
                        names.join(", ")
                    ))
                })?
            }
        })
    }

    /// The preset, in which the figures of the file take the place of its own.
    pub fn network(&self) -> Result<Preset, Failure> {
        let preset = self.preset()?;
        let wrong = |what: String| Failure::Usage(format!("a figure of the network: {what}"));
        if !(0.0..=GAMMA_MAX).contains(&self.gamma) {
            return Err(wrong(format!("{:?} is not between 0 and 1e9", self.gamma)));
        }
        let mut network = self.saved()?.or(&preset.network);
        // A sender is not busy for longer than its message takes: the model's formulas rest on that.
        if let (Some(alpha), Some(gap)) = (network.alpha_us, network.gap_us) {
            network.gap_us = Some(gap.min(alpha));
        }
        Ok(Preset {
            network,
            gamma_ns_per_kb: self.gamma,
            ..*preset
        })
    }

    /// What a file of rules says.
    fn saved(&self) -> Result<Network, Failure> {
        let Some(path) = &self.from else {
            return Ok(Default::default());
        };
        let fail = |what: String| Failure::Usage(format!("{}: {what}", path.display()));
        let unreadable = |error| Failure::Failed(format!("{}: {error}", path.display()));
        fs::metadata(path).map_err(unreadable)?;
        let file = File::read(path).map_err(fail)?;
        // What ranks would refuse is of no use here.
        file.compile().map_err(fail)?;
        let network = file.network;
        match network.is_empty() {
            true => Err(fail(
                "no figures of a network in it: RONDO_LEARN=save:FILE writes them".into(),
            )),
            false => Ok(network),
        }
    }
}
