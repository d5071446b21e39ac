//! `MPI_Gatherv`, `MPI_Gather`, `MPI_Scatterv` and `MPI_Scatter`.

#![forbid(unsafe_code)]

use super::nodes::settle;
use super::{Operation, Plan, Stop, begin, context, private};
use crate::algorithm::Algorithm;
use crate::collective::{Collective, Family};
use crate::comm::{Nodes, State, Work};
use crate::decide::{self, Choice, Form, Problem, Why};
use crate::engine::rooted::{self, Gather, Misfit, Scatter, Shape, Terms};
use crate::host::{
    Blocks, Code, Comm, Failure, LocalMail, MpiCarrier, Rooted, Route, Tags, Usable, Way,
};
use crate::schedule::Parts;
use crate::stats;

/// Long blocks in flight at the root at the most, unless RONDO_WINDOW says otherwise: enough to keep
/// its link busy, few enough for every host's queues.
const WINDOW: u32 = 64;

impl Operation for Rooted {
    type Problem<'a> = decide::Rooted<'a>;

    fn collective(&self) -> Collective {
        match (self.way(), self.is_regular()) {
            (Way::Gather, false) => Collective::Gatherv,
            (Way::Gather, true) => Collective::Gather,
            (Way::Scatter, false) => Collective::Scatterv,
            (Way::Scatter, true) => Collective::Scatter,
        }
    }

    /// Bytes of this rank's own block.
    fn bytes(&self, usable: &Usable, state: &State) -> Option<u64> {
        if state.closed() == Some(Why::Inter) {
            return None; // the root is a rank of the other group, or none
        }
        let root = self.root(state.facts().p)?;
        self.own_bytes(usable, root == state.rank())
    }

    /// What only some ranks can know to be invalid does not count here: the others would wait.
    fn plan(&self, usable: &Usable, state: &State) -> Option<Plan> {
        self.root(state.facts().p)?;
        let bytes = self.bytes(usable, state);
        let known = match self.is_regular() {
            true => Some(bytes?),
            false => None,
        };
        let choice = self.ask(known, state, |problem| problem.choose());
        Some(Plan {
            known,
            ..Plan::new(choice, bytes.unwrap_or(0))
        })
    }

    #[inline]
    fn ask<T>(
        &self,
        known: Option<u64>,
        state: &State,
        question: impl FnOnce(decide::Rooted) -> T,
    ) -> T {
        question(decide::Rooted {
            context: context(self.collective(), state),
            block: known,
        })
    }

