//! A draft of a type and its model from a reference of commands.

use std::sync::Arc;

use serde_json::Value as Json;

use super::command_reference::{Feature, Header, Property, is_placeholder};
use super::lines::{AttributeDraft, LineForm};
use super::resource_type::{SampleLines, TypeOutline};
use super::toml_text::quoted;
use super::{Draft, DraftError};
use crate::definitions::DefinitionFile;
use crate::driver::Platform;
use crate::map::IndexMap;
use crate::model::TypeModel;

/// The word for the default of the device in catalogs for such references.
const DEFAULT_WORD: &str = "default";

/// Drafts `PLATFORM/NAME.toml`, and `models/NAME.toml` unless the type exists, from a reference of
/// commands. `variants` are the keys of devices whose forms are taken, the last one first.
///
/// # Errors
/// No property has a line, or the names are not those of the existing type.
pub fn draft_reference(
    own: &[DefinitionFile],
    platform: &Arc<Platform>,
    (name, existing): (&str, Option<&TypeModel>),
    (reference, variants): (&Json, &[String]),
) -> Result<Draft, DraftError> {
    let reference = reference.as_object().ok_or(DraftError::Empty)?;
    let mut feature = Feature::read(reference, variants);
    let (mut outline, sample) = outline(&mut feature).ok_or_else(|| DraftError::NoLine {
        reasons: feature.left_out.clone(),
    })?;
    if let Some(existing) = existing {
        outline.assign(existing)?;
    }
    let lines = SampleLines {
        own,
        platform,
        name,
        has_model: existing.is_some(),
        text: &sample,
    };
    let files = lines.drafted(&mut outline)?;
    let path = format!("{}/{name}.toml", platform.name);
    let left_out = feature.left_out.iter().chain(&outline.notes);
    Ok(Draft {
        files,
        guesses: vec![
            format!("{path}: names, values and `absent`; the tests have invented lines"),
            "tests with a change, a creation and a removal".to_owned(),
        ],
        left_out: left_out.map(|reason| format!("{path}: {reason}")).collect(),
    })
}

/// The type of the block that most properties have, with a sample of its lines.
fn outline(feature: &mut Feature) -> Option<(TypeOutline, String)> {
    let mut blocks: IndexMap<String, (Vec<Header>, usize)> = IndexMap::default();
    for property in &feature.properties {
        let key = texts(&property.context).join(" / ");
        blocks.entry(key).or_insert((property.context.clone(), 0)).1 += 1;
    }
    // The first of several equally frequent ones.
    let most = blocks.values().map(|(_, count)| *count).max()?;
    let (context, _) = blocks.into_values().find(|(_, count)| *count == most)?;
    let mut namevars: Vec<String> = Vec::new();
    for header in &context {
        namevars.extend(placeholders(&header.text));
    }
    let mut outline = TypeOutline {
        location: location(&context),
        ..TypeOutline::default()
    };
    for header in context.iter().filter(|header| header.is_optional) {
        let names = placeholders(&header.text).into_iter();
        outline
            .optional
            .extend(names.map(|name| (name, DEFAULT_WORD.into())));
    }
    let mut sample = Sample::default();
    sample.enter(&texts(&context));
    for property in std::mem::take(&mut feature.properties) {
        match attribute(&property, &context, &namevars) {
            Ok((words, draft)) => {
                sample.add(&property, &draft);
                outline.lines.push((words, draft));
            }
            Err(reason) => feature
                .left_out
                .push(format!("`{}`: {reason}", property.name)),
        }
    }
    outline.namevars = if namevars.is_empty() {
        vec!["name".to_owned()]
    } else {
        namevars
    };
    (!outline.lines.is_empty()).then_some((outline, sample.text()))
}

/// The key of `[instance]` and its templates.
fn location(context: &[Header]) -> (&'static str, Vec<String>) {
    let Some((last, outer)) = context.split_last() else {
        return ("singleton", vec!["default".to_owned()]);
    };
    let template = |header: &Header| header.text.replace('<', "{").replace('>', "}");
    let outer = outer.iter().map(|header| {
        if header.is_optional {
            format!("[{}]", template(header))
        } else {
            template(header)
        }
    });
    let outer: Vec<String> = outer.collect();
    let inner = [outer.as_slice(), &[template(last)]].concat().join(" / ");
    // The last block cannot be optional: each place is a syntax.
    let mut templates = Vec::new();
    if last.is_optional && !outer.is_empty() {
        templates.push(outer.join(" / "));
    }
    templates.push(inner);
    ("block", templates)
}

