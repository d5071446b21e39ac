//! What a communicator costs while only broadcasts run on it.

use rondo::comm::{SEND_WINDOW, State, Work};
use rondo::engine::{Bcast, Order, Scratch};
use rondo::host::Requests;
use rondo::model::BLOCKS_MAX;
use rondo::schedule::Blocks;

/// At most 4 KiB at p = 2^16, with the longest message that the windows and the record of blocks have
/// been made for. Nothing in it grows with p but the window, 2 ceil(log2 p).
#[test]
fn the_state_of_a_communicator_is_small() {
    let p = 1 << 16;
    let order = Order::new(p, 12345, 0);
    let mut requests = Requests::default();
    requests.reserve(2 * order.q() as u32, SEND_WINDOW).unwrap();
    let mut scratch = Scratch::default();
    let blocks = Blocks::new(1 << 33, BLOCKS_MAX);
    Bcast::new(&order, blocks, 32, SEND_WINDOW, &mut scratch);
    assert!(
        scratch.bytes() >= BLOCKS_MAX as usize / 8,
        "a bit for each block"
    );
    let bytes = size_of::<State>() + requests.bytes() + scratch.bytes();
    println!(
        "{bytes} bytes: {} fixed, {} for requests, {} for blocks",
        size_of::<State>(),
        requests.bytes(),
        scratch.bytes()
    );
    assert!(
        size_of::<State>() > size_of::<Work>(),
        "the state holds the memory of calls"
    );
    assert!(bytes <= 4096, "{bytes} bytes");
}
