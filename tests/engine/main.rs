//! The engine on a network in one thread: every rank gets everything, whatever the order of delivery, in
//! the number of rounds and bytes that docs/algorithms.md states.

mod allowed;
mod case;
mod collectives;
mod line;
mod messages;
mod nodes;
mod rooted;
mod slots;
mod window;
mod wire;
mod word;