    fn attempt(&self, plan: &Plan, usable: &Usable, state: &State) -> Result<(), Stop> {
        let (Choice::Rondo { algorithm, .. }, Some(root)) =
            (plan.choice, self.root(state.facts().p))
        else {
            unreachable!("not Rondo's choice");
        };
        let private = private(usable, state)?;
        let work = &mut *state.work.lock();
        let sequence = begin(work, private, usable, state)?;
        let form = settle(&plan.choice, usable, state, &mut work.nodes, private)?;
        let Work {
            parts,
            letters,
            post,
            nodes,
            ..
        } = work;
        let Nodes { sharing, shelf, .. } = nodes;
        // The boxes want to know of every call, also if this rank only reports an error.
        let boxes = sharing.memory().filter(|_| form != Form::Flat);
        let mut local = boxes.map(|memory| {
            let route = Route {
                nodes: state.topology(),
                boxes: &memory.boxes,
                rank: state.rank(),
                root,
                way: self.way(),
                call: sequence,
            };
            LocalMail::new(route, shelf)
        });
        let config = state.config();
        let terms = Terms {
            rank: state.rank(),
            p: state.facts().p,
            root,
            shape: match algorithm {
                Algorithm::Linear => Shape::Star,
                Algorithm::Adaptive => Shape::Adaptive,
                Algorithm::Hybrid | Algorithm::Binomial if form != Form::Flat => {
                    Shape::Nodes(state.topology())
                }
                Algorithm::Hybrid | Algorithm::Binomial => Shape::Binomial,
                Algorithm::Circulant | Algorithm::Bruck | Algorithm::Ring | Algorithm::Postal => {
                    algorithm.is_foreign(Family::Rooted)
                }
            },
            long: decide::long_block(state.facts(), algorithm, config),
            window: match config.window {
                0 => WINDOW,
                window => window,
            },
        };
        // From here on the other ranks may go ahead without this one, if only it has to complain.
        let invalid = || Stop::Host(Why::Invalid);
        let is_root = root == terms.rank;
        let own = self.bytes(usable, state).ok_or_else(invalid)?;
        if self.is_misplaced(is_root) {
            return Err(invalid());
        }
        let parts = if is_root {
            self.parts(usable, terms.p, parts)
                .ok_or_else(|| complain(self, usable, private))?;
            Some(&*parts)
        } else {
            None
        };
        let blocks = blocks(self, own, terms.rank, parts, usable, private)?;
        // What the engines start at the most: a letter each way for each part of the tree, and long blocks.
        let requests = 2 * terms.tree().parts(terms.rank) + terms.window.min(terms.p);
        post.reserve(requests as usize).map_err(Stop::Error)?;
        if let Some(local) = &mut local {
            local.reserve().map_err(Stop::Error)?;
        }
        stats::count(self.collective(), plan.choice, plan.bytes);
        let facts = [self.collective() as u64, root.into(), terms.long];
        let tags = Tags::new(self.way(), sequence, facts, state.tag_mask());
        let mut carrier =
            MpiCarrier::new(usable, private, root, tags, post, blocks, config.timeout_s)
                .with_local(local);
        let done = match self.way() {
            Way::Gather => {
                let gather = Gather::new(terms, own, parts, letters);
                rooted::run(gather, &mut carrier)
            }
            Way::Scatter => {
                let scatter = Scatter::new(terms, own, parts, letters);
                rooted::run(scatter, &mut carrier)
            }
        };
        done.map_err(Stop::Broken)
    }

    fn describe(&self, plan: &Plan) -> String {
        let (root, bytes) = (self.root(u32::MAX).unwrap_or(0), plan.bytes);
        match self.way() {
            Way::Gather => format!("of {bytes} bytes of this rank to root {root}"),
            Way::Scatter => format!("of {bytes} bytes for this rank from root {root}"),
        }
    }
}

/// What becomes of a call where the blocks of all, which are the root's alone, are invalid. The host can say why. But if it would carry
/// the call out instead, it would wait for the others, who are on their way.
#[cold]
fn complain(call: &Rooted, usable: &Usable, private: Comm) -> Stop {
    match call.is_overlooked(usable, private) {
        true => Stop::Broken(Failure::Datatype),
        false => Stop::Host(Why::Invalid),
    }
}

/// The blocks that this rank exchanges with others, in the user's memory. The root's own one is
/// copied to where it belongs.
fn blocks<'a>(
    call: &Rooted,
    bytes: u64,
    rank: u32,
    parts: Option<&'a Parts>,
    usable: &Usable,
    private: Comm,
) -> Result<Option<Blocks<'a>>, Stop> {
    // The host can say what is wrong with the arguments that each rank has.
    let invalid = |_: Code| Stop::Host(Why::Invalid);
    let own = call.own_block(usable, private).map_err(invalid)?;
    let Some(parts) = parts else {
        return Ok(own);
    };
    let all = call.all_blocks(usable, private, parts);
    let all = all.map_err(|_| complain(call, usable, private))?;
    if call.is_refused_alias(usable, parts.span(rank).len) {
        return Err(Stop::Host(Why::Invalid));
    }
    let root = parts.span(rank).len;
    if bytes != root {
        let own = bytes;
        return Err(Stop::Broken(Misfit::Block { rank, own, root }.into()));
    }
    if let (Some(own), Some(all)) = (&own, &all) {
        let copied = match call.way() {
            Way::Gather => own.copy(usable, private, rank, all),
            Way::Scatter => all.copy(usable, private, rank, own),
        };
        copied.map_err(|code| Stop::Broken(Failure::Host(code, "copying the root's block")))?;
    }
    Ok(all)
}
