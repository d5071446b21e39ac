//! What a call costs whose candidate is settled: its kind, the lock, the look into the table, the count.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use parking_lot::Mutex;
use rondo::config::Config;
use rondo::decide::{Choice, Why, bcast_kind};
use rondo::learn::{Candidate, Lesson, Table};

fn settled(c: &mut Criterion) {
    let config = Config::default();
    let mut table = Table::default();
    let sizes: Vec<u64> = (0..14).map(|shift| 1 << shift).collect();
    let choice = Choice::Host(Why::Small);
    for &bytes in &sizes {
        let (kind, default) =
            bcast_kind(bytes, &config, choice).expect("there is something to learn");
        let lesson = Lesson {
            kind,
            default,
            // Nobody to compare with.
            expected: [Some(1.0), None, None],
            waits: false,
            margin: 0.98,
        };
        table.add(0, &lesson, 0);
    }
    let table = Mutex::new(table);
    let mut next = 0;
    c.bench_function("a settled call", |b| {
        b.iter(|| {
            next = (next + 5) % sizes.len();
            let bytes = black_box(sizes[next]);
            let (kind, _) = bcast_kind(bytes, &config, choice).expect("as above");
            let turn = table.lock().class(0, kind).map(|class| class.begin());
            assert_eq!(turn.map(|turn| turn.candidate), Some(Candidate::Host));
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = settled
}
criterion_main!(benches);
