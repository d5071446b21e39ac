//! The figures of a network that the cost model needs: set by the user, measured, or what they are taken for before.
//!
//! What is measured is agreed on by the ranks of a communicator, because decisions follow from it: each rank offers
//! numbers of which the maximum over all ranks counts.

#![forbid(unsafe_code)]

use crate::hash;
use crate::model::Model;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};
use std::time::Duration;

/// How many figures there are.
pub const FIGURES: usize = 5;

/// Their names, in their order.
const NAMES: [&str; FIGURES] = [
    "alpha_us",
    "gap_us",
    "beta_ns_per_kb",
    "node_alpha_us",
    "node_beta_ns_per_kb",
];

/// The figures of a network, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub struct Network {
    /// Microseconds that a short message takes between two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_us: Option<f64>,
    /// Microseconds from the beginning of a short message to when its sender can begin the next one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_us: Option<f64>,
    /// Nanoseconds that each 1024 bytes of a message add between two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta_ns_per_kb: Option<f64>,
    /// What `alpha_us` is, inside a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_alpha_us: Option<f64>,
    /// What `beta_ns_per_kb` is, inside a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_beta_ns_per_kb: Option<f64>,
}

/// What a network is taken for before anything is known of it: Ethernet at 1 Gbit/s.
pub const START: Network = Network {
    alpha_us: Some(10.0),
    gap_us: Some(3.0),
    beta_ns_per_kb: Some(8000.0),
    node_alpha_us: Some(1.0),
    node_beta_ns_per_kb: Some(100.0),
};

/// A rate that is measured again is another one if it is so many times as high, or as low.
const OTHER_RATE: f64 = 1.2;

/// Figures as whole numbers, as they travel and stand in compiled rules: thousandths of their units, or `i64::MIN` for
/// what is not known.
pub type Numbers = [i64; FIGURES];

impl Network {
    /// No figure.
    pub const NOTHING: Network = Network {
        alpha_us: None,
        gap_us: None,
        beta_ns_per_kb: None,
        node_alpha_us: None,
        node_beta_ns_per_kb: None,
    };

    /// The figures in their order.
    fn figures(&self) -> [Option<f64>; FIGURES] {
        [
            self.alpha_us,
            self.gap_us,
            self.beta_ns_per_kb,
            self.node_alpha_us,
            self.node_beta_ns_per_kb,
        ]
    }

    fn of(figures: [Option<f64>; FIGURES]) -> Network {
        let [
            alpha_us,
            gap_us,
            beta_ns_per_kb,
            node_alpha_us,
            node_beta_ns_per_kb,
        ] = figures;
        Network {
            alpha_us,
            gap_us,
            beta_ns_per_kb,
            node_alpha_us,
            node_beta_ns_per_kb,
        }
    }

    /// The figure of this name, as files of rules have it.
    pub fn named(&self, name: &str) -> Option<f64> {
        let place = NAMES.iter().position(|known| *known == name)?;
        self.figures()[place]
    }

    /// The figures that someone knows by their names.
    pub fn by_names(figure: impl FnMut(&str) -> Option<f64>) -> Network {
        Network::of(NAMES.map(figure))
    }

    /// These figures, and those of `other` where these are not known.
    pub fn or(&self, other: &Network) -> Network {
        let (own, others) = (self.figures(), other.figures());
        Network::of(std::array::from_fn(|i| own[i].or(others[i])))
    }

    /// These figures but for those that `other` has.
    fn without(&self, other: &Network) -> Network {
        let (own, others) = (self.figures(), other.figures());
        let only = |i: usize| own[i].filter(|_| others[i].is_none());
        Network::of(std::array::from_fn(only))
    }

    /// Is something to be found out by a few messages? Those inside nodes matter where data are not passed there
    /// through shared memory.
    pub fn lacks(&self, messages_inside: bool) -> bool {
        let inside = messages_inside && self.node_alpha_us.is_none();
        self.alpha_us.is_none() || self.gap_us.is_none() || inside
    }

    /// Is none?
    pub fn is_empty(&self) -> bool {
        self.figures().iter().all(Option::is_none)
    }

    /// What is wrong with one of them, if anything is.
    pub fn check(&self) -> Result<(), String> {
        for figure in self.figures().into_iter().flatten() {
            if !(0.0..=1e9).contains(&figure) {
                return Err(format!("{figure:?} is not between 0 and 1e9"));
            }
        }
        Ok(())
    }

    /// As numbers for other ranks.
    pub fn numbers(&self) -> Numbers {
        self.figures().map(|figure| match figure {
            // Another figure than that is none that a network has.
            Some(figure) => (figure * 1e3).round().clamp(0.0, 1e15) as i64,
            None => i64::MIN,
        })
    }

    /// The figures that these numbers are.
    pub fn from_numbers(numbers: Numbers) -> Network {
        let figure = |number: i64| number as f64 / 1e3;
        Network::of(numbers.map(|number| (number >= 0).then(|| figure(number))))
    }

