//! Exchanges of blocks of any sizes that travel together on the circulant graph, behind their sizes.

#![forbid(unsafe_code)]

use super::Exchange;
use crate::coll::Stop;
use crate::coll::reduction::{PIECE_BYTES, Run};
use crate::engine::rooted::Misfit;
use crate::host::{Area, Code, Failure, Requests, Side, Vectors, call_tag};
use crate::script::{Group, IrregularExchange, Script};
use std::iter::repeat_n;

/// Bytes of a size.
const SIZE_BYTES: u64 = size_of::<u64>() as u64;

impl Exchange<'_> {
    /// Carries it out, after all ranks have agreed that each of them has room for what passes through it. `false`: one
    /// has none, and no block has left.
    pub(super) fn irregular(
        &self,
        (script, requests): (&mut Script, &mut Requests),
        count: impl FnOnce(u64),
    ) -> Result<bool, Stop> {
        let (mpi, state) = (self.mpi, self.state);
        let (p, me) = (state.facts().p, state.rank());
        let (exchange, group) = (IrregularExchange::new(p), Group::all(p, me));
        let most = state.facts().eager_bytes.min(PIECE_BYTES);
        let operands = mpi.signals(self.private);
        let run = |phase| {
            let [a, b] = self.facts();
            Run {
                mpi,
                state,
                private: self.private,
                tag: call_tag([a, b, 0, phase], state.tag_mask()),
                operands: &operands,
            }
        };
        let (after, before) = (|d| (me + d) % p, |d| (me + p - d) % p);
        let bytes = |side: &Side, rank| side.bytes(mpi, rank).unwrap_or(0);

        let blocks = exchange.blocks() as usize;
        let mut sizes: Vec<u64> = Vec::new();
        sizes
            .try_reserve(blocks)
            .map_err(|_| Stop::Error(Code::no_mem()))?;
        sizes.extend((0..p).map(|d| bytes(self.sides.sent(), after(d))));
        sizes.resize(blocks, 0);
        let places = exchange.write(script, &group, repeat_n(SIZE_BYTES, blocks), most);
        let area = reserve(&run(4), script, requests)?;
        operands.put_numbers(area, &sizes);
        run(4).carry_out(script, requests, area)?;
        operands.get_numbers(area, &mut sizes);

        for (d, &place) in (0..).zip(&places) {
            if sizes[place as usize] != bytes(&self.sides.receive, before(d)) {
                let stranger = Misfit::Stranger(before(d));
                return Err(Stop::Broken(Failure::Misfit(stranger)));
            }
        }
        let total = sizes
            .iter()
            .try_fold(0u64, |sum, size| sum.checked_add(*size));
        let fits = total.is_some_and(|total| total <= state.config().max_tmp_size);
        let area = match fits {
            true => {
                exchange.write(script, &group, sizes.iter().copied(), most);
                reserve(&run(5), script, requests).ok()
            }
            false => None,
        };
        let mut lacks = [i64::from(area.is_none())];
        (state.max(mpi, self.private, &mut lacks))
            .map_err(|code| Stop::Broken(Failure::Host(code, "agreeing on room")))?;
        let Some(area) = area.filter(|_| lacks[0] == 0) else {
            return Ok(false);
        };

        count(sizes[..p as usize].iter().sum());
        let start = |block: u32| script.cut().elements(&(block..block + 1)).start;
        let found = |side: &Side, rank| {
            let found = side.block(mpi, self.private, rank);
            found.map_err(|code| Failure::Host(code, "looking at a block"))
        };
        let packed = (0..p).try_for_each(|d| match found(self.sides.sent(), after(d))? {
            Some(block) => operands.pack(&block, area, start(d)),
            None => Ok(()),
        });
        packed.map_err(Stop::Broken)?;
        run(5).carry_out(script, requests, area)?;
        let arrivals = (0..).zip(places);
        let unpacked = arrivals.map(|(d, place)| match found(&self.sides.receive, before(d))? {
            Some(block) => operands.unpack(&block, area, start(place)),
            None => Ok(()),
        });
        unpacked
            .collect::<Result<(), Failure>>()
            .map_err(Stop::Broken)?;
        Ok(true)
    }
}

/// Makes room for a script of bytes.
fn reserve(run: &Run, script: &Script, requests: &mut Requests) -> Result<Area, Stop> {
    let vectors = Vectors {
        first: script.cut().total(),
        other: 0,
    };
    run.reserve(script, requests, vectors, None)
}
