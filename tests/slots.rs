//! Reductions, exchanges and gates through the slots of a node's ring, many ranks in one thread: every rank ends, every
//! result has the operands that it is to have in the order that is promised, and no rank reads what is not there, or
//! writes over what another one needs.

use rondo::engine::node::{
    GATE_BYTES, Gate, Groups, NodeRing, Operand, SlotExchange, SlotReduction, Slots, Tree, Want,
};
use rondo::engine::{Engine, Progress};
use rondo::script::{Fold, share};
use std::cell::RefCell;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;
use std::rc::Rc;

/// The operands of an element, in their order: a rank and the number of the element on it.
type Term = Vec<(u32, u64)>;

/// What all ranks of a node see.
struct Ring {
    capacity: u64,
    unit: u64,
    /// By their places in the ring: the position that wrote them, and the elements.
    elements: HashMap<u64, (u64, Term)>,
    written: Vec<u64>,
    joined: Vec<u64>,
    released: Vec<u64>,
}

impl Ring {
    fn new(ranks: u32, unit: u64, capacity: u64) -> Rc<RefCell<Ring>> {
        let zeros = vec![0; ranks as usize];
        Rc::new(RefCell::new(Ring {
            capacity,
            unit,
            elements: HashMap::new(),
            written: zeros.clone(),
            joined: zeros.clone(),
            released: zeros,
        }))
    }

    fn is_free(&self, end: u64) -> bool {
        let needed = end.saturating_sub(self.capacity);
        self.released.iter().all(|&released| released >= needed)
    }

    fn element(&mut self, at: u64) -> &mut Term {
        let (position, term) = self
            .elements
            .get_mut(&(at % self.capacity))
            .expect("an element");
        assert_eq!(*position, at, "it is of another lap");
        term
    }
}

/// A rank of the node.
struct Rank {
    me: u32,
    ring: Rc<RefCell<Ring>>,
    own: Vec<Term>,
    result: Vec<Term>,
}

impl Rank {
    fn new(ring: &Rc<RefCell<Ring>>, me: u32, elements: u64, results: u64) -> Rank {
        Rank {
            me,
            ring: ring.clone(),
            own: (0..elements).map(|i| vec![(me, i)]).collect(),
            result: vec![Term::new(); results as usize],
        }
    }
}

impl NodeRing for Rank {
    type Error = Infallible;

    fn has_room(&mut self, end: u64) -> bool {
        self.ring.borrow().is_free(end)
    }

    fn mark(&mut self, at: u64) {
        let ring = self.ring.borrow();
        assert!(ring.is_free(at + 8));
    }

    fn check(&mut self, _at: u64, _writer: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn publish(&mut self, until: u64) {
        self.ring.borrow_mut().written[self.me as usize] = until;
    }

    fn written(&self, writer: u32) -> u64 {
        self.ring.borrow().written[writer as usize]
    }

    fn release(&mut self, until: u64) {
        let released = &mut self.ring.borrow_mut().released[self.me as usize];
        assert!(*released <= until);
        *released = until;
    }

    fn idle(&mut self, _waiting: Option<u32>) -> Result<(), Infallible> {
        panic!("ranks are driven from outside")
    }
}

impl Slots for Rank {
    fn same(&mut self, _rank: u32) -> Result<(), Infallible> {
        Ok(())
    }

    fn put(&mut self, at: u64, elements: Range<u64>) -> Result<(), Infallible> {
        let ring = &mut *self.ring.borrow_mut();
        let bytes = (elements.end - elements.start) * ring.unit;
        assert!(ring.is_free(at + bytes), "somebody needs what is there");
        assert!(at % ring.capacity + bytes <= ring.capacity, "a slot wraps");
        for (i, element) in elements.enumerate() {
            let at = at + i as u64 * ring.unit;
            let term = self.own[element as usize].clone();
            ring.elements.insert(at % ring.capacity, (at, term));
        }
        Ok(())
    }

    fn join(&mut self, left: u64, to: u64, count: u64) -> Result<(), Infallible> {
        let ring = &mut *self.ring.borrow_mut();
        for i in 0..count {
            let mut term = ring.element(left + i * ring.unit).clone();
            let to = ring.element(to + i * ring.unit);
            term.append(to);
            *to = term;
        }
        Ok(())
    }

    fn get(&mut self, at: u64, elements: Range<u64>) -> Result<(), Infallible> {
        let ring = &mut *self.ring.borrow_mut();
        assert!(
            ring.released[self.me as usize] <= at,
            "it was released before"
        );
        for (i, element) in elements.enumerate() {
            self.result[element as usize] = ring.element(at + i as u64 * ring.unit).clone();
        }
        Ok(())
    }

