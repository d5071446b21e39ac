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

#[test]
fn one_block_is_the_message() {
    assert_eq!(spans(&Blocks::new(7, 1)), [Span { offset: 0, len: 7 }]);
    assert_eq!(
        spans(&Blocks::new(u64::MAX, 1)),
        [Span {
            offset: 0,
            len: u64::MAX
        }]
    );
}

#[test]
fn blocks_without_bytes_come_last_and_lie_at_the_end() {
    let expected = [(0, 1), (1, 1), (2, 0), (2, 0)].map(|(offset, len)| Span { offset, len });
    assert_eq!(spans(&Blocks::new(2, 4)), expected);
    assert_eq!(spans(&Blocks::new(0, 2)), [Span { offset: 0, len: 0 }; 2]);
}

#[test]
#[should_panic(expected = "at least one block")]
fn there_is_no_division_into_nothing() {
    Blocks::new(1, 0);
}

#[test]
#[should_panic(expected = "there is no block 4 of 4")]
fn there_is_no_block_past_the_last() {
    Blocks::new(10, 4).span(4);
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
