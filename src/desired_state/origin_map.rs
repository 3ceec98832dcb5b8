//! Moves findings from the text of a compiled catalog to the YAML files that it was made from.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Label, Source};

use super::merge::ValueOrigin;
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

    /// Moves the labels of findings about the catalog. Help is about the files.
    pub(crate) fn relocate(&self, findings: &mut [Diagnostic]) {
        for finding in findings {
            let is_about_name = OF_NAMES.contains(&finding.code);
            let labels = std::mem::take(&mut finding.labels);
            finding.labels = labels
                .into_iter()
                .filter_map(|label| {
                    if label.source.name == self.source.name {
                        self.moved(label, is_about_name)
                    } else {
                        Some(label)
                    }
                })
                .collect();
            let is_similar = |help: &String| help.starts_with("did you mean");
            if finding.code == "unsupported-type" && finding.help.is_none() {
                finding.help = finding.labels.first().map(other_file);
            }
            if let Some((_, help)) = HELP.iter().find(|(code, _)| *code == finding.code)
                && !finding.help.as_ref().is_some_and(is_similar)
            {
                finding.help = Some((*help).to_owned());
            }
        }
    }

    /// The label in a file. `None`: no file has this part of the catalog.
    fn moved(&self, label: Label, is_about_name: bool) -> Option<Label> {
        let contains =
            |range: &Range<usize>| range.start <= label.span.start && label.span.end <= range.end;
        let part = self.parts.iter().find(|part| contains(&part.range))?;
        let of_name = part.of_name.as_ref().filter(|_| is_about_name);
        let origin = of_name.unwrap_or(&part.origin);
        Some(Label {
            source: Arc::clone(&origin.source),
            span: origin.span.clone(),
            ..label
        })
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
        let part = |range, of_value, of_name| CatalogPart {
            range,
            origin: origin(of_value),
            of_name: Some(origin(of_name)),
        };
        let parts = vec![part(6..14, 3..9, 0..1), part(21..27, 13..17, 10..11)];
        let map = OriginMap::new(Arc::clone(&catalog), parts);
        let mut findings = [
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
}
