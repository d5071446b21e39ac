//! Numbers of communicators, and the pieces of memory that are found by them: simulated ranks make and free
//! communicators in any order.

use proptest::prelude::*;
use rondo::group::Place;
use rondo::group::numbers::{Numbers, WORDS, draw};
use rondo::shm::{Arena, Piece};
use std::collections::BTreeMap;
use std::sync::Arc;

const ALL: u32 = 64 * WORDS as u32;

fn has(free: &[u64; WORDS], number: u32) -> bool {
    free[number as usize / 64] >> (number % 64) & 1 == 1
}

fn only(numbers: impl IntoIterator<Item = u32>) -> [u64; WORDS] {
    let mut mask = [0; WORDS];
    for number in numbers {
        mask[number as usize / 64] |= 1 << (number % 64);
    }
    mask
}

proptest! {
    #[test]
    fn the_first_free_number_from_a_word_on_is_drawn(
        some in prop::collection::vec(0..ALL, 0..6),
        many in any::<bool>(),
        word in any::<u64>(),
    ) {
        let mask = only(some.iter().copied());
        let free = if many { mask.map(|word| !word) } else { mask };
        let first = (word % u64::from(ALL)) as u32;
        let expected = (first..ALL).chain(0..first).find(|number| has(&free, *number));
        prop_assert_eq!(draw(&free, word), expected);
    }
}

#[test]
fn draws_go_round_and_find_nothing_where_nothing_is_free() {
    assert_eq!(draw(&[0; WORDS], 0), None);
    assert_eq!(draw(&[0; WORDS], u64::MAX), None);
    let free = only([1, ALL - 1]);
    let last = u64::from(ALL) - 1;
    for (word, number) in [
        (0, 1),
        (1, 1),
        (2, ALL - 1),
        (last, ALL - 1),
        (last + 1, 1),
        (u64::MAX, ALL - 1),
    ] {
        assert_eq!(draw(&free, word), Some(number), "{word}");
    }
    assert_eq!(draw(&only([7]), 8), Some(7));
}

#[test]
fn a_rank_has_all_numbers_but_that_of_the_job() {
    let numbers = Numbers::unused();
    let mut taken = vec![];
    while let Some(number) = draw(&numbers.free(), 0) {
        assert!(numbers.take(number));
        assert!(!numbers.take(number), "it is taken");
        taken.push(number);
    }
    assert_eq!(taken, (1..ALL).collect::<Vec<_>>());
    for number in [1, 63, 64, ALL - 1] {
        numbers.give_back(number);
        assert_eq!(draw(&numbers.free(), 77), Some(number));
        assert!(numbers.take(number));
    }
}

/// Bytes of a piece for as many ranks as there are.
const PIECE_BYTES: u64 = 16 << 10;

/// A node: its memory, and the pieces that others have for ever, so that few are left.
struct Node {
    arena: Arc<Arena>,
    left: usize,
    _taken: Vec<Piece>,
}

impl Node {
    fn new(left: usize) -> Node {
        let arena = Arc::new(Arena::create(PIECE_BYTES).unwrap().0);
        let mut taken: Vec<_> = std::iter::from_fn(|| arena.reserve()).collect();
        let free = taken.split_off(taken.len() - left);
        free.iter().for_each(Piece::give_back);
        Node {
            arena,
            left,
            _taken: taken,
        }
    }
}

/// A communicator as one of its ranks has it.
struct Member {
    number: u32,
    place: Option<Place>,
    leads: bool,
    /// It left a call that others made.
    was_left: bool,
}

struct Rank {
    node: usize,
    numbers: Numbers,
    /// By what no two communicators have in common.
    comms: BTreeMap<u64, Member>,
    /// Numbers that it never offers again.
    spoilt: Vec<u32>,
}

/// What is about to be a communicator: its ranks, and the pieces that the lowest of each node has reserved.
struct Draft {
    id: u64,
    ranks: Vec<usize>,
    /// Of each node, its ranks.
    nodes: BTreeMap<usize, Vec<usize>>,
    reserved: BTreeMap<usize, Option<Piece>>,
}

struct Job {
    nodes: Vec<Node>,
    ranks: Vec<Rank>,
    made: u64,
}

