//! Exchanges: every rank gets the block that every rank has for it, and no other.

use super::*;
use rondo::schedule::Steps;

/// The elements of one rank's own area, which nobody reduces.
fn plain(rank: u32, elements: Range<u64>) -> Vec<Term> {
    let term = |i| Term::from([(rank as u16, i as u16)]);
    elements.map(term).collect()
}

/// Exchanges blocks by the scripts that `write` writes, in so many messages of a rank, which have so many blocks
/// together at the most. `before` says from whom a rank has the block of a place.
fn exchange_blocks(
    (p, messages, most): (u32, u64, u64),
    write: impl Fn(&mut Script, &Group, u64, u64),
    before: impl Fn(u32, u32) -> u32,
) {
    for block in [0, 1, 3] {
        for variant in variants_for(p, 300 + block) {
            let scripts = scripts(p, |script, rank| {
                write(script, &Group::all(p, rank), block, variant.most);
            });
            let outcome = carry_out(&scripts, u64::from(p) * block, &variant);
            for me in 0..p {
                for place in 0..p {
                    let start = u64::from(place) * block;
                    let expected = plain(before(me, place), start..start + block);
                    let got = outcome.blocks(me, place..place + 1);
                    check(me, &got, &expected, &variant);
                }
                let port = &outcome.ports[me as usize];
                if variant.most == u64::MAX {
                    let messages = if block == 0 { 0 } else { messages };
                    assert_eq!(port.sent.len() as u64, messages, "p = {p}");
                    assert_eq!(u64::from(port.received), messages, "p = {p}");
                }
                let cut = scripts[me as usize].cut();
                let sent: u64 = port.sent.iter().map(|(_, blocks)| cut.count(blocks)).sum();
                assert!(sent <= most * block, "p = {p}");
                assert!(cut.blocks() <= 5 * p, "p = {p}");
            }
        }
    }
}

#[test]
fn a_circulant_exchange_brings_every_block_in_rounds_of_fewer_messages_than_its_radix() {
    for p in every_p() {
        let q = u64::from(p.next_power_of_two().ilog2());
        for radix in [2, 3, 4, 7, 64] {
            let steps = Steps::new(p, radix);
            // Of all distances, those whose digit is not 0 travel in a round.
            let (mut most, mut rest) = (0, (0..p).collect::<Vec<_>>());
            let rounds: Vec<(u32, u32)> = steps.rounds().collect();
            for &(width, messages) in rounds.iter().rev() {
                assert!(messages < radix, "p = {p}, radix {radix}");
                most += rest.iter().filter(|&&rest| rest >= width).count() as u64;
                rest.iter_mut().for_each(|rest| *rest %= width);
            }
            if radix == 2 {
                assert_eq!(rounds.len() as u64, q);
                assert!(most <= u64::from(p) * q / 2);
            }
            exchange_blocks(
                (p, steps.count() as u64, most),
                |script, group, block, most| {
                    circulant_exchange(script, group, radix, block, most);
                },
                |me, place| (me + p - place) % p,
            );
        }
    }
}

/// Which rank has a place, and whose block it is in the end, say the digits of a grid.
#[test]
fn an_exchange_in_a_grid_brings_every_block_in_a_message_for_each_other_digit() {
    for p in every_p() {
        for grid in [Grid::hypercube(p), Grid::mesh(p)] {
            let sizes: Vec<u64> = grid.dimensions().map(|d| d.size.into()).collect();
            let messages = sizes.iter().map(|size| size - 1).sum();
            let most = sizes.iter().map(|size| (size - 1) * u64::from(p) / size);
            exchange_blocks(
                (p, messages, most.sum()),
                |script, group, block, most| grid_exchange(script, group, &grid, block, most),
                |me, place| grid.before(me, place),
            );
        }
    }
}

/// Elements of the block of one rank for another: any numbers, many of them 0.
fn sizes(p: u32, seed: u64, both_ways: bool) -> Vec<Vec<u64>> {
    let mut rng = rng(u64::from(p) << 16 | seed);
    let most: u64 = if p > 64 { 2 } else { 5 };
    let mut size = || rng.random_range(0..2 * most).saturating_sub(most);
    let mut all: Vec<Vec<u64>> = (0..p).map(|_| (0..p).map(|_| size()).collect()).collect();
    if both_ways {
        for i in 0..p as usize {
            let (above, below) = all.split_at_mut(i);
            for (count, other) in below[0].iter_mut().zip(above) {
                *count = other[i];
            }
        }
    }
    all
}

/// Where a rank's blocks begin, and where the last one ends.
fn starts(counts: &[u64]) -> Vec<u64> {
    let mut end = 0;
    let ends = counts.iter().map(|count| {
        end += count;
        end
    });
    once(0).chain(ends).collect()
}

/// A block is copied once all sends before it have left, but so many as may wait.
fn copies_wait_for_sends(script: &Script, copies: Option<u32>) {
    let is_copy = |take: &&Take| matches!(take.source, Source::Blocks(_));
    for (before, take) in (0u32..).zip(script.takes().iter().filter(is_copy)) {
        let most = copies.expect("only what is in place is copied");
        assert_eq!(take.clear, before.saturating_sub(most));
    }
}