    /// The cost of messages between nodes, and inside a node; as [`START`] says where a figure is not known.
    pub fn models(&self) -> (Model, Model) {
        let known = self.or(&START);
        let figure = |figure: Option<f64>| figure.expect("it is known at the start");
        let gap_us = figure(known.gap_us);
        let between = Model {
            alpha_us: figure(known.alpha_us),
            gap_us,
            beta_ns_per_kb: figure(known.beta_ns_per_kb),
        };
        let inside = Model {
            alpha_us: figure(known.node_alpha_us),
            gap_us,
            beta_ns_per_kb: figure(known.node_beta_ns_per_kb),
        };
        (between, inside)
    }

    /// The figures to take in for a rate of so many bytes per second, if that is another one than is known.
    ///
    /// A higher one than what is known counts at once, for nothing is faster than it can be. A lower one counts half,
    /// because much can make calls slower, above all at their beginning.
    pub fn other_rate(&self, rate: u64) -> Option<Network> {
        let mut beta_ns_per_kb = 1024e9 / rate.max(1) as f64;
        if let Some(known) = self.beta_ns_per_kb {
            if known < beta_ns_per_kb {
                beta_ns_per_kb = (beta_ns_per_kb * known).sqrt();
            }
            let ratio = (known / beta_ns_per_kb).max(beta_ns_per_kb / known);
            if ratio <= OTHER_RATE {
                return None;
            }
        }
        Some(Network {
            beta_ns_per_kb: Some(beta_ns_per_kb),
            ..Network::NOTHING
        })
    }

    /// What is known, in words.
    pub fn text(&self) -> String {
        let cost = |alpha_us: Option<f64>, beta_ns_per_kb: Option<f64>, place: &str| {
            let alpha = alpha_us.map(|us| format!("{us:.1} us"));
            let beta = beta_ns_per_kb.map(|ns| format!("{ns:.0} ns/KiB"));
            let known: Vec<_> = [alpha, beta].into_iter().flatten().collect();
            (!known.is_empty()).then(|| format!("{} {place}", known.join(" and ")))
        };
        let between = cost(self.alpha_us, self.beta_ns_per_kb, "between nodes");
        let inside = cost(
            self.node_alpha_us,
            self.node_beta_ns_per_kb,
            "inside a node",
        );
        let gap = self.gap_us.map(|us| format!("a message every {us:.1} us"));
        let known: Vec<_> = [between, inside, gap].into_iter().flatten().collect();
        known.join(", ")
    }
}

/// All figures in words, and where each is from: those that were `set` go before those that were `measured`, and the
/// rest is as [`START`] says.
pub fn origins(set: &Network, measured: &Network) -> String {
    let measured = measured.without(set);
    let assumed = START.without(&set.or(&measured));
    let all = [(*set, "set"), (measured, "measured"), (assumed, "assumed")];
    let known = all.iter().filter(|(figures, _)| !figures.is_empty());
    let texts: Vec<_> = known
        .map(|(figures, origin)| format!("{} ({origin})", figures.text()))
        .collect();
    texts.join("; ")
}

/// The pair of nodes that a node is measured in, where the network was measured so many times before: its number, and
/// the other node.
///
/// Nodes whose numbers are half of all apart, as many of those are that send each other messages; neighbours may share
/// a switch. Of an odd number one node is left out, the last one at first and then another one each time.
pub fn pair(node: u32, nodes: u32, times: u32) -> (u32, Option<u32>) {
    let (half, turn) = (nodes / 2, times % nodes.max(1));
    let place = (node + turn) % nodes.max(1);
    let (number, other) = match place {
        _ if place < half => (place, place + half),
        _ if place < 2 * half => (place - half, place - half),
        _ => return (half, None),
    };
    (number, Some((other + nodes - turn) % nodes))
}

/// Pairs of nodes are in so many groups.
pub const GROUPS: usize = 8;

/// What the ranks that measured agree on: for each group of pairs and each figure its number and the complement, of
/// which they take the maximum.
pub type Offers = [i64; 2 * FIGURES * GROUPS];

/// What a rank offers that measured this with the pair of this number.
pub fn offers(measured: &Network, pair: u32) -> Offers {
    let numbers = measured.numbers();
    let own = pair as usize % GROUPS;
    std::array::from_fn(|i| match numbers[i / 2 % FIGURES] {
        _ if i / (2 * FIGURES) != own => i64::MIN,
        number if number < 0 => i64::MIN,
        number if i % 2 == 0 => number,
        number => !number,
    })
}

