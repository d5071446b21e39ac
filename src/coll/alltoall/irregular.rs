//! Exchanges of blocks of any sizes that travel together on the circulant graph, behind their sizes.

#![forbid(unsafe_code)]

use super::Exchange;
use super::packed::reserve;
use crate::coll::Stop;
use crate::coll::room::{have_all, lacking};
use crate::coll::running::PIECE_BYTES;
use crate::decide::Choice;
use crate::engine::rooted::Misfit;
use crate::host::{Code, Failure, Requests, Side};
use crate::script::{Group, IrregularExchange, Script};
use crate::stats;
use std::iter::repeat_n;

/// Bytes of a size.
const SIZE_BYTES: u64 = size_of::<u64>() as u64;

impl Exchange<'_> {
    /// Carries it out, after all ranks have agreed that each of them has room for what passes through it. `false`: one
    /// has none, and no block has left. It is counted as this choice.
    pub(super) fn irregular(
        &self,
        (script, requests): (&mut Script, &mut Requests),
        choice: Choice,
    ) -> Result<bool, Stop> {
        let (mpi, state) = (self.mpi, self.state);
        let (p, me) = (state.p(), state.rank());
        let (exchange, group) = (IrregularExchange::new(p), Group::all(p, me));
        let most = state.facts.eager_bytes.min(PIECE_BYTES);
        let operands = mpi.signals(self.channel.comm);
        let run = |phase| self.run(&operands, 0, phase);
        let (after, before) = (|d| (me + d) % p, |d| (me + p - d) % p);
        let bytes = |side: &Side, rank| side.bytes(mpi, rank).unwrap_or(0);

        let blocks = exchange.blocks() as usize;
        let mut sizes: Vec<u64> = Vec::new();
        sizes
            .try_reserve(blocks)
            .map_err(|_| lacking(Code::no_mem()))?;
        sizes.extend((0..p).map(|d| bytes(self.sides.sent(), after(d))));
        sizes.resize(blocks, 0);
        let places = exchange.write(script, &group, repeat_n(SIZE_BYTES, blocks), most);
        let area = reserve(&run(4), script, requests).map_err(lacking)?;
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
        let all_have = have_all(area.is_some(), mpi, state)?;
        let Some(area) = area.filter(|_| all_have) else {
            return Ok(false);
        };

        stats::count(self.collective, choice, sizes[..p as usize].iter().sum());
        let start = |block: u32| script.cut().elements(&(block..block + 1)).start;
        let packed = (0..p).try_for_each(|d| {
            let place = (&operands, area, start(d));
            self.pack(self.sides.sent(), after(d), place, true)
        });
        packed.map_err(Stop::Broken)?;
        run(5).carry_out(script, requests, area)?;
        let unpacked = (0..).zip(places).try_for_each(|(d, place)| {
            let place = (&operands, area, start(place));
            self.pack(&self.sides.receive, before(d), place, false)
        });
        unpacked.map_err(Stop::Broken)?;
        Ok(true)
    }
}
