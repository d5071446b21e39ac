//! The ranks of a node in one thread, which take part in calls one after the other, each as fast as it can and may.

use super::ring::{LINE, Ring, Term, Terms};
use crate::case::rng;
use crate::word::Verdict;
use proptest::prelude::*;
use proptest::test_runner::TestRng;
use rondo::engine::node::*;
use rondo::engine::{Engine, Progress};
use rondo::script::{Fold, Group, Join, Script, Source, halving};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::iter::once;
use std::ops::Range;

/// What is reduced first.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    Usual,
    Backwards,
    /// The elements before this one of every stripe.
    Before(u64),
}

/// What all ranks of the node do together.
#[derive(Clone, Debug)]
pub enum Call {
    /// They reduce vectors of so many elements of `unit` bytes each. Rank i gets `wants[i]`.
    Reduce {
        unit: u64,
        elements: u64,
        trees: Vec<Tree>,
        wants: Vec<Vec<Want>>,
        /// The result is where the vector was.
        in_place: bool,
        /// Each join calls a function of the program's.
        by_calls: bool,
        order: Order,
    },
    /// Rank i has the elements `parts[i]`, and all get all.
    Exchange { unit: u64, parts: Vec<Range<u64>> },
    /// Rank i has a vector of `lens[i]` elements, and gets `wants[i][j]` of that of rank j.
    Shuffle {
        unit: u64,
        lens: Vec<u64>,
        wants: Vec<Vec<Vec<Want>>>,
    },
    /// All wait for the leader, who does something else for so many of its turns once all are there.
    Gate { leader: u32, between: u32 },
    /// One rank writes bytes that all read, as broadcasts do: whole cache lines.
    Bytes { writer: u32, bytes: u64 },
}

/// Calls, and the ranks that carry them out.
#[derive(Clone, Debug)]
pub struct Case {
    pub ranks: u32,
    pub capacity: u64,
    pub calls: Vec<Call>,
    /// This rank gets no turn while another one can do something.
    pub late: Option<u32>,
    pub seed: u64,
}

/// Where a call lies in the ring.
#[derive(Clone, Copy)]
struct Place {
    groups: Groups,
    begin: u64,
}

fn places(case: &Case) -> Vec<Place> {
    let mut positions = Positions::new(case.capacity);
    let (ranks, capacity) = (case.ranks, case.capacity);
    let place = |call: &Call| {
        let none = Groups::new(ranks, 1, 0, capacity);
        let (groups, bytes) = match call {
            Call::Reduce {
                unit,
                elements,
                by_calls,
                order,
                ..
            } => {
                let striped = match by_calls {
                    false => Groups::striped,
                    true => Groups::striped_for_calls,
                };
                let groups = striped(ranks, *unit, *elements, capacity);
                let groups = match *order {
                    Order::Usual => groups,
                    Order::Backwards => groups.backwards(),
                    Order::Before(element) => groups.before(element),
                };
                (groups, None)
            }
            Call::Exchange { unit, parts } => {
                let longest = parts.iter().map(|part| part.end - part.start).max();
                let longest = longest.expect("there are ranks");
                (Groups::new(ranks, *unit, longest, capacity), None)
            }
            Call::Shuffle { unit, lens, .. } => {
                let longest = lens.iter().max().expect("there are ranks");
                (Groups::new(ranks, *unit, *longest, capacity), None)
            }
            Call::Gate { .. } => (none, Some(GATE_BYTES)),
            Call::Bytes { bytes, .. } => (none, Some(*bytes)),
        };
        let begin = match bytes {
            None => positions.begin_groups(&groups),
            Some(bytes) => positions.begin(bytes),
        };
        Place { groups, begin }
    };
    case.calls.iter().map(place).collect()
}

/// Does every rank join whole lines? Slots must have room for one.
fn joins_lines(case: &Case, unit: u64) -> bool {
    let room = case.capacity / 4 / u64::from(case.ranks) / LINE * LINE;
    let elements = room.saturating_sub(LINE).min(64 << 10) / unit;
    LINE.is_multiple_of(unit) && elements * unit >= LINE
}

/// Why a rank does not go on.
#[derive(Debug)]
enum Stop {
    /// It would wait.
    Waits,
    Fault(String),
}

impl From<String> for Stop {
    fn from(fault: String) -> Stop {
        Stop::Fault(fault)
    }
}

