//! Which algorithm is which tree.

#![forbid(unsafe_code)]

use crate::algorithm::{Algorithm, reduces_nothing};
use crate::config::Config;
use crate::schedule::Shape;

/// The tree of an algorithm that sends blocks down one, or up, among `p` ranks or nodes; `latency` is that of
/// [`Shape::Postal`]. `None`: it has none. All ranks have the same.
pub fn shape(algorithm: Algorithm, p: u32, latency: u32, config: &Config) -> Option<Shape> {
    Some(match algorithm {
        Algorithm::Postal => Shape::Postal(latency),
        Algorithm::Binomial => Shape::BINOMIAL,
        Algorithm::Chain => Shape::CHAIN,
        Algorithm::Linear => Shape::STAR,
        Algorithm::Binary => Shape::BINARY,
        Algorithm::Kary => Shape::Even(config.tree_arity.max(1)),
        Algorithm::Knomial => Shape::Knomial(config.tree_arity),
        Algorithm::Fibonacci => Shape::Fibonacci,
        Algorithm::InOrder => Shape::InOrder,
        Algorithm::TwoTree => Shape::Two,
        Algorithm::Mesh => Shape::mesh(p),
        Algorithm::Circulant
        | Algorithm::Ring
        | Algorithm::Halving
        | Algorithm::Gather
        | Algorithm::Ordered
        | Algorithm::Split
        | Algorithm::Doubling
        | Algorithm::Pipelined
        | Algorithm::Dissemination
        | Algorithm::Census
        | Algorithm::ReduceBcast
        | Algorithm::DualRoot
        | Algorithm::Hypercube
        | Algorithm::FullLane
        | reduces_nothing!(Algorithm) => return None,
    })
}
