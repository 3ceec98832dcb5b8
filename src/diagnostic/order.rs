//! Order and limit of findings.

use std::collections::BTreeMap;

use super::{Counts, Diagnostic};

/// Sorts by file, position, position in the manifest, and code. Findings without a file come first.
pub(crate) fn sort(list: &mut [Diagnostic]) {
    list.sort_by(|a, b| key(a).cmp(&key(b)));
}

fn key(found: &Diagnostic) -> impl Ord + '_ {
    let main = found.labels.iter().find(|label| label.primary);
    (
        main.map(|label| label.source.name.as_str()),
        main.map(|label| label.span.start),
        found
            .position
            .as_ref()
            .map(|position| (&*position.file, position.line)),
        found.code,
        found.message.as_str(),
    )
}

/// Numbers of findings above the limit, by code.
pub(crate) type Rest = BTreeMap<&'static str, Counts>;

/// Findings, limited per code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Limited {
    pub(crate) findings: Vec<Diagnostic>,
    /// Numbers of further findings, by code.
    pub(crate) rest: Rest,
}

/// Returns the first `per_code` findings of each code, in order, and counts the rest.
pub(crate) fn limit(list: Vec<Diagnostic>, per_code: usize) -> Limited {
    let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut rest = Rest::new();
    let findings = list
        .into_iter()
        .filter(|found| {
            let number = seen.entry(found.code).or_default();
            *number += 1;
            let is_within_limit = *number <= per_code;
            if !is_within_limit {
                rest.entry(found.code).or_default().add(found.severity);
            }
            is_within_limit
        })
        .collect();
    Limited { findings, rest }
}

#[cfg(test)]
mod tests {
    use super::super::Source;
    use super::*;

    #[test]
    fn sort_orders_by_file_and_position() {
        let (a, b) = (Source::new("a", "xxxx"), Source::new("b", "xxxx"));
        let mut list = vec![
            Diagnostic::error("c", "b0").at(&b, 0..1, ""),
            Diagnostic::error("c", "a2").at(&a, 2..3, ""),
            Diagnostic::error("c", "nowhere"),
            Diagnostic::error("c", "a1").at(&a, 1..2, ""),
        ];
        sort(&mut list);
        let order: Vec<_> = list.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(order, ["nowhere", "a1", "a2", "b0"]);
    }

    #[test]
    fn limit_counts_further_findings() {
        let list = (0..5)
            .map(|n| Diagnostic::error("many", n.to_string()))
            .chain([Diagnostic::error("one", "")])
            .collect();
        let limited = limit(list, 2);
        assert_eq!(limited.findings.len(), 3);
        let three = Counts {
            errors: 3,
            ..Counts::default()
        };
        assert_eq!(limited.rest, BTreeMap::from([("many", three)]));
    }
}
