//! Ranks that carry out scripts in one thread: an in-process [`ScriptWire`] whose delivery order is random, and which
//! stops at the first thing that a rank does wrong.
//!
//! It is as strict as MPI may be. A send reads its blocks when the message is delivered, which may be when its receive
//! is posted and no sooner; a receive that stores wipes its blocks when it is posted and writes them when it is
//! reported, and nobody else may touch them in between. Messages between two ranks find their receives in order, but
//! are delivered and reported in any order. Blocks of the area that were a right operand are used up.
//!
//! An element is a sequence of operands, and the operator puts one behind the other: what was reduced, in which order
//! and how often can be read off the result.

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rondo::engine::{Complete, Execution, Limits, Progress, ScriptWire};
use rondo::script::{Cut, Join, Script, Source, Take};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::rc::Rc;

/// So many messages in flight at a time each way.
pub fn limits(window: u32) -> Limits {
    Limits {
        receives: window,
        sends: window,
        message: u64::MAX,
    }
}

/// An element: from which ranks its operands are, and where in their vectors they were.
pub type Term = Rc<[(u16, u16)]>;

/// Operands one behind the other.
pub fn joined(left: &Term, right: &Term) -> Term {
    left.iter().chain(right.iter()).copied().collect()
}

/// How a network works.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Receives that a rank may have at a time.
    pub window: u32,
    /// May a message leave its rank before the receive is posted?
    pub eager: bool,
    /// Receives, and as many sends, that the wire has memory for; at least 1.
    pub room: usize,
    /// This rank begins when no other one can go on.
    pub late: Option<u32>,
    /// Does what ranks have from the beginning come to its place one by one?
    pub gradual: bool,
    pub seed: u64,
}

/// A message on its way.
struct Message {
    from: u32,
    to: u32,
    /// Number of the send.
    send: u32,
    blocks: Range<u32>,
    /// What it brings, once it has left.
    terms: Option<Vec<Term>>,
    /// Number of its receive, once there is one.
    receive: Option<u32>,
}

/// A receive that has not been taken.
struct Receive {
    from: u32,
    blocks: Range<u32>,
    join: Join,
    /// What came.
    terms: Option<Vec<Term>>,
    reported: bool,
}

/// What one rank has.
pub struct Port<'a> {
    cut: &'a Cut,
    /// `None` where nothing is.
    area: Vec<Option<Term>>,
    /// What is still to come to its place.
    missing: Vec<(usize, Term)>,
    /// Sends in flight.
    sends: BTreeMap<u32, Range<u32>>,
    /// Receives that have not been taken.
    receives: BTreeMap<u32, Receive>,
    posted: u32,
    taken: u32,
    /// What is to be reported.
    complete: Vec<Complete>,
    /// What was sent, in order.
    pub sent: Vec<(u32, Range<u32>)>,
    /// Messages that were received.
    pub received: u32,
}

