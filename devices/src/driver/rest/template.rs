//! Templates for paths and bodies of requests: `/mgmt/tm/ltm/pool/{name|tilde}`.
//!
//! A placeholder is the name of an attribute (or a word of the caller, such as `kind`) with
//! optional filters. Templates have no conditions and no expressions.

use std::fmt;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use serde_json::Value as Json;

use crate::driver::template_error::TemplateError;
use crate::operation::outline::{NameEncoding, PathPart};
use crate::read::parents::{SEGMENT, encode_segment};

/// A text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextTemplate {
    source: String,
    pieces: Vec<TemplateSegment>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplateSegment {
    Literal(String),
    Hole { name: String, filters: Vec<Filter> },
}

/// A filter of a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filter {
    /// A full path as the last part of a URL: `/` becomes `~`, the rest is percent-encoded.
    Tilde,
    /// The last part of a path: `web` of `/Common/web`.
    Base,
    /// The first part of a path: `Common` of `/Common/web`; empty without a slash.
    Partition,
    /// The part between partition and name: `app.app` of `/Common/app.app/web`.
    Folder,
    /// Percent-encoded as one segment of a URL.
    Percent,
    /// A number in a body.
    Number,
    /// The text between double quotes of a shell.
    Shell,
}

impl Filter {
    const ALL: [(&'static str, Filter); 7] = [
        ("tilde", Filter::Tilde),
        ("base", Filter::Base),
        ("partition", Filter::Partition),
        ("folder", Filter::Folder),
        ("percent", Filter::Percent),
        ("number", Filter::Number),
        ("shell", Filter::Shell),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, filter)| *filter)
    }

    fn apply(self, text: &str) -> String {
        let parts = || text.split('/').filter(|part| !part.is_empty());
        match self {
            Filter::Tilde => utf8_percent_encode(&text.replace('/', "~"), PATH).to_string(),
            Filter::Percent => encode_segment(text),
            Filter::Number => text.to_owned(),
            Filter::Shell => {
                let escaped = text.chars().flat_map(|c| {
                    let escape = matches!(c, '"' | '\\' | '$' | '`').then_some('\\');
                    escape.into_iter().chain([c])
                });
                escaped.collect()
            }
            Filter::Base => parts().next_back().unwrap_or_default().to_owned(),
            Filter::Partition if !text.starts_with('/') => String::new(),
            Filter::Partition => match parts().collect::<Vec<_>>().as_slice() {
                [first, _, ..] => (*first).to_owned(),
                _ => String::new(),
            },
            Filter::Folder => match parts().collect::<Vec<_>>().as_slice() {
                [_, middle @ .., _] if text.starts_with('/') => middle.join("/"),
                _ => String::new(),
            },
        }
    }
}

/// The same for a full path of iControl REST, with the separators of its names.
const PATH: &AsciiSet = &SEGMENT
    .remove(b':')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'*')
    .remove(b',');

/// A field of a body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum BodyField {
    /// A text, or a number if its placeholder has the filter `number`.
    Text(TextTemplate),
    /// A constant.
    Constant(Json),
}

/// The name of a placeholder without a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnfilledHole(pub(crate) String);

impl TextTemplate {
    /// Parses a template.
    ///
    /// # Errors
    /// A placeholder is invalid.
    pub(crate) fn parse(source: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = source;
        while let Some(open) = rest.find('{') {
            if open > 0 {
                pieces.push(TemplateSegment::Literal(rest[..open].to_owned()));
            }
            let Some(length) = rest[open..].find('}') else {
                return Err(TemplateError(format!("`{{` without `}}` in `{source}`")));
            };
            let mut words = rest[open + 1..open + length].split('|');
            let name = words.next().unwrap_or_default();
            if name.is_empty() {
                return Err(TemplateError(format!(
                    "`{{}}` without a name in `{source}`"
                )));
            }
            let filters = words
                .map(|word| {
                    Filter::named(word).ok_or_else(|| {
                        let names: Vec<_> = Filter::ALL.iter().map(|(name, _)| *name).collect();
                        let names = names.join(", ");
                        TemplateError(format!("unknown filter `{word}`; filters: {names}"))
                    })
                })
                .collect::<Result<_, _>>()?;
            pieces.push(TemplateSegment::Hole {
                name: name.to_owned(),
                filters,
            });
            rest = &rest[open + length + 1..];
        }
        if !rest.is_empty() {
            pieces.push(TemplateSegment::Literal(rest.to_owned()));
        }
        Ok(Self {
            source: source.to_owned(),
            pieces,
        })
    }