    fn publish_joined(&mut self, until: u64) {
        self.ring.borrow_mut().joined[self.me as usize] = until;
    }

    fn joined(&self, rank: u32) -> u64 {
        self.ring.borrow().joined[rank as usize]
    }
}

/// Calls `advance` for ranks in random order, `late` as seldom as can be, until all are done.
fn drive(ranks: u32, late: Option<u32>, seed: u64, mut advance: impl FnMut(u32) -> Progress) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut left: Vec<u32> = (0..ranks).collect();
    let mut idle = 0;
    while !left.is_empty() {
        let i = random.usize(..left.len());
        if late == Some(left[i]) && left.len() > 1 && idle < 4 * left.len() {
            idle += 1;
            continue;
        }
        match advance(left[i]) {
            Progress::Done => {
                left.swap_remove(i);
                idle = 0;
            }
            Progress::Moved => idle = 0,
            Progress::Waiting => idle += 1,
        }
        assert!(
            idle < 1000 * (ranks as usize + 1),
            "ranks {left:?} wait for ever"
        );
    }
}

/// The operands of an element in the order of a fold.
fn expression(fold: Fold, ranks: u32, element: u64) -> Term {
    let mut terms: Vec<Term> = (0..ranks).map(|rank| vec![(rank, element)]).collect();
    for (left, to) in fold.pairs(ranks) {
        let mut term = terms[left as usize].clone();
        term.append(&mut terms[to as usize]);
        terms[to as usize] = term;
    }
    terms.swap_remove(fold.result(ranks) as usize)
}

/// Where the next call begins, as the memory of a node has it: a call that does not fit begins with the ring.
fn begin(position: &mut u64, groups: &Groups, capacity: u64) -> u64 {
    let through = groups.through();
    if !groups.fits() || *position % capacity + through > capacity {
        *position = position.next_multiple_of(capacity);
    }
    let begin = *position;
    *position += through;
    begin
}

fn rank_numbers() -> impl Iterator<Item = u32> {
    (1..=17).chain([31, 32, 33, 64, 65])
}

fn lengths(ranks: u32) -> [u64; 6] {
    let n = u64::from(ranks);
    [1, n - 1, n, 3 * n + 1, 200, 1000]
}

#[test]
fn every_fold_has_every_operand_once() {
    for ranks in 1..200 {
        for fold in (0..ranks).flat_map(|i| [Fold::From(i), Fold::Halving(i)]) {
            let mut term = expression(fold, ranks, 0);
            term.sort_unstable();
            let all: Term = (0..ranks).map(|rank| (rank, 0)).collect();
            assert_eq!(term, all, "{fold:?} of {ranks}");
        }
        let in_order: Term = (0..ranks).map(|rank| (rank, 0)).collect();
        assert_eq!(expression(Fold::From(0), ranks, 0), in_order);
    }
}

