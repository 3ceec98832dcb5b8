//! Findings of rules, and their conversion to diagnostics.
//!
//! A rule names the resource and the value. Their positions in the text are located once for all
//! findings of a catalog, and only if there are any.

use switchtender_devices::diagnostic::{Diagnostic, ManifestPosition, Severity};

use super::rule::Rule;
use super::severities::Severities;
use crate::catalog::{Catalog, Segment, locate_all};

/// The part of a resource that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FindingPart {
    Title,
    Type,
    /// A parameter; the title, if the resource does not have the parameter.
    Parameter(String),
    /// An element of a parameter.
    Element(String, Vec<Segment>),
}

/// A location in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// The name of the catalog.
    CatalogName,
    /// A path in the text of the catalog.
    Path(Vec<Segment>),
    /// A part of the resource with this index.
    Resource(usize, FindingPart),
}

impl Location {
    pub(crate) fn title(index: usize) -> Self {
        Location::Resource(index, FindingPart::Title)
    }

    pub(crate) fn parameter(index: usize, name: &str) -> Self {
        Location::Resource(index, FindingPart::Parameter(name.to_owned()))
    }

    /// The position in the manifest.
    fn position<'a>(&self, catalog: &'a Catalog) -> Option<&'a ManifestPosition> {
        let index = match self {
            Location::Resource(index, _) => Some(*index),
            Location::Path(path) => match path.as_slice() {
                [Segment::Key(list), Segment::Index(index), ..] if list == "resources" => {
                    Some(*index)
                }
                _ => None,
            },
            Location::CatalogName => None,
        };
        catalog.resources.get(index?)?.position.as_ref()
    }

    fn path(&self, catalog: &Catalog) -> Vec<Segment> {
        let (index, part) = match self {
            Location::CatalogName => return vec!["name".into()],
            Location::Path(path) => return path.clone(),
            Location::Resource(index, part) => (*index, part),
        };
        let mut path: Vec<Segment> = vec!["resources".into(), index.into()];
        match part {
            FindingPart::Title => path.push("title".into()),
            FindingPart::Type => path.push("type".into()),
            FindingPart::Parameter(name) | FindingPart::Element(name, _)
                if !catalog.resources[index].parameters.contains_key(name) =>
            {
                path.push("title".into());
            }
            FindingPart::Parameter(name) => {
                path.extend(["parameters".into(), name.as_str().into()])
            }
            FindingPart::Element(name, inside) => {
                path.extend(["parameters".into(), name.as_str().into()]);
                path.extend(inside.iter().cloned());
            }
        }
        path
    }
}

/// A finding without positions in the text.
#[derive(Clone, Debug)]
pub(crate) struct RuleFinding {
    rule: &'static Rule,
    severity: Severity,
    at: Location,
    message: String,
    label: String,
    help: Option<String>,
    /// Further locations with their labels.
    also: Vec<(Location, String)>,
}

impl RuleFinding {
    pub(crate) fn new(rule: &'static Rule, at: Location, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            at,
            message: message.into(),
            label: String::new(),
            help: None,
            also: Vec::new(),
        }
    }

    #[must_use]
    pub(crate) fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    #[must_use]
    pub(crate) fn help_if(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    #[must_use]
    pub(crate) fn also(mut self, at: Location, text: impl Into<String>) -> Self {
        self.also.push((at, text.into()));
        self
    }

    /// The label of the main location.
    #[must_use]
    pub(crate) fn label(mut self, text: impl Into<String>) -> Self {
        self.label = text.into();
        self
    }
}

/// The findings of one catalog.
#[derive(Debug, Default)]
pub(crate) struct RuleFindings {
    list: Vec<RuleFinding>,
}

impl IntoIterator for RuleFindings {
    type Item = RuleFinding;
    type IntoIter = std::vec::IntoIter<RuleFinding>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl FromIterator<RuleFinding> for RuleFindings {
    fn from_iter<I: IntoIterator<Item = RuleFinding>>(findings: I) -> Self {
        Self {
            list: findings.into_iter().collect(),
        }
    }
}

impl RuleFindings {
    pub(crate) fn push(&mut self, finding: RuleFinding) {
        self.list.push(finding);
    }

    /// The resources that fail in a run because of a finding, with the reason.
    pub(crate) fn failures(&self) -> Vec<(usize, String)> {
        let fails = |finding: &&RuleFinding| {
            let effects = finding.rule.effects;
            effects.of(finding.severity).fails_resources()
        };
        let mut failures = Vec::new();
        for finding in self.list.iter().filter(fails) {
            let help = finding.help.as_ref().map(|help| format!("; {help}"));
            let reason = format!("{}{}", finding.message, help.unwrap_or_default());
            let also = finding.also.iter().map(|(at, _)| at);
            for at in std::iter::once(&finding.at).chain(also) {
                if let Location::Resource(index, _) = at {
                    failures.push((*index, reason.clone()));
                }
            }
        }
        failures
    }

    /// The diagnostics with positions and the severities of the settings, sorted. The values at the
    /// paths of `secrets` are masked in the excerpts.
    pub(crate) fn diagnostics(
        self,
        catalog: &Catalog,
        severities: &Severities,
        secrets: impl FnOnce() -> Vec<Vec<Segment>>,
    ) -> Vec<Diagnostic> {
        let list: Vec<(RuleFinding, Severity)> = self
            .list
            .into_iter()
            .filter_map(|finding| {
                let file = finding.at.position(catalog).map(|position| &*position.file);
                let severity = severities.of(finding.rule.code, finding.severity, file)?;
                Some((finding, severity))
            })
            .collect();
        if list.is_empty() {
            return Vec::new();
        }
        let paths: Vec<Vec<Segment>> = list
            .iter()
            .flat_map(|(finding, _)| {
                let also = finding.also.iter().map(|(at, _)| at);
                std::iter::once(&finding.at).chain(also)
            })
            .map(|at| at.path(catalog))
            .collect();
        let secrets = secrets();
        let all = secrets.iter().chain(&paths).map(Vec::as_slice);
        let mut spans = locate_all(&catalog.source.text, all).into_iter();
        let hidden: Vec<_> = spans.by_ref().take(secrets.len()).flatten().collect();
        let source = &catalog.source.redacted(&hidden);
        let mut diagnostics = Vec::with_capacity(list.len());
        for (finding, severity) in list {
            let position = finding.at.position(catalog).cloned();
            let mut diagnostic =
                Diagnostic::new(finding.rule.code, severity, finding.message).in_manifest(position);
            diagnostic.help = finding.help;
            let texts = std::iter::once(finding.label)
                .chain(finding.also.into_iter().map(|(_, text)| text));
            for text in texts {
                if let Some(span) = spans.next().flatten() {
                    diagnostic = diagnostic.at(source, span, text);
                }
            }
            diagnostics.push(diagnostic);
        }
        crate::diagnostic::sort(&mut diagnostics);
        diagnostics
    }
}
