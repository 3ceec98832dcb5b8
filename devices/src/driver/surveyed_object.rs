//! An object of a device that a type reads, with its fields.

use super::claim::Claim;

/// An object with what it is for a type.
#[derive(Clone, Debug, PartialEq)]
pub struct SurveyedObject {
    /// Its collection, and its name in a list.
    pub(crate) title: String,
    /// Its name for the type.
    pub(crate) key: String,
    pub(crate) fields: Vec<SurveyedField>,
    /// `None`: it is of no kind that the type has.
    pub(crate) claim: Option<Claim>,
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SurveyedField {
    pub(crate) name: String,
    pub(crate) value: String,
    /// `None`: no attribute is read from it.
    pub(crate) claim: Option<Claim>,
}
