//! Moves findings from the text of a compiled catalog to the YAML files that it was made from.

use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Label, Source};

use super::merge::ValueOrigin;

/// The origins of the parts of a catalog's text.
#[derive(Clone, Debug)]
pub(crate) struct OriginMap {
    /// The text of the catalog.
    source: Arc<Source>,
    /// Inner ranges before the ranges that contain them.
    entries: Vec<(Range<usize>, ValueOrigin)>,
}

impl OriginMap {
    pub(super) fn new(source: Arc<Source>, entries: Vec<(Range<usize>, ValueOrigin)>) -> Self {
        Self { source, entries }
    }

    /// Moves the labels of findings about the catalog.
    pub(crate) fn relocate(&self, findings: &mut [Diagnostic]) {
        for finding in findings {
            let labels = std::mem::take(&mut finding.labels);
            finding.labels = labels
                .into_iter()
                .filter_map(|label| match label.source.name == self.source.name {
                    true => self.moved(label),
                    false => Some(label),
                })
                .collect();
        }
    }

    /// The label in a file. `None`: no file has this part of the catalog.
    fn moved(&self, label: Label) -> Option<Label> {
        let contains =
            |range: &Range<usize>| range.start <= label.span.start && label.span.end <= range.end;
        let (_, origin) = self.entries.iter().find(|(range, _)| contains(range))?;
        Some(Label {
            source: Arc::clone(&origin.source),
            span: origin.span.clone(),
            ..label
        })
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
        let map = OriginMap::new(
            Arc::clone(&catalog),
            vec![(6..14, origin(3..9)), (21..27, origin(13..17))],
        );
        let mut findings = [
            Diagnostic::error("x", "m").at(&catalog, 21..27, ""),
            Diagnostic::error("y", "m").at(&catalog, 0..1, ""),
        ];
        map.relocate(&mut findings);
        let label = &findings[0].labels[0];
        assert_eq!(label.source.name, "common.yaml");
        assert_eq!(&label.source.text[label.span.clone()], "open");
        assert!(findings[1].labels.is_empty());
    }
}
