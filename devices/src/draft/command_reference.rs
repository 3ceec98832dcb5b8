//! A reference of commands: for each property of a feature the line that sets it, the line by which it
//! is read, and the blocks around it, as in `cmd_ref/*.yaml` of `cisco/cisco-network-node-utils`.

use regex::Regex;
use serde_json::{Map, Value as Json};

/// The keys of a property. Other keys with a table are its variants.
const KEYS: [&str; 14] = [
    "_exclude",
    "_template",
    "auto_default",
    "context",
    "data_format",
    "default_only",
    "default_value",
    "get_command",
    "get_context",
    "get_data_format",
    "get_value",
    "kind",
    "multiple",
    "set_context",
];

/// The form of a property where no chosen variant has one.
const OTHERS: &str = "else";

/// A property of a feature that a line sets.
#[derive(Clone, Debug)]
pub(super) struct Property {
    pub(super) name: String,
    /// The headers of the blocks around the line, outermost first.
    pub(super) context: Vec<Header>,
    /// The words of the line.
    pub(super) line: Vec<String>,
    pub(super) is_number: bool,
    pub(super) many: bool,
    pub(super) default: Json,
}

/// The header of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) text: String,
    pub(super) is_optional: bool,
}

/// The properties of a feature, and why others are not drafted.
#[derive(Default)]
pub(super) struct Feature {
    pub(super) properties: Vec<Property>,
    pub(super) left_out: Vec<String>,
}

impl Feature {
    /// Reads a feature in the form of the variants, of which later ones override earlier ones.
    pub(super) fn read(reference: &Map<String, Json>, variants: &[String]) -> Self {
        let mut feature = Self::default();
        if is_excluded(reference, variants) {
            feature
                .left_out
                .push("the feature: it excludes the variant".to_owned());
            return feature;
        }
        let template = reference.get("_template").and_then(Json::as_object);
        let template = template
            .map(|form| resolved(form, variants))
            .unwrap_or_default();
        for (name, form) in reference.iter().filter(|(name, _)| !name.starts_with('_')) {
            let own = form.as_object().cloned().unwrap_or_default();
            let mut form = template.clone();
            form.extend(resolved(&own, variants));
            match property(name, &form, variants) {
                Ok(property) => feature.properties.push(property),
                Err(reason) => feature.left_out.push(format!("`{name}`: {reason}")),
            }
        }
        feature
    }
}

/// The keys in the form of the variants.
fn resolved(form: &Map<String, Json>, variants: &[String]) -> Map<String, Json> {
    let is_key = |key: &str| KEYS.contains(&key) || key == "set_value";
    let mut own = form.clone();
    own.retain(|key, value| is_key(key) || !value.is_object());
    let chosen = variants.iter().filter_map(|variant| form.get(variant));
    let mut chosen: Vec<&Json> = chosen.collect();
    if chosen.is_empty() {
        chosen.extend(form.get(OTHERS));
    }
    for variant in chosen.into_iter().filter_map(Json::as_object) {
        own.extend(resolved(variant, variants));
    }
    own
}

fn is_excluded(form: &Map<String, Json>, variants: &[String]) -> bool {
    let excluded = form.get("_exclude").and_then(Json::as_array);
    let mut excluded = excluded.into_iter().flatten().filter_map(Json::as_str);
    excluded.any(|name| variants.iter().any(|variant| variant == name))
}

fn property(
    name: &str,
    form: &Map<String, Json>,
    variants: &[String],
) -> Result<Property, &'static str> {
    let line = match form.get("set_value") {
        _ if is_excluded(form, variants) => return Err("the variant does not have it"),
        Some(Json::String(line)) => line,
        Some(_) => return Err("several lines set it"),
        None if form.contains_key("default_only") => return Err("it is a constant"),
        None => return Err("no line sets it alone"),
    };
    let words = line.split_whitespace().filter(|word| *word != "<state>");
    let line: Vec<String> = words.map(str::to_owned).collect();
    if line.first().is_none_or(|word| word.contains('<')) {
        return Err("its line has no word before the value");
    }
    if line
        .iter()
        .any(|word| word.contains('<') && !is_placeholder(word))
    {
        return Err("a value is a part of a word");
    }
    // `multiple` without a value is true.
    let many = form
        .get("multiple")
        .is_some_and(|many| *many != Json::Bool(false));
    let values = line.iter().filter(|word| is_placeholder(word)).count();
    if values > 1 && !many {
        return Err("its line has several values: write it with `with` or as a list");
    }
    if values == 0 && many {
        return Err("its lines have no value");
    }
    if form
        .get("get_value")
        .and_then(Json::as_str)
        .is_some_and(|read| !is_read(read, &line))
    {
        return Err("it is read from another line than the one that sets it");
    }
    let context = ["set_context", "context", "get_context"];
    let context = context.iter().find_map(|key| form.get(*key));
    let context = context.and_then(Json::as_array).into_iter().flatten();
    let context = context.filter_map(Json::as_str).map(|text| Header {
        is_optional: text.starts_with("(?)"),
        text: text.trim_start_matches("(?)").trim().to_owned(),
    });
    let context: Vec<Header> = context.collect();
    if context.iter().any(|header| header.text.starts_with('/')) {
        return Err("its block is a pattern");
    }
    Ok(Property {
        name: name.to_owned(),
        context,
        line,
        is_number: form.get("kind").and_then(Json::as_str) == Some("int"),
        many,
        default: form.get("default_value").cloned().unwrap_or_default(),
    })
}

pub(super) fn is_placeholder(word: &str) -> bool {
    word.starts_with('<') && word.ends_with('>')
}

/// Whether a pattern of the reference reads a line with these words.
fn is_read(pattern: &str, line: &[String]) -> bool {
    let Some((text, flags)) = pattern
        .strip_prefix('/')
        .and_then(|rest| rest.rsplit_once('/'))
    else {
        return false;
    };
    let sample = |value: &str| {
        let words = line
            .iter()
            .map(|word| if is_placeholder(word) { value } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    let flags = if flags.contains('i') { "(?i)" } else { "" };
    let read = Regex::new(&format!("{flags}{text}"));
    read.is_ok_and(|read| {
        ["7", "x", "1:1", "10.0.0.1"]
            .iter()
            .any(|value| read.is_match(&sample(value)))
    })
}
