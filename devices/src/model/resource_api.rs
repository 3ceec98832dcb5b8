//! Imports type files of Puppet modules (`Puppet::ResourceApi.register_type`) as models.
//!
//! A type file is Ruby code that registers one literal hash. [`import`] reads the hash, writes an
//! equivalent model file, and lists the parts that it cannot convert. No Ruby code is executed.

mod title_pattern;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use self::title_pattern::title_form;
use super::classic;
use super::notation::Notation;
use super::ruby::{self, Ruby};
use super::type_file::REGISTER;

/// A model imported from a type file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Name of the type.
    pub name: String,
    /// The text of `models/<name>.toml`.
    pub model: String,
    /// Parts that were not converted, with their line in the type file.
    pub left_out: Vec<OmittedItem>,
}

/// A part of a type file that a model does not support or that is unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OmittedItem {
    /// From 1.
    pub line: usize,
    /// The omitted part and the reason, for the user.
    pub what: String,
}

/// A file that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ImportError {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Makes a model of a type file of either form. Its first line names `origin`.
///
/// # Errors
/// The file registers no type, or the hash of the Resource API cannot be read.
pub fn import(text: &str, origin: &str) -> Result<Import, ImportError> {
    let Some(at) = text.find(REGISTER) else {
        return classic::import(text, origin);
    };
    let hash = ruby::arguments(text, at + REGISTER.len()).map_err(|error| ImportError {
        line: error.line,
        message: error.message,
    })?;
    let name = match hash.get("name").map(|entry| &entry.value) {
        Some(Ruby::Text(name) | Ruby::Symbol(name)) if is_name(name) => name.clone(),
        _ => {
            return Err(ImportError {
                line: hash.line,
                message: "the type has no readable `name`".to_owned(),
            });
        }
    };
    let mut writer = ModelWriter::default();
    writer.type_file(&name, origin, &hash);
    Ok(Import {
        name,
        model: writer.text,
        left_out: writer.left_out,
    })
}

/// Whether a text is a name of a type or attribute.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[derive(Default)]
struct ModelWriter {
    text: String,
    /// By attribute: the types in `refers`, as TOML.
    refers: BTreeMap<String, Vec<String>>,
    left_out: Vec<OmittedItem>,
}

impl ModelWriter {
    fn leave(&mut self, line: usize, what: impl Into<String>) {
        let what = what.into();
        self.left_out.push(OmittedItem { line, what });
    }

    fn type_file(&mut self, name: &str, origin: &str, hash: &ruby::Hash) {
        let doc = hash.text("docs").or(hash.text("desc")).unwrap_or_default();
        let features = hash.words("features");
        let remote = features.iter().any(|feature| feature == "remote_resource");
        let _ = writeln!(self.text, "# Made from {}.", origin.replace('\n', " "));
        let _ = writeln!(self.text, "schema = 1");
        let _ = writeln!(self.text, "type = {}", quoted(name));
        let _ = writeln!(self.text, "doc = {}", quoted(&first_paragraph(doc, name)));
        let runs_on = if remote { "device" } else { "host" };
        let _ = writeln!(self.text, "runs_on = {}", quoted(runs_on));

        let empty = ruby::Hash::default();
        let attributes = match hash.get("attributes") {
            Some(ruby::RubyEntry {
                value: Ruby::Hash(attributes),
                ..
            }) => attributes,
            Some(entry) => {
                self.leave(entry.line, "attributes: not written as a hash");
                &empty
            }
            None => {
                self.leave(hash.line, "attributes: empty");
                &empty
            }
        };
        if let Some(entry) = attributes.get("ensure") {
            self.ensure(entry);
        }
        let namevars: Vec<&str> = attributes
            .entries
            .iter()
            .filter(|entry| behaviour(entry) == Some("namevar"))
            .map(|entry| entry.key.as_str())
            .collect();
        self.titles(hash, &namevars);
        for kind in ["autorequire", "autobefore", "autosubscribe", "autonotify"] {
            self.relations(kind, hash, attributes);
        }
        for entry in &attributes.entries {
            if entry.key != "ensure" {
                self.attribute(entry);
            }
        }
        if namevars.is_empty() {
            self.leave(hash.line, "no attribute has `behaviour: :namevar`");
        }
        for entry in &hash.entries {
            let valid = [
                "name",
                "docs",
                "desc",
                "features",
                "attributes",
                "title_patterns",
                "autorequire",
                "autobefore",
                "autosubscribe",
                "autonotify",
            ];
            if !valid.contains(&entry.key.as_str()) {
                self.leave(entry.line, format!("{}: not supported", entry.key));
            }
        }
    }

