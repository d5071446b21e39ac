//! A rank that gets its own part bit by bit sends what it has and nothing else.

use crate::case::{Case, How, sides};
use rondo::engine::{AllBroadcast, Engine, Event, Piece, Progress, Scratch, Wire};
use std::collections::VecDeque;
use std::convert::Infallible;

/// A wire on which everything is complete at once, and what was sent.
#[derive(Default)]
struct Log {
    events: VecDeque<Event>,
    receives: u32,
    sent: Vec<Piece>,
}

impl Wire for Log {
    type Error = Infallible;

    fn recv(&mut self, _from: u32, _pieces: &[Piece]) -> Result<bool, Infallible> {
        self.events.push_back(Event::Received(self.receives));
        self.receives += 1;
        Ok(true)
    }

    fn send(&mut self, _to: u32, pieces: &[Piece], _more: u64) -> Result<bool, Infallible> {
        self.sent.extend(pieces);
        self.events.push_back(Event::Sent);
        Ok(true)
    }

    fn poll(&mut self) -> Result<Option<Event>, Infallible> {
        Ok(self.events.pop_front())
    }

    fn idle(&mut self, _arrived: u64) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Blocks of every rank's part in 5 blocks; `allow` says how many of them are there.
#[test]
fn blocks_of_the_own_part_leave_when_they_are_there() {
    for how in [How::Table, How::RootSchedules, How::Bruck(2), How::Ring] {
        for p in [2, 3, 4, 7] {
            let mut case = Case::new(vec![20; p], how, 5);
            case.limits.message = 0;
            for side in sides(&case) {
                let (mut scratch, mut wire) = (Scratch::default(), Log::default());
                let mut all = AllBroadcast::new(side.order(&case), case.limits, &mut scratch);
                let first = side.cut[side.rank as usize].first;
                for allowed in 0..=5 {
                    all.allow(allowed);
                    while all.advance(&mut wire) == Ok(Progress::Moved) {}
                    let own = wire.sent.iter().filter(|piece| piece.root == side.rank);
                    let last = own.map(|piece| piece.number - first + 1).max();
                    assert_eq!(last.unwrap_or(0), allowed, "{case:?}, rank {}", side.rank);
                }
                let received = case.total() / 4 - 5;
                assert_eq!(u64::from(all.received()), received, "{case:?}");
            }
        }
    }
}
