//! What people and machines see: one rendering each of the same events and values.

pub mod puppet_code;
