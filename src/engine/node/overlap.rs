//! A reduction over nodes: what the ranks of a node reduce, and what one of them exchanges with other nodes.

#![forbid(unsafe_code)]

use super::slots::{SlotReduction, Slots};
use crate::engine::{Engine, Execution, Progress, ScriptWire, run};
use crate::script::Cut;
use std::ops::Range;

/// Carries both out, the script from the moment on at which the first of its blocks are filled: it works on what this
/// rank gets of the reduction. `cut` is that of the script.
pub fn run_both<S, W>(
    mut reduction: SlotReduction<'_>,
    slots: &mut S,
    (mut script, cut): (Execution<'_>, &Cut),
    wire: &mut W,
) -> Result<(), S::Error>
where
    S: Slots,
    W: ScriptWire<Error = S::Error>,
{
    if reduction.groups() <= 1 {
        // All comes at once. Until then nobody need ask the network.
        run(reduction, slots)?;
        return run(script, wire);
    }
    let mut is_done = false;
    loop {
        let inside = reduction.advance(slots)?;
        if inside == Progress::Moved || (inside == Progress::Done && !is_done) {
            script.look_again();
        }
        is_done = inside == Progress::Done;
        let filled = |blocks: &Range<u32>| reduction.has(&cut.elements(blocks));
        let between = script.advance_among(wire, &filled)?;
        match (inside, between) {
            (Progress::Done, Progress::Done) => return Ok(()),
            (Progress::Done, Progress::Waiting) => wire.idle()?,
            (Progress::Waiting, Progress::Waiting | Progress::Done) => {
                slots.idle(reduction.waiting())?;
            }
            (Progress::Moved, _) | (_, Progress::Moved) => {}
        }
    }
}
