//! Expansion: what is short in a file becomes resources of types. All of it is pure, and before the catalog.
//!
//! Per file, ranges and views become declarations ([`title_range`], [`view`], [`declaration`]). After the layers are
//! merged, profiles are resolved ([`profile`]), what is unmanaged is left out ([`exclusion`]), and defaults are added
//! ([`completion`]).

pub(super) mod completion;
pub(super) mod declaration;
pub(super) mod exclusion;
pub(super) mod profile;
pub(super) mod title_range;
pub(super) mod view;
