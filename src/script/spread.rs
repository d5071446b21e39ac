//! All-broadcast of blocks, and barriers, in few rounds of several messages each ([`Steps`]).

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, around, sub};
use crate::schedule::Steps;
use std::ops::Range;

/// Every member has its own blocks and gets those of all others. `blocks` says which blocks of the area are those of a
/// range of members.
pub fn spread<I: Iterator<Item = Range<u32>>>(
    script: &mut Script,
    group: &Group,
    steps: &Steps,
    blocks: impl Fn(Range<u32>) -> I,
) {
    let &Group { p, me, .. } = group;
    for step in (0..steps.count()).map(|i| steps.step(i)) {
        // Of the sender and of those before it.
        let first = |member| sub(add(member, 1, p), step.width, p);
        around(first(me), step.width, p, |members| {
            for blocks in blocks(members) {
                script.send(group.after(step.distance), blocks);
            }
        });
        around(first(sub(me, step.distance, p)), step.width, p, |members| {
            for blocks in blocks(members) {
                script.receive(group.before(step.distance), blocks, Join::Store);
            }
        });
    }
}

/// No member ends before every other one has begun: the dissemination barrier (D. Hensgen, R. Finkel, U. Manber, "Two
/// algorithms for barrier synchronization", International Journal of Parallel Programming 17(1), 1988) with the skips
/// of the circulant graph, or with a larger radix. The area has a block for what is sent and one for each message that
/// comes ([`Steps::count`]), and they mean nothing.
pub fn dissemination(script: &mut Script, group: &Group, steps: &Steps) {
    let mut next = 0;
    for (_, messages) in steps.rounds() {
        let round = next..next + messages as usize;
        for i in round.clone() {
            script.send(group.after(steps.step(i).distance), 0..1);
        }
        for i in round.clone() {
            let block = i as u32 + 1;
            let from = group.before(steps.step(i).distance);
            script.receive(from, block..block + 1, Join::Store);
        }
        script.wait();
        next = round.end;
    }
}
