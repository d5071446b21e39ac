//! Controls: the ring of these tests notices what a rank does wrong, and the engine's own steps show in it.

use super::ring::{Ring, Verdict, mark};
use crate::case::rng;
use rondo::engine::node::{self, Local, MARK, Messages, NodeRing, Relay, RingRows};
use rondo::engine::{AllBroadcast, Event, Limits, Order, Part, Pattern, Piece, Scratch, Wire};
use rondo::schedule::{Blocks, Circulant, Span, Steps};

/// Two ranks on a ring of 256 bytes; rank 0 has room and has published its mark.
fn begun() -> Ring {
    let mut ring = Ring::new(256, 2);
    assert!(ring.has_room(0, 128));
    ring.put(0, 0, &mark(3)).unwrap();
    ring.publish(0, 64).unwrap();
    ring
}

/// The same, and rank 0 has released a place that it has not written.
fn begun_and_released() -> Ring {
    let mut ring = begun();
    ring.release(0, 65).unwrap();
    ring
}

fn reveal_all(ring: &mut Ring) {
    while ring.reveal(&mut rng(1)) {}
}

fn fault<T: std::fmt::Debug>(verdict: Verdict<T>, says: &str) {
    let fault = verdict.unwrap_err();
    assert!(fault.contains(says), "{fault}");
}

#[test]
fn bytes_are_seen_after_they_were_published_and_that_was_seen() {
    let mut ring = begun();
    fault(ring.check(1, 0, MARK, 0, 3), "it sees 0 at the most");
    assert_eq!(ring.written(1, 0), 0);
    reveal_all(&mut ring);
    assert_eq!(ring.written(1, 0), 64);
    ring.check(1, 0, MARK, 0, 3).unwrap();
    fault(ring.check(1, 0, MARK, 0, 2), "mark of call 2");
    fault(ring.check(1, 0, MARK, 1, 3), "for 1's mark");
    ring.put(0, 64, &[1; 20]).unwrap();
    fault(ring.get(1, 64, 20, 3), "it sees 64 at the most");
    ring.publish(0, 84).unwrap();
    reveal_all(&mut ring);
    fault(ring.get(1, 64, 20, 4), "without its mark");
    assert_eq!(ring.get(1, 64, 20, 3), Ok(vec![1; 20]));
    fault(ring.get(1, 64, 21, 3), "84 is not written");
    ring.release(1, 84).unwrap();
    fault(ring.get(1, 83, 1, 3), "it has released 84");
}

#[test]
fn a_place_is_written_once_it_was_released_and_that_was_seen() {
    let mut ring = begun();
    fault(ring.put(0, 127, &[1; 2]), "without room");
    fault(ring.put(0, 63, &[1; 2]), "published is 64");
    ring.put(0, 64, &[1; 64]).unwrap();
    fault(ring.put(0, 64, &[1]), "64 is written");
    ring.publish(0, 128).unwrap();
    fault(ring.publish(0, 127), "publishes less");
    assert!(ring.has_room(0, 256) && !ring.has_room(0, 257));
    ring.release(0, 100).unwrap();
    ring.release(1, 70).unwrap();
    fault(ring.release(1, 69), "releases less");
    fault(begun_and_released().put(0, 64, &[1]), "it has released 65");
    assert!(!ring.has_room(0, 257), "not seen yet");
    reveal_all(&mut ring);
    assert!(ring.has_room(0, 326) && !ring.has_room(0, 327));
    assert!(ring.has_room(1, 326));
    ring.put(1, 320, &[1; 5]).unwrap();
    fault(ring.put(0, 325, &[1]), "two ranks write");
}

/// A rank alone with what it is asked to do.
#[derive(Default)]
struct Log {
    done: Vec<String>,
    /// Up to where there is room, and what others have written.
    room: u64,
    written: u64,
}

impl NodeRing for Log {
    type Error = String;

    fn has_room(&mut self, end: u64) -> bool {
        end <= self.room
    }

    fn mark(&mut self, at: u64) {
        self.done.push(format!("mark {at}"));
    }

