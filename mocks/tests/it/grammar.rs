//! Switches with the grammar of a platform.

mod answers;
mod connections;
mod corpus;
