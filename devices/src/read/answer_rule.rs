//! What a valid answer to a read contains.
//!
//! A device that cannot answer a read prints a refusal, nothing, or another text. Such an answer is
//! an error, because it would otherwise mean that the device has no instances.

use std::sync::Arc;

use serde_json::Value as Json;

use super::csv::CsvRules;
use super::field_path::{FieldPath, scalar_text};
use super::nested_rows::NestedRows;
use super::xml::{self, Namespaces};
use crate::pattern::Pattern;

/// What a valid answer contains: all of the expectations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerRule {
    /// At least one for a read of a platform.
    pub expectations: Vec<Expectation>,
    /// An answer without any text is valid too.
    pub may_be_empty: bool,
    /// A device whose configuration has no such line at its top level may refuse the command.
    pub known_with: Option<Pattern>,
    /// The answer is XML with these namespaces, otherwise JSON or text.
    pub(crate) namespaces: Option<Arc<Namespaces>>,
}

/// What an answer lacks, without a subject: `it has no line that matches …`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct InvalidAnswer(String);

/// One part of a valid answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// A line matches.
    Line(Pattern),
    /// The last line matches, so that the answer is complete.
    LastLine(Pattern),
    /// A JSON answer has this list of instances.
    Rows(NestedRows),
    /// A table has a header that begins with this word.
    Header(String),
    /// Records have a header that begins with this column.
    CsvHeader(CsvRules),
    /// A line has this key.
    Key(String),
    /// It is a JSON list.
    List,
    /// A JSON object has this field; with a text, it has this value.
    Field {
        /// Its path.
        path: FieldPath,
        /// Its value as text; `None`: any.
        value: Option<String>,
    },
}

impl AnswerRule {
    /// Checks an answer.
    ///
    /// # Errors
    /// A part is missing.
    pub(crate) fn check(&self, text: &str) -> Result<(), InvalidAnswer> {
        if self.may_be_empty && text.trim().is_empty() {
            return Ok(());
        }
        let json = match &self.namespaces {
            Some(namespaces) => Some(
                xml::answer(text, namespaces).map_err(|error| InvalidAnswer(error.to_string()))?,
            ),
            None => serde_json::from_str(text).ok(),
        };
        let mut expectations = self.expectations.iter();
        expectations.try_for_each(|one| one.check(text, json.as_ref()))
    }

    /// Whether a text has the lines of a valid answer, whatever its end is.
    pub(crate) fn has_expected_lines(&self, text: &str) -> bool {
        let mut lines = self.expectations.iter();
        let is_end = |one: &&Expectation| matches!(one, Expectation::LastLine(_));
        lines.any(|one| !is_end(&one))
            && self
                .expectations
                .iter()
                .all(|one| is_end(&one) || one.check(text, None).is_ok())
    }

    /// The list of instances, if the answer is JSON with one.
    pub(crate) fn rows(&self) -> Option<&NestedRows> {
        self.expectations.iter().find_map(|one| match one {
            Expectation::Rows(rows) => Some(rows),
            _ => None,
        })
    }

    /// Whether the answer is a table or a list of stanzas.
    pub(crate) fn is_tabular(&self) -> bool {
        self.expectations.iter().any(|one| {
            matches!(
                one,
                Expectation::Header(_) | Expectation::CsvHeader(_) | Expectation::Key(_)
            )
        })
    }

    /// Whether the answer ends as declared. True if its end is not declared.
    pub(crate) fn is_complete(&self, text: &str) -> bool {
        let mut ends = self.expectations.iter();
        ends.all(|one| !matches!(one, Expectation::LastLine(_)) || one.check(text, None).is_ok())
    }
}