/// An element: its number and what has become of it.
type Element = (u64, Term);

/// The vectors of a rank in a call.
#[derive(Default)]
struct Memory {
    own: Vec<Option<Element>>,
    /// `None`: the result is where the vector was.
    result: Option<Vec<Option<Element>>>,
    /// What somebody else has taken, who uses it as soon as it is there.
    used: Vec<(usize, Element)>,
}

impl Memory {
    /// What a reduction says to be there is there, and nobody needs it any more where it is. How many of a few places
    /// that were asked for are there.
    fn use_some(
        &mut self,
        reduction: &SlotReduction,
        wants: &[Want],
        rng: &mut TestRng,
    ) -> Verdict<u64> {
        let end = self.result().len() as u64;
        let from = rng.random_range(0..=end);
        let places = from..rng.random_range(from..=end).min(from + 9);
        if !reduction.has(&places) {
            return Ok(0);
        }
        let wanted = |place: &u64| {
            let mut wants = wants.iter();
            wants.any(|want| (want.to..want.to + length(&want.elements)).contains(place))
        };
        let mut used = 0;
        for place in places.filter(wanted) {
            let place = place as usize;
            used += 1;
            match self.result()[place].take() {
                Some(element) => self.used.push((place, element)),
                None if self.used.iter().any(|(other, _)| *other == place) => {}
                None => return Err(format!("{place} is not there")),
            }
        }
        Ok(used)
    }

    /// Puts back what was used.
    fn restore(&mut self) {
        for (place, element) in std::mem::take(&mut self.used) {
            self.result()[place] = Some(element);
        }
    }

    fn result(&mut self) -> &mut Vec<Option<Element>> {
        self.result.as_mut().unwrap_or(&mut self.own)
    }
}

/// The ring as one rank has it in a call.
struct View<'v> {
    ring: &'v RefCell<Ring>,
    me: u32,
    call: usize,
    unit: u64,
    lines: bool,
    memory: &'v mut Memory,
    fault: Option<String>,
}

impl View<'_> {
    fn note(&mut self, verdict: Verdict) {
        if let Err(fault) = verdict {
            self.fault.get_or_insert(fault);
        }
    }
}

impl NodeRing for View<'_> {
    type Error = Stop;

    fn has_room(&mut self, end: u64) -> bool {
        self.ring.borrow_mut().has_room(self.me, end)
    }

    fn mark(&mut self, at: u64) {
        let verdict = self.ring.borrow_mut().mark(self.me, at, self.call);
        self.note(verdict);
    }

    fn check(&mut self, at: u64, writer: u32) -> Result<(), Stop> {
        let mut ring = self.ring.borrow_mut();
        Ok(ring.check(self.me, at, writer, self.call)?)
    }

    fn publish(&mut self, until: u64) {
        let verdict = self.ring.borrow_mut().publish(self.me, until);
        self.note(verdict);
    }

    fn written(&self, writer: u32) -> u64 {
        self.ring.borrow_mut().written(self.me, writer)
    }

    fn release(&mut self, until: u64) {
        let verdict = self.ring.borrow_mut().release(self.me, until);
        self.note(verdict);
    }

    /// Others get their turns; this rank comes again.
    fn idle(&mut self, waiting: Option<u32>) -> Result<(), Stop> {
        match waiting == Some(self.me) {
            true => Err(format!("rank {} waits for itself", self.me).into()),
            false => Err(Stop::Waits),
        }
    }
}

impl Slots for View<'_> {
    fn same(&mut self, rank: u32) -> Result<(), Stop> {
        match self.ring.borrow().calls[rank as usize] {
            Some(call) if call == self.call => Ok(()),
            other => Err(format!("rank {rank} is in {other:?}").into()),
        }
    }

    fn put(&mut self, at: u64, elements: Range<u64>) -> Result<(), Stop> {
        let own = &self.memory.own[elements.start as usize..elements.end as usize];
        let own: Option<Vec<Element>> = own.iter().copied().collect();
        let own = own.ok_or_else(|| format!("rank {} has no {elements:?}", self.me))?;
        Ok((self.ring.borrow_mut()).put(self.me, at, self.unit, &own)?)
    }

    fn join(&mut self, left: u64, to: u64, count: u64) -> Result<(), Stop> {
        let (mut ring, kind) = (self.ring.borrow_mut(), (self.unit, self.lines));
        Ok(ring.join(self.me, (left, to, count), kind, self.call)?)
    }

    fn get(&mut self, at: u64, elements: Range<u64>) -> Result<(), Stop> {
        let count = elements.end - elements.start;
        let ring = self.ring.borrow();
        let got = ring.get(self.me, (at, count), self.unit, self.call)?;
        let places = elements.start as usize..elements.end as usize;
        let to = self.memory.result().get_mut(places);
        let to = to.ok_or_else(|| format!("rank {} gets {elements:?}", self.me))?;
        for (to, got) in to.iter_mut().zip(got) {
            *to = Some(got);
        }
        Ok(())
    }

    fn publish_joined(&mut self, until: u64) {
        let verdict = self.ring.borrow_mut().publish_joined(self.me, until);
        self.note(verdict);
    }

    fn joined(&self, rank: u32) -> u64 {
        self.ring.borrow_mut().joined(self.me, rank)
    }
}

