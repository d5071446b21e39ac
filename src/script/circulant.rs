//! Reduction to a root: the broadcast of n blocks on the circulant graph, backwards (Träff, arXiv 2407.18004).
//!
//! What a rank receives in a round of the broadcast it sends in the reversed one, and the other way round. So every
//! rank but the root sends every block once, after everything that it gets for it, in n - 1 + q rounds. The operands
//! come in no order of ranks, so the operator must be commutative.

#![forbid(unsafe_code)]

use super::{Group, Join, Script, sub};
use crate::schedule::{Circulant, Rounds};
use std::ops::Range;

/// What a member does with a block in a round.
#[derive(Clone, Copy)]
enum Move {
    SendTo(u32),
    ReceiveFrom(u32),
}

/// The moves of one member in a reduction of some blocks to another one, and backwards in their broadcast.
struct Moves<'a> {
    graph: &'a Circulant,
    rounds: Rounds,
    who: u32,
    root: u32,
    receive: [i8; 32],
    send: [i8; 32],
}

impl Moves<'_> {
    /// Those of the member `who` for `n` blocks and the member `root`.
    fn new(graph: &Circulant, n: u32, who: u32, root: u32) -> Moves<'_> {
        let (p, q) = (graph.p(), graph.q());
        let relative = sub(who, root, p);
        let (mut receive, mut send) = ([0; 32], [0; 32]);
        graph.recv(relative, &mut receive[..q]);
        graph.send(relative, &mut send[..q]);
        Moves {
            graph,
            rounds: Rounds::new(q, n),
            who,
            root,
            receive,
            send,
        }
    }

    /// Calls `run` with the moves of a round, which the broadcast has as its `round`-th one.
    fn of(&self, round: u64, mut run: impl FnMut(Move, u32)) {
        let &Moves {
            graph,
            rounds,
            who,
            root,
            ..
        } = self;
        let (p, q) = (graph.p(), graph.q() as u64);
        let number = rounds.first() + round;
        let (k, phase) = ((number % q) as usize, (number / q) as u32);
        let skip = graph.skips()[k];
        if who != root
            && let Some(block) = rounds.block(self.receive[k], k, phase)
        {
            run(Move::SendTo(sub(who, skip, p)), block);
        }
        let other = super::add(who, skip, p);
        // Nobody sends to the root of a broadcast.
        if other != root
            && let Some(block) = rounds.block(self.send[k], k, phase)
        {
            run(Move::ReceiveFrom(other), block);
        }
    }
}

/// What a member does in a reduction.
enum Step {
    /// A block is on for the first time, in the round that follows, or, on a member alone, in none.
    Begin(u32),
    Move(Move, u32),
}

/// Calls `run` with all steps of the member `who` in a reduction of `n` blocks to the member `root`, in order.
fn steps(graph: &Circulant, n: u32, who: u32, root: u32, mut run: impl FnMut(Step)) {
    let mut begun = vec![false; n as usize];
    let moves = Moves::new(graph, n, who, root);
    for round in (0..moves.rounds.count()).rev() {
        moves.of(round, |_, block| {
            if !std::mem::replace(&mut begun[block as usize], true) {
                run(Step::Begin(block));
            }
        });
        moves.of(round, |what, block| run(Step::Move(what, block)));
    }
    for block in (0..n).filter(|&block| !begun[block as usize]) {
        run(Step::Begin(block));
    }
}

/// Adds the reduction of some blocks of the area to the member `root`, where they are the result; elsewhere they are
/// used up. `before` is called with the number, among these, of each block that the member has anything to do with,
/// before the round in which it first has.
pub fn reduce(
    script: &mut Script,
    blocks: Range<u32>,
    group: &Group,
    graph: &Circulant,
    root: u32,
    mut before: impl FnMut(&mut Script, u32),
) {
    let n = blocks.end - blocks.start;
    steps(graph, n, group.me, root, |step| match step {
        Step::Begin(block) => before(script, block),
        Step::Move(what, block) => {
            let block = blocks.start + block..blocks.start + block + 1;
            match what {
                Move::SendTo(member) => script.send(group.rank(member), block),
                Move::ReceiveFrom(member) => {
                    script.receive(group.rank(member), block, Join::Right);
                }
            }
        }
    });
}

/// `n` blocks in the order in which `reduce` calls `before` on the member `who`.
pub fn order(graph: &Circulant, n: u32, who: u32, root: u32, mut run: impl FnMut(u32)) {
    steps(graph, n, who, root, |step| match step {
        Step::Begin(block) => run(block),
        Step::Move(..) => {}
    });
}

/// Adds the reduction of all blocks of the area to member 0 and their broadcast (Träff, arXiv 2205.10072) to all
/// members, which have the result in the end. The last block is reduced first and is the first to be broadcast, as soon
/// as it is reduced, while the others follow.
///
/// A member has done its part of the reduction before it takes in a result: in a round of both it would send and
/// receive two blocks, which takes as long as two rounds, and each result would wait until its block has come up and
/// down.
pub fn reduce_broadcast(script: &mut Script, group: &Group, graph: &Circulant) {
    let n = script.cut().blocks();
    if graph.q() == 0 {
        return;
    }
    let moves = Moves::new(graph, n, group.me, 0);
    let count = moves.rounds.count();
    for round in (0..count).rev() {
        moves.of(round, |what, block| {
            let blocks = block..block + 1;
            match what {
                Move::SendTo(member) => script.send(group.rank(member), blocks),
                Move::ReceiveFrom(member) => {
                    script.receive(group.rank(member), blocks, Join::Left);
                }
            }
        });
    }
    for round in 0..count {
        moves.of(round, |what, block| {
            let block = n - 1 - block;
            let blocks = block..block + 1;
            match what {
                Move::SendTo(member) => {
                    script.receive(group.rank(member), blocks, Join::Store);
                }
                Move::ReceiveFrom(member) => script.send(group.rank(member), blocks),
            }
        });
    }
}