impl Expectation {
    /// Checks a text, which may be JSON or XML.
    fn check(&self, text: &str, json: Option<&Json>) -> Result<(), InvalidAnswer> {
        let mut lines = text.lines().map(str::trim_end);
        let (is_met, reason) = match self {
            Expectation::Line(pattern) => (
                lines.any(|line| pattern.is_match(line)),
                format!("it has no line that matches `{pattern}`"),
            ),
            Expectation::LastLine(pattern) => (
                lines
                    .rfind(|line| !line.is_empty())
                    .is_some_and(|line| pattern.is_match(line)),
                format!("it is incomplete: its last line does not match `{pattern}`"),
            ),
            Expectation::Rows(rows) => {
                let missing = rows.rows(json.unwrap_or(&Json::Null)).err();
                (missing.is_none(), missing.unwrap_or_default())
            }
            Expectation::Header(first) => (
                lines.any(|line| line.split_whitespace().next() == Some(first)),
                format!("it has no table header `{first}`"),
            ),
            Expectation::CsvHeader(rules) => (
                lines.any(|line| rules.is_header(line)),
                format!("it has no header with the first column `{}`", rules.first),
            ),
            Expectation::Key(key) => (
                lines.any(|line| {
                    let rest = line.trim_start().strip_prefix(key.as_str());
                    rest.is_some_and(|rest| rest.trim_start().starts_with(':'))
                }),
                format!("it has no line `{key}: …`"),
            ),
            Expectation::List => (
                json.is_some_and(Json::is_array),
                "it is not a JSON list".to_owned(),
            ),
            Expectation::Field { path, value } => {
                let field = json.and_then(|json| path.get(json));
                let is_document = json.is_some_and(|json| json.is_object() || json.is_array());
                match (is_document, field, value) {
                    (false, ..) => (false, "it is not a JSON object".to_owned()),
                    (true, None, _) => (false, format!("it has no field `{path}`")),
                    (true, Some(_), None) => (true, String::new()),
                    (true, Some(found), Some(value)) => (
                        scalar_text(found).as_ref() == Some(value),
                        format!("its field `{path}` is {found} instead of \"{value}\""),
                    ),
                }
            }
        };
        if is_met {
            Ok(())
        } else {
            Err(InvalidAnswer(reason))
        }
    }
}

/// Characters of an answer in a message.
const EXCERPT: usize = 100;

/// The first line of an answer with text, for messages. It may contain secrets: mask it before
/// output.
pub(crate) fn excerpt(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    let line = line.unwrap_or_default();
    match line.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(expectation: Expectation, text: &str) -> String {
        let rule = AnswerRule {
            expectations: vec![expectation],
            ..AnswerRule::default()
        };
        rule.check(text)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn answer_rule_names_what_is_missing() {
        let pattern = |text: &str| Pattern::new(text).unwrap();
        let field = |value: Option<&str>| Expectation::Field {
            path: FieldPath::of("kind"),
            value: value.map(str::to_owned),
        };
        let cases = [
            (
                Expectation::Line(pattern("^version ")),
                "!\nversion 15.2\n",
                "",
            ),
            (
                Expectation::Line(pattern("^version ")),
                "Unable to get configuration. Try again later.\n",
                "it has no line that matches `^version `",
            ),
            (Expectation::LastLine(pattern("^end$")), "a\nend\n\n", ""),
            (
                Expectation::LastLine(pattern("^end$")),
                "end\nntp server",
                "it is incomplete: its last line does not match `^end$`",
            ),
            (
                Expectation::LastLine(pattern("^end$")),
                "",
                "it is incomplete: its last line does not match `^end$`",
            ),
            (Expectation::Header("VLAN".into()), "\nVLAN Name\n", ""),
            (
                Expectation::Header("VLAN".into()),
                "% Low on memory; try again later\n",
                "it has no table header `VLAN`",
            ),
            (Expectation::Key("Name".into()), "Name: Gi1/0/1\n", ""),
            (
                Expectation::Key("Name".into()),
                "Names: x\n",
                "it has no line `Name: …`",
            ),
            (field(Some("x")), r#"{"kind":"x"}"#, ""),
            (field(None), r#"{"kind":[]}"#, ""),
            (field(None), "{}", "it has no field `kind`"),
            (
                field(Some("x")),
                r#"{"kind":"y"}"#,
                "its field `kind` is \"y\" instead of \"x\"",
            ),
            (
                Expectation::Field {
                    path: "response.@status".parse().unwrap(),
                    value: Some("success".to_owned()),
                },
                r#"{"response":{"@status":"success"}}"#,
                "",
            ),
            (field(None), "null", "it is not a JSON object"),
            (field(None), "[]", "it has no field `kind`"),
            (Expectation::List, "[]", ""),
            (Expectation::List, "{}", "it is not a JSON list"),
        ];
        for (expectation, text, expected) in cases {
            assert_eq!(reason(expectation, text), expected, "{text}");
        }
    }

    #[test]
    fn answer_rule_allows_empty_answers_only_on_request() {
        let mut rule = AnswerRule {
            expectations: vec![Expectation::Header("VLAN".into())],
            ..AnswerRule::default()
        };
        assert!(rule.check("\n").is_err());
        rule.may_be_empty = true;
        assert!(rule.check("\n").is_ok());
        assert!(rule.check("% busy\n").is_err());
    }
}