impl Job {
    fn new(nodes: &[usize], pieces: usize) -> Job {
        let rank = |&node: &usize| Rank {
            node,
            numbers: Numbers::unused(),
            comms: BTreeMap::new(),
            spoilt: vec![],
        };
        let count = nodes.iter().max().unwrap() + 1;
        Job {
            nodes: (0..count).map(|_| Node::new(pieces)).collect(),
            ranks: nodes.iter().map(rank).collect(),
            made: 0,
        }
    }

    fn draft(&mut self, mask: u32) -> Option<Draft> {
        let ranks: Vec<_> = (0..self.ranks.len())
            .filter(|rank| mask >> rank & 1 == 1)
            .collect();
        let mut nodes = BTreeMap::<_, Vec<_>>::new();
        for &rank in &ranks {
            nodes.entry(self.ranks[rank].node).or_default().push(rank);
        }
        let share = nodes.values().any(|locals| locals.len() > 1);
        let reserve = |&node: &usize| (node, self.nodes[node].arena.reserve());
        let reserved = nodes.keys().filter(|_| share).map(reserve).collect();
        self.made += 1;
        (!ranks.is_empty()).then_some(Draft {
            id: self.made,
            ranks,
            nodes,
            reserved,
        })
    }

    /// Makes communicators at the same time, as threads do. The words, and the order in which their ranks take the
    /// numbers, are random.
    fn make(&mut self, masks: &[u32], rng: &mut impl FnMut() -> u64) {
        let mut open: Vec<_> = masks
            .iter()
            .filter_map(|&mask| self.draft(mask))
            .map(|draft| (draft, 0))
            .collect();
        for round in 0.. {
            assert!(round < 100, "no end of drawing");
            if open.is_empty() {
                break;
            }
            // All offer before any of them takes.
            let drawn = open.iter().map(|(draft, word)| {
                let offers = draft
                    .ranks
                    .iter()
                    .map(|&rank| self.ranks[rank].numbers.free());
                let free = offers.reduce(|all, one| std::array::from_fn(|i| all[i] & one[i]));
                let free = free.unwrap();
                let number = draw(&free, *word);
                let of_rank = |number: &u32| {
                    let mut ranks = draft.ranks.iter();
                    ranks.all(|&rank| has(&self.ranks[rank].numbers.free(), *number))
                };
                assert!(number.iter().all(of_rank), "free on all");
                number
            });
            let drawn: Vec<_> = drawn.collect();
            let mut turns: Vec<_> = (0..open.len())
                .flat_map(|at| open[at].0.ranks.iter().map(move |&rank| (at, rank)))
                .collect();
            let mut taken: Vec<Vec<usize>> = open.iter().map(|_| vec![]).collect();
            while !turns.is_empty() {
                let (at, rank) = turns.swap_remove(rng() as usize % turns.len());
                if drawn[at].is_some_and(|number| self.ranks[rank].numbers.take(number)) {
                    taken[at].push(rank);
                }
            }
            let mut again = vec![];
            for ((draft, number), taken) in open.drain(..).zip(drawn).zip(taken) {
                match number {
                    Some(number) if taken.len() < draft.0.ranks.len() => {
                        for rank in taken {
                            self.ranks[rank].numbers.give_back(number);
                        }
                        again.push((draft.0, rng()));
                    }
                    Some(number) => self.begin(draft.0, number),
                    None => {
                        let reserved = draft.0.reserved.values().flatten();
                        reserved.for_each(Piece::give_back);
                    }
                }
            }
            open = again;
        }
    }

    /// The ranks have agreed.
    fn begin(&mut self, mut draft: Draft, number: u32) {
        let have_memory =
            !draft.reserved.is_empty() && draft.reserved.values().all(Option::is_some);
        if !have_memory {
            let reserved = std::mem::take(&mut draft.reserved);
            reserved.values().flatten().for_each(Piece::give_back);
        }
        for (&node, locals) in &draft.nodes {
            let (lowest, n) = (locals[0], locals.len() as u32);
            for (me, &rank) in (0..).zip(locals) {
                let place = have_memory.then(|| {
                    let reserved = match rank == lowest {
                        true => draft.reserved.get_mut(&node).unwrap().take(),
                        false => None,
                    };
                    let arena = &self.nodes[node].arena;
                    let place = Place::new(arena, reserved, lowest as u32, number, n);
                    assert_eq!(place.leads, rank == lowest);
                    // Some ranks have no call that needs it.
                    if draft.id % 3 == 2 && rank != lowest {
                        return place;
                    }
                    let memory = place.memory(me, named).unwrap();
                    if rank == lowest {
                        assert_eq!(memory.ring.call_of(0), 0, "nothing is left of others");
                        memory.ring.enter(draft.id);
                    }
                    assert_eq!(memory.ring.call_of(0), draft.id, "it is that of all ranks");
                    place
                });
                let member = Member {
                    number,
                    place,
                    leads: rank == lowest,
                    was_left: false,
                };
                let comms = &mut self.ranks[rank].comms;
                let same = comms.values().find(|other| other.number == number);
                assert!(same.is_none(), "rank {rank} has two of number {number}");
                assert!(!self.ranks[rank].spoilt.contains(&number));
                self.ranks[rank].comms.insert(draft.id, member);
            }
        }
    }

