//! Negative controls: three mistakes that are easy to make, hard to see, and harmless up to p = 32.
//!
//! The algorithms are written out a second time, in lists instead of sets of bits, with a switch
//! for each point at issue. With all switches on they agree with the library; with one switch off,
//! the conditions that the other tests rely on must fail. If they did not, those tests would prove
//! nothing.

use std::collections::BTreeSet;

use rondo::schedule::Circulant;

use super::conditions::{receives_new_blocks, sends_what_it_has};
use super::{large_ps, recv, rows, send, some_ranks, to};

#[derive(Clone, Copy)]
struct Variant {
    /// Accepted positions strictly decrease, even after one left of its window.
    decrease: bool,
    /// If the parent of a node is in the window too, it is preferred.
    prefer_parent: bool,
    /// Whether a sender's image is in its range is told from the width carried along, not from
    /// the skip that the width is close to.
    carry_width: bool,
}

const RIGHT: Variant = Variant {
    decrease: true,
    prefer_parent: true,
    carry_width: true,
};

/// A schedule, and the work it took: steps of a search, or searches.
type Worked = Option<(Vec<i8>, usize)>;

impl Variant {
    /// The receive schedule of `v` and the steps it took; `None` if there is nothing left to try.
    fn recv(self, graph: &Circulant, v: u32) -> Worked {
        let (b, q) = (graph.baseblock(v), graph.q());
        let skip = |index: usize| i64::from(graph.skips()[index]);
        let top = i64::from(graph.p()) + i64::from(v);
        let mut free: BTreeSet<usize> = (0..=q).filter(|&index| index != b).collect();
        let mut next = free.last().copied();
        let (mut path, mut pos, mut last) = (Vec::new(), 0, i64::MAX);
        let (mut out, mut steps) = (Vec::new(), 0);
        while out.len() < q {
            steps += 1;
            let near = top - skip(out.len());
            let far = top - skip(out.len() + 1);
            let (index, position) = match next {
                Some(index) if pos <= far => {
                    let step = pos + skip(index);
                    next = free.range(..index).next_back().copied();
                    if step > near || (self.decrease && step >= last) {
                        continue;
                    }
                    if step <= far {
                        path.push(index);
                        pos = step;
                        continue;
                    }
                    (index, step)
                }
                _ => {
                    let (index, left) = (path.pop()?, pos);
                    pos -= skip(index);
                    if self.prefer_parent && pos > far {
                        continue;
                    }
                    (index, left)
                }
            };
            free.remove(&index);
            next = free.range(..index).next_back().copied();
            last = position;
            out.push(if index == q {
                b as i8
            } else {
                index as i8 - q as i8
            });
        }
        Some((out, steps))
    }

    /// The send schedule of `v` and the number of searches it took.
    fn send(self, graph: &Circulant, v: u32) -> Worked {
        let (b, q, skip) = (graph.baseblock(v), graph.q(), graph.skips());
        if v == 0 {
            return Some(((0..q as i8).collect(), 0));
        }
        let mut out = vec![b as i8 - q as i8; q];
        let (mut block, mut offset, mut width) = (b as i8, v, graph.p());
        let mut searches = 0;
        for k in (1..q).rev() {
            let range = if self.carry_width { width } else { skip[k + 1] };
            let image_is_inside = offset + skip[k] < range;
            let sure = if offset < skip[k] {
                let sure = image_is_inside || width < skip[k - 1] || (k == 1 && b > 0);
                width = width.min(skip[k]);
                sure
            } else {
                block = k as i8 - q as i8;
                width -= skip[k];
                let first = offset == skip[k];
                offset -= skip[k];
                !first || skip[k] <= width || k == 1 || width < skip[k - 1]
            };
            out[k] = block;
            if !sure {
                out[k] = self.recv(graph, to(graph, v, k))?.0[k];
                searches += 1;
            }
        }
        Some((out, searches))
    }

