//! Moves findings from the text of a compiled catalog to the YAML files that it was made from.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Label, ManifestPosition, Severity, Source};

use super::merged_state::ValueOrigin;
use super::secret_values::FORMS;
use super::state_directory::{COMMON, PLATFORM};

/// The origins of the parts of a catalog's text.
#[derive(Clone, Debug)]
pub(crate) struct OriginMap {
    /// The text of the catalog.
    source: Arc<Source>,
    /// Inner parts before the parts that contain them.
    parts: Vec<CatalogPart>,
}

/// A part of a catalog's text.
#[derive(Clone, Debug)]
pub(super) struct CatalogPart {
    pub(super) range: Range<usize>,
    /// The number of its resource.
    pub(super) resource: usize,
    /// `complete` sets the value: no file says it, and no warning is about it.
    pub(super) is_default: bool,
    pub(super) origin: ValueOrigin,
    /// The origin of the name, if the part is the value of an attribute.
    pub(super) of_name: Option<ValueOrigin>,
}

/// Codes of findings about the name of an attribute.
const OF_NAMES: [&str; 2] = ["unknown-attribute", "unsupported-attribute"];

/// Help for files instead of that for manifests, by the code of the finding.
const HELP: [(&str, &str); 5] = [
    ("clear-secret", FORMS),
    (
        "secret-title",
        "use another title, and set the name: `name: {secret: {env: VARIABLE}}`",
    ),
    ("unknown-type", "`switchtender type` lists the types"),
    ("host-resource", "remove it from the file"),
    (
        "empty-catalog",
        "write resources into the files of the device",
    ),
];

impl OriginMap {
    pub(super) fn new(source: Arc<Source>, parts: Vec<CatalogPart>) -> Self {
        Self { source, parts }
    }

    /// Moves the labels of findings about the catalog. Help is about the files. Findings of several resources that
    /// come from one place, such as a range or a profile, become one.
    pub(crate) fn relocate(&self, findings: &mut Vec<Diagnostic>) {
        let mut merged = MergedFindings::default();
        for mut finding in std::mem::take(findings) {
            if self.is_about_default(&finding) {
                continue;
            }
            let resource = self.relocate_one(&mut finding);
            merged.add(finding, resource);
        }
        *findings = merged.finish();
    }

    /// Whether a finding is a remark about a value that no file says.
    fn is_about_default(&self, finding: &Diagnostic) -> bool {
        let own = finding.labels.first();
        let own = own.filter(|label| label.source.name == self.source.name);
        let part = own.and_then(|label| self.part(label));
        finding.severity != Severity::Error && part.is_some_and(|part| part.is_default)
    }

    /// Returns the number of the resource that a finding is about.
    fn relocate_one(&self, finding: &mut Diagnostic) -> Option<usize> {
        let is_about_name = OF_NAMES.contains(&finding.code);
        let labels = std::mem::take(&mut finding.labels);
        let mut resource = None;
        for label in labels {
            if label.source.name != self.source.name {
                finding.labels.push(label);
            } else if let Some(part) = self.part(&label) {
                resource = resource.or(Some(part.resource));
                let of_name = part.of_name.as_ref().filter(|_| is_about_name);
                let origin = of_name.unwrap_or(&part.origin);
                finding.labels.push(Label {
                    source: Arc::clone(&origin.source),
                    span: origin.span.clone(),
                    ..label
                });
            }
        }
        // The position of the resource becomes that of the attribute.
        if let Some(label) = finding.labels.iter().find(|label| label.primary) {
            let (line, _) = label.source.position(label.span.start);
            finding.position = Some(ManifestPosition {
                file: label.source.name.as_str().into(),
                line: line as u64,
            });
        }
        let is_similar = |help: &String| help.starts_with("did you mean");
        if finding.code == "unsupported-type" && finding.help.is_none() {
            finding.help = finding.labels.first().map(other_file);
        }
        if let Some((_, help)) = HELP.iter().find(|(code, _)| *code == finding.code)
            && !finding.help.as_ref().is_some_and(is_similar)
        {
            finding.help = Some((*help).to_owned());
        }
        resource
    }

    /// The part of the catalog at a label. `None`: no file has it.
    fn part(&self, label: &Label) -> Option<&CatalogPart> {
        let contains =
            |range: &Range<usize>| range.start <= label.span.start && label.span.end <= range.end;
        self.parts.iter().find(|part| contains(&part.range))
    }
}