    /// As the state of a communicator does when it is dropped.
    fn free(&mut self, rank: usize, id: u64) {
        let Rank {
            numbers,
            comms,
            spoilt,
            ..
        } = &mut self.ranks[rank];
        let member = comms.remove(&id).unwrap();
        let number = member.number;
        // The one that has written something there knows it.
        (member.place.iter()).for_each(|place| place.leave(member.leads, named));
        if member.was_left {
            spoilt.push(number);
            return;
        }
        match member.place.filter(|_| member.leads) {
            Some(place) => {
                let others_have_it = !place.is_clear();
                numbers.give_back_when_clear(number, place);
                assert_eq!(has(&numbers.free(), number), !others_have_it);
            }
            None => {
                numbers.give_back(number);
                assert!(has(&numbers.free(), number));
            }
        }
    }

    /// All numbers and all pieces are there when nobody has a communicator any more.
    fn is_clear(&self) {
        for rank in &self.ranks {
            let free = rank.numbers.free();
            for number in 1..ALL {
                let is_free = !rank.spoilt.contains(&number);
                assert_eq!(has(&free, number), is_free, "number {number}");
            }
            assert!(!has(&free, 0), "the job's");
        }
        for node in &self.nodes {
            let free = std::iter::from_fn(|| node.arena.reserve());
            assert_eq!(free.count(), node.left);
        }
    }
}

/// What happens in a job.
#[derive(Clone, Debug)]
enum Step {
    /// Communicators of these ranks are made at the same time.
    Make(Vec<u32>),
    /// A rank frees one that it has.
    Free { rank: usize, which: usize },
    /// A rank leaves a call on one that it has.
    Leave { rank: usize, which: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = || (any::<usize>(), any::<usize>());
    let step = prop_oneof![
        4 => any::<u32>().prop_map(|mask| Step::Make(vec![mask])),
        2 => prop::collection::vec(any::<u32>(), 2..4).prop_map(Step::Make),
        12 => one().prop_map(|(rank, which)| Step::Free { rank, which }),
        1 => one().prop_map(|(rank, which)| Step::Leave { rank, which }),
    ];
    prop::collection::vec(step, 0..200)
}

/// One of those that a rank has.
fn pick(rank: &Rank, which: usize) -> Option<u64> {
    let mut ids = rank.comms.keys().copied();
    ids.nth(which % rank.comms.len().max(1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_rank_has_two_communicators_of_a_number(
        nodes in prop::collection::vec(0usize..3, 1..9),
        pieces in 0usize..12,
        steps in steps(),
        seed in any::<u64>(),
    ) {
        let mut job = Job::new(&nodes, pieces);
        let mut state = seed | 1;
        let mut rng = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state >> 33
        };
        for step in steps {
            match step {
                Step::Make(masks) => job.make(&masks, &mut rng),
                Step::Free { rank, which } => {
                    let rank = rank % nodes.len();
                    if let Some(id) = pick(&job.ranks[rank], which) {
                        job.free(rank, id);
                    }
                }
                Step::Leave { rank, which } => {
                    let rank = rank % nodes.len();
                    if let Some(id) = pick(&job.ranks[rank], which) {
                        job.ranks[rank].comms.get_mut(&id).unwrap().was_left = true;
                    }
                }
            }
        }
        // The rest goes in any order.
        while let Some(rank) = {
            let with: Vec<_> = (0..nodes.len()).filter(|&rank| !job.ranks[rank].comms.is_empty()).collect();
            (!with.is_empty()).then(|| with[rng() as usize % with.len()])
        } {
            let id = pick(&job.ranks[rank], rng() as usize).unwrap();
            job.free(rank, id);
        }
        job.is_clear();
    }
}

/// The lowest rank has named a piece before another one looks for it.
fn named() {
    panic!("the lowest rank has named it");
}
