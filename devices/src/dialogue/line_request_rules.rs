//! Command lines in HTTP requests: the form of requests and answers, as data.

use std::sync::Arc;

use serde_json::Value as Json;

use super::cli_rules::ModeId;
use super::cli_rules_file::{Names, mode_of};
use super::rest_rules::{RequestKeys, RestRules};
use super::session_limits::SessionLimits;
use crate::document::{At, Item, KeyValue, Table, ValueShape, keys};
use crate::read::field_path::{FieldPath, scalar_text};
use crate::secret::{Text, TextPiece};
use crate::secret_text::SecretText;

/// How the lines of a command line travel in HTTP requests. A request begins in `mode`, and the
/// device stops at the first line that it refuses.
#[derive(Clone, Debug)]
pub(crate) struct LineRequestRules {
    /// Port, headers and token of the requests.
    pub(crate) rest: Arc<RestRules>,
    /// The path of the `POST`.
    pub(crate) path: String,
    /// The mode before the first line.
    pub(crate) mode: ModeId,
    /// JSON of a request, with `{lines}` for the list.
    body: String,
    /// JSON of a line in the list, with `{line}` and `{number}`.
    line: String,
    /// The same for a line that needs a text: a password, or the text of a banner.
    line_with_text: Option<String>,
    /// Where the list of the answers to the lines is; the first path that exists counts.
    answers: Vec<FieldPath>,
    /// Where the output is in one of them.
    output: Vec<FieldPath>,
    /// Where the reason is in the answer to a refused line.
    refused: Vec<FieldPath>,
}

keys! {
    /// How the lines of a command line travel in HTTP requests.
    pub(crate) struct LineRequestKeys {
        /// Path of the `POST`.
        path: String,
        /// Mode in which a request begins.
        mode: At<String>,
        /// JSON of a request, with `{lines}`.
        body: LineListTemplate,
        /// JSON of a line, with `{line}` and `{number}`.
        line: Option<OneLineTemplate>,
        /// JSON of a line that needs a text, with `{line}` and `{text}`.
        line_with_text: Option<TextLineTemplate>,
        /// Paths of the list of the answers to the lines.
        answers: Vec<FieldPath>,
        /// Paths of the output in one of them.
        output: Vec<FieldPath>,
        /// Paths of the reason in the answer to a refused line.
        refused: Vec<FieldPath>,
        /// Paths of the message of a request that was refused as a whole.
        error: Vec<FieldPath>,
    }
}

/// A line of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestLine {
    pub(crate) line: Text,
    /// The text that the device requests after the line.
    pub(crate) text: Option<Text>,
}

/// The answer to one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineAnswer {
    pub(crate) output: String,
    /// Why the device refused it.
    pub(crate) refusal: Option<String>,
}

impl LineRequestRules {
    /// Reads `[http]`. Mistakes become findings of the table.
    pub(super) fn read(
        table: &Table<'_>,
        modes: &Names,
        (limits, secrets): (SessionLimits, &SecretText),
    ) -> Option<Arc<Self>> {
        let requests = RequestKeys::of(table);
        let keys = LineRequestKeys::of(table);
        table.finish();
        let keys = keys?;
        let mode = mode_of(&keys.mode, modes, table.findings);
        let mut rest = RestRules::of_requests(requests?, (table, limits), secrets.clone())?;
        rest.message = keys.error;
        let line = keys.line.map(|line| line.0);
        Some(Arc::new(Self {
            rest: Arc::new(rest),
            path: keys.path,
            mode: mode?,
            body: keys.body.0,
            line: line.unwrap_or_else(|| "{line}".to_owned()),
            line_with_text: keys.line_with_text.map(|line| line.0),
            answers: keys.answers,
            output: keys.output,
            refused: keys.refused,
        }))
    }

