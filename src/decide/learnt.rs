//! What was learnt of calls, in the words of decisions: as rules, and what of it another network makes stale.

#![forbid(unsafe_code)]

use super::{Choice, Context, Facts, Method, SizeClass, typical};
use crate::collective::{Collective, Family};
use crate::config::Config;
use crate::learn::{Candidate, Contest, Table};
use crate::rules::Rule;

/// What was learnt on a communicator of these facts, as rules.
pub fn learnt_rules(table: &Table, facts: Facts, config: &Config) -> Vec<Rule> {
    let mut rules = vec![];
    table.each(|collective, class, contest| {
        let context = Context {
            collective,
            facts,
            config,
        };
        rules.extend(rule(context, SizeClass::with(class), contest));
    });
    rules
}

/// What was learnt of one size class.
fn rule(context: Context, class: SizeClass, contest: &Contest) -> Option<Rule> {
    let Context {
        collective, facts, ..
    } = context;
    let is_measured = contest.times().iter().flatten().count() >= 2;
    // It holds for some distributions only, or for some operators.
    let is_special = collective == Collective::Allgatherv || collective.family().reduces();
    if !is_measured || is_special {
        return None;
    }
    let (candidate, bytes) = (contest.incumbent(), class.bytes());
    let choice = typical(context, class, candidate);
    // Only of broadcasts do the candidates differ in their blocks. Others have those of their algorithm again.
    let is_broadcast = collective.family() == Family::Broadcast;
    let (algorithm, block_bytes) = match (choice, candidate) {
        (Choice::Rondo(method), Candidate::Second | Candidate::Third) if is_broadcast => {
            let block_bytes = bytes.div_ceil(method.blocks.into());
            (method.algorithm.name(), block_bytes)
        }
        (Choice::Rondo(method), _) => (method.algorithm.name(), 0),
        (Choice::Host(_), _) => ("host", 0),
    };
    let (least, most) = class.bounds();
    Some(Rule {
        collective: collective.name().into(),
        algorithm: algorithm.into(),
        comm_size_min: facts.p.into(),
        comm_size_max: facts.p.into(),
        nodes_min: facts.nodes.into(),
        nodes_max: facts.nodes.into(),
        msg_size_min: least,
        msg_size_max: most,
        block_bytes: block_bytes.min(1 << 30),
    })
}

/// Forgets what was measured of candidates that are other algorithms `now` than with the facts `before`, or have blocks
/// of another size: what the model names first, or second, follows from the figures of the network.
pub fn forget_others(table: &mut Table, config: &Config, before: Facts, now: Facts) {
    let by = |facts, collective, class, candidate| {
        let context = Context {
            collective,
            facts,
            config,
        };
        match typical(context, SizeClass::with(class), candidate) {
            Choice::Host(_) => None,
            Choice::Rondo(method) => Some(method),
        }
    };
    let are_alike = |one: Method, other: Method| {
        let (few, many) = (one.blocks.min(other.blocks), one.blocks.max(other.blocks));
        (one.algorithm, one.form) == (other.algorithm, other.form) && many <= few.saturating_mul(2)
    };
    table.forget(|collective, class| {
        // What parts that are not even ask for is not known here.
        if !SizeClass::with(class).even && !collective.family().reduces() {
            return true;
        }
        let is_other = |candidate| {
            let ways = [before, now].map(|facts| by(facts, collective, class, candidate));
            match ways {
                [None, None] => false,
                [Some(one), Some(other)] => !are_alike(one, other),
                [None, Some(_)] | [Some(_), None] => true,
            }
        };
        Candidate::ALL.into_iter().any(is_other)
    });
}
