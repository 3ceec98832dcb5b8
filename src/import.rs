//! Existing devices as a short desired state: what `switchtender import` writes.
//!
//! Functions from data to data. [`secret_references`] replaces secrets, [`numbered_text`] texts with the number of
//! their resource, [`profiles`] finds what many resources have in common, and [`factor`] decides which file says
//! what. `yaml_text` changes existing files instead. The caller reads devices and verifies the files: nothing is
//! written whose plan is not empty.

pub(crate) mod drift;
pub(crate) mod factor;
mod files;
pub(crate) mod labels;
mod numbered_text;
mod parts;
mod personal;
mod profile_name;
pub(crate) mod profiles;
mod scopes;
pub(crate) mod secret_references;
pub(crate) mod yaml_text;

pub(crate) use factor::FactorSettings;
pub(crate) use files::FactoredFile;
pub(crate) use parts::{ImportedDevice, TypeGroups};
pub(crate) use scopes::{FileScope, ScopeLevels};

#[cfg(test)]
mod tests;
