//! Loads `body`, the place of a text of several lines, and checks that the read finds it.

use super::attribute_keys::BodyKeys;
use crate::document::Table;
use crate::driver::cli::CliType;
use crate::driver::cli::block_path::BlockPath;
use crate::driver::cli::rules::{CliAttributeRule, CliLocation, TextBody, TextLimit};
use crate::read::indent::OpaqueRule;
use crate::value::Attributes;

/// The text between delimiters of a definition without `delimiters`.
const DELIMITER: &str = "%";

/// The place of a text. `None`: its error is reported.
pub(super) fn text_body(keys: BodyKeys, table: &Table<'_>) -> Option<TextBody> {
    let error = |message: &str, help: &str| {
        let span = table.span.clone();
        table.findings.error_with_help("body", span, message, help);
    };
    match (keys.after, keys.end, keys.delimiters) {
        (Some(words), None, delimiters) => {
            let text = delimiters.as_ref().map_or(DELIMITER, |text| text.as_str());
            let is_sign = |sign: char| sign.is_ascii_punctuation();
            if !text.chars().all(is_sign) || text.is_empty() {
                error(
                    "`delimiters` are single signs, one of which stands before and behind the text",
                    "if a line ends the text, write `body = { end = \"…\" }` for a type with `block`",
                );
                return None;
            }
            Some(TextBody::After {
                words,
                limit: TextLimit::Delimiters(text.chars().collect()),
            })
        }
        (Some(words), Some(end), None) => Some(TextBody::After {
            words,
            limit: TextLimit::Line(end),
        }),
        (None, Some(end), None) => Some(TextBody::UpTo { end }),
        _ => {
            error(
                "`body` needs `after`, the words before the text, or `end`, the line that ends it, and `delimiters` only without `end`",
                "write `body = { after = \"banner motd\", delimiters = \"^@\" }` or `body = { end = \"end-policy\" }`",
            );
            None
        }
    }
}

/// Reports texts that are not the content of the instance's block, and those that the read takes for
/// lines.
pub(super) fn check_text_bodies(cli: &CliType, texts: &[OpaqueRule], root: &Table<'_>) {
    let rules = cli.attributes.values();
    let bodies = rules.filter_map(|rule| Some((rule, rule.text_end()?)));
    for (rule, end) in bodies {
        let error = |message: String, help: String| {
            let span = rule.span.clone();
            root.findings.error_with_help("body", span, message, help);
        };
        let Some(paths) = cli.instance.kind.blocks() else {
            error(
                format!(
                    "`body` of `{}` has `end`, and instances are no blocks",
                    rule.name
                ),
                "use `block` in [instance], or `body = { after = \"…\" }`".to_owned(),
            );
            continue;
        };
        let is_other = |other: &&CliAttributeRule| {
            let in_header = matches!(other.location, CliLocation::Instance | CliLocation::Nowhere);
            other.name != rule.name && other.is_applied() && !in_header
        };
        if let Some(other) = cli.attributes.values().find(is_other) {
            error(
                format!(
                    "`{}` is the whole content of the block: `{}` has no line in it",
                    rule.name, other.name
                ),
                format!(
                    "remove [attr.{}], or read its value from the header",
                    other.name
                ),
            );
        }
        for header in paths.iter().filter_map(|path| cli.example_header(path)) {
            let is_read =
                |text: &OpaqueRule| text.start.is_match(&header) && text.end.is_match(end);
            if !texts.iter().any(is_read) {
                let words = header.split_whitespace().next().unwrap_or_default();
                let end = regex::escape(end);
                error(
                    format!(
                        "the read `{}` takes the text of `{}` for lines",
                        cli.instance.from, rule.name
                    ),
                    format!(
                        "add `{{ start = '^{words} \\S+$', end = '^{end}$' }}` to `opaque` of [read.{}] in platform.toml",
                        cli.instance.from
                    ),
                );
            }
        }
    }
}

impl CliType {
    /// The header of a block of an example instance.
    fn example_header(&self, path: &BlockPath) -> Option<String> {
        let mut values = Attributes::default();
        for name in path.templates().flat_map(|header| header.attributes()) {
            values.insert(name.to_owned(), self.example(name, 0)?);
        }
        let headers = path.write(&|name| values.get(name), self).ok()?;
        Some(headers.last()?.reveal())
    }
}
