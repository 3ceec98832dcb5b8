//! Context for loading the definition of a type.

use std::sync::Arc;

use super::codec::Codec;
use super::read_rule::ReadRule;
use super::transport::Transport;
use crate::diagnostic::Source;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::names::PlatformName;

/// The type's model, the file, and the declarations of the platform.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub model: &'a Arc<TypeModel>,
    pub source: &'a Arc<Source>,
    /// Name of the platform.
    pub platform: &'a PlatformName,
    pub transport: Transport,
    pub reads: &'a IndexMap<String, ReadRule>,
    pub ranks: &'a IndexMap<String, i64>,
    pub codecs: &'a IndexMap<String, Arc<Codec>>,
    /// Characters that the device does not accept in text.
    pub refused_characters: &'a str,
    /// Longest input line that the device accepts.
    pub line_limit: usize,
}
