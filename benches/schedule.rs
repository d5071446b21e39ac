//! The time to compute schedules on one core: those of one rank, and all receive schedules at once.
//!
//! Ranks are visited without a pattern, as branch prediction would otherwise learn the searches by
//! heart and flatter them. That is why one rank of a table comes out faster than one rank alone for
//! small p: a table is made again and again in the same order.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rondo::schedule::{Circulant, MAX_Q};

/// Ranks in an order without pattern (xorshift), the same in every run.
struct Ranks {
    state: u64,
    p: u32,
}

impl Ranks {
    fn new(p: u32) -> Ranks {
        Ranks {
            state: 0x9e37_79b9_7f4a_7c15,
            p,
        }
    }

    fn next(&mut self) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (((self.state >> 32) * u64::from(self.p)) >> 32) as u32
    }
}

fn one_rank(c: &mut Criterion) {
    let mut group = c.benchmark_group("one rank");
    for p in [100, 1152, 1 << 20, (1 << 20) + 1] {
        let graph = Circulant::new(p);
        let (mut recv, mut send) = ([0; MAX_Q], [0; MAX_Q]);
        let mut ranks = Ranks::new(p);
        group.bench_function(BenchmarkId::new("recv and send", p), |b| {
            b.iter(|| {
                let v = ranks.next();
                graph.recv(black_box(v), &mut recv);
                graph.send(black_box(v), &mut send);
                black_box((&recv, &send));
            });
        });
        group.bench_function(BenchmarkId::new("recv", p), |b| {
            b.iter(|| {
                let v = ranks.next();
                graph.recv(black_box(v), &mut recv);
                black_box(&recv);
            });
        });
    }
    group.finish();
}

fn all_ranks(c: &mut Criterion) {
    let mut group = c.benchmark_group("all ranks");
    for p in [100, 576, 1152, 16384] {
        let graph = Circulant::new(black_box(p));
        group.bench_function(BenchmarkId::new("recv_table", p), |b| {
            b.iter(|| black_box(graph.recv_table()))
        });
    }
    group.finish();
}

criterion_group! {
    name = schedule;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = one_rank, all_ranks
}
criterion_main!(schedule);