impl Port<'_> {
    fn places(&self, blocks: &Range<u32>) -> Range<usize> {
        let elements = self.cut.elements(blocks);
        elements.start as usize..elements.end as usize
    }

    /// Blocks may be read, or written as well, if nothing in flight concerns them.
    fn expect_free(&self, blocks: &Range<u32>, write: bool, what: &str) -> Result<(), String> {
        let places = self.places(blocks);
        let meets = |other: &Range<u32>| {
            let other = self.places(other);
            places.start.max(other.start) < places.end.min(other.end)
        };
        let mut stores = self.receives.values().filter(|r| r.join == Join::Store);
        if let Some(other) = stores.find(|r| meets(&r.blocks)) {
            let blocks_there = &other.blocks;
            return Err(format!(
                "{what} {blocks:?} while {blocks_there:?} are received"
            ));
        }
        if write && let Some(other) = self.sends.values().find(|other| meets(other)) {
            return Err(format!("{what} {blocks:?} while {other:?} are sent"));
        }
        Ok(())
    }

    fn read(&self, blocks: &Range<u32>, what: &str) -> Result<Vec<Term>, String> {
        let terms = self.area[self.places(blocks)].iter().cloned();
        let terms: Option<Vec<Term>> = terms.collect();
        terms.ok_or_else(|| format!("{what} {blocks:?}, where nothing is"))
    }

    fn join(&mut self, terms: Vec<Term>, take: &Take) -> Result<(), String> {
        self.expect_free(&take.blocks, true, "takes into")?;
        let places = self.places(&take.blocks);
        expect(terms.len() == places.len(), || {
            format!("{} elements for {take:?}", terms.len())
        })?;
        for (place, term) in self.area[places].iter_mut().zip(terms) {
            *place = Some(match (take.join, &place) {
                (Join::Store, _) => term,
                (Join::Left, Some(there)) => joined(&term, there),
                (Join::Right, Some(there)) => joined(there, &term),
                (Join::Left | Join::Right, None) => {
                    return Err(format!("joins {take:?} where nothing is"));
                }
            });
        }
        Ok(())
    }
}

fn expect(right: bool, fault: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(fault()) }
}

/// Sends and receives between two ranks that have not found each other.
#[derive(Default)]
struct Pair {
    messages: VecDeque<usize>,
    receives: VecDeque<u32>,
}

/// The network, and all that the ranks have.
pub struct Network<'a> {
    rules: Rules,
    rng: TestRng,
    ports: Vec<Port<'a>>,
    pairs: HashMap<(u32, u32), Pair>,
    messages: Vec<Message>,
    /// Messages that may leave or arrive.
    movable: Vec<usize>,
}

impl<'a> Network<'a> {
    /// Every rank has `own` elements of its own at the start of its area, or an area full of them.
    pub fn new(scripts: &'a [Script], own: u64, rules: Rules) -> Network<'a> {
        let gradual = rules.gradual;
        let port = |(rank, script): (u16, &'a Script)| {
            let term = |i| Some(Rc::from([(rank, i)]));
            let total = script.cut().total();
            let mut area: Vec<Option<Term>> = (0..own.min(total) as u16).map(term).collect();
            area.resize(total as usize, None);
            let missing = match gradual {
                true => (area.iter_mut().enumerate())
                    .filter_map(|(place, term)| Some((place, term.take()?)))
                    .collect(),
                false => vec![],
            };
            Port {
                cut: script.cut(),
                area,
                missing,
                sends: BTreeMap::new(),
                receives: BTreeMap::new(),
                posted: 0,
                taken: 0,
                complete: vec![],
                sent: vec![],
                received: 0,
            }
        };
        Network {
            rng: rng(rules.seed),
            rules,
            ports: (0..).zip(scripts).map(port).collect(),
            pairs: HashMap::new(),
            messages: vec![],
            movable: vec![],
        }
    }

    /// The oldest message and the oldest receive between two ranks find each other, if there are both.
    fn bring_together(&mut self, from: u32, to: u32) -> Result<(), String> {
        let pair = self.pairs.entry((from, to)).or_default();
        if pair.messages.is_empty() || pair.receives.is_empty() {
            return Ok(());
        }
        let id = pair.messages.pop_front().expect("it is not empty");
        let number = pair.receives.pop_front().expect("it is not empty");
        let message = &mut self.messages[id];
        message.receive = Some(number);
        // Else it may move already.
        if !self.rules.eager || message.terms.is_some() {
            self.movable.push(id);
        }
        let counts = |rank: u32, blocks: &Range<u32>| -> Vec<u64> {
            let cut = self.ports[rank as usize].cut;
            blocks.clone().map(|i| cut.count(&(i..i + 1))).collect()
        };
        let (sent, received) = (
            &message.blocks,
            &self.ports[to as usize].receives[&number].blocks,
        );
        expect(counts(from, sent) == counts(to, received), || {
            format!("rank {from} sends {sent:?} to {to}, which receives {received:?}")
        })
    }

    /// Something of a rank comes to its place.
    fn fill(&mut self, rank: u32) -> Result<(), String> {
        let port = &mut self.ports[rank as usize];
        let which = self.rng.random_range(0..port.missing.len());
        let (place, term) = port.missing.swap_remove(which);
        let before = port.area[place].replace(term);
        expect(before.is_none(), || {
            format!("rank {rank} has something at {place} too early")
        })
    }

    /// A message leaves its rank, or arrives, or both: what ranks have to know of it.
    fn deliver(&mut self, id: usize) -> Result<[Option<u32>; 2], String> {
        let message = &mut self.messages[id];
        let (from, to) = (message.from, message.to);
        let mut told = [None; 2];
        if message.terms.is_none() {
            let sender = &mut self.ports[from as usize];
            message.terms = Some(sender.read(&message.blocks, "sends")?);
            sender.complete.push(Complete::Send(message.send));
            told[0] = Some(from);
        }
        if let Some(number) = message.receive {
            let receiver = &mut self.ports[to as usize];
            let receive = receiver.receives.get_mut(&number).expect("it is posted");
            receive.terms = message.terms.take();
            receiver.complete.push(Complete::Receive(number));
            told[1] = Some(to);
        }
        Ok(told)
    }
}

/// One rank's wire.
pub struct Rank<'n, 'a> {
    pub network: &'n mut Network<'a>,
    pub rank: u32,
}

impl<'a> Rank<'_, 'a> {
    fn port(&mut self) -> &mut Port<'a> {
        &mut self.network.ports[self.rank as usize]
    }

    fn expect_other(&self, other: u32) -> Result<(), String> {
        let is_other = other != self.rank && (other as usize) < self.network.ports.len();
        expect(is_other, || format!("has to do with rank {other}"))
    }
}