    /// The body of a request.
    ///
    /// # Errors
    /// The line that needs a text, if the platform cannot send one.
    pub(crate) fn body(&self, lines: &[RequestLine]) -> Result<Text, Text> {
        let mut list = Text::plain("[");
        for (index, line) in lines.iter().enumerate() {
            if index > 0 {
                list.push(",");
            }
            let template = match (&line.text, &self.line_with_text) {
                (None, _) => &self.line,
                (Some(_), Some(template)) => template,
                (Some(_), None) => return Err(line.line.clone()),
            };
            let number = Text::plain((index + 1).to_string());
            let text = line.text.as_ref().map(json_text).unwrap_or_default();
            let values = [
                ("{line}", json_text(&line.line)),
                ("{number}", number),
                ("{text}", text),
            ];
            list.append(filled(template, &values));
        }
        list.push("]");
        Ok(filled(&self.body, &[("{lines}", list)]))
    }

    /// The message of a request that was refused as a whole, if the body has one.
    pub(crate) fn refusal(&self, body: &str) -> Option<String> {
        let body: Json = serde_json::from_str(body).ok()?;
        let mut paths = self.rest.message.iter();
        paths.find_map(|path| text_of(path.get(&body)?))
    }

    /// The answers to the lines of a request, in order; `None`: the body has none.
    pub(crate) fn answers(&self, body: &str) -> Option<Vec<LineAnswer>> {
        let body: Json = serde_json::from_str(body).ok()?;
        let list = self.answers.iter().find_map(|path| path.get(&body))?;
        let one = std::slice::from_ref(list);
        let answers = list.as_array().map_or(one, Vec::as_slice).iter();
        let text = |paths: &[FieldPath], answer: &Json| {
            paths.iter().find_map(|path| text_of(path.get(answer)?))
        };
        let answers = answers.map(|answer| LineAnswer {
            output: text(&self.output, answer).unwrap_or_default(),
            refusal: text(&self.refused, answer),
        });
        Some(answers.collect())
    }
}

/// A text, or the texts of a list as lines.
fn text_of(json: &Json) -> Option<String> {
    match json {
        Json::Array(items) => {
            let texts: Option<Vec<String>> = items.iter().map(text_of).collect();
            texts.map(|texts| texts.join("\n"))
        }
        other => scalar_text(other),
    }
}

/// A text as a JSON string; its secrets stay secrets.
fn json_text(text: &Text) -> Text {
    let mut json = Text::plain("\"");
    for piece in text.pieces() {
        let (TextPiece::Plain(plain) | TextPiece::Secret(plain)) = piece;
        let quoted = Json::from(plain.as_str()).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        match piece {
            TextPiece::Plain(_) => json.push(inner),
            TextPiece::Secret(_) => json.push_secret(inner),
        }
    }
    json.push("\"");
    json
}

/// A template with its placeholders filled.
fn filled(template: &str, values: &[(&str, Text)]) -> Text {
    let mut text = Text::new();
    let mut rest = template;
    while let Some((at, (name, value))) = values
        .iter()
        .filter_map(|pair| Some((rest.find(pair.0)?, pair)))
        .min_by_key(|(at, _)| *at)
    {
        text.push(&rest[..at]);
        text.append(value.clone());
        rest = &rest[at + name.len()..];
    }
    text.push(rest);
    text
}