    /// The names of the placeholders, in order.
    pub(crate) fn holes(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplateSegment::Hole { name, .. } => Some(name.as_str()),
            TemplateSegment::Literal(_) => None,
        })
    }

    /// The names of the placeholders that are not encoded for a URL.
    pub(crate) fn unencoded_holes(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            TemplateSegment::Hole { name, filters } => {
                let is_encoded = matches!(filters.last(), Some(Filter::Tilde | Filter::Percent));
                (!is_encoded).then_some(name.as_str())
            }
            TemplateSegment::Literal(_) => None,
        })
    }

    /// Whether the text is a number in a body.
    pub(crate) fn is_number(&self) -> bool {
        matches!(
            self.pieces.as_slice(),
            [TemplateSegment::Hole { filters, .. }] if filters.last() == Some(&Filter::Number)
        )
    }

    /// Its parts, for a mock.
    pub(super) fn parts(&self) -> impl Iterator<Item = PathPart<'_>> {
        self.pieces.iter().map(|piece| match piece {
            TemplateSegment::Literal(text) => PathPart::Literal(text),
            TemplateSegment::Hole { name, filters } => {
                let encoding = match filters.as_slice() {
                    [] | [Filter::Number | Filter::Percent] => NameEncoding::Segment,
                    [Filter::Tilde] => NameEncoding::Tilde,
                    _ => NameEncoding::Part,
                };
                PathPart::Name(name, encoding)
            }
        })
    }

    /// The values of the placeholders in a rendered path. `None` if the path is another one, or a
    /// filter cannot be reversed.
    pub(crate) fn values_in(&self, path: &str) -> Option<Vec<(&str, String)>> {
        let mut values = Vec::new();
        let mut rest = path;
        let mut pieces = self.pieces.iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                TemplateSegment::Literal(text) => rest = rest.strip_prefix(text.as_str())?,
                TemplateSegment::Hole { name, filters } => {
                    let is_encoded = match filters.as_slice() {
                        [] | [Filter::Number] => false,
                        [Filter::Percent] => true,
                        _ => return None,
                    };
                    let end = match pieces.peek() {
                        Some(TemplateSegment::Literal(text)) => rest.find(text.as_str())?,
                        _ => rest.len(),
                    };
                    let (text, after) = rest.split_at(end);
                    let text = match is_encoded {
                        true if text.contains('/') => return None,
                        true => percent_decode_str(text).decode_utf8().ok()?,
                        false => text.into(),
                    };
                    values.push((name.as_str(), text.into_owned()));
                    rest = after;
                }
            }
        }
        rest.is_empty().then_some(values)
    }

    /// Renders the template.
    ///
    /// # Errors
    /// A placeholder has no value.
    pub(crate) fn fill(
        &self,
        text_of: impl Fn(&str) -> Option<String>,
    ) -> Result<String, UnfilledHole> {
        let mut out = String::new();
        for piece in &self.pieces {
            match piece {
                TemplateSegment::Literal(text) => out.push_str(text),
                TemplateSegment::Hole { name, filters } => {
                    let text = text_of(name).ok_or_else(|| UnfilledHole(name.clone()))?;
                    out.push_str(
                        &filters
                            .iter()
                            .fold(text, |text, filter| filter.apply(&text)),
                    );
                }
            }
        }
        Ok(out)
    }
}

impl fmt::Display for TextTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_filled_and_filtered() {
        let cases = [
            ("/x/{name|tilde}", "/Common/web", "/x/~Common~web"),
            (
                "/x/{name|tilde}",
                "/Common/a.app/web",
                "/x/~Common~a.app~web",
            ),
            (
                "/x/{name|tilde}",
                "/Common/10.0.0.1%2",
                "/x/~Common~10.0.0.1%252",
            ),
            ("/x/{name|tilde}", "/Common/a b", "/x/~Common~a%20b"),
            ("/x/{name|percent}", "web/1", "/x/web%2F1"),
            (
                "/x={name|percent},1",
                "a,b:c=d?e#f",
                "/x=a%2Cb%3Ac%3Dd%3Fe%23f,1",
            ),
            ("/x/{name|base|percent}", "/Common/ü", "/x/%C3%BC"),
            ("{name|base}", "/Common/a.app/web", "web"),
            ("{name|base}", "shop", "shop"),
            ("{name|partition}", "/Common/web", "Common"),
            ("{name|partition}", "shop", ""),
            ("{name|partition}", "/shop", ""),
            ("{name|folder}", "/Common/web", ""),
            ("{name|folder}", "/Common/a/b/web", "a/b"),
            (
                "-c \"{name|shell}\"",
                r#"a "b" \ $c `d`"#,
                r#"-c "a \"b\" \\ \$c \`d\`""#,
            ),
            ("plain", "x", "plain"),
        ];
        for (template, name, expected) in cases {
            let template = TextTemplate::parse(template).expect("a good template");
            let got = template.fill(|hole| (hole == "name").then(|| name.to_owned()));
            assert_eq!(got.as_deref(), Ok(expected), "{template} with {name}");
        }
    }

    #[test]
    fn template_errors_name_the_cause() {
        for (template, message) in [
            ("/x/{name", "`{` without `}` in `/x/{name`"),
            ("/x/{}", "`{}` without a name in `/x/{}`"),
            (
                "{name|tidle}",
                "unknown filter `tidle`; filters: tilde, base, partition, folder, percent, number, shell",
            ),
        ] {
            assert_eq!(
                TextTemplate::parse(template),
                Err(TemplateError(message.to_owned()))
            );
        }
    }

    #[test]
    fn template_finds_the_values_in_a_path() {
        let template = TextTemplate::parse("/d/list={id|percent},{name|percent}/x").expect("good");
        let expected = vec![("id", "10".to_owned()), ("name", "a,b/c".to_owned())];
        let path = "/d/list=10,a%2Cb%2Fc/x";
        assert_eq!(template.values_in(path), Some(expected));
        for other in ["/d/list=10,a", "/d/list=10/x", "/d/list=10,a/b/x"] {
            assert_eq!(template.values_in(other), None, "{other}");
        }
        let tilde = TextTemplate::parse("/d/{name|tilde}").expect("good");
        assert_eq!(tilde.values_in("/d/a"), None);
    }

    #[test]
    fn template_error_names_a_placeholder_without_text() {
        let template = TextTemplate::parse("/x/{kind}/{name}").expect("a good template");
        assert_eq!(
            template.fill(|_| None),
            Err(UnfilledHole("kind".to_owned()))
        );
    }
}
