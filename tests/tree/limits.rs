//! What the dynamic programs may cost.

use rondo::tree::Distribution::{Random, TwoBlocks};
use rondo::tree::{Algorithm, Cost, Distribution, Root};
use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
};

thread_local! {
    /// The bytes that this thread has, and the most that it had.
    static BYTES: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: all calls go to the system's allocator as they come; counting allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (now, most) = BYTES.get();
        let now = now + layout.size();
        BYTES.set((now, most.max(now)));
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let (now, most) = BYTES.get();
        // What another thread allocated was counted there.
        BYTES.set((now.saturating_sub(layout.size()), most));
        // SAFETY: as the caller's.
        unsafe { System.dealloc(block, layout) }
    }
}

/// The time that this thread has had a processor, in seconds: it does not depend on what else runs.
fn processor_seconds() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a place for the result.
    let rc = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    assert_eq!(rc, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn check(distribution: Distribution, cost: Cost, algorithm: Algorithm, seconds_max: f64) {
    let blocks = distribution.blocks(2000, 1000, 1);
    for root in [Root::Given(1000), Root::Best] {
        let (before, _) = BYTES.get();
        BYTES.set((before, before));
        let start = processor_seconds();
        algorithm.tree(&blocks, root, &cost);
        let seconds = processor_seconds() - start;
        let mebibytes = (BYTES.get().1 - before) >> 20;
        let at = format!("{algorithm:?}, {distribution:?}, {cost:?}, {root:?}");
        println!("{at}: {seconds:.2} s, {mebibytes} MiB");
        assert!(
            mebibytes >= 30,
            "{at}: only {mebibytes} MiB, but the table has 30"
        );
        assert!(mebibytes < 64, "{at}: {mebibytes} MiB");
        assert!(seconds <= seconds_max, "{at}: {seconds} s");
    }
}

#[test]
fn programs_for_2000_ranks_take_3_seconds_and_64_mebibytes_at_most() {
    for (distribution, gamma) in [(Random, 1), (TwoBlocks, 0)] {
        for algorithm in [Algorithm::Optimal, Algorithm::Binary] {
            check(
                distribution,
                Cost {
                    alpha: 100,
                    beta: 1,
                    gamma,
                },
                algorithm,
                3.0,
            );
        }
    }
}

/// The library of the tests panics if a sum or product does not fit its 64 bits.
#[test]
fn what_fits_64_bits_is_said_before() {
    let shapes = Distribution::ALL.map(|distribution| distribution.blocks(33, 3, 1));
    for (blocks, (alpha, beta, gamma)) in shapes
        .iter()
        .flat_map(|b| [(1, 1, 1), (0, 1, 9), (900, 1, 0)].map(|c| (b, c)))
    {
        let scaled = |scale: u64| {
            (
                blocks
                    .iter()
                    .map(|block| block.saturating_mul(scale))
                    .collect::<Vec<_>>(),
                Cost {
                    alpha: alpha * scale,
                    beta,
                    gamma,
                },
            )
        };
        let fits = |scale: u64| {
            let (blocks, cost) = scaled(scale);
            cost.fits(&blocks)
        };
        let scale = (0..58)
            .map(|n| 1 << n)
            .take_while(|&scale| fits(scale))
            .last()
            .unwrap();
        assert!(scale > 1 << 40 && !fits(2 * scale));
        let (blocks, cost) = scaled(scale);
        for algorithm in Algorithm::ALL {
            for root in [Root::Given(32), Root::Best] {
                assert!(algorithm.tree(&blocks, root, &cost).completion(&cost) >= scale);
            }
        }
    }
    let cost = Cost {
        alpha: 0,
        beta: 1,
        gamma: 0,
    };
    assert!(
        !cost.fits(&[u64::MAX, 1])
            && !cost.fits(&[u64::MAX / 2, 0])
            && cost.fits(&[u64::MAX / 8, 0])
    );
    assert!(
        !Cost {
            alpha: u64::MAX,
            ..cost
        }
        .fits(&[1, 1])
            && !Cost {
                gamma: u64::MAX,
                ..cost
            }
            .fits(&[1, 1])
    );
}