    fn check(&mut self, at: u64, writer: u32) -> Result<(), String> {
        self.done.push(format!("check {at} of {writer}"));
        Ok(())
    }

    fn publish(&mut self, until: u64) {
        self.done.push(format!("publish {until}"));
    }

    fn written(&self, _writer: u32) -> u64 {
        self.written
    }

    fn release(&mut self, until: u64) {
        self.done.push(format!("release {until}"));
    }

    fn idle(&mut self, waiting: Option<u32>) -> Result<(), String> {
        Err(format!("waits for {waiting:?}"))
    }
}

impl Local for Log {
    fn capacity(&self) -> u64 {
        1 << 20
    }

    fn put(&mut self, at: u64, span: Span) -> Result<(), String> {
        self.done
            .push(format!("put {at} {} {}", span.offset, span.len));
        Ok(())
    }

    fn get(&mut self, at: u64, span: Span) -> Result<(), String> {
        self.done
            .push(format!("get {at} {} {}", span.offset, span.len));
        Ok(())
    }
}

/// Two ranks; rank 0 has 10 bytes, and receives two messages as the leader. Its rows are a mark, its own part,
/// and the messages, each on its own lines.
fn rows() -> RingRows {
    let (mut rows, mut messages) = (RingRows::default(), Messages::default());
    messages.list_own(Blocks::new(140, 2));
    let parts = [10, 0].map(|len| Span { offset: 0, len });
    rows.list(parts.into_iter(), 1, [(0, &messages)].into_iter());
    rows
}

const BASE: u64 = 6400;

#[test]
fn a_leader_writes_what_it_has_received_message_by_message() {
    let rows = rows();
    assert_eq!(rows.through(), 64 + 64 + 128 + 128);
    let mut relay = Relay::new(&rows, 0, BASE);
    let mut log = Log {
        room: u64::MAX,
        ..Log::default()
    };
    let mut step = |relay: &mut Relay, done: &[&str]| {
        relay.advance(&mut log).unwrap();
        log.done.retain(|done| !done.starts_with("release"));
        assert_eq!(std::mem::take(&mut log.done), done);
    };
    let own = ["mark 6400", "publish 6408", "put 6464 0 10", "publish 6474"];
    step(&mut relay, &own);
    assert!(relay.has_own(), "nobody else has a part");
    step(&mut relay, &[]);
    relay.set_received(1);
    step(&mut relay, &["put 6528 0 70", "publish 6598"]);
    step(&mut relay, &[]);
    assert!(!relay.is_done());
    relay.set_received(2);
    step(&mut relay, &["put 6656 70 70", "publish 6726"]);
    assert!(relay.is_done());
}

/// Two lanes with two messages of 70 bytes each: the first ones of both come before the second ones, so that no
/// lane waits for room because of messages that another one has not received yet.
#[test]
fn lanes_take_turns_message_by_message() {
    let (mut rows, mut messages) = (RingRows::default(), Messages::default());
    messages.list_own(Blocks::new(140, 2));
    let parts = [Span { offset: 0, len: 0 }; 2];
    let lanes = [(1, &messages), (0, &messages)];
    rows.list(parts.into_iter(), 1, lanes.into_iter());
    let mut puts = [vec![], vec![]];
    for (me, puts) in (0..).zip(&mut puts) {
        let mut log = Log {
            room: u64::MAX,
            written: BASE + 64 + 64,
            ..Log::default()
        };
        let mut relay = Relay::new(&rows, me, BASE);
        relay.set_received(2);
        while relay.advance(&mut log).unwrap() {}
        puts.extend(log.done.into_iter().filter(|done| done.starts_with("put")));
    }
    // Behind the two marks: the leader of the first lane, that of the second, and again.
    assert_eq!(puts[1], ["put 6528 0 70", "put 6784 70 70"]);
    assert_eq!(puts[0], ["put 6656 0 70", "put 6912 70 70"]);
}

