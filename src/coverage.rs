//! Which lines of a configuration are managed, which could be, and which no type reads.
//!
//! All functions are pure: lines with the types that read them ([`SurveyedLine`]) and declared resources in, a
//! class for each line out. Each line has exactly one class and at most one owner. Start with
//! [`classification`].
//!
//! [`SurveyedLine`]: switchtender_devices::driver::SurveyedLine

pub(crate) mod classification;
pub(crate) mod constructs;
pub(crate) mod counts;
pub(crate) mod line_classes;
pub(crate) mod strict;
#[cfg(test)]
mod tests;

use crate::words::words;

words! {
    /// What a line of a configuration is for the desired state.
    LineClass {
        /// A declared resource has it.
        Managed = "managed",
        /// A type reads it, and no file declares it.
        Available = "available",
        /// It says that a setting is at its default.
        Default = "default",
        /// The device makes it by itself.
        Generated = "generated",
        /// The files say that it is not managed.
        Excluded = "excluded",
        /// A type recognizes it and cannot read it completely.
        NotUnderstood = "not understood",
        /// No type reads it.
        NotCovered = "not covered",
    }
}
