//! Catalogs from manifests, compiled by an installed Puppet or OpenVox.
//!
//! The compiler is a process for each device. It has the facts of the device, the types of the definitions
//! and no other settings of the host: no `puppet.conf`, no node classifier, no PuppetDB.

mod compiler;
mod error;
mod message;

pub(crate) use compiler::{CompiledManifest, CompilerOptions, ManifestCompiler, write_types};
pub(crate) use error::ManifestError;
