//! Context for loading the definition of a type.

use std::sync::Arc;

use super::codec::Codec;
use super::document_rule::DocumentRule;
use super::inactive::InactiveRule;
use super::manager_rule::ManagerRule;
use super::negation::Negation;
use super::quoting::Quoting;
use super::read_rule::ReadRule;
use crate::diagnostic::Source;
use crate::dialogue::Transport;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::names::PlatformName;
use crate::read::rows::RowsRule;
use crate::read::xml::Namespaces;
use crate::secret_text::SecretText;
use crate::value::Name;

/// The type's model, the file, and the declarations of the platform.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) model: &'a Arc<TypeModel>,
    /// Attributes of the user's model that a shipped definition lacks.
    pub(crate) lacking: &'a [Name],
    pub(crate) source: &'a Arc<Source>,
    /// Name of the platform.
    pub(crate) platform: &'a PlatformName,
    pub(crate) transport: Transport,
    pub(crate) reads: &'a IndexMap<String, ReadRule>,
    /// The documents that are written as a whole, by the name of their read.
    pub(crate) documents: &'a IndexMap<String, DocumentRule>,
    pub(crate) ranks: &'a IndexMap<String, i64>,
    pub(crate) codecs: &'a IndexMap<String, Arc<Codec>>,
    /// Where secrets stand in text of the platform.
    pub(crate) secrets: &'a SecretText,
    /// Characters that the device does not accept in text.
    pub(crate) refused_characters: &'a str,
    /// How lines are removed.
    pub(crate) negation: &'a Negation,
    /// How words have blanks.
    pub(crate) quoting: Option<&'a Quoting>,
    /// The list of objects in an answer of a REST interface.
    pub(crate) rows: Option<&'a RowsRule>,
    /// How objects show that another one makes them.
    pub(crate) manager: Option<&'a ManagerRule>,
    /// The namespaces of a platform with NETCONF.
    pub(crate) namespaces: Option<&'a Arc<Namespaces>>,
    /// How inactive parts of the configuration are marked.
    pub(crate) inactive: Option<&'a InactiveRule>,
    /// Names and values of the device, for checks that need an example.
    pub(crate) examples: &'a [String],
    /// Longest input line that the device accepts.
    pub(crate) line_limit: usize,
}

impl Context<'_> {
    /// Why a shipped definition does not have an attribute that only the user's model has.
    pub(crate) fn lacks(&self) -> String {
        format!("the definition of {} lacks it", self.platform)
    }
}