    fn ensure(&mut self, entry: &ruby::RubyEntry) {
        let _ = writeln!(self.text, "ensurable = true");
        let Ruby::Hash(hash) = &entry.value else {
            return;
        };
        if let Some(default @ ("present" | "absent")) = hash.text("default") {
            let _ = writeln!(self.text, "ensure_default = {}", quoted(default));
        }
        let kind = hash.text("type").unwrap_or_default();
        let normalized: String = kind.chars().filter(|c| !c.is_whitespace()).collect();
        let normalized = normalized.replace(['\'', '"'], "");
        if !normalized.contains("present,absent") && !normalized.contains("absent,present") {
            self.leave(
                entry.line,
                format!("ensure: `{kind}` is treated as present or absent"),
            );
        }
    }

    fn titles(&mut self, hash: &ruby::Hash, namevars: &[&str]) {
        let Some(entry) = hash.get("title_patterns") else {
            if namevars.len() > 1 {
                self.leave(
                    hash.line,
                    "title_patterns: several namevars and no patterns",
                );
            }
            return;
        };
        let mut titles = Vec::new();
        let items = match &entry.value {
            Ruby::List(items) => items.as_slice(),
            _ => &[],
        };
        for item in items {
            let pattern = match item {
                Ruby::Hash(hash) => hash.get("pattern").map(|entry| &entry.value),
                _ => None,
            };
            let title = match pattern {
                Some(Ruby::Regex(pattern)) => title_form(pattern, namevars),
                _ => None,
            };
            match title {
                Some(title) => titles.push(quoted(&title)),
                None => self.leave(
                    entry.line,
                    "title_patterns: a pattern has more than names and literal text",
                ),
            }
        }
        if !titles.is_empty() {
            let _ = writeln!(self.text, "title = [{}]", titles.join(", "));
        }
    }

    fn relations(&mut self, kind: &str, hash: &ruby::Hash, attributes: &ruby::Hash) {
        let Some(entry) = hash.get(kind) else { return };
        let Ruby::Hash(relations) = &entry.value else {
            self.leave(entry.line, format!("{kind}: not written as a hash"));
            return;
        };
        let mut written = Vec::new();
        for relation in &relations.entries {
            let names = match &relation.value {
                Ruby::List(names) => names.iter().collect(),
                one => vec![one],
            };
            for name in names {
                match name {
                    Ruby::Text(text) => match text.strip_prefix('$') {
                        Some(attribute)
                            if kind == "autorequire" && attributes.get(attribute).is_some() =>
                        {
                            let types = self.refers.entry(attribute.to_owned()).or_default();
                            types.push(quoted(&relation.key.to_lowercase()));
                        }
                        Some(attribute) if attributes.get(attribute).is_some() => {
                            written.push(format!(
                                "{{ type = {}, from = {} }}",
                                quoted(&relation.key.to_lowercase()),
                                quoted(attribute)
                            ));
                        }
                        Some(attribute) => self.leave(
                            relation.line,
                            format!("{kind}: unknown attribute `{attribute}`"),
                        ),
                        None => written.push(format!(
                            "{{ type = {}, names = [{}] }}",
                            quoted(&relation.key.to_lowercase()),
                            quoted(text)
                        )),
                    },
                    _ => self.leave(
                        relation.line,
                        format!("{kind} {}: not a string", relation.key),
                    ),
                }
            }
        }
        if !written.is_empty() {
            let _ = writeln!(self.text, "{kind} = [{}]", written.join(", "));
        }
    }

