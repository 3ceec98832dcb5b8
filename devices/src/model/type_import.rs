//! Models from type files of Puppet modules, which a program of Puppet has loaded and described as JSON.
//!
//! The description has what the Ruby code of a type declares as data. What is code, such as the check
//! of a value, is listed as left out.

mod description;
mod title_pattern;

use serde::Deserialize;
use serde_json::Value as Json;
use toml::{Table, Value as Toml};

use self::description::{
    DescribedAttribute, DescribedFile, DescribedStyle, DescribedType, VERSION,
};
use self::title_pattern::title_form;
use super::load::load;
use super::notation::Notation;
use crate::diagnostic::Source;

/// A type file as a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// Path of the type file.
    pub file: String,
    /// The model, or why there is none.
    pub outcome: Result<ImportedModel, String>,
}

/// The model of a type file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedModel {
    /// Name of the type.
    pub name: String,
    /// The text of `models/<name>.toml`.
    pub text: String,
    /// Parts of the type that the model does not have.
    pub left_out: Vec<String>,
}

/// A text that describes no type files.
#[derive(Debug, thiserror::Error)]
pub enum DescriptionError {
    /// It is another text.
    #[error("it does not describe types")]
    Invalid(#[from] serde_json::Error),
    /// Another version of the program has written it.
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
}

/// Makes models of the type files in a description.
///
/// # Errors
/// The text is no description, or one of another version.
pub fn import(description: &str) -> Result<Vec<ImportedFile>, DescriptionError> {
    #[derive(Deserialize)]
    struct Descriptions<T> {
        version: u32,
        types: T,
    }
    let unread: Descriptions<Json> = serde_json::from_str(description)?;
    if unread.version != VERSION {
        return Err(DescriptionError::Version(unread.version));
    }
    let files: Vec<DescribedFile> = serde_json::from_value(unread.types)?;
    Ok(files.into_iter().map(imported).collect())
}

fn imported(described: DescribedFile) -> ImportedFile {
    match described {
        DescribedFile::Unreadable { file, error } => ImportedFile {
            file,
            outcome: Err(error),
        },
        DescribedFile::Type(described) => ImportedFile {
            outcome: model(&described),
            file: described.file,
        },
    }
}

/// The model of a type. It is loaded: a type file can have what a model cannot express.
fn model(described: &DescribedType) -> Result<ImportedModel, String> {
    let name = &described.name;
    if !is_name(name) {
        return Err(format!("`{name}` is no name of a type"));
    }
    let mut writer = ModelWriter {
        described,
        left_out: described.left_out.clone(),
    };
    let table = writer.model();
    let file_name = described.file.rsplit('/').next().unwrap_or_default();
    let origin = file_name.replace(char::is_control, " ");
    let text = format!("# Made from {origin}.\n{table}");
    match load(&Source::new(name.as_str(), text.as_str())) {
        Ok(_) => Ok(ImportedModel {
            name: name.clone(),
            text,
            left_out: writer.left_out,
        }),
        Err(findings) => {
            let messages: Vec<String> = findings.into_iter().map(|found| found.message).collect();
            Err(format!("its model is invalid: {}", messages.join("; ")))
        }
    }
}

/// Whether a text is a name of a type or attribute.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

struct ModelWriter<'a> {
    described: &'a DescribedType,
    left_out: Vec<String>,
}

