//! What is wrong with one resource, in Puppet's words and in ours.

use switchtender_devices::diagnostic::Diagnostic;

use crate::catalog::compiled::CatalogResource;
use crate::catalog::load_error::LoadErrors;
use crate::catalog::position::Segment;

/// Something wrong with one resource.
pub(super) struct ResourceError {
    pub code: &'static str,
    pub attribute: Option<Box<str>>,
    /// Puppet's words.
    pub message: String,
    /// Ours, if they differ.
    pub summary: Option<Box<str>>,
    pub help: Option<Box<str>>,
    pub further: Vec<ResourceError>,
}

impl ResourceError {
    pub fn whole(code: &'static str, message: String) -> Self {
        Self {
            code,
            attribute: None,
            message,
            summary: None,
            help: None,
            further: Vec::new(),
        }
    }

    pub fn attribute(name: &str, message: String) -> Self {
        Self {
            attribute: Some(name.into()),
            ..Self::whole("attribute", message)
        }
    }

    pub fn report(self, declared: &CatalogResource, index: usize, findings: &mut LoadErrors) {
        let mut path: Vec<Segment> = vec!["resources".into(), index.into()];
        if let Some(name) = &self.attribute {
            path.push("parameters".into());
            path.push((&**name).into());
        }
        let summary = self.summary.map(String::from).unwrap_or_else(|| {
            // The place is told apart from the message.
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
            Diagnostic::error(self.code, summary).in_manifest(declared.place.clone());
        diagnostic.help = self.help.map(String::from);
        findings.add(diagnostic, self.message, path);
        for finding in self.further {
            finding.report(declared, index, findings);
        }
    }
}
