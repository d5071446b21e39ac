//! What the model says of a call: decided as Rondo decides, so in the same blocks and between the same ranks.

#![forbid(unsafe_code)]

use rondo::algorithm::Algorithm;
use rondo::collective::{Collective, Family};
use rondo::config::Config;
use rondo::decide::{
    AllBroadcast, Barrier, Broadcast, Choice, Context, Facts, Method, OperatorProperties, Problem,
    Reduction, Rooted, TotalExchange, asked_at_a_time, long_block, shape,
};
use rondo::model::{Call, Prediction};
use rondo::network::Network;
use rondo::schedule::Parts;
use rondo::script::share;

/// A call, whose parts are equal and whose ranks have a node each.
pub struct Question<'a> {
    pub collective: Collective,
    pub ranks: u32,
    pub bytes: u64,
    pub network: Network,
    pub eager: u64,
    pub gamma_ns_per_kb: f64,
    /// See [`Call`].
    pub placed_bytes: u64,
    pub copies_free: bool,
    pub config: &'a Config,
}

/// What the model says of an algorithm.
pub struct Answer {
    /// Blocks of the message, of the vector, or of each part.
    pub blocks: u32,
    pub prediction: Prediction,
}

impl Question<'_> {
    fn facts(&self) -> Facts {
        Facts {
            p: self.ranks,
            nodes: self.ranks,
            widest: 1,
            narrowest: 1,
            consecutive: true,
            eager_bytes: self.eager,
            placed_bytes: self.placed_bytes,
            host_leads: false,
            host_copies: false,
            network: self.network,
        }
    }

    fn context(&self) -> Context<'_> {
        Context {
            collective: self.collective,
            facts: self.facts(),
            config: self.config,
        }
    }

    /// How Rondo carries the call out if it is told to use this algorithm.
    fn choice(&self, algorithm: Algorithm, parts: &Parts) -> Choice {
        let context = self.context();
        let bytes = self.bytes;
        match self.collective.family() {
            Family::Broadcast => Broadcast { context, bytes }.by(algorithm, 0),
            Family::AllBroadcast => {
                let call = AllBroadcast {
                    context,
                    parts,
                    node_parts: parts,
                };
                call.by(algorithm, 0)
            }
            Family::Rooted => {
                let block = Some(bytes);
                Rooted { context, block }.by(algorithm, 0)
            }
            Family::AllReduction
            | Family::Reduction
            | Family::ScatteredReduction
            | Family::Scan => {
                let call = Reduction {
                    context,
                    bytes,
                    unit: 1,
                    longest: bytes.div_ceil(self.ranks.into()),
                    fullest: bytes,
                    operator: OperatorProperties::ANY,
                };
                call.by(algorithm, 0)
            }
            Family::Barrier => Barrier { context }.by(algorithm, 0),
            Family::TotalExchange | Family::IrregularExchange => {
                // Of blocks of any sizes no rank of a call knows those of others, and none is decided by them.
                let bytes = (self.collective.family().knows_bytes()).then_some(bytes);
                TotalExchange { context, bytes }.by(algorithm, 0)
            }
        }
    }

    /// The parts of all ranks, where a call has parts.
    fn parts(&self) -> Parts {
        let mut parts = Parts::default();
        if self.collective.family() == Family::AllBroadcast {
            let part = |i| Some(share(self.bytes, self.ranks, i));
            // So few bytes that their sum is a number.
            let _ = parts.set((0..self.ranks).map(part));
        }
        parts
    }

    /// What the model says of each algorithm, or why it says nothing.
    pub fn ask_all(&self) -> Vec<(Algorithm, Result<Answer, String>)> {
        let parts = self.parts();
        let all = self.collective.algorithms().iter();
        all.map(|&algorithm| (algorithm, self.ask(algorithm, &parts)))
            .collect()
    }

    fn ask(&self, algorithm: Algorithm, parts: &Parts) -> Result<Answer, String> {
        let Choice::Rondo(Method {
            algorithm: by,
            form,
            blocks,
            why,
        }) = self.choice(algorithm, parts)
        else {
            return Err("the MPI library has such calls".into());
        };
        if by != algorithm {
            return Err(format!("{}: {} takes its place", why.text(), by.name()));
        }
        let facts = self.facts();
        let (model, _) = facts.models(self.config);
        let radix = match self.collective.family() {
            Family::TotalExchange => facts.exchange_radix(self.bytes, self.config),
            Family::IrregularExchange => 2,
            Family::Barrier => facts.radix(form, 0, self.config),
            Family::AllReduction => facts.radix_behind(form, self.bytes, self.config),
            _ => facts.radix(form, self.bytes, self.config),
        };
        let latency = match self.collective.family() {
            Family::Reduction => model.backwards().latency(self.bytes),
            _ => model.latency(self.bytes),
        };
        let call = Call {
            collective: self.collective,
            p: self.ranks,
            bytes: self.bytes,
            blocks,
            tree: shape(algorithm, self.ranks, latency, self.config),
            radix,
            long_block: match self.collective.family() {
                Family::Rooted => long_block(self.context(), algorithm.of_rooted()),
                _ => u64::MAX,
            },
            asked_at_a_time: asked_at_a_time(self.config),
            gamma_ns_per_kb: self.gamma_ns_per_kb,
            placed_bytes: self.placed_bytes,
            copies_free: self.copies_free,
        };
        let prediction = model.predict(algorithm, &call);
        Ok(Answer { blocks, prediction })
    }
}
