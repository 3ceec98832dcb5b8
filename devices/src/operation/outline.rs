//! Requests as patterns, for a mock.

use percent_encoding::percent_decode_str;
use regex::escape;
use switchtender_outline::{FieldShape, JsonPath, RequestShape};

use super::Method;

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathPart<'a> {
    Literal(&'a str),
    /// The name of an object.
    Name(&'a str, NameEncoding),
}

/// How a path has the name of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameEncoding {
    /// As it is, or encoded as a segment of a URL.
    Segment,
    /// The same with `~` for each slash.
    Tilde,
    /// A part of the name.
    Part,
}

/// Characters that no path has stand for names until the patterns are complete.
const MARKS: u32 = 0xF_0000;

/// The requests with a path.
pub(crate) fn request_shape(method: Method, parts: &[PathPart<'_>]) -> RequestShape {
    let (text, names) = marked(parts);
    let (path, query) = text.split_once('?').unwrap_or((&text, ""));
    let parameters = query.split('&').filter(|one| !one.is_empty()).map(|one| {
        let (name, value) = one.split_once('=').unwrap_or((one, ""));
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        (decoded(name), pattern(&decoded(value), &names, |_| ".*"))
    });
    let tildes = names
        .iter()
        .filter(|(_, encoding)| *encoding == NameEncoding::Tilde);
    RequestShape {
        verb: method.to_string(),
        path: pattern(path, &names, |encoding| match encoding {
            NameEncoding::Segment => "[A-Za-z0-9._~%-]*",
            NameEncoding::Tilde | NameEncoding::Part => "[A-Za-z0-9._~%:@!$*,-]*",
        }),
        parameters: parameters.collect(),
        fields: Vec::new(),
        tilde_names: tildes.map(|(name, _)| (*name).to_owned()).collect(),
    }
}

/// A text with a mark for each name.
fn marked<'a>(parts: &[PathPart<'a>]) -> (String, Vec<(&'a str, NameEncoding)>) {
    let mut text = String::new();
    let mut names = Vec::new();
    for part in parts {
        match part {
            PathPart::Literal(literal) => text.push_str(literal),
            PathPart::Name(name, encoding) => {
                let index = u32::try_from(names.len()).ok();
                text.extend(index.and_then(|index| char::from_u32(MARKS + index)));
                names.push((*name, *encoding));
            }
        }
    }
    (text, names)
}

/// A text with marks as the pattern of a whole text.
fn pattern(
    text: &str,
    names: &[(&str, NameEncoding)],
    characters: impl Fn(NameEncoding) -> &'static str,
) -> String {
    let mut seen: Vec<&str> = Vec::new();
    let mut pattern = String::from("^");
    for c in text.chars() {
        let mark = u32::from(c)
            .checked_sub(MARKS)
            .and_then(|index| usize::try_from(index).ok());
        match mark.and_then(|index| names.get(index)) {
            None => pattern.push_str(&escape(&c.to_string())),
            Some((name, encoding)) => {
                let characters = characters(*encoding);
                if *encoding == NameEncoding::Part || seen.contains(name) {
                    pattern.push_str(characters);
                } else {
                    pattern.push_str(&format!("(?P<{name}>{characters})"));
                    seen.push(name);
                }
            }
        }
    }
    pattern + "$"
}

/// The pattern of a whole text with names.
pub(crate) fn text_shape(parts: &[PathPart<'_>]) -> FieldShape {
    let (text, names) = marked(parts);
    FieldShape::Text(pattern(&text, &names, |_| ".*"))
}

/// The same requests with this body, which is JSON.
pub(crate) fn with_body(shape: RequestShape, body: Option<&str>) -> RequestShape {
    let body = body.and_then(|body| serde_json::from_str(body).ok());
    let fields = body.map(|body| (JsonPath::default(), FieldShape::Value(body)));
    RequestShape {
        fields: fields.into_iter().collect(),
        ..shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_the_names_of_a_path_and_of_parameters() {
        let parts = [
            PathPart::Literal("/a.b/list="),
            PathPart::Name("id", NameEncoding::Segment),
            PathPart::Literal("?cmd=%3Cjob%3E"),
            PathPart::Name("id", NameEncoding::Segment),
            PathPart::Literal("&x=1"),
        ];
        let shape = request_shape(Method::Get, &parts);
        assert_eq!(shape.path, r"^/a\.b/list=(?P<id>[A-Za-z0-9._~%-]*)$");
        let expected = [("cmd", "^<job>(?P<id>.*)$"), ("x", "^1$")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(shape.parameters, expected);
        let tilde = [
            PathPart::Literal("/"),
            PathPart::Name("name", NameEncoding::Tilde),
        ];
        assert_eq!(request_shape(Method::Get, &tilde).tilde_names, ["name"]);
    }
}