fn attribute(
    property: &Property,
    context: &[Header],
    namevars: &[String],
) -> Result<(String, AttributeDraft), &'static str> {
    let is_below = property.context.starts_with(context);
    let inner = property.context.get(context.len()..).filter(|_| is_below);
    let inner = texts(inner.ok_or("its line stands in another block")?);
    if inner.iter().any(|header| header.contains('<')) {
        return Err("its line stands in an inner block with a name");
    }
    if namevars.contains(&property.name) {
        return Err("it has the name of a name of the block");
    }
    let name = &property.name;
    let position = property.line.iter().position(|word| is_placeholder(word));
    let values = property
        .line
        .iter()
        .filter(|word| is_placeholder(word))
        .count();
    let mut draft = AttributeDraft {
        name: name.clone(),
        many: property.many,
        default_word: Some(DEFAULT_WORD.into()),
        absent: absent(property, values),
        sub: inner.join(" / "),
        ..AttributeDraft::default()
    };
    let words = match position {
        None if property.default == Json::Bool(true) => {
            draft.form = LineForm::Negative;
            property.line.join(" ")
        }
        None => {
            draft.form = LineForm::Flag;
            property.line.join(" ")
        }
        Some(_) if values > 1 => {
            draft.form = LineForm::Elements(values);
            let mut number = 0..;
            let words = property.line.iter().map(|word| {
                if is_placeholder(word) {
                    format!("{{{}}}", number.next().unwrap_or(0))
                } else {
                    word.clone()
                }
            });
            words.collect::<Vec<_>>().join(" ")
        }
        Some(at) => {
            let is_last = at + 1 == property.line.len();
            draft.values = vec![if property.is_number { "7" } else { "x7" }.to_owned()];
            draft.form = if property.is_number || property.many || !is_last {
                LineForm::Word
            } else {
                LineForm::Rest
            };
            draft.end = property.line[at + 1..].join(" ");
            property.line[..at].join(" ")
        }
    };
    Ok((words, draft))
}

/// The default of the device as TOML, if it is a value of the attribute.
fn absent(property: &Property, values: usize) -> Option<String> {
    if property.many || values != 1 {
        return None;
    }
    match &property.default {
        Json::Number(number) if property.is_number => Some(number.to_string()),
        Json::String(text) if property.is_number => {
            text.parse::<u32>().ok().map(|number| number.to_string())
        }
        Json::String(text) if !text.is_empty() => Some(quoted(text)),
        Json::Number(number) => Some(quoted(&number.to_string())),
        _ => None,
    }
}

fn texts(headers: &[Header]) -> Vec<String> {
    headers.iter().map(|header| header.text.clone()).collect()
}

/// The names in a header.
fn placeholders(header: &str) -> Vec<String> {
    let parts = header.split('<').skip(1);
    let names = parts.filter_map(|part| Some(part.split_once('>')?.0.to_owned()));
    names.collect()
}

/// Invented lines of one instance.
#[derive(Default)]
struct Sample {
    headers: Vec<String>,
    own: Vec<String>,
    inner: IndexMap<String, Vec<String>>,
}

impl Sample {
    fn enter(&mut self, headers: &[String]) {
        let header = |header: &String| {
            let names = placeholders(header).into_iter();
            names.fold(header.clone(), |text, name| {
                text.replace(&format!("<{name}>"), "7")
            })
        };
        self.headers = headers.iter().map(header).collect();
    }

    fn add(&mut self, property: &Property, draft: &AttributeDraft) {
        let value = draft.values.first().map_or("7", String::as_str);
        let words = property.line.iter();
        let words = words.map(|word| if is_placeholder(word) { value } else { word });
        let line = words.collect::<Vec<_>>().join(" ");
        let negative = draft.form == LineForm::Negative;
        let line = if negative { format!("no {line}") } else { line };
        match draft.sub.as_str() {
            "" => self.own.push(line),
            sub => self.inner.entry(sub.to_owned()).or_default().push(line),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut add = |depth: usize, line: &str| text += &format!("{}{line}\n", " ".repeat(depth));
        for (depth, header) in self.headers.iter().enumerate() {
            add(depth, header);
        }
        let depth = self.headers.len();
        self.own.iter().for_each(|line| add(depth, line));
        for (sub, lines) in &self.inner {
            let headers: Vec<&str> = sub.split(" / ").collect();
            for (below, header) in headers.iter().enumerate() {
                add(depth + below, header);
            }
            lines
                .iter()
                .for_each(|line| add(depth + headers.len(), line));
        }
        text
    }
}
