//! Mutated inputs for tests: the same in each run, made from valid ones.
//!
//! A [`Campaign`] gives mutated inputs to one parser. All campaigns together try
//! `SWITCHTENDER_MUTATIONS` inputs; without it, each tries a sample.

mod campaign;
mod mutate;

pub use campaign::Campaign;
pub use mutate::{Dice, mutated, smallest};
