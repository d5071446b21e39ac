//! The division of a message into blocks.

use proptest::prelude::*;
use rondo::schedule::{Blocks, Span};

fn spans(blocks: &Blocks) -> Vec<Span> {
    (0..blocks.count()).map(|i| blocks.span(i)).collect()
}

#[test]
fn longer_blocks_come_first() {
    let expected = [(0, 3), (3, 3), (6, 2), (8, 2)].map(|(offset, len)| Span { offset, len });
    assert_eq!(spans(&Blocks::new(10, 4)), expected);
}

/// Message sizes of all magnitudes, with the largest among them.
fn any_bytes() -> impl Strategy<Value = u64> {
    (0..64_u32, any::<u64>()).prop_map(|(shift, bits)| bits >> shift)
}

proptest! {
    #[test]
    fn blocks_tile_the_message(bytes in any_bytes(), n in 1..2000_u32) {
        let blocks = spans(&Blocks::new(bytes, n));
        prop_assert_eq!(blocks.len(), n as usize);
        prop_assert_eq!(blocks[0].offset, 0);
        prop_assert!(blocks.windows(2).all(|pair| pair[0].end() == pair[1].offset));
        prop_assert_eq!(blocks[n as usize - 1].end(), bytes);
    }

    #[test]
    fn sizes_differ_by_at_most_one_and_never_grow(bytes in any_bytes(), n in 1..2000_u32) {
        let blocks = spans(&Blocks::new(bytes, n));
        prop_assert!(blocks.windows(2).all(|pair| pair[0].len >= pair[1].len));
        prop_assert!(blocks[0].len - blocks[n as usize - 1].len <= 1);
    }

    #[test]
    fn neighbours_meet_however_many_blocks_there_are(
        bytes in any_bytes(),
        n in 2..=u32::MAX,
        seed: u32,
    ) {
        let blocks = Blocks::new(bytes, n);
        let i = seed % (n - 1);
        prop_assert_eq!(blocks.span(i).end(), blocks.span(i + 1).offset);
        prop_assert_eq!(blocks.span(n - 1).end(), bytes);
    }
}