impl ScriptWire for Rank<'_, '_> {
    type Error = String;

    fn receive(&mut self, from: u32, blocks: &Range<u32>, join: Join) -> Result<bool, String> {
        self.expect_other(from)?;
        let (rank, rules) = (self.rank, self.network.rules.clone());
        let port = self.port();
        if port.receives.len() >= rules.room {
            return Ok(false);
        }
        expect(port.receives.len() < rules.window as usize, || {
            "has more receives than its window".into()
        })?;
        let places = port.places(blocks);
        expect(!places.is_empty(), || format!("receives {blocks:?}"))?;
        if join == Join::Store {
            port.expect_free(blocks, true, "receives")?;
            port.area[places].fill(None);
        }
        let number = port.posted;
        port.posted += 1;
        let receive = Receive {
            from,
            blocks: blocks.clone(),
            join,
            terms: None,
            reported: false,
        };
        port.receives.insert(number, receive);
        let pair = self.network.pairs.entry((from, rank)).or_default();
        pair.receives.push_back(number);
        self.network.bring_together(from, rank)?;
        Ok(true)
    }

    fn send(&mut self, to: u32, blocks: &Range<u32>, ahead: bool) -> Result<bool, String> {
        self.expect_other(to)?;
        // One that goes ahead of others leaves room for them.
        let (rank, room) = (self.rank, self.network.rules.room - usize::from(ahead));
        let port = self.port();
        if port.sends.len() >= room {
            return Ok(false);
        }
        let is_empty = port.places(blocks).is_empty();
        expect(!is_empty, || format!("sends {blocks:?}"))?;
        port.expect_free(blocks, false, "sends")?;
        let send = port.sent.len() as u32;
        port.sent.push((to, blocks.clone()));
        port.sends.insert(send, blocks.clone());
        let Network {
            messages,
            movable,
            pairs,
            rules,
            ..
        } = &mut *self.network;
        let id = messages.len();
        messages.push(Message {
            from: rank,
            to,
            send,
            blocks: blocks.clone(),
            terms: None,
            receive: None,
        });
        if rules.eager {
            movable.push(id);
        }
        let pair = pairs.entry((rank, to)).or_default();
        pair.messages.push_back(id);
        self.network.bring_together(rank, to)?;
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Complete>, String> {
        let Network { rng, ports, .. } = &mut *self.network;
        let port = &mut ports[self.rank as usize];
        if port.complete.is_empty() {
            return Ok(None);
        }
        let which = rng.random_range(0..port.complete.len());
        let complete = port.complete.swap_remove(which);
        match complete {
            Complete::Send(number) => {
                port.sends.remove(&number).expect("it was in flight");
            }
            Complete::Receive(number) => {
                let receive = port.receives.get_mut(&number).expect("it was in flight");
                receive.reported = true;
                port.received += 1;
                if receive.join == Join::Store {
                    let blocks = receive.blocks.clone();
                    let terms = receive.terms.take().expect("it has come");
                    let places = port.places(&blocks);
                    for (place, term) in port.area[places].iter_mut().zip(terms) {
                        *place = Some(term);
                    }
                }
            }
        }
        Ok(Some(complete))
    }

    fn take(&mut self, receive: Option<u32>, take: &Take) -> Result<(), String> {
        let port = self.port();
        match (receive, take.source) {
            (Some(number), Source::Rank(from)) => {
                let receive = port.receives.remove(&number);
                let receive = receive.ok_or_else(|| format!("takes receive {number}"))?;
                let is_right = receive.reported && number == port.taken;
                let told = (receive.from, receive.blocks, receive.join);
                expect(
                    is_right && told == (from, take.blocks.clone(), take.join),
                    || format!("takes receive {number} of {told:?} for {take:?}"),
                )?;
                port.taken += 1;
                match receive.terms {
                    Some(terms) => port.join(terms, take),
                    // It was stored when it came.
                    None => Ok(()),
                }
            }
            (None, Source::Blocks(first)) => {
                let source = first..first + take.blocks.end - take.blocks.start;
                port.expect_free(&source, false, "folds")?;
                let terms = port.read(&source, "folds")?;
                if take.join == Join::Right {
                    let places = port.places(&source);
                    port.area[places].fill(None);
                }
                port.join(terms, take)
            }
            (Some(_), Source::Blocks(_)) | (None, Source::Rank(_)) => {
                Err(format!("takes {receive:?} for {take:?}"))
            }
        }
    }

    fn idle(&mut self) -> Result<(), String> {
        Err("waits for others, and there are none".into())
    }
}

/// What came of scripts.
pub struct Outcome<'a> {
    pub scripts: &'a [Script],
    pub ports: Vec<Port<'a>>,
    own: u64,
    /// Ranks that were done before the late one began.
    pub early: Vec<u32>,
}