/// How far a rank is in a call.
enum Task<'a> {
    Reduction(SlotReduction<'a>),
    Exchange(SlotExchange<'a>),
    Shuffle(SlotShuffle<'a>),
    Gate(Gate, Stage),
    Bytes,
}

enum Stage {
    Comes,
    /// The leader has so many turns to do without.
    Between(u32),
    Passes,
}

/// A rank.
struct Actor<'a> {
    me: u32,
    /// Its call.
    call: usize,
    task: Option<Task<'a>>,
    memory: Memory,
    /// How many things had been done when it last found nothing to do.
    quiet: Option<u64>,
}

/// What is true at a gate, whatever the ranks see.
#[derive(Clone, Default)]
struct Passing {
    /// So many ranks have come.
    come: u32,
    /// The leader has done what it does in between.
    is_open: bool,
}

/// A turn at a gate.
fn pass(
    gate: &Gate,
    (stage, between): (&mut Stage, u32),
    view: &mut View,
    passing: &mut Passing,
) -> Result<Progress, Stop> {
    let Gate {
        me, leader, ranks, ..
    } = *gate;
    match stage {
        Stage::Comes => {
            gate.come(view)?;
            *stage = match me == leader {
                true => Stage::Between(between),
                false => Stage::Passes,
            };
            if me == leader && passing.come < ranks {
                return Err(format!("{} have come to the leader", passing.come).into());
            }
        }
        Stage::Between(0) => (*stage, passing.is_open) = (Stage::Passes, true),
        Stage::Between(left) => *left -= 1,
        Stage::Passes => {
            gate.pass(view)?;
            return match passing.is_open {
                true => Ok(Progress::Done),
                false => Err(format!("rank {me} passes before the leader").into()),
            };
        }
    }
    Ok(Progress::Moved)
}

/// A turn in a call by which one rank writes bytes that all read.
fn move_bytes(writer: u32, bytes: Range<u64>, view: &mut View) -> Result<Progress, Stop> {
    let me = view.me;
    if me == writer {
        if !view.has_room(bytes.end) {
            return Ok(Progress::Waiting);
        }
        let mut ring = view.ring.borrow_mut();
        ring.put_bytes(me, bytes.start, bytes.end - bytes.start)?;
        ring.publish(me, bytes.end)?;
    } else if view.written(writer) < bytes.end {
        return Ok(Progress::Waiting);
    }
    view.release(bytes.end);
    Ok(Progress::Done)
}

/// Whoever has nothing to do does not wait for itself.
fn waits(step: Progress, waiting: Option<u32>, view: &mut View) -> Result<Progress, Stop> {
    if step == Progress::Waiting {
        view.idle(waiting)?;
    }
    Ok(step)
}

struct World<'a> {
    case: &'a Case,
    places: Vec<Place>,
    ring: RefCell<Ring>,
    actors: Vec<Actor<'a>>,
    gates: Vec<Passing>,
    /// What is to become of the elements of each tree of each call.
    expected: Vec<Vec<Term>>,
    /// What is to become of those of the ranks up to each.
    prefixes: Vec<Term>,
    rng: TestRng,
    /// Things that were done.
    events: u64,
    /// Places of results that were there before the call was over.
    early: u64,
}

/// What was seen.
#[derive(Debug)]
pub struct Seen {
    /// How often ranks joined something.
    pub joins: u64,
    /// Places of results that were there before their call was over, of some that were asked for.
    pub early: u64,
}

