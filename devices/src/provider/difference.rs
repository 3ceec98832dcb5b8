//! Attributes without their desired values after the changes of a run.

use std::sync::Arc;

use crate::value::{Name, Value};

/// An attribute that does not have its desired value after the changes of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The resource, such as `Network_vlan[100]`.
    pub reference: Arc<str>,
    /// The attribute.
    pub attribute: Name,
    /// The desired value.
    pub desired: Value,
    /// The value that the device has.
    pub found: Value,
    /// The cause of the difference.
    pub cause: DifferenceCause,
}

/// Why an attribute does not have its desired value after the changes of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceCause {
    /// The run set the attribute, and the device has another value.
    NotApplied,
    /// The device had the desired value before the changes of other resources.
    SideEffect,
    /// The changes of a plan would have this effect.
    PredictedSideEffect,
}
