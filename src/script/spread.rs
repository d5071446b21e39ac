//! All-broadcast of blocks, and barriers, in few rounds of several messages each ([`Steps`]).

#![forbid(unsafe_code)]

use super::{Group, Join, Script, add, backwards, sub};
use crate::schedule::Steps;
use std::ops::Range;

/// Every member has its own blocks and gets those of all others. `blocks` says which blocks of the area are those of a
/// range of members.
///
/// In a round a member's own blocks leave first, and last those that came last.
pub fn spread<I: Iterator<Item = Range<u32>>>(
    script: &mut Script,
    group: &Group,
    steps: &Steps,
    blocks: impl Fn(Range<u32>) -> I,
) {
    let &Group { p, me, .. } = group;
    for step in (0..steps.count()).map(|i| steps.step(i)) {
        // Of the sender and of those before it.
        let before = |member| (sub(add(member, 1, p), step.width, p), step.width, p);
        backwards(script, before(me), &blocks, |script, blocks| {
            script.send(group.after(step.distance), blocks);
        });
        let from = group.before(step.distance);
        backwards(
            script,
            before(sub(me, step.distance, p)),
            &blocks,
            |script, blocks| {
                script.receive(from, blocks, Join::Store);
            },
        );
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
