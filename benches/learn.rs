//! What a call costs whose candidate is settled: its kind, the lock, the look into the table, the count. And what the
//! choice for a short all-reduction over nodes costs, for which the model is asked.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use parking_lot::Mutex;
use rondo::collective::Collective;
use rondo::config::Config;
use rondo::decide::{
    Broadcast, Choice, Context, Facts, OperatorProperties, Problem, Reduction, Why,
};
use rondo::learn::{Candidate, Prior, Table};
use rondo::network::Network;

fn settled(c: &mut Criterion) {
    let config = Config::default();
    let mut table = Table::default();
    let sizes: Vec<u64> = (0..14).map(|shift| 1 << shift).collect();
    let choice = Choice::Host(Why::Small);
    let context = Context {
        collective: Collective::Bcast,
        facts: Facts {
            p: 8,
            nodes: 8,
            widest: 1,
            narrowest: 1,
            consecutive: true,
            eager_bytes: 16 << 10,
            placed_bytes: u64::MAX,
            host_leads: false,
            host_copies: false,
            network: Network::default(),
        },
        config: &config,
    };
    let size_class = |bytes| Broadcast { context, bytes }.size_class(choice);
    for &bytes in &sizes {
        let (class, default) = size_class(bytes).expect("there is something to learn");
        let prior = Prior {
            class: class.number(),
            default,
            // Nobody to compare with.
            expected: [Some(1.0), None, None, None],
            margin: 0.98,
        };
        table.add(Collective::Bcast, &prior);
    }
    let table = Mutex::new(table);
    let mut next = 0;
    c.bench_function("a settled call", |b| {
        b.iter(|| {
            next = (next + 5) % sizes.len();
            let bytes = black_box(sizes[next]);
            let (class, _) = size_class(bytes).expect("as above");
            let mut table = table.lock();
            let turn = table
                .contest(Collective::Bcast, class.number())
                .map(|contest| contest.begin());
            assert_eq!(turn.map(|turn| turn.candidate), Some(Candidate::Host));
        });
    });
}

fn chosen(c: &mut Criterion) {
    let config = Config::default();
    let facts = Facts {
        p: 576,
        nodes: 36,
        widest: 16,
        narrowest: 16,
        consecutive: true,
        eager_bytes: 16 << 10,
        placed_bytes: u64::MAX,
        host_leads: false,
        host_copies: false,
        network: Network {
            alpha_us: Some(20.0),
            gap_us: Some(0.3),
            beta_ns_per_kb: Some(82.0),
            ..Network::default()
        },
    };
    let call = Reduction {
        context: Context {
            collective: Collective::Allreduce,
            facts,
            config: &config,
        },
        bytes: 64,
        unit: 8,
        longest: 8,
        fullest: 8,
        operator: OperatorProperties {
            commutes: true,
            exact: false,
            built_in: true,
            idempotent: false,
        },
    };
    let is_rondos = |choice| matches!(choice, Choice::Rondo(_));
    c.bench_function("the choice for a short all-reduction over nodes", |b| {
        b.iter(|| assert!(is_rondos(black_box(&call).choose())));
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = settled, chosen
}
criterion_main!(benches);