/// The code of a finding, its positions, and its number among those of its resource.
type Occurrence = (&'static str, Vec<(String, usize)>, usize);

/// The code of a finding, with files and bytes.
type FindingPosition = (&'static str, Vec<(String, usize)>);

/// Findings, of which those with one code and one place are one.
#[derive(Default)]
struct MergedFindings {
    findings: Vec<Diagnostic>,
    /// By occurrence: the index of the finding and the number of its resources.
    known: HashMap<Occurrence, (usize, usize)>,
    /// Findings of the last resource with this code and place.
    of_resource: HashMap<FindingPosition, (usize, usize)>,
}

impl MergedFindings {
    fn add(&mut self, finding: Diagnostic, resource: Option<usize>) {
        let Some(resource) = resource else {
            self.findings.push(finding);
            return;
        };
        let labels = finding.labels.iter();
        let places: Vec<(String, usize)> = labels
            .map(|label| (label.source.name.clone(), label.span.start))
            .collect();
        let counted = self.of_resource.entry((finding.code, places.clone()));
        let (last, count) = counted.or_insert((resource, 0));
        if *last != resource {
            (*last, *count) = (resource, 0);
        }
        *count += 1;
        let occurrence = (finding.code, places, *count);
        match self.known.get_mut(&occurrence) {
            Some((_, resources)) => *resources += 1,
            None => {
                self.known.insert(occurrence, (self.findings.len(), 1));
                self.findings.push(finding);
            }
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        for (index, resources) in self.known.into_values() {
            let message = &mut self.findings[index].message;
            match resources - 1 {
                0 => {}
                1 => message.push_str(" (and for 1 more resource)"),
                more => message.push_str(&format!(" (and for {more} more resources)")),
            }
        }
        self.findings
    }
}

/// Where to declare a type that some devices of a file do not have.
fn other_file(label: &Label) -> String {
    let path = Path::new(&label.source.name);
    let directory = path.parent().unwrap_or(Path::new(""));
    if path.file_name().is_some_and(|name| name == COMMON) {
        format!(
            "declare it in {}, for the devices of a platform that has it",
            directory.join(PLATFORM).join("PLATFORM.yaml").display()
        )
    } else {
        "remove it, or declare it for devices that have it".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relocate_moves_labels_to_the_file() {
        let file = Source::new("common.yaml", "a: closed\nb: open\n");
        let catalog = Source::new("state of sw1", r#"{"a": "closed", "b": "open"}"#);
        let origin = |span: Range<usize>| ValueOrigin {
            source: Arc::clone(&file),
            span,
        };
        let part = |range, resource, of_value, of_name| CatalogPart {
            range,
            resource,
            is_default: false,
            origin: origin(of_value),
            of_name: Some(origin(of_name)),
        };
        let parts = vec![part(6..14, 1, 3..9, 0..1), part(21..27, 2, 13..17, 10..11)];
        let map = OriginMap::new(Arc::clone(&catalog), parts);
        let mut findings = vec![
            Diagnostic::error("x", "m").at(&catalog, 21..27, ""),
            Diagnostic::error("y", "m").at(&catalog, 0..1, ""),
            Diagnostic::error("unknown-attribute", "m").at(&catalog, 21..27, ""),
            Diagnostic::warning("secret-title", "m").help("set name => Sensitive(…)"),
        ];
        map.relocate(&mut findings);
        let label = &findings[0].labels[0];
        assert_eq!(label.source.name, "common.yaml");
        assert_eq!(&label.source.text[label.span.clone()], "open");
        assert!(findings[1].labels.is_empty());
        assert_eq!(findings[2].labels[0].span, 10..11);
        let help = findings[3].help.as_ref().unwrap();
        assert!(help.contains("{secret: {env: VARIABLE}}"), "{help}");
    }

    #[test]
    fn findings_of_one_position_are_one_with_the_number_of_resources() {
        let file = Source::new("common.yaml", "a: closed\n");
        let catalog = Source::new("state of sw1", "1 2 3");
        let parts = (0..3).map(|number| CatalogPart {
            range: 2 * number..2 * number + 1,
            resource: number,
            is_default: false,
            origin: ValueOrigin {
                source: Arc::clone(&file),
                span: 3..9,
            },
            of_name: None,
        });
        let map = OriginMap::new(Arc::clone(&catalog), parts.collect());
        let at = |number: usize, message: &str| {
            let found = Diagnostic::error("x", message);
            found.at(&catalog, 2 * number..2 * number + 1, "")
        };
        let mut findings = vec![
            at(0, "first of 0"),
            at(0, "second of 0"),
            at(1, "first of 1"),
            at(1, "second of 1"),
            at(2, "first of 2"),
        ];
        map.relocate(&mut findings);
        let messages = findings.iter().map(|found| found.message.as_str());
        let expected = [
            "first of 0 (and for 2 more resources)",
            "second of 0 (and for 1 more resource)",
        ];
        assert_eq!(messages.collect::<Vec<_>>(), expected);
    }
}
