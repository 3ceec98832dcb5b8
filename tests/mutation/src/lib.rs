//! Inputs for tests: mutated ones, and samples of many similar ones.
//!
//! A [`Campaign`] gives mutated inputs to one parser: the same in each run, made from valid ones. All
//! campaigns together try `SWITCHTENDER_MUTATIONS` inputs; without it, each tries a sample.

mod campaign;
mod mutate;
pub mod sample;

pub use campaign::Campaign;
pub use mutate::{Dice, mutated, smallest};
