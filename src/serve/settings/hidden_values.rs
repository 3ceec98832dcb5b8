//! Values that excerpts of a settings file do not show, since they can have secrets.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use switchtender_devices::document::Table;

/// Hides a value that can have a login in excerpts of the file.
pub(crate) fn hide(table: &Table<'_>, key: &str) {
    if let Some(item) = table.get(key) {
        table.findings.hide(item.span.clone());
    }
}

/// The ranges of a file with a syntax error that can be secrets: values of lines about URLs and secrets.
pub(super) fn possible_secrets(text: &str) -> Vec<Range<usize>> {
    static SECRET: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^[^=\n]*(?:url|secret|password|token|hash|key)[^=\n]*(?<value>=.*)$|(?<login>://.*)$")
            .expect("the pattern is a constant")
    });
    let found = SECRET.captures_iter(text);
    found
        .filter_map(|found| Some(found.name("value").or(found.name("login"))?.range()))
        .collect()
}