/// The figures that follow from the maxima of all offers: the median of the groups, each of which has the geometric
/// mean of the largest and the smallest of its pairs. Ranks that were kept from running, or were lucky, do not say it
/// alone, though among hundreds of pairs there are some.
pub fn agreed(maxima: &Offers) -> Network {
    Network::of(std::array::from_fn(|figure| {
        let mut means: Vec<f64> = (0..GROUPS)
            .filter_map(|group| {
                let i = 2 * (group * FIGURES + figure);
                let [largest, smallest] = [maxima[i], !maxima[i + 1]];
                (largest >= 0).then(|| ((largest as f64) * (smallest as f64)).sqrt() / 1e3)
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let middle = means.len().checked_sub(1)? as f64 / 2.0;
        let [lower, upper] = [
            means[middle.floor() as usize],
            means[middle.ceil() as usize],
        ];
        Some((lower * upper).sqrt())
    }))
}

/// The time of calls contradicts the model if it is so many times as long, or as short.
const CONTRADICTION: f64 = 2.0;

/// The part of the time spent that another measurement may take, and by what factor each further one has to be worth
/// more: a model may be wrong for another reason, which no measurement changes.
const SHARE: f64 = 0.01;
const FURTHER: f64 = 4.0;

/// What a measurement takes: messages, and latencies of three round trips, a row of messages that waits for its first
/// ones to be acknowledged, and two agreements of some ten ranks.
const MESSAGES_US: f64 = 5000.0;
const LATENCIES: f64 = 16.0;

/// Is the network to be measured again, after `times` measurements? Calls took `measured_us` in the mean where from
/// `least_us` to `most_us` were expected of each, and all of them together `spent_us`.
pub fn is_contradicted(
    measured_us: f64,
    (least_us, most_us): (f64, f64),
    spent_us: f64,
    times: u32,
    alpha_us: f64,
) -> bool {
    let fits = least_us / CONTRADICTION..=most_us.max(1e-3) * CONTRADICTION;
    let cost_us = MESSAGES_US + LATENCIES * alpha_us;
    let worth = SHARE * spent_us >= cost_us * FURTHER.powi(times.saturating_sub(1) as i32);
    worth && !fits.contains(&measured_us)
}

/// A set of nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// How many.
    pub nodes: u32,
    /// A number for their names.
    pub hash: u64,
}

impl Placement {
    /// The nodes with these names, whatever ranks are on them.
    pub fn of(names: &[u64]) -> Placement {
        let mut names = names.to_vec();
        names.sort_unstable();
        names.dedup();
        Placement {
            nodes: names.len() as u32,
            hash: hash::of_words(names),
        }
    }
}

/// A report waits for figures for so long.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a process knows last of the most nodes among which it measured.
#[derive(Debug, Default)]
pub struct Known(Mutex<(Placement, Network)>);

impl Known {
    /// Nothing known.
    pub const fn new() -> Known {
        let nowhere = Placement { nodes: 0, hash: 0 };
        Known(Mutex::new((nowhere, Network::NOTHING)))
    }

    /// This was measured among these nodes.
    pub fn note(&self, placement: Placement, network: Network) {
        let mut known = self.0.lock();
        if placement.nodes >= known.0.nodes {
            *known = (placement, network);
        }
    }

    /// What is known. Nothing if another thread holds the lock for long, or this one did when a signal came that ends
    /// the job.
    pub fn get(&self) -> (Placement, Network) {
        let known = self.0.try_lock_for(PATIENCE);
        known.map_or(Default::default(), |known| *known)
    }
}

/// Figures that all threads may read, and one at a time may write: the one that is in a collective on a communicator of
/// the ranks that they belong to.
#[derive(Debug)]
pub struct Shared {
    /// The bits of the figures, not a number where nothing is known.
    figures: [AtomicU64; FIGURES],
    /// How often the latency was measured.
    times: AtomicU32,
    /// How often a figure changed.
    edition: AtomicU32,
}

impl Shared {
    /// Those that were measured.
    pub fn new(measured: &Network) -> Shared {
        let shared = Shared {
            figures: [const { AtomicU64::new(f64::NAN.to_bits()) }; FIGURES],
            times: AtomicU32::new(0),
            edition: AtomicU32::new(0),
        };
        shared.renew(measured);
        shared
    }

    /// What is known.
    #[inline]
    pub fn get(&self) -> Network {
        let bits = self.figures.each_ref().map(|bits| bits.load(Relaxed));
        let figure = |bits| Some(f64::from_bits(bits)).filter(|figure| !figure.is_nan());
        Network::of(bits.map(figure))
    }

    /// The number of what is known. Whoever sees one knows all of that, or of a later one.
    #[inline]
    pub fn edition(&self) -> u32 {
        self.edition.load(Acquire)
    }

    /// How often the latency between nodes was measured.
    pub fn times(&self) -> u32 {
        self.times.load(Relaxed)
    }

    /// The ranks agreed on these figures.
    pub fn renew(&self, measured: &Network) {
        for (bits, figure) in self.figures.iter().zip(measured.figures()) {
            if let Some(figure) = figure {
                bits.store(figure.to_bits(), Relaxed);
            }
        }
        if measured.alpha_us.is_some() {
            self.times.fetch_add(1, Relaxed);
        }
        self.edition.fetch_add(1, Release);
    }
}
