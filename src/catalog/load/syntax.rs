//! Errors for texts that are not JSON, with their position.

use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

use crate::catalog::load_error::LoadError;
use crate::catalog::redact::redact_strings;

pub(super) fn syntax_error(source: &Arc<Source>, error: &serde_json::Error) -> LoadError {
    let offset = offset(&source.text, error.line(), error.column());
    let text = error.to_string();
    let reason = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(reason, _)| reason);
    let message = format!("Could not intern from data: {reason}");
    let end = source.text[offset..]
        .chars()
        .next()
        .map_or(offset, |c| offset + c.len_utf8());
    let (reason, help) = if source.name.ends_with(".pp") {
        (
            "this is a Puppet manifest, not a compiled catalog",
            "pass it as --manifest FILE, which compiles it with an installed Puppet or OpenVox",
        )
    } else if first_line(&source.text).contains("Notice: ") {
        (
            "the first line is a message of Puppet",
            "compile with `puppet catalog compile --log_level warning`",
        )
    } else {
        (
            reason,
            "pass the JSON catalog that a Puppet server returned",
        )
    };
    LoadError {
        diagnostics: vec![
            Diagnostic::error(
                "catalog-syntax",
                format!("cannot read the catalog: {reason}"),
            )
            .at(&redact_strings(source), offset..end, "")
            .help(help),
        ],
        messages: Vec::new(),
        message,
        readable: None,
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The byte offset of a line and column (both from 1, columns in bytes).
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
