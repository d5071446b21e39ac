//! The ranks find the adaptive binomial tree by themselves: three short messages a round.
//!
//! Each group has a fixed root, its last rank, which knows the group's content: its current root and
//! what that has to receive. In every round the fixed roots of two groups tell each other, decide alike, and
//! tell the current roots what to do (Träff, "Practical, distributed, low overhead algorithms for
//! irregular gather and scatter collectives", Parallel Computing 75, 2018, section 3).

#![forbid(unsafe_code)]

use super::letter::{self, HEADING, Kind, NUMBER, Reader};
use super::{Carrier, Child, Entry, Misfit, Scratch, Terms};
use crate::tree::{Content, Groups};
use std::ops::Range;

/// One rank's part in finding the tree.
pub struct Search {
    round: u32,
    /// The content of this rank's group, if it is the fixed root.
    fixed: Option<Content>,
    /// Did this rank tell the fixed root of the sibling in this round?
    told: bool,
    /// Is this rank the current root of its group?
    leads: bool,
    /// Whom it sends to, once it is not.
    parent: Option<u32>,
}

impl Search {
    /// Begins; this rank has `bytes` bytes for the tree.
    pub fn new(rank: u32, bytes: u64) -> Search {
        Search {
            round: 0,
            fixed: Some(Content {
                root: rank,
                own: bytes,
                total: bytes,
            }),
            told: false,
            leads: true,
            parent: None,
        }
    }

    /// The parent, once the search is over.
    pub fn parent(&self) -> Option<u32> {
        self.parent
    }

    /// Goes on with the mail in `scratch`; is the search over? Children are put into `scratch`; `sent`
    /// counts the mail.
    pub fn advance<C: Carrier>(
        &mut self,
        terms: &Terms,
        scratch: &mut Scratch,
        carrier: &mut C,
        sent: &mut u32,
    ) -> Result<bool, C::Error> {
        let groups = Groups::new(terms.p, terms.root);
        while self.round < groups.rounds() && (self.fixed.is_some() || self.leads) {
            let group = groups.group(self.round, terms.rank);
            let sibling = groups.sibling(self.round, terms.rank);
            if sibling.is_empty() {
                self.round += 1;
                continue;
            }
            let mut post = Post {
                terms,
                round: self.round.into(),
                scratch,
                carrier,
                sent,
            };
            if let Some(content) = self.fixed {
                let there = sibling.end - 1;
                if !self.told {
                    post.send(there, Kind::State, content_numbers(&content))?;
                    self.told = true;
                }
                let Some([root, own, total]) = post.take(there, Kind::State)? else {
                    return Ok(false);
                };
                let root = u32::try_from(root).ok().filter(|r| sibling.contains(r));
                let root = root.ok_or(Misfit::Stranger(there))?;
                let other = Content { root, own, total };
                if total < own {
                    return Err(Misfit::Stranger(there).into());
                }
                let lower = group.start < sibling.start;
                let (low, high) = if lower {
                    (&content, &other)
                } else {
                    (&other, &content)
                };
                let sends = lower == Content::goes_up(low, high, Some(terms.root));
                if self.leads {
                    self.join(root, sends, sibling, scratch);
                } else {
                    let numbers = [root.into(), u64::from(sends), 0];
                    post.send(content.root, Kind::Join, numbers)?;
                }
                let joined = if sends {
                    Content::join(&other, &content)
                } else {
                    Content::join(&content, &other)
                };
                self.fixed = (!lower).then_some(joined);
                self.told = false;
            } else {
                let fixed = group.end - 1;
                let Some([root, sends, _]) = post.take(fixed, Kind::Join)? else {
                    return Ok(false);
                };
                let root = u32::try_from(root).ok().filter(|r| sibling.contains(r));
                let root = root.ok_or(Misfit::Stranger(fixed))?;
                self.join(root, sends != 0, sibling, scratch);
            }
            self.round += 1;
        }
        Ok(true)
    }

    /// This rank's group joins with another one that `root` leads.
    fn join(&mut self, root: u32, sends: bool, sibling: Range<u32>, scratch: &mut Scratch) {
        if sends {
            self.leads = false;
            self.parent = Some(root);
        } else {
            scratch.children.push(Child::new(root, sibling));
        }
    }
}

fn content_numbers(content: &Content) -> [u64; 3] {
    [content.root.into(), content.own, content.total]
}

/// The letters of one round.
struct Post<'a, C> {
    terms: &'a Terms,
    round: u64,
    scratch: &'a mut Scratch,
    carrier: &'a mut C,
    sent: &'a mut u32,
}

impl<C: Carrier> Post<'_, C> {
    fn send(&mut self, to: u32, kind: Kind, numbers: [u64; 3]) -> Result<(), C::Error> {
        let mut mail = self.carrier.memory(HEADING + 4 * NUMBER)?;
        letter::begin(&mut mail, kind, self.terms.root);
        letter::put(&mut mail, self.round);
        for number in numbers {
            letter::put(&mut mail, number);
        }
        *self.sent += 1;
        self.carrier.mail(to, mail)
    }

    /// The numbers of a letter that has arrived.
    fn take(&mut self, from: u32, kind: Kind) -> Result<Option<[u64; 3]>, C::Error> {
        let root = self.terms.root;
        let read = |(sender, mail): &(u32, Vec<u8>)| {
            let mut reader = Reader::new(mail, kind, root).filter(|_| *sender == from)?;
            let round = reader.number()?;
            let numbers = [reader.number()?, reader.number()?, reader.number()?];
            (round == self.round).then_some(numbers)
        };
        let early = &mut self.scratch.early;
        let found = early
            .iter()
            .enumerate()
            .find_map(|(i, m)| Some((i, read(m)?)));
        let Some((i, numbers)) = found else {
            return Ok(None);
        };
        self.carrier.give_back(early.swap_remove(i).1);
        Ok(Some(numbers))
    }
}

/// Which of `entries`, the short blocks of a group in the order of ranks, is the root of the group's adaptive tree,
/// if the root of all is not among them? The group has 2^`round` ranks.
pub fn root(entries: &[Entry], round: u32) -> usize {
    content(entries, round).0
}

fn content(entries: &[Entry], round: u32) -> (usize, Content) {
    if let [entry] = entries {
        let (root, own) = (entry.rank, entry.bytes);
        return (
            0,
            Content {
                root,
                own,
                total: own,
            },
        );
    }
    let round = round - 1;
    let middle = entries.partition_point(|e| e.rank >> round & 1 == 0);
    let (lower, upper) = entries.split_at(middle);
    if lower.is_empty() || upper.is_empty() {
        return content(entries, round);
    }
    let (low, high) = (content(lower, round), content(upper, round));
    if Content::goes_up(&low.1, &high.1, None) {
        (middle + high.0, Content::join(&high.1, &low.1))
    } else {
        (low.0, Content::join(&low.1, &high.1))
    }
}
