//! What is written in packets, read and written anew: their type, the root, numbers, the bytes of blocks.

pub const GATHER: u8 = 1;
pub const SCATTER: u8 = 2;
pub const GO: u8 = 3;
pub const STATE: u8 = 4;
pub const JOIN: u8 = 5;

/// Bytes at the most of the heading of a packet, and of a number.
pub const HEADING: u64 = 11;
pub const NUMBER: u64 = 10;

/// Bytes that `number` takes: seven bits each.
pub fn length(number: u64) -> u64 {
    u64::from((64 - number.leading_zeros()).div_ceil(7).max(1))
}

/// The first `count` numbers of a packet, the root first, and the bytes behind them; `None` if it ends
/// before.
pub fn numbers(packet: &[u8], count: usize) -> Option<(Vec<u64>, &[u8])> {
    let mut rest = packet.get(1..)?;
    let mut numbers = Vec::new();
    for _ in 0..count {
        let end = rest.iter().take(10).position(|&byte| byte < 128)?;
        let (bytes, behind) = rest.split_at(end + 1);
        let add = |sum, (i, &byte): (u32, &u8)| sum | u64::from(byte & 127) << (7 * i);
        numbers.push((0..).zip(bytes).fold(0, add));
        rest = behind;
    }
    Some((numbers, rest))
}