#[test]
fn what_a_rank_wants_of_a_reduction_it_gets_in_the_order_of_its_fold() {
    for ranks in rank_numbers() {
        for (least, unit) in [(true, 8), (false, 16), (true, 1)] {
            let capacity = match least {
                true => (u64::from(ranks) * 256).max(4096),
                false => 1 << 20,
            };
            let ring = Ring::new(ranks, unit, capacity);
            let mut position = 0;
            for (call, elements) in lengths(ranks)
                .into_iter()
                .enumerate()
                .filter(|(_, n)| *n > 0)
            {
                let groups = Groups::striped(ranks, unit, elements, capacity);
                let at = begin(&mut position, &groups, capacity);
                // Parts of all ranks, some of them empty; or a single one.
                let mut end = 0;
                let trees: Vec<Tree> = match call % 2 {
                    0 => (0..ranks)
                        .map(|rank| {
                            end += share(elements, ranks, rank);
                            let fold = Fold::Halving(rank);
                            Tree { end, fold }
                        })
                        .collect(),
                    _ => vec![Tree {
                        end: elements,
                        fold: Fold::From(call as u32 % ranks),
                    }],
                };
                // All of it, two parts in other places, or nothing.
                let wants = |rank: u32| match (rank + call as u32) % 3 {
                    0 => vec![Want {
                        elements: 0..elements,
                        to: 0,
                        of: Operand::All,
                    }],
                    1 if elements > 2 => vec![
                        Want {
                            elements: 0..1,
                            to: 1,
                            of: Operand::All,
                        },
                        Want {
                            elements: elements - 1..elements,
                            to: 0,
                            of: Operand::All,
                        },
                    ],
                    _ => vec![],
                };
                let wanted: Vec<Vec<Want>> = (0..ranks).map(wants).collect();
                let mut at_work: Vec<(Rank, SlotReduction)> = (0..ranks)
                    .map(|me| {
                        let mut rank = Rank::new(&ring, me, elements, elements);
                        rank.release(at);
                        let wants = &wanted[me as usize];
                        let reduction = SlotReduction::new(groups, at, me, &trees, wants);
                        (rank, reduction)
                    })
                    .collect();
                let late = (call % 3 == 0).then_some(call as u32 % ranks);
                drive(ranks, late, u64::from(ranks) << 8 | call as u64, |rank| {
                    let (slots, reduction) = &mut at_work[rank as usize];
                    let Ok(step) = reduction.advance(slots);
                    step
                });
                for ((rank, _), wants) in at_work.iter().zip(&wanted) {
                    for want in wants {
                        for element in want.elements.clone() {
                            let tree = trees.iter().find(|tree| element < tree.end);
                            let fold = tree.expect("a tree for every element").fold;
                            let to = want.to + (element - want.elements.start);
                            let expected = expression(fold, ranks, element);
                            assert_eq!(rank.result[to as usize], expected, "{ranks} ranks");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn in_an_exchange_every_rank_gets_the_parts_of_the_others() {
    for ranks in rank_numbers() {
        let (unit, capacity) = (8, (u64::from(ranks) * 256).max(4096));
        let ring = Ring::new(ranks, unit, capacity);
        let mut position = 0;
        for (call, most) in lengths(ranks)
            .into_iter()
            .enumerate()
            .filter(|(_, n)| *n > 0)
        {
            // One rank has all, or all have parts of different lengths.
            let len = |rank: u32| match call % 2 {
                0 => most * u64::from(rank == call as u32 % ranks),
                _ => most.saturating_sub(u64::from(rank) * 3),
            };
            let mut end = 0;
            let parts: Vec<Range<u64>> = (0..ranks)
                .map(|rank| {
                    let start = end;
                    end += len(rank);
                    start..end
                })
                .collect();
            let groups = Groups::new(ranks, unit, most, capacity);
            let at = begin(&mut position, &groups, capacity);
            let mut at_work: Vec<(Rank, SlotExchange)> = (0..ranks)
                .map(|me| {
                    let mut rank = Rank::new(&ring, me, end, end);
                    rank.release(at);
                    (rank, SlotExchange::new(groups, at, me, &parts))
                })
                .collect();
            drive(ranks, Some(call as u32 % ranks), call as u64, |rank| {
                let (slots, exchange) = &mut at_work[rank as usize];
                let Ok(step) = exchange.advance(slots);
                step
            });
            for (rank, _) in &at_work {
                for (from, part) in (0..).zip(&parts).filter(|(from, _)| *from != rank.me) {
                    for i in part.clone() {
                        assert_eq!(rank.result[i as usize], [(from, i)], "of rank {from}");
                    }
                }
            }
        }
    }
}

/// The leader does not come before the others have, whoever is late; the others do not go on before it does.
#[test]
fn nobody_passes_a_gate_before_all_have_come() {
    for ranks in 2..20 {
        let ring = Ring::new(ranks, 8, 4096);
        for late in 1..ranks {
            let begin = u64::from(late) * GATE_BYTES;
            let gate = |me| Gate {
                ranks,
                me,
                leader: 0,
                begin,
            };
            let mut come: Vec<Rank> = (0..ranks).map(|me| Rank::new(&ring, me, 0, 0)).collect();
            let others = (1..ranks).filter(|&rank| rank != late);
            for rank in others {
                let Ok(()) = gate(rank).come(&mut come[rank as usize]);
            }
            let is_there = |rank: u32| ring.borrow().written[rank as usize] > begin;
            assert!(!is_there(late) && ring.borrow().joined[0] <= begin);
            let Ok(()) = gate(late).come(&mut come[late as usize]);
            // It would wait in `idle` if one were missing, which is an error here.
            let Ok(()) = gate(0).come(&mut come[0]);
            assert!((0..ranks).all(is_there) && ring.borrow().joined[0] <= begin);
            for rank in 0..ranks {
                let Ok(()) = gate(rank).pass(&mut come[rank as usize]);
            }
        }
    }
}
