//! `rondo bench` and `rondo tune`, run under both MPIs as a user runs them, and their arithmetic by itself.

#[path = "../../src/bin/rondo/tune/choose.rs"]
mod choose;
#[path = "../../src/bin/rondo/bench/report.rs"]
mod report;

mod arithmetic;
mod launch;
#[path = "../mpirun/mod.rs"]
mod mpirun;
mod refused;
mod results;
mod rules;
mod tune;