    fn attribute(&mut self, entry: &ruby::RubyEntry) {
        let name = &entry.key;
        if !is_name(name) {
            self.leave(entry.line, format!("attribute `{name}`: not a name"));
            return;
        }
        let Ruby::Hash(hash) = &entry.value else {
            self.leave(entry.line, format!("{name}: not written as a hash"));
            return;
        };
        let _ = writeln!(self.text, "\n[attr.{name}]");
        if let Some(doc) = hash.text("desc").or(hash.text("docs")) {
            let doc = first_paragraph(doc, "");
            if !doc.is_empty() {
                let _ = writeln!(self.text, "doc = {}", quoted(&doc));
            }
        }
        let behaviour = behaviour(entry);
        match behaviour {
            None => {}
            Some(role @ ("namevar" | "parameter" | "read_only" | "init_only")) => {
                let _ = writeln!(self.text, "role = {}", quoted(role));
            }
            Some(other) => self.leave(
                entry.line,
                format!("{name}: behaviour `{other}` is not supported"),
            ),
        }
        let default = hash.get("default");
        let mut optional = default.is_some() || matches!(behaviour, Some("namevar" | "read_only"));
        match hash.text("type") {
            None => self.leave(
                entry.line,
                format!("{name}: unreadable type; any value is valid"),
            ),
            Some(kind) => match Notation::parse(kind) {
                Ok(notation) => {
                    optional |= notation.optional;
                    for part in &notation.widened {
                        self.leave(
                            entry.line,
                            format!("{name}: `{part}` is treated as any value"),
                        );
                    }
                    let _ = writeln!(self.text, "values = {}", quoted(kind.trim()));
                }
                Err(error) => self.leave(
                    entry.line,
                    format!("{name}: invalid type `{kind}`: {error}"),
                ),
            },
        }
        if let Some(default) = default {
            match toml_value(&default.value) {
                Some(value) => {
                    let _ = writeln!(self.text, "default = {value}");
                }
                None => self.leave(default.line, format!("{name}: unreadable default")),
            }
        }
        if !optional {
            let _ = writeln!(self.text, "required = true");
        }
        if let Some(types) = self.refers.get(name) {
            let _ = writeln!(self.text, "refers = [{}]", types.join(", "));
        }
        if let Some(Ruby::Bool(true)) = hash.get("sensitive").map(|entry| &entry.value) {
            let _ = writeln!(self.text, "sensitive = true");
        }
    }
}

fn behaviour(entry: &ruby::RubyEntry) -> Option<&str> {
    let Ruby::Hash(hash) = &entry.value else {
        return None;
    };
    hash.text("behaviour").or(hash.text("behavior"))
}

fn toml_value(value: &Ruby) -> Option<String> {
    Some(match value {
        Ruby::Text(text) | Ruby::Symbol(text) => quoted(text),
        Ruby::Bool(truth) => truth.to_string(),
        Ruby::Number(text) => text.replace('_', "").parse::<i64>().ok()?.to_string(),
        Ruby::List(items) => {
            let items: Option<Vec<String>> = items.iter().map(toml_value).collect();
            format!("[{}]", items?.join(", "))
        }
        _ => return None,
    })
}

/// The first paragraph of a documentation, without tags (`@summary …`) and their indented
/// continuation lines.
fn first_paragraph(doc: &str, otherwise: &str) -> String {
    let mut tag_indent = None;
    let mut paragraph: Vec<&str> = Vec::new();
    for line in doc.lines() {
        let indent = line.len() - line.trim_start().len();
        tag_indent = if line.trim_start().starts_with('@') {
            Some(indent)
        } else {
            tag_indent.filter(|tag| indent > *tag)
        };
        match line.trim() {
            "" if paragraph.is_empty() => {}
            "" => break,
            _ if tag_indent.is_some() => {}
            text => paragraph.push(text),
        }
    }
    if paragraph.is_empty() {
        otherwise.to_owned()
    } else {
        paragraph.join("\n")
    }
}

