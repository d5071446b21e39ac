//! `MPI_Allgatherv` and `MPI_Allgather`: an all-broadcast.

#![forbid(unsafe_code)]

use super::{Operation, Plan, Stop, Traffic, begin, exchange};
use crate::comm::{State, Work};
use crate::config::Algorithm;
use crate::decide::{self, Choice, Why};
use crate::engine::{Entries, Part, Pattern};
use crate::host::{Allgather, Host, Usable, call_tag};
use crate::schedule::{Blocks, Circulant, Parts, Rounds};
use crate::stats::{self, Collective};
use std::ffi::c_int;

impl Operation for Allgather {
    fn collective(&self) -> Collective {
        if self.is_regular() {
            Collective::Allgather
        } else {
            Collective::Allgatherv
        }
    }

    fn bytes(&self, usable: &Usable, state: &State) -> Option<u64> {
        if state.closed() == Some(Why::Inter) {
            return None; // the arrays have an entry for each rank of the other group
        }
        let parts = &mut state.work.lock().parts;
        self.parts(usable, state.facts().p, parts)?;
        Some(parts.total())
    }

    fn plan(&self, usable: &Usable, state: &State) -> Option<Plan> {
        let config = state.config();
        let setting = match self.collective() {
            Collective::Allgather => config.allgather,
            _ => config.allgatherv,
        };
        let bytes = self.bytes(usable, state)?;
        let parts = &state.work.lock().parts;
        let choice = decide::allgather(state.facts(), parts, setting, config);
        Some(Plan { choice, bytes })
    }

    fn attempt(&self, plan: &Plan, usable: &Usable, state: &State) -> Result<(), Stop> {
        let Choice::Rondo {
            algorithm, blocks, ..
        } = plan.choice
        else {
            unreachable!("not Rondo's choice");
        };
        let work = &mut *state.work.lock();
        let (private, sequence) = begin(work, usable, state)?;
        let facts = [self.collective() as u64, sequence, work.parts.hash(), 0];
        let rank = state.rank();
        self.check_own(usable, &work.parts, rank)
            .map_err(Stop::Broken)?;

        let invalid = || Stop::Host(Why::Invalid);
        let datatype = self.recvtype(usable).ok_or_else(invalid)?;
        let layout = usable.layout(datatype, private).map_err(|_| invalid())?;
        let circulant = algorithm == Algorithm::Circulant;
        let table_is_made = circulant && blocks > 1 && work.schedules(state);
        let Work {
            parts,
            cut,
            rows,
            table,
            requests,
            scratch,
            ..
        } = work;
        let data = self.data(usable, datatype, layout, parts);
        let mut data = data.ok_or_else(invalid)?.map_err(Stop::Error)?;
        let own = self.place_own(usable, private, &mut data, parts, rank);
        own.ok_or_else(invalid)?.map_err(Stop::Broken)?;

        let (pattern, round_bytes) = match algorithm {
            Algorithm::Ring => (Pattern::Ring, plan.bytes),
            // One block is what Bruck's order is for.
            Algorithm::Circulant if blocks > 1 => {
                let q = Circulant::new(state.facts().p).q();
                let entries = if table_is_made {
                    Entries::Table(table)
                } else {
                    Entries::Rows(rows)
                };
                let round = plan.bytes.div_ceil(blocks.into());
                (Pattern::Circulant(Rounds::new(q, blocks), entries), round)
            }
            Algorithm::Circulant | Algorithm::Bruck => (Pattern::Bruck, plan.bytes),
            _ => unreachable!("not one of the option's values"),
        };
        match pattern {
            Pattern::Circulant(..) => cut_alike(parts, blocks, cut),
            _ => cut_long(parts, blocks, cut),
        }
        let traffic = Traffic {
            private,
            tag: call_tag(facts, state.tag_mask()),
            pattern,
            round_bytes,
            data,
            packs: false,
        };
        let count = || stats::count(self.collective(), plan.choice, plan.bytes);
        exchange(usable, state, traffic, cut, scratch, requests, count)
    }

    fn leave(&self, host: &Host, usable: &Usable, state: &State) -> c_int {
        self.pass_repaired(host, usable, state.rank())
    }

    fn describe(&self, plan: &Plan) -> String {
        format!("of {} bytes in all", plan.bytes)
    }
}

/// Cuts the part of every contributor into as many blocks.
fn cut_alike(parts: &Parts, blocks: u32, cut: &mut Vec<Part>) {
    cut.clear();
    let contributors = parts.contributors().iter();
    cut.extend((0..).zip(contributors).map(|(i, &root)| Part {
        root,
        first: i * blocks,
        blocks: Blocks::new(parts.span(root).len, blocks),
    }));
}

/// Cuts the part of every rank into blocks of one size, so that the longest has this many.
fn cut_long(parts: &Parts, blocks: u32, cut: &mut Vec<Part>) {
    cut.clear();
    let size = parts.largest().div_ceil(blocks.into());
    let mut first = 0;
    cut.extend((0..parts.p()).map(|root| {
        let len = parts.span(root).len;
        let blocks = Blocks::new(len, len.div_ceil(size).max(1) as u32);
        let part = Part {
            root,
            first,
            blocks,
        };
        first += blocks.count();
        part
    }));
}
