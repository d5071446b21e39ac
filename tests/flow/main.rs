//! The law of in-flight control on invented networks: it fills the link, and does not fill queues.

mod bound;
mod clocks;
mod far;
mod lasting;
mod measured;
mod network;
mod unlike;