impl Outcome<'_> {
    /// The result of a rank: the elements that are said to be it, or its own vector.
    pub fn result(&self, rank: u32) -> Vec<Term> {
        let ranges = self.scripts[rank as usize].results();
        if ranges.is_empty() {
            return self.terms(rank, 0..self.own as usize);
        }
        let terms = |range: &Range<u64>| self.terms(rank, range.start as usize..range.end as usize);
        ranges.iter().flat_map(terms).collect()
    }

    /// The first elements of a rank's area.
    pub fn first(&self, rank: u32, count: u64) -> Vec<Term> {
        self.terms(rank, 0..count as usize)
    }

    /// What is in these blocks of a rank.
    pub fn blocks(&self, rank: u32, blocks: Range<u32>) -> Vec<Term> {
        self.terms(rank, self.ports[rank as usize].places(&blocks))
    }

    fn terms(&self, rank: u32, places: Range<usize>) -> Vec<Term> {
        let terms = self.ports[rank as usize].area[places].iter();
        let term = |term: &Option<Term>| term.clone().expect("something is there");
        terms.map(term).collect()
    }
}

/// Carries out the scripts of all ranks to their ends. An error is the first thing that went wrong.
pub fn run(scripts: &[Script], own: u64, rules: Rules) -> Result<Outcome<'_>, String> {
    let window = rules.window;
    let mut late = rules.late;
    let mut network = Network::new(scripts, own, rules);
    let limits = limits(window);
    let execution = |script| Execution::new(script, limits);
    let mut executions: Vec<_> = scripts.iter().map(execution).collect();
    let mut done = vec![false; scripts.len()];
    let mut early = vec![];
    // Ranks that may be able to go on.
    let ranks = 0..scripts.len() as u32;
    let mut awake: Vec<u32> = ranks.clone().filter(|&rank| Some(rank) != late).collect();
    let mut lacking: Vec<u32> = ranks.clone().collect();
    loop {
        lacking.retain(|&rank| !network.ports[rank as usize].missing.is_empty());
        let choices = network.movable.len() + awake.len() + lacking.len();
        if choices == 0 {
            let Some(rank) = late.take() else { break };
            early.extend(ranks.clone().filter(|&rank| done[rank as usize]));
            awake.push(rank);
            continue;
        }
        let choice = network.rng.random_range(0..choices);
        if choice < network.movable.len() {
            let id = network.movable.swap_remove(choice);
            for rank in network.deliver(id)?.into_iter().flatten() {
                if Some(rank) != late && !awake.contains(&rank) {
                    awake.push(rank);
                }
            }
            continue;
        }
        let choice = choice - network.movable.len();
        let Some(choice) = choice.checked_sub(lacking.len()) else {
            let rank = lacking[choice];
            network.fill(rank)?;
            executions[rank as usize].look_again();
            if Some(rank) != late && !awake.contains(&rank) {
                awake.push(rank);
            }
            continue;
        };
        let rank = awake.swap_remove(choice);
        let port = &network.ports[rank as usize];
        let (cut, missing) = (port.cut, port.missing.clone());
        let filled = |blocks: &Range<u32>| {
            let places = cut.elements(blocks);
            !(missing.iter()).any(|&(place, _)| places.contains(&(place as u64)))
        };
        let mut wire = Rank {
            network: &mut network,
            rank,
        };
        let progress = executions[rank as usize].advance_among(&mut wire, &filled);
        let progress = progress.map_err(|fault| format!("rank {rank} {fault}"))?;
        done[rank as usize] = progress == Progress::Done;
    }
    check_end(&network, &done)?;
    Ok(Outcome {
        scripts,
        ports: network.ports,
        own,
        early,
    })
}