macro_rules! line_templates {
    ($($(#[doc = $doc:literal])+ $name:ident($($placeholder:literal),+);)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug)]
        pub(crate) struct $name(String);

        impl KeyValue for $name {
            fn declare(shape: &ValueShape) {
                String::declare(shape);
            }

            fn read(item: &Item<'_>) -> Option<Self> {
                template(item, &[$($placeholder),+]).map(Self)
            }
        }
    )+};
}
line_templates! {
    /// JSON of a request.
    LineListTemplate("lines");
    /// JSON of a line.
    OneLineTemplate("line", "number");
    /// JSON of a line that needs a text.
    TextLineTemplate("text", "line", "number");
}

/// A template of JSON with placeholders; it must have the first one.
fn template(item: &Item<'_>, placeholders: &[&str]) -> Option<String> {
    let text = item.string_with(placeholders)?;
    let required = format!("{{{}}}", placeholders.first().copied().unwrap_or_default());
    let sample = [
        ("{lines}", Text::plain("[\"a\"]")),
        ("{line}", Text::plain("\"a\"")),
        ("{number}", Text::plain("1")),
        ("{text}", Text::plain("\"a\"")),
    ];
    let json = filled(&text, &sample).reveal();
    if !text.contains(&required) {
        item.error("template", format!("it has no placeholder `{required}`"));
        return None;
    }
    if let Err(error) = serde_json::from_str::<Json>(&json) {
        item.findings.error_with_help(
            "template",
            item.span.clone(),
            format!("it is not JSON with its placeholders filled: {error}"),
            "write placeholders without quotation marks: they become JSON texts, lists and numbers",
        );
        return None;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::document::{Findings, read};

    /// The command API of EOS: JSON-RPC, whose errors have the answers up to the refused line.
    const COMMAND_API: &str = r#"
path = "/command-api"
mode = "user"
body = '{"cmds":{lines}}'
line_with_text = '{"cmd":{line},"input":{text}}'
answers = ["result", "error.data"]
output = "output"
refused = "errors"
error = "error.message"
"#;

    fn read_rules(text: &str) -> (Option<Arc<LineRequestRules>>, Vec<String>) {
        let source = Source::new("platform.toml", text);
        let findings = Findings::new(&source);
        let names = [("user".to_owned(), 0)].into_iter().collect();
        let limits = SessionLimits::default();
        let secrets = SecretText::default();
        let rules = read(&findings, |root| {
            LineRequestRules::read(root, &names, (limits, &secrets))
        });
        let messages = findings.into_list().into_iter();
        (rules, messages.map(|found| found.message).collect())
    }

    fn rules() -> Arc<LineRequestRules> {
        let (rules, messages) = read_rules(COMMAND_API);
        assert_eq!(messages, [""; 0]);
        rules.expect("read")
    }

    #[test]
    fn templates_are_checked_when_they_are_loaded() {
        let quoted = COMMAND_API.replace("{lines}", "\"{lines}\"");
        let (_, messages) = read_rules(&quoted);
        assert!(messages[0].contains("not JSON"), "{messages:?}");
        let empty = COMMAND_API.replace("{lines}", "[]");
        let (_, messages) = read_rules(&empty);
        assert_eq!(messages, ["it has no placeholder `{lines}`"]);
        let unknown = COMMAND_API.replace("{line},", "{command},");
        let (_, messages) = read_rules(&unknown);
        assert!(messages[0].contains("{command}"), "{messages:?}");
    }

    #[test]
    fn a_request_has_its_lines_and_hides_secrets() {
        let mut secret = Text::plain("key \"");
        secret.push_secret("pa\"ss {line}");
        let lines = [
            RequestLine {
                line: secret,
                text: None,
            },
            RequestLine {
                line: Text::plain("enable"),
                text: Some(Text::secret("hidden")),
            },
        ];
        let body = rules().body(&lines).expect("it can have texts");
        let json: Json = serde_json::from_str(&body.reveal()).expect("JSON");
        assert_eq!(
            json,
            serde_json::json!({"cmds": ["key \"pa\"ss {line}", {"cmd": "enable", "input": "hidden"}]})
        );
        assert_eq!(
            body.to_string(),
            r#"{"cmds":["key \"••••",{"cmd":"enable","input":"••••"}]}"#
        );
    }

    #[test]
    fn answers_end_at_the_refused_line() {
        let body = r#"{"error":{"message":"x","data":[{},{"errors":["bad","word"]}]}}"#;
        let answers = rules().answers(body).expect("answers");
        assert_eq!(
            answers,
            [
                LineAnswer::default(),
                LineAnswer {
                    output: String::new(),
                    refusal: Some("bad\nword".to_owned()),
                },
            ]
        );
        let refused = r#"{"error":{"message":"x"}}"#;
        assert_eq!(rules().answers(refused), None);
        assert_eq!(rules().refusal(refused), Some("x".to_owned()));
        assert_eq!(rules().refusal(r#"{"result":[]}"#), None);
        assert_eq!(rules().answers("no JSON"), None);
    }
}
