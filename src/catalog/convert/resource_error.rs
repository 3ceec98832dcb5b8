//! Errors of one resource, in Puppet's words and in ours.

use switchtender_devices::diagnostic::Diagnostic;

use crate::catalog::compiled::CatalogResource;
use crate::catalog::load_error::LoadErrors;
use crate::catalog::position::Segment;

/// An error of one resource.
pub(super) struct ResourceError {
    pub(crate) code: &'static str,
    pub(crate) attribute: Option<Box<str>>,
    /// Puppet's words.
    pub(crate) message: String,
    /// The summary of the diagnostic, if it differs.
    pub(crate) summary: Option<Box<str>>,
    pub(crate) help: Option<Box<str>>,
    pub(crate) further: Vec<ResourceError>,
}

impl ResourceError {
    pub(crate) fn new(code: &'static str, message: String) -> Self {
        Self {
            code,
            attribute: None,
            message,
            summary: None,
            help: None,
            further: Vec::new(),
        }
    }

    pub(crate) fn attribute(name: &str, message: String) -> Self {
        Self {
            attribute: Some(name.into()),
            ..Self::new("attribute", message)
        }
    }

    pub(crate) fn report(self, declared: &CatalogResource, index: usize, errors: &mut LoadErrors) {
        let mut path: Vec<Segment> = vec!["resources".into(), index.into()];
        if let Some(name) = &self.attribute {
            path.push("parameters".into());
            path.push((&**name).into());
        }
        let summary = self.summary.map(String::from).unwrap_or_else(|| {
            // The diagnostic has the position as a label.
            let position = declared.position();
            let mut text = self.message.as_str();
            while let Some(rest) = text
                .strip_suffix(position.as_str())
                .filter(|_| !position.is_empty())
            {
                text = rest;
            }
            text.to_owned()
        });
        let mut diagnostic =
            Diagnostic::error(self.code, summary).in_manifest(declared.position.clone());
        diagnostic.help = self.help.map(String::from);
        errors.add(diagnostic, self.message, path);
        for error in self.further {
            error.report(declared, index, errors);
        }
    }
}