/// Carries a case out, and checks what every rank gets.
pub fn run(case: &Case) {
    if let Err(fault) = attempt(case) {
        panic!("{fault}\n{case:?}");
    }
}

/// The same; says what is wrong, or else what was seen.
pub fn attempt(case: &Case) -> Verdict<Seen> {
    let mut rng = rng(case.seed);
    let mut ring = Ring::new(case.ranks, case.capacity, self::rng(rng.random()));
    let actors = (0..case.ranks).map(|me| Actor {
        me,
        call: 0,
        task: None,
        memory: Memory::default(),
        quiet: None,
    });
    let mut world = World {
        case,
        places: places(case),
        actors: actors.collect(),
        gates: vec![Passing::default(); case.calls.len()],
        expected: expected(case, &mut ring.terms),
        prefixes: (1..=case.ranks)
            .map(|ranks| from(0, ranks, &mut ring.terms))
            .collect(),
        ring: RefCell::new(ring),
        rng,
        events: 0,
        early: 0,
    };
    while let Some(next) = world.next()? {
        world.turn(next)?;
    }
    Ok(Seen {
        joins: world.ring.into_inner().join_calls,
        early: world.early,
    })
}

/// The expressions of the trees of all calls.
fn expected(case: &Case, terms: &mut Terms) -> Vec<Vec<Term>> {
    let mut by_halving = None;
    let mut term = |tree: &Tree| match tree.fold {
        Fold::From(first) => from(first, case.ranks, terms),
        Fold::Halving(owner) => {
            let all = by_halving.get_or_insert_with(|| halved(case.ranks, terms));
            all[owner as usize]
        }
    };
    let calls = case.calls.iter().map(|call| match call {
        Call::Reduce { trees, .. } => trees.iter().map(&mut term).collect(),
        Call::Exchange { .. } | Call::Shuffle { .. } | Call::Gate { .. } | Call::Bytes { .. } => {
            vec![]
        }
    });
    calls.collect()
}

/// A loop over the ranks, one of which is the first.
pub fn from(first: u32, ranks: u32, terms: &mut Terms) -> Term {
    let mut others = (0..ranks).filter(|&rank| rank != first);
    let first = terms.of(first);
    others.by_ref().fold(first, |all, rank| {
        let rank = terms.of(rank);
        terms.join(all, rank)
    })
}

/// What a reduce-scatter by halving leaves on each rank of one element for each of them, if it is carried out by
/// messages.
pub fn halved(ranks: u32, terms: &mut Terms) -> Vec<Term> {
    let script = |me| {
        let mut script = Script::default();
        script.begin(u64::MAX, (0..ranks).map(|_| 1));
        halving(&mut script, &Group::all(ranks, me), once);
        script
    };
    let scripts: Vec<Script> = (0..ranks).map(script).collect();
    let own = |me| vec![terms.of(me); ranks as usize];
    let mut areas: Vec<Vec<Term>> = (0..ranks).map(own).collect();
    let mut messages: HashMap<(u32, u32), VecDeque<Vec<Term>>> = HashMap::new();
    let mut done = vec![(0, 0); ranks as usize];
    let mut moved = true;
    while moved {
        moved = false;
        for (me, script) in (0..).zip(&scripts) {
            let (sent, taken) = &mut done[me as usize];
            let area = &mut areas[me as usize];
            while let Some(send) = script.sends().get(*sent)
                && send.after as usize <= *taken
            {
                let blocks = send.blocks.start as usize..send.blocks.end as usize;
                let queue = messages.entry((me, send.to)).or_default();
                queue.push_back(area[blocks].to_vec());
                (*sent, moved) = (*sent + 1, true);
            }
            while let Some(take) = script.takes().get(*taken)
                && take.clear as usize <= *sent
            {
                let Source::Rank(from) = take.source else {
                    panic!("halving takes {take:?}");
                };
                let queue = messages.entry((from, me)).or_default();
                let Some(message) = queue.pop_front() else {
                    break;
                };
                assert_eq!(message.len(), take.blocks.len());
                assert_eq!(take.join, Join::Left);
                for (block, left) in take.blocks.clone().zip(message) {
                    let term = &mut area[block as usize];
                    *term = terms.join(left, *term);
                }
                (*taken, moved) = (*taken + 1, true);
            }
        }
    }
    for (script, done) in scripts.iter().zip(done) {
        assert_eq!(done, (script.sends().len(), script.takes().len()));
    }
    let part = |(me, area): (usize, Vec<Term>)| area[me];
    areas.into_iter().enumerate().map(part).collect()
}

