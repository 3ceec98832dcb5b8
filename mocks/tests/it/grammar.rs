//! Switches with the grammar of a platform.

mod answers;
mod corpus;
