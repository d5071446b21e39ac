//! The messages of an all-broadcast of whole parts.

use rondo::schedule::{Circulant, Steps};

/// With all messages in their order, every rank has every part, each once.
#[test]
fn every_rank_gets_every_part_once() {
    for p in (1..=200).chain([255, 256, 257, 1000, 4096]) {
        for radix in [2, 3, 4, 5, 6, 7, 8, 16, 33, 64] {
            let steps = Steps::new(p, radix);
            // By symmetry the parts of rank 0 say all: a part is known by how far its rank is before.
            let mut here = vec![false; p as usize];
            here[0] = true;
            let mut before_round = here.clone();
            let mut first = 0;
            for (width, messages) in steps.rounds() {
                let held = before_round.iter().filter(|&&here| here).count();
                assert_eq!(held, width as usize, "p = {p}, radix {radix}");
                for i in first..first + messages as usize {
                    let step = steps.step(i);
                    for part in step.distance..step.distance + step.width {
                        // The sender has had it since before the round.
                        assert!(before_round[(part - step.distance) as usize]);
                        assert!(
                            !here[part as usize],
                            "p = {p}, radix {radix}: {part} comes twice"
                        );
                        here[part as usize] = true;
                    }
                }
                first += messages as usize;
                before_round.clone_from(&here);
            }
            assert_eq!(first, steps.count());
            assert!(here.iter().all(|&here| here), "p = {p}, radix {radix}");
        }
    }
}

/// With radix 2 the messages are those on the circulant graph; with a radix of at least p there is one round.
#[test]
fn the_ends_of_the_range() {
    for p in 2..=300u32 {
        let graph = Circulant::new(p);
        let steps = Steps::new(p, 2);
        assert_eq!(steps.count(), graph.q());
        for (i, skips) in graph.skips().windows(2).enumerate() {
            let step = steps.step(i);
            assert_eq!((step.distance, step.width), (skips[0], skips[1] - skips[0]));
        }
        let steps = Steps::new(p, p);
        assert_eq!(steps.rounds().collect::<Vec<_>>(), [(1, p - 1)]);
    }
}

/// There are as few rounds as the radix allows.
#[test]
fn the_rounds_are_logarithmic() {
    for p in 2..=4096u32 {
        for radix in [2, 3, 6, 64] {
            let (mut rounds, mut reach) = (0, 1u64);
            while reach < p.into() {
                (rounds, reach) = (rounds + 1, reach * u64::from(radix));
            }
            assert_eq!(
                Steps::new(p, radix).rounds().count(),
                rounds,
                "p = {p}, radix {radix}"
            );
        }
    }
}
