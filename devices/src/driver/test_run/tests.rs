//! Tests of all built-in definitions with their self-tests.

mod coverage;
mod facts;
mod foreign_configurations;
mod hostile_values;
mod life_cycle;
mod meanings;
mod not_understood;
mod odd_values;
mod other_spellings;
mod predicted_configuration;
mod repeated_blocks;
mod round_trip;
mod secret_fields;
mod secret_templates;
mod undo;
mod unknown_words;
mod vlan_numbers;

use super::{SelfTest, TestFailure, change_for, initial_state, operations_for};