    /// The numbers of ranks up to `most` for which receive schedules miss conditions 3 or 4, the
    /// send schedules being what conditions 1 and 2 make of them.
    fn wrong_receiving(self, most: u32) -> Vec<u32> {
        let wrong = |p: &u32| {
            let graph = Circulant::new(*p);
            let found = (0..*p)
                .map(|v| Some(self.recv(&graph, v)?.0))
                .collect::<Option<Vec<_>>>();
            let Some(recvs) = found else { return true };
            !(0..*p).all(|v| {
                let mine = &recvs[v as usize];
                let sent: Vec<i8> = (0..graph.q())
                    .map(|k| recvs[to(&graph, v, k) as usize][k])
                    .collect();
                receives_new_blocks(&graph, v, mine) && sends_what_it_has(&graph, v, mine, &sent)
            })
        };
        (1..=most).filter(wrong).collect()
    }

    /// The numbers of ranks up to `most` for which send schedules miss condition 2.
    fn wrong_sending(self, most: u32) -> Vec<u32> {
        let wrong = |p: &u32| {
            let graph = Circulant::new(*p);
            let recvs = rows(&graph, recv);
            (0..*p).any(|v| {
                let named = (0..graph.q()).map(|k| recvs[to(&graph, v, k) as usize][k]);
                self.send(&graph, v).is_none_or(|(sent, _)| !named.eq(sent))
            })
        };
        (1..=most).filter(wrong).collect()
    }
}

#[test]
fn without_mistakes_the_copy_agrees_with_the_library() {
    for p in 1..=700 {
        let graph = Circulant::new(p);
        for v in 0..p {
            let (got, sent) = (RIGHT.recv(&graph, v), RIGHT.send(&graph, v));
            assert_eq!(
                got.expect("the search ends").0,
                recv(&graph, v),
                "receiving, {v} of {p}"
            );
            assert_eq!(
                sent.expect("searches end").0,
                send(&graph, v),
                "sending, {v} of {p}"
            );
        }
    }
}

#[test]
fn without_mistakes_the_conditions_hold() {
    assert_eq!(RIGHT.wrong_receiving(200), Vec::<u32>::new());
    assert_eq!(RIGHT.wrong_sending(200), Vec::<u32>::new());
}

#[test]
fn positions_that_need_not_decrease_show_at_33_ranks() {
    let mistaken = Variant {
        decrease: false,
        ..RIGHT
    };
    assert_eq!(mistaken.wrong_receiving(129), [33, 65, 66, 67, 69, 73, 129]);
}

#[test]
fn a_parent_that_is_not_preferred_shows_at_81_ranks() {
    let mistaken = Variant {
        prefer_parent: false,
        ..RIGHT
    };
    assert_eq!(mistaken.wrong_receiving(165), [81, 161, 162, 163, 165]);
}

#[test]
fn a_width_that_is_not_carried_shows_at_33_ranks() {
    let mistaken = Variant {
        carry_width: false,
        ..RIGHT
    };
    assert_eq!(
        mistaken.wrong_sending(129),
        [33, 65, 66, 67, 69, 73, 81, 129]
    );
}

/// What makes the schedules O(log p): a search is linear in q, and sending needs few of them.
#[test]
fn the_work_grows_with_the_logarithm_of_p() {
    let check = |graph: &Circulant, v: u32| {
        let (_, steps) = RIGHT.recv(graph, v).expect("the search ends");
        let (_, searches) = RIGHT.send(graph, v).expect("searches end");
        assert!(
            steps <= 3 * graph.q(),
            "{steps} steps for {v} of {}",
            graph.p()
        );
        assert!(
            searches <= 4,
            "{searches} searches for {v} of {}",
            graph.p()
        );
        assert!(
            !graph.p().is_power_of_two() || searches == 0,
            "{v} of {}",
            graph.p()
        );
    };
    for p in 1..=700 {
        let graph = Circulant::new(p);
        (0..p).for_each(|v| check(&graph, v));
    }
    for p in large_ps() {
        let graph = Circulant::new(p);
        some_ranks(&graph, 50)
            .into_iter()
            .for_each(|v| check(&graph, v));
    }
}
