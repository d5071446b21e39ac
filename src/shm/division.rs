//! How a piece is divided. Pure.

/// Bytes that processors hand to each other at once. What different ranks write lies in different lines.
pub(super) const LINE: u64 = 64;

/// Of a rank's controls: how far it has written and how far it has joined; then, in a line of its own, how far it has
/// read and which call it is in. All look at the former while they wait for bytes, only writers at the latter.
const CONTROL_BYTES: u64 = 2 * LINE;

/// The share of the mailboxes in a piece.
const MAILBOXES_SHARE: u64 = 8;

/// Lines of a mailbox. Always odd: the first lines of mailboxes a power of two apart would displace each other
/// from the cache of a rank that looks at them in turn.
const MAILBOX_LINES: (u64, u64) = (3, 255);

/// What of a mailbox is not the packet.
pub(super) const MAILBOX_HEAD_BYTES: u64 = 24;

/// A ring must be worth its while, and have slots of a few lines for all ranks.
const RING_BYTES_MIN: u64 = 4 << 10;
/// See [`RING_BYTES_MIN`].
const SLOT_BYTES_MIN: u64 = 4 * LINE;

/// The places of controls, mailboxes and ring in a piece for the ranks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    ranks: u32,
    box_lines: u64,
    ring_bytes: u64,
}

impl Division {
    /// A piece of so many bytes for `n` ranks; `None` if they are too few.
    pub fn new(bytes: u64, n: u32) -> Option<Division> {
        if n == 0 {
            return None;
        }
        let mailboxes = 2 * u64::from(n);
        let (least, most) = MAILBOX_LINES;
        let lines = (bytes / MAILBOXES_SHARE / mailboxes / LINE).clamp(least, most);
        let mut division = Division {
            ranks: n,
            box_lines: if lines % 2 == 1 { lines } else { lines - 1 },
            ring_bytes: 0,
        };
        let rest = bytes.checked_sub(division.ring())?;
        division.ring_bytes = rest - rest % LINE;
        let least = RING_BYTES_MIN.max(u64::from(n) * SLOT_BYTES_MIN);
        (division.ring_bytes >= least).then_some(division)
    }

    /// Bytes of the ring: a whole number of lines.
    pub fn ring_bytes(&self) -> u64 {
        self.ring_bytes
    }

    /// The longest packet that a mailbox holds.
    pub fn mailbox_bytes(&self) -> usize {
        (self.box_lines * LINE - MAILBOX_HEAD_BYTES) as usize
    }

    pub(super) fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Where it is said how far `rank` has written.
    pub(super) fn wrote(&self, rank: u32) -> u64 {
        u64::from(rank) * CONTROL_BYTES
    }

    /// Where it is said how far `rank` has joined.
    pub(super) fn joined(&self, rank: u32) -> u64 {
        self.wrote(rank) + 8
    }

    /// Where it is said how far `rank` has read.
    pub(super) fn read(&self, rank: u32) -> u64 {
        self.wrote(rank) + LINE
    }

    /// Where it is said which call `rank` is in.
    pub(super) fn call(&self, rank: u32) -> u64 {
        self.read(rank) + 8
    }

    /// Where a mailbox begins.
    pub(super) fn mailbox(&self, number: u64) -> u64 {
        self.wrote(self.ranks) + number * self.box_lines * LINE
    }

    /// Where the ring begins.
    pub(super) fn ring(&self) -> u64 {
        self.mailbox(2 * u64::from(self.ranks))
    }

    /// The words of control, and those of the mailboxes.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let controls = (0..self.mailbox(0)).step_by(8);
        let heads = (0..2 * u64::from(self.ranks)).map(|number| self.mailbox(number));
        controls.chain(heads.flat_map(|head| (head..head + MAILBOX_HEAD_BYTES).step_by(8)))
    }
}