#[test]
fn a_rank_reads_what_is_there_and_releases_it() {
    let rows = rows();
    let mut relay = Relay::new(&rows, 1, BASE);
    let mut log = Log::default();
    let mut step = |relay: &mut Relay, written, done: &[&str]| {
        log.written = written;
        let moved = relay.advance(&mut log).unwrap();
        assert_eq!(moved, !done.is_empty());
        assert_eq!(std::mem::take(&mut log.done), done);
    };
    // Half a mark is none.
    step(&mut relay, 0, &[]);
    step(&mut relay, 6407, &[]);
    assert!(!relay.has_own());
    assert_eq!(relay.waiting(), Some(0));
    step(&mut relay, 6408, &["check 6400 of 0", "release 6464"]);
    step(&mut relay, 6470, &["get 6464 0 6", "release 6470"]);
    assert!(!relay.has_own());
    step(&mut relay, 6474, &["get 6470 6 4", "release 6528"]);
    assert!(relay.has_own() && !relay.is_done());
    let rest = [
        "get 6528 0 70",
        "release 6656",
        "get 6656 70 70",
        "release 6784",
    ];
    step(&mut relay, 6726, &rest);
    assert!(relay.is_done());
    assert_eq!(relay.waiting(), None);
}

#[test]
fn a_rank_alone_on_its_node_puts_nothing_through() {
    let (mut rows, mut messages) = (rows(), Messages::default());
    messages.list_own(Blocks::new(140, 2));
    let part = [Span { offset: 0, len: 10 }];
    rows.list(part.into_iter(), 1, [(0, &messages)].into_iter());
    let relay = Relay::new(&rows, 0, BASE);
    assert!(relay.is_done() && relay.has_own() && rows.through() == 0);
}

#[test]
fn nothing_is_written_without_room() {
    let rows = rows();
    let mut relay = Relay::new(&rows, 0, BASE);
    let mut log = Log {
        room: BASE + 72,
        ..Log::default()
    };
    relay.advance(&mut log).unwrap();
    let written = log.done.iter().filter(|done| !done.starts_with("release"));
    assert!(written.eq(&["mark 6400", "publish 6408"]), "{:?}", log.done);
    assert!(!relay.is_done());
}

/// A network on which nothing arrives.
struct Silence;

impl Wire for Silence {
    type Error = String;

    fn recv(&mut self, _from: u32, _pieces: &[Piece]) -> Result<bool, String> {
        Ok(true)
    }

    fn send(&mut self, _to: u32, _pieces: &[Piece], _more: u64) -> Result<bool, String> {
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, String> {
        Ok(None)
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), String> {
        Err("waits for the network".into())
    }
}

/// A leader waits for the ranks of its node as long as their parts are missing, then for the network, which
/// tells of other failures than memory does.
#[test]
fn a_leader_waits_where_something_is_missing() {
    let waits = |written| {
        let parts = [10, 20].map(|len| Span { offset: 0, len });
        let (mut rows, mut messages) = (RingRows::default(), Messages::default());
        messages.list_own(Blocks::new(5, 1));
        rows.list(parts.into_iter(), 1, [(0, &messages)].into_iter());
        let part = |(root, len)| Part {
            root,
            first: root,
            blocks: Blocks::new(len, 1),
        };
        let (cut, mut scratch) = ([(0, 30), (1, 5)].map(part), Scratch::default());
        let order = Order::new(Circulant::new(2), 0, Pattern::Bruck(Steps::new(2, 2)), &cut);
        let limits = Limits {
            receives: 1,
            sends: 1,
            message: 100,
        };
        let all = AllBroadcast::new(order, limits, &mut scratch);
        let mut log = Log {
            room: u64::MAX,
            written,
            ..Log::default()
        };
        let relay = Relay::new(&rows, 0, 0);
        node::run(relay, &mut log, Some((all, &mut Silence))).unwrap_err()
    };
    // Two marks, 10 bytes, and 20 bytes of rank 1.
    assert_eq!(waits(192 + 19), "waits for Some(1)");
    assert_eq!(waits(192 + 20), "waits for the network");
}