impl World<'_> {
    /// Who is next; `None`: all is done.
    fn next(&mut self) -> Verdict<Option<usize>> {
        let (n, last) = (self.actors.len(), self.case.calls.len());
        if self.actors.iter().all(|actor| actor.call == last) {
            return Ok(None);
        }
        let first = self.rng.random_range(0..n);
        let (late, events) = (self.case.late, self.events);
        let may = |actor: &Actor| actor.call < last && actor.quiet != Some(events);
        let is_late = |actor: &Actor| late == Some(actor.me);
        let actors = &self.actors;
        let mut order = (first..n).chain(0..first);
        let next = order.find(|&i| may(&actors[i]) && !is_late(&actors[i]));
        if next.is_some() {
            return Ok(next);
        }
        // What there is to be seen is seen in the end, and the late rank comes last.
        if self.ring.borrow_mut().reveal() {
            self.events += 1;
            return self.next();
        }
        let next = actors.iter().position(|actor| is_late(actor) && may(actor));
        next.map(Some).ok_or_else(|| {
            let calls: Vec<usize> = actors.iter().map(|actor| actor.call).collect();
            format!("all wait, in calls {calls:?}")
        })
    }

    /// A rank does what it can.
    fn turn(&mut self, i: usize) -> Verdict {
        if self.actors[i].task.is_none() {
            self.begin(i)?;
        }
        let call = self.actors[i].call;
        let (of, place) = (&self.case.calls[call], self.places[call]);
        let actor = &mut self.actors[i];
        let mut task = actor.task.take().expect("it has begun");
        let unit = match of {
            Call::Reduce { unit, .. }
            | Call::Exchange { unit, .. }
            | Call::Shuffle { unit, .. } => *unit,
            Call::Gate { .. } | Call::Bytes { .. } => 1,
        };
        let mut view = View {
            ring: &self.ring,
            me: actor.me,
            call,
            unit,
            lines: joins_lines(self.case, unit),
            memory: &mut actor.memory,
            fault: None,
        };
        let step = match (&mut task, of) {
            (Task::Reduction(reduction), _) => {
                let step = reduction.advance(&mut view);
                if let Call::Reduce { wants, .. } = of {
                    let is_done = matches!(step, Ok(Progress::Done));
                    let wants = &wants[actor.me as usize];
                    let places = view.memory.use_some(reduction, wants, &mut self.rng);
                    self.early += if is_done { 0 } else { places? };
                }
                step.and_then(|step| waits(step, reduction.waiting(), &mut view))
            }
            (Task::Exchange(exchange), _) => {
                let step = exchange.advance(&mut view);
                step.and_then(|step| waits(step, exchange.waiting(), &mut view))
            }
            (Task::Shuffle(shuffle), _) => {
                let step = shuffle.advance(&mut view);
                step.and_then(|step| waits(step, shuffle.waiting(), &mut view))
            }
            (Task::Gate(gate, stage), &Call::Gate { between, .. }) => {
                pass(gate, (stage, between), &mut view, &mut self.gates[call])
            }
            (Task::Bytes, &Call::Bytes { writer, bytes }) => {
                move_bytes(writer, place.begin..place.begin + bytes, &mut view)
            }
            (Task::Gate(..) | Task::Bytes, _) => unreachable!("a task of another call"),
        };
        if let Some(fault) = view.fault {
            return Err(fault);
        }
        match step {
            Ok(Progress::Waiting) | Err(Stop::Waits) => {
                actor.quiet = Some(self.events);
                actor.task = Some(task);
            }
            Ok(Progress::Moved) => {
                self.events += 1;
                actor.task = Some(task);
            }
            Ok(Progress::Done) => {
                self.events += 1;
                self.expect_all(i)?;
                self.actors[i].call += 1;
            }
            Err(Stop::Fault(fault)) => return Err(fault),
        }
        Ok(())
    }

    /// A rank comes to a call, and needs nothing of the ones before it.
    fn begin(&mut self, i: usize) -> Verdict {
        let Actor { me, call, .. } = self.actors[i];
        let Place { groups, begin } = self.places[call];
        let ring = self.ring.get_mut();
        ring.release(me, begin)?;
        ring.calls[me as usize] = Some(call);
        let own = |element| Some((element, ring.terms.of(me)));
        let actor = &mut self.actors[i];
        actor.memory = Memory::default();
        actor.task = Some(match &self.case.calls[call] {
            Call::Reduce {
                elements,
                trees,
                wants,
                in_place,
                ..
            } => {
                let wants = &wants[me as usize];
                let ends = wants.iter().map(|want| want.to + length(&want.elements));
                let end = ends.max().unwrap_or(0) as usize;
                actor.memory.own = (0..*elements).map(own).collect();
                actor.memory.result = (!in_place).then(|| vec![None; end]);
                Task::Reduction(SlotReduction::new(groups, begin, me, trees, wants))
            }
            Call::Exchange { parts, .. } => {
                let all = parts.iter().map(|part| part.end).max();
                let is_own = |element: &u64| parts[me as usize].contains(element);
                let own = |element| Some(element).filter(is_own).and_then(own);
                actor.memory.own = (0..all.unwrap_or(0)).map(own).collect();
                Task::Exchange(SlotExchange::new(groups, begin, me, parts))
            }
            Call::Shuffle { lens, wants, .. } => {
                let (len, wants) = (lens[me as usize], &wants[me as usize]);
                let all = wants.iter().flatten();
                let end = all.map(|want| want.to + length(&want.elements)).max();
                actor.memory.own = (0..len).map(own).collect();
                actor.memory.result = Some(vec![None; end.unwrap_or(0) as usize]);
                Task::Shuffle(SlotShuffle::new(groups, begin, me, 0..len, wants))
            }
            &Call::Gate { leader, .. } => {
                self.gates[call].come += 1;
                let gate = Gate {
                    ranks: self.case.ranks,
                    me,
                    leader,
                    begin,
                };
                Task::Gate(gate, Stage::Comes)
            }
            Call::Bytes { .. } => Task::Bytes,
        });
        Ok(())
    }

    /// A rank has done its call. It has all that it wants, and nothing else.
    fn expect_all(&mut self, i: usize) -> Verdict {
        let Actor { me, call, .. } = self.actors[i];
        let mut memory = std::mem::take(&mut self.actors[i].memory);
        memory.restore();
        let terms = &mut self.ring.get_mut().terms;
        match &self.case.calls[call] {
            Call::Reduce { trees, wants, .. } => {
                let wants = &wants[me as usize];
                for want in wants {
                    for (element, to) in want.elements.clone().zip(want.to..) {
                        let tree = trees.partition_point(|tree| tree.end <= element);
                        let term = match want.of {
                            Operand::All => self.expected[call][tree],
                            Operand::Upto(last) => self.prefixes[last as usize],
                        };
                        let right = (element, term);
                        let got = memory.result()[to as usize];
                        if got != Some(right) {
                            let show = |(i, term)| (i, terms.show(term));
                            let (got, right) = (got.map(show), show(right));
                            return Err(format!("rank {me}: {got:?} and not {right:?}"));
                        }
                    }
                }
                let wanted: u64 = wants.iter().map(|want| length(&want.elements)).sum();
                let got = memory.result.map(|all| all.iter().flatten().count() as u64);
                match got.is_none_or(|got| got == wanted) {
                    true => Ok(()),
                    false => Err(format!("rank {me} has {got:?} of {wanted}")),
                }
            }
            Call::Exchange { parts, .. } => {
                for (rank, part) in (0..).zip(parts) {
                    for element in part.clone() {
                        if memory.own[element as usize] != Some((element, terms.of(rank))) {
                            return Err(format!("rank {me} lacks {element} of {rank}"));
                        }
                    }
                }
                Ok(())
            }
            Call::Shuffle { wants, .. } => {
                let mut right = vec![None; memory.result().len()];
                for (rank, wants) in (0..).zip(&wants[me as usize]) {
                    for want in wants {
                        for (element, to) in want.elements.clone().zip(want.to..) {
                            right[to as usize] = Some((element, terms.of(rank)));
                        }
                    }
                }
                match *memory.result() == right {
                    true => Ok(()),
                    false => Err(format!(
                        "rank {me} has {:?} and not {right:?}",
                        memory.result()
                    )),
                }
            }
            Call::Gate { .. } | Call::Bytes { .. } => Ok(()),
        }
    }
}

fn length(elements: &Range<u64>) -> u64 {
    elements.end - elements.start
}
