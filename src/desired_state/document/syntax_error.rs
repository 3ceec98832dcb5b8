//! Errors of the parser in words of YAML, and the limits of a file.

use std::ops::Range;
use std::sync::Arc;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Budget, Location, UserMessageFormatter};
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::secret::MASK;

/// The usual mistakes.
const SYNTAX_HELP: &str = "close brackets and quotation marks, align keys with blanks, and quote texts with `: `, `#` or a leading `@`, `*`, `{`";

/// The limits of a file of this size in bytes. Files that are written have a node in eight bytes; those
/// with more have aliases, or are made to fill the memory.
pub(super) fn budget(size: usize) -> Option<Budget> {
    let own = Budget::default();
    let nodes = (size / 4).max(own.max_nodes);
    serde_saphyr::budget! {
        max_nodes: nodes,
        // Deeper values do not fit on the stack of every thread.
        max_depth: 32,
        // Each list and each map has an event for its end.
        max_events: (2 * nodes).max(own.max_events),
    }
}

pub(super) fn syntax_error(source: &Arc<Source>, error: &serde_saphyr::Error) -> Diagnostic {
    let span = error
        .location()
        .map_or(0..0, |location| bytes(source, &location));
    if let Some((reason, help)) = exceeded_limit(source, error) {
        let found = Diagnostic::error("state-syntax", format!("cannot read the file: {reason}"));
        return found.at(source, span, "").help(help);
    }
    let error = error.without_snippet();
    if let serde_saphyr::Error::NullIntoString { .. } = error {
        let found = Diagnostic::error("state-syntax", "cannot read the file: a key is empty");
        return found
            .at(source, span, "")
            .help("write a name before the `:`, and quote the names `null` and `~`");
    }
    let reason = error.render_with_formatter(&UserMessageFormatter);
    // The position is in the label.
    let reason = match reason.rfind(" at line ") {
        Some(at) => reason[..at].to_owned(),
        None => reason,
    };
    let reason = without_quotations(&reason);
    Diagnostic::error("state-syntax", format!("cannot read the file: {reason}"))
        .at(source, span, "")
        .help(SYNTAX_HELP)
}

/// A message of the parser without text of the file, which can be a secret: the excerpt masks it.
pub(super) fn without_quotations(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => part.to_owned(),
        _ => format!("`{MASK}`"),
    });
    parts.collect()
}

/// The limit that a file exceeds, and what to do.
fn exceeded_limit(source: &Source, error: &serde_saphyr::Error) -> Option<(String, &'static str)> {
    const ALIASES: &str = "write the values in place of anchors and aliases";
    let mut cause = error.without_snippet();
    while let serde_saphyr::Error::AliasError { error, .. } = cause {
        cause = error.without_snippet();
    }
    let serde_saphyr::Error::Budget { breach, .. } = cause else {
        return None;
    };
    let limits = budget(source.text.len())?;
    Some(match breach {
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            let text = format!("it has more than {} values", limits.max_nodes);
            (text, ALIASES)
        }
        BudgetBreach::Depth { .. } => {
            let text = format!("its values nest deeper than {} levels", limits.max_depth);
            (text, "write the values at fewer levels")
        }
        BudgetBreach::Aliases { .. } => {
            let text = format!("it has more than {} aliases", limits.max_aliases);
            (text, ALIASES)
        }
        BudgetBreach::Anchors { .. } => {
            let text = format!("it has more than {} anchors", limits.max_anchors);
            (text, ALIASES)
        }
        _ => (
            "it has too many anchors, aliases or texts".to_owned(),
            ALIASES,
        ),
    })
}

/// The bytes of a location, or its start if the parser has only line and column.
pub(super) fn bytes(source: &Source, location: &Location) -> Range<usize> {
    let span = location.span();
    if let (Some(start), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let clamp = |at: u64| {
            usize::try_from(at)
                .unwrap_or(usize::MAX)
                .min(source.text.len())
        };
        return clamp(start)..clamp(start + length);
    }
    let number = |number: u64| usize::try_from(number).unwrap_or(1).max(1);
    let mut lines = source.text.split_inclusive('\n');
    let before = lines.by_ref().take(number(location.line()) - 1);
    let start: usize = before.map(str::len).sum();
    let line = lines.next().unwrap_or_default().trim_end();
    let characters = line.chars().take(number(location.column()) - 1);
    let at = start + characters.map(char::len_utf8).sum::<usize>();
    at..at
}