/// Every rank has done everything, and no message is left.
fn check_end(network: &Network<'_>, done: &[bool]) -> Result<(), String> {
    for (rank, port) in network.ports.iter().enumerate() {
        let waits = || {
            let (sends, taken) = (&port.sends, port.taken);
            format!("rank {rank} waits for ever after {taken} receives, with sends {sends:?}")
        };
        expect(done[rank], waits)?;
        let rests = !port.sends.is_empty() || !port.receives.is_empty();
        expect(!rests && port.complete.is_empty(), || {
            format!("rank {rank} ends with messages in flight")
        })?;
    }
    let lost = network.pairs.iter().find(|(_, p)| !p.messages.is_empty());
    expect(lost.is_none(), || {
        let (from, to) = lost.expect("it is there").0;
        format!("rank {to} does not receive what {from} sends")
    })
}

/// The same numbers in every run.
pub fn rng(seed: u64) -> TestRng {
    // Seeds of 128 bits, by an odd factor with bits all over: this generator is quick, but begins near to its seed.
    let spread = (u128::from(seed) + 1).wrapping_mul(0x2d99_787d_e7a4_ac43_5a9c_c5b8_fb81_b6b1);
    TestRng::from_seed(RngAlgorithm::XorShift, &spread.to_le_bytes())
}