/// A text as a TOML string in one line.
pub(super) fn quoted(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = if text.contains('\n') {
        words.join(" ")
    } else {
        text.to_owned()
    };
    toml::Value::String(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::model::{Role, load};

    const TYPE: &str = r#"
# frozen_string_literal: true
require 'puppet/resource_api'

Puppet::ResourceApi.register_type(
  name: 'site_route',
  docs: <<-EOS,
@summary a route
This type keeps a route.

    site_route { 'x': }
EOS
  features: ['remote_resource', :canonicalize],
  title_patterns: [
    { pattern: %r{^(?<prefix>.*[^ ]) via (?<next_hop>\S+)$}, desc: 'both' },
    { pattern: %r{^(?<prefix>.+|x)?$}, desc: 'odd' },
  ],
  autorequire: { site_vrf: '$vrf', 'Package' => ['frr'] },
  attributes: {
    ensure:   { type: 'Enum[present, absent]', desc: 'There or not.', default: 'present' },
    prefix:   { type: 'String[1]', desc: "The \"prefix\"", behaviour: :namevar },
    next_hop: { type: 'String', behavior: :namevar },
    :vrf      => { :type => 'Optional[String]' },
    metric:   {
      type: 'Integer[0, 255]', # no default
      desc: 'How far ' \
            'it is',
    },
    tags:     { type: 'Optional[Array[String]]', default: %w[a b] },
    secret:   { type: 'Optional[Sensitive[String]]' },
    seen:     { type: 'Optional[Hash[String, Integer]]', behaviour: :read_only },
    odd:      { type: Site::TYPES.join(','), desc: 'computed' },
  },
  validate: ->(x) { raise 'no' unless x },
)
"#;

    #[test]
    fn resource_api_import_reports_omitted_parts() {
        let import = import(TYPE, "site_route.rb").unwrap();
        let messages: Vec<String> = import
            .left_out
            .iter()
            .map(|left| format!("{}: {}", left.line, left.what))
            .collect();
        assert_eq!(
            messages,
            [
                "14: title_patterns: a pattern has more than names and literal text",
                "31: seen: `Hash` is treated as any value",
                "32: odd: unreadable type; any value is valid",
                "34: validate: not supported",
            ]
        );
        let model = load::load(&Source::new("m.toml", import.model.as_str()));
        let model = model.unwrap_or_else(|errors| panic!("{errors:#?}\n{}", import.model));
        assert_eq!(model.name, "site_route");
        assert_eq!(model.doc, "This type keeps a route.");
        let names: Vec<&str> = model.attributes.keys().map(|name| name.as_str()).collect();
        assert_eq!(
            names,
            [
                "ensure", "prefix", "next_hop", "vrf", "metric", "tags", "secret", "seen", "odd"
            ]
        );
        assert_eq!(model.titles[0].text, "{prefix} via {next_hop}");
        assert_eq!(model.relations.len(), 1);
        let targets: Vec<&str> = model.references().map(|one| one.target.as_str()).collect();
        assert_eq!(targets, ["site_vrf"]);
        assert_eq!(model.attributes["prefix"].doc, "The \"prefix\"");
        assert_eq!(model.attributes["metric"].doc, "How far it is");
        assert!(model.attributes["metric"].required);
        assert!(!model.attributes["vrf"].required);
        assert!(model.attributes["secret"].sensitive);
        assert_eq!(model.attributes["seen"].role, Role::ReadOnly);
        assert_eq!(
            model.attributes["tags"].default,
            Some(vec!["a", "b"].into())
        );
    }

    #[test]
    fn import_rejects_other_files_with_a_reason() {
        let cases = [
            ("class X; end", "line 1: the file registers no type"),
            ("\nPuppet::ResourceApi.register_type(TYPE)", "line 2: "),
            (
                "Puppet::ResourceApi.register_type(name: NAME)",
                "line 1: the type has no readable `name`",
            ),
            (
                "Puppet::ResourceApi.register_type(\n name: 'x',\n docs: 'open",
                "line 3: ",
            ),
        ];
        for (text, expected) in cases {
            let error = import(text, "x.rb").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