impl ModelWriter<'_> {
    fn model(&mut self) -> Table {
        let described = self.described;
        let style = match described.style {
            DescribedStyle::Classic => "classic",
            DescribedStyle::ResourceApi => "resource_api",
        };
        let doc = first_paragraph(described.doc.as_deref().unwrap_or_default());
        let doc = doc.unwrap_or_else(|| described.name.clone());
        let mut model = Table::new();
        model.insert("schema".to_owned(), 1.into());
        model.insert("type".to_owned(), described.name.as_str().into());
        model.insert("doc".to_owned(), doc.into());
        model.insert("runs_on".to_owned(), described.runs_on.as_str().into());
        model.insert("style".to_owned(), style.into());
        let mut attributes = described.attributes.iter();
        let ensure = attributes.find(|attribute| attribute.name == "ensure");
        if let Some(ensure) = ensure {
            self.add_ensure(ensure, &mut model);
        } else if described.is_ensurable {
            model.insert("ensurable".to_owned(), true.into());
        }
        let titles = self.titles();
        if !titles.is_empty() {
            model.insert("title".to_owned(), titles.into());
        }
        let refers = self.add_relations(&mut model);
        let mut all = Table::new();
        for attribute in described.attributes.iter() {
            if attribute.name == "ensure" {
                continue;
            }
            if !is_name(&attribute.name) {
                let text = format!("attribute `{}`: not a name", attribute.name);
                self.left_out.push(text);
                continue;
            }
            let mut table = self.attribute(attribute);
            if let Some(types) = refers.get(&attribute.name) {
                table.insert("refers".to_owned(), types.clone());
            }
            all.insert(attribute.name.clone(), table.into());
        }
        if self.namevars().is_empty() {
            // Puppet takes the title as the name.
            let name = Table::from_iter([("role".to_owned(), "namevar".into())]);
            all.insert("name".to_owned(), name.into());
        }
        model.insert("attr".to_owned(), all.into());
        model
    }

    fn namevars(&self) -> Vec<&str> {
        let attributes = self.described.attributes.iter();
        attributes
            .filter(|attribute| attribute.role == "namevar")
            .map(|attribute| attribute.name.as_str())
            .collect()
    }

    fn add_ensure(&mut self, ensure: &DescribedAttribute, model: &mut Table) {
        model.insert("ensurable".to_owned(), true.into());
        if let Json::String(default) = &ensure.default
            && matches!(default.as_str(), "present" | "absent")
        {
            model.insert("ensure_default".to_owned(), default.as_str().into());
        }
        let notation = ensure.notation.as_deref().unwrap_or_default();
        let normalized = notation.replace(|c: char| c.is_whitespace() || "'\"".contains(c), "");
        if !normalized.contains("present,absent") && !normalized.contains("absent,present") {
            self.left_out.push(format!(
                "ensure: `{notation}` is treated as present or absent"
            ));
        }
    }

    fn titles(&mut self) -> Vec<String> {
        let namevars = self.namevars();
        let patterns = &self.described.title_patterns;
        let forms = patterns
            .iter()
            .map(|pattern| title_form(pattern, &namevars));
        let titles: Vec<String> = forms.flatten().collect();
        let is_classic = self.described.style == DescribedStyle::Classic;
        if patterns.is_empty() && namevars.len() > 1 && !is_classic {
            self.left_out
                .push("title_patterns: several namevars and no patterns".to_owned());
        }
        for _ in titles.len()..patterns.len() {
            let text = "title_patterns: a pattern has more than names and literal text";
            self.left_out.push(text.to_owned());
        }
        titles
    }

    /// Adds the automatic relations. Those that are references are returned: for each attribute the
    /// types that it refers to.
    fn add_relations(&mut self, model: &mut Table) -> Table {
        let described = self.described;
        let is_attribute = |name: &str| described.attributes.iter().any(|one| one.name == name);
        let mut refers = Table::new();
        for (kind, targets) in &described.relations {
            let mut relations = Vec::new();
            for (target, names) in targets {
                let target = target.to_lowercase();
                for name in names.names() {
                    let mut relation = Table::new();
                    match name.strip_prefix('$') {
                        Some(attribute) if !is_attribute(attribute) => {
                            let text = format!("{kind}: unknown attribute `{attribute}`");
                            self.left_out.push(text);
                            continue;
                        }
                        Some(attribute) if kind == "autorequire" => {
                            let types = refers
                                .entry(attribute)
                                .or_insert_with(|| Toml::Array(Vec::new()));
                            types
                                .as_array_mut()
                                .expect("an array")
                                .push(target.as_str().into());
                            continue;
                        }
                        Some(attribute) => relation.insert("from".to_owned(), attribute.into()),
                        None => relation.insert("names".to_owned(), vec![name.as_str()].into()),
                    };
                    relation.insert("type".to_owned(), target.as_str().into());
                    relations.push(relation);
                }
            }
            if !relations.is_empty() {
                model.insert(kind.clone(), relations.into());
            }
        }
        refers
    }

    fn attribute(&mut self, described: &DescribedAttribute) -> Table {
        let name = &described.name;
        let mut table = Table::new();
        if let Some(doc) = first_paragraph(described.doc.as_deref().unwrap_or_default()) {
            table.insert("doc".to_owned(), doc.into());
        }
        if described.role != "property" {
            table.insert("role".to_owned(), described.role.as_str().into());
        }
        if described.is_list {
            table.insert("array".to_owned(), "list".into());
        }
        if !described.values.is_empty() {
            let values = described.values.iter().map(|word| match word.as_str() {
                "true" | "false" => Toml::Boolean(word == "true"),
                word => word.into(),
            });
            table.insert("values".to_owned(), Toml::Array(values.collect()));
        }
        // Attributes of classic types are checked by code, if at all.
        let mut is_optional = self.described.style == DescribedStyle::Classic
            || !described.default.is_null()
            || matches!(described.role.as_str(), "namevar" | "read_only");
        if let Some(notation) = &described.notation {
            match Notation::parse(notation) {
                Ok(parsed) => {
                    is_optional |= parsed.optional;
                    let widened = parsed.widened.iter();
                    self.left_out.extend(
                        widened.map(|part| format!("{name}: `{part}` is treated as any value")),
                    );
                    table.insert("values".to_owned(), notation.trim().into());
                }
                Err(error) => self
                    .left_out
                    .push(format!("{name}: invalid type `{notation}`: {error}")),
            }
        }
        if !described.default.is_null() {
            match toml_value(&described.default) {
                Some(default) => {
                    table.insert("default".to_owned(), default);
                }
                None => self.left_out.push(format!("{name}: the default")),
            }
        }
        if !is_optional {
            table.insert("required".to_owned(), true.into());
        }
        if described.is_sensitive {
            table.insert("sensitive".to_owned(), true.into());
        }
        let left_out = described.left_out.iter();
        self.left_out
            .extend(left_out.map(|part| format!("{name}: {part}")));
        table
    }
}

fn toml_value(value: &Json) -> Option<Toml> {
    Some(match value {
        Json::String(text) => text.as_str().into(),
        Json::Bool(truth) => (*truth).into(),
        Json::Number(number) => number.as_i64()?.into(),
        Json::Array(items) => {
            let items: Option<Vec<Toml>> = items.iter().map(toml_value).collect();
            Toml::Array(items?)
        }
        Json::Null | Json::Object(_) => return None,
    })
}

/// The first paragraph of a documentation in one line, without tags (`@summary …`) and their indented
/// continuation lines.
fn first_paragraph(doc: &str) -> Option<String> {
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
            text => paragraph.extend(text.split_whitespace()),
        }
    }
    (!paragraph.is_empty()).then(|| paragraph.join(" "))
}

#[cfg(test)]
mod tests;