/// Exchanges blocks; if `copies` says so, in place: then every rank has what it sends where it receives.
fn exchange_pairs(p: u32, sizes: &[Vec<u64>], copies: Option<u32>, variant: &Variant) {
    let received = |me: usize| sizes.iter().map(move |sent| sent[me]);
    let both = |me: usize| sizes[me].iter().copied().chain(received(me));
    // Every rank's area is full of its own elements, as many as every other one has.
    let own = (0..p as usize).map(|me| both(me).sum()).max().unwrap_or(0);
    let scripts = scripts(p, |script, rank| {
        let me = rank as usize;
        let rest = own - both(me).sum::<u64>();
        script.begin(1, both(me).chain(once(rest)));
        pairs(script, &Group::all(p, rank), copies);
    });
    for script in &scripts {
        copies_wait_for_sends(script, copies);
    }
    let outcome = carry_out(&scripts, own, variant);
    for me in 0..p {
        let mut messages = 0;
        for from in 0..p {
            let sent = &sizes[from as usize];
            let first = starts(sent)[me as usize];
            // In place it is in the second half.
            let first = first + copies.map_or(0, |_| sent.iter().sum());
            let count = sent[me as usize];
            let got = outcome.blocks(me, p + from..p + from + 1);
            if from == me {
                continue; // that is not the script's
            }
            messages += u32::from(count > 0);
            check(me, &got, &plain(from, first..first + count), variant);
        }
        let port = &outcome.ports[me as usize];
        assert_eq!(port.received, messages, "p = {p}, rank {me}");
        let mut receivers: Vec<u32> = port.sent.iter().map(|&(to, _)| to).collect();
        receivers.sort_unstable();
        let others = (0..p).filter(|&to| to != me && sizes[me as usize][to as usize] > 0);
        assert_eq!(receivers, others.collect::<Vec<_>>(), "p = {p}, rank {me}");
    }
}

#[test]
fn pairs_of_ranks_exchange_blocks_of_any_sizes() {
    for p in every_p() {
        for variant in variants_for(p, 400) {
            exchange_pairs(p, &sizes(p, 1, false), None, &variant);
        }
    }
}

#[test]
fn blocks_in_place_leave_before_others_replace_them() {
    for p in every_p() {
        for ahead in [0, 1, 7] {
            for variant in variants_for(p, 500) {
                exchange_pairs(p, &sizes(p, 2, true), Some(ahead), &variant);
            }
        }
    }
}

/// Whose size is in each block of a rank, and for whom it is: that of the distance d is for the rank d after the one
/// that had it first.
fn passing(outcome: &wire::Outcome, p: u32, me: u32, blocks: u32) -> Vec<(usize, usize)> {
    let all = outcome.blocks(me, 0..blocks);
    let ends = |term: &Term| {
        let (from, d) = term[0];
        (from.into(), ((u32::from(from) + u32::from(d)) % p) as usize)
    };
    all.iter().map(ends).collect()
}

/// The first exchange leaves in each block the size of what is in it in the second one.
#[test]
fn blocks_of_any_sizes_follow_their_sizes_in_as_many_rounds() {
    for p in every_p() {
        let exchange = IrregularExchange::new(p);
        let (blocks, q) = (exchange.blocks(), p.next_power_of_two().ilog2());
        assert!(blocks <= p + p.next_multiple_of(2) * q, "p = {p}");
        let group = |rank| Group::all(p, rank);
        let sizes = &sizes(p, 3, false);
        // What a rank has for those after it, beginning with itself.
        let own = |me: u32| (0..p).map(move |d| sizes[me as usize][((me + d) % p) as usize]);
        let most_own = (0..p).map(|me| own(me).sum()).max().unwrap_or(0);
        for variant in variants_for(p, 600) {
            let first = scripts(p, |script, rank| {
                let ones = repeat_n(1, blocks as usize);
                exchange.write(script, &group(rank), ones, variant.most);
            });
            let outcome = carry_out(&first, p.into(), &variant);
            let write = |script: &mut Script, me: u32| {
                let passing = passing(&outcome, p, me, blocks);
                let lengths = passing.iter().map(|&(from, to)| sizes[from][to]);
                // Every rank's area is full of as many of its own elements.
                let lengths = lengths.chain(once(most_own));
                exchange.write(script, &group(me), lengths, variant.most)
            };
            let second = scripts(p, |script, rank| drop(write(script, rank)));
            let places = write(&mut Script::default(), 0);
            let arrived = carry_out(&second, most_own, &variant);
            for me in 0..p {
                for (d, &place) in (0..).zip(&places) {
                    let from = (me + p - d) % p;
                    let start = own(from).take(d as usize).sum();
                    let count = sizes[from as usize][me as usize];
                    let got = arrived.blocks(me, place..place + 1);
                    check(me, &got, &plain(from, start..start + count), &variant);
                }
                let sent = &arrived.ports[me as usize].sent;
                assert!(variant.most < u64::MAX || sent.len() as u32 <= q, "p = {p}");
            }
        }
    }
}
