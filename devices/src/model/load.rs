//! Reading of `definitions/models/<type>.toml` into a [`TypeModel`].
//!
//! The keys are described in `definitions/README.md`; unknown ones are reported. Mistakes go to
//! the file's findings, and a model comes out only when there were none.

use std::sync::Arc;

use crate::map::IndexMap;

use super::notation::Notation;
use super::{
    ArrayKind, AttributeModel, AutoKind, AutoRelation, Canon, Reference, Refresh, RelationSource,
    Role, Rule, RuleKind, RunsOn, StructField, Style, TitlePattern, TypeModel, ValueSpec,
};
use crate::diagnostic::{Diagnostic, Source, nearest};
use crate::document::{self, Findings, Item, Table};
use crate::pattern::Pattern;
use crate::value::Value;

/// The version of the file format that this build reads.
pub const SCHEMA: i64 = 1;

/// Longest pattern that a definition may have, in bytes.
const PATTERN_LIMIT: usize = 1000;

/// Reads a model file.
///
/// # Errors
/// Everything that is wrong with it, at its place.
pub fn load(source: &Arc<Source>) -> Result<TypeModel, Vec<Diagnostic>> {
    let findings = Findings::new(source);
    let model = document::read(&findings, read_model);
    match model {
        Some(model) if findings.is_empty() => Ok(model),
        _ => Err(findings.into_list()),
    }
}

/// Checks the key `schema` that every definition begins with.
pub fn check_schema(root: &Table<'_>) {
    match root.get("schema") {
        None => root.missing("schema"),
        Some(item) => {
            if let Some(version) = item.integer()
                && version != SCHEMA
            {
                item.error(
                    "schema",
                    format!("format version {version} is not known; this program reads {SCHEMA}"),
                );
            }
        }
    }
}

/// Compiles a pattern that stands in a definition.
pub fn pattern(item: &Item<'_>, text: &str) -> Option<Pattern> {
    if text.len() > PATTERN_LIMIT {
        item.error(
            "pattern",
            format!("a pattern may have {PATTERN_LIMIT} bytes"),
        );
        return None;
    }
    match Pattern::new(text) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().last().unwrap_or("not a pattern").trim();
            item.error("pattern", format!("the pattern does not compile: {why}"));
            None
        }
    }
}

/// A TOML value as an attribute value.
pub fn value_of(item: &Item<'_>) -> Option<Value> {
    use toml::de::DeValue;
    Some(match item.value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(_) => Value::Integer(item.integer()?),
        DeValue::Boolean(truth) => Value::Bool(*truth),
        DeValue::Array(_) => Value::List(item.list()?.iter().filter_map(value_of).collect()),
        DeValue::Table(_) => Value::Hash(
            item.table()?
                .entries()
                .iter()
                .filter_map(|(key, _, item)| Some((key.as_str().into(), value_of(item)?)))
                .collect(),
        ),
        DeValue::Float(_) | DeValue::Datetime(_) => {
            item.error(
                "wrong-kind",
                format!(
                    "`{}` cannot be a number with a fraction or a date",
                    item.path
                ),
            );
            return None;
        }
    })
}

/// One of several words, with a suggestion when it is none of them.
pub fn word<T: Copy>(item: &Item<'_>, words: &[(&str, T)]) -> Option<T> {
    let text = item.string()?;
    if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text) {
        return Some(*meaning);
    }
    let known: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
    let message = format!("`{}` cannot be `{text}`", item.path);
    let help = match nearest(&text, words.iter().map(|(word, _)| *word)) {
        Some(word) => format!("did you mean `{word}`?"),
        None => format!("one of {}", known.join(", ")),
    };
    item.findings
        .error_with_help("unknown-word", item.span.clone(), message, help);
    None
}

fn read_model(root: &Table<'_>) -> Option<TypeModel> {
    check_schema(root);
    let name = root.required_string("type");
    let doc = root.required_string("doc").unwrap_or_default();
    let runs_on = root.get("runs_on").and_then(|item| {
        word(
            &item,
            &[
                ("device", RunsOn::Device),
                ("host", RunsOn::Host),
                ("both", RunsOn::Both),
            ],
        )
    });
    let style = root.get("style").and_then(|item| {
        word(
            &item,
            &[
                ("classic", Style::Classic),
                ("resource_api", Style::ResourceApi),
            ],
        )
    });
    let refresh = root.get("refresh").and_then(|item| {
        word(
            &item,
            &[
                ("no", Refresh::No),
                ("yes", Refresh::Yes),
                ("itself", Refresh::ItselfToo),
            ],
        )
    });

    let mut attributes = IndexMap::default();
    let ensurable = root.bool("ensurable").unwrap_or(false);
    let ensure_default = root.get("ensure_default");
    if ensurable {
        let default = ensure_default
            .and_then(|item| word(&item, &[("present", "present"), ("absent", "absent")]));
        attributes.insert("ensure".to_owned(), ensure(default));
    } else if let Some(item) = ensure_default {
        item.error(
            "ensure-default",
            "`ensure_default` is for types with `ensurable = true`",
        );
    }
    for (name, span, item) in root.table("attr").iter().flat_map(Table::entries) {
        if name == "ensure" {
            root.findings.error_with_help(
                "ensure-attribute",
                span,
                "`ensure` is not declared like other attributes",
                "write `ensurable = true`",
            );
        } else if let Some(table) = item.table() {
            let attribute = read_attribute(&name, &table);
            table.finish();
            attributes.insert(name, attribute);
        }
    }
    let namevars: Vec<&str> = attributes
        .values()
        .filter(|attribute| attribute.role == Role::Namevar)
        .map(|attribute| attribute.name.as_str())
        .collect();
    if namevars.is_empty() {
        root.findings.error_with_help(
            "no-namevar",
            root.span.clone(),
            "the type has no namevar",
            "give one attribute `role = \"namevar\"`",
        );
    }

    let mut titles = Vec::new();
    if let Some(item) = root.get("title") {
        for text in item.strings().unwrap_or_default() {
            titles.extend(title_pattern(&item, &text, &attributes));
        }
    } else if namevars.len() > 1 {
        root.missing("title");
    }

    let rules = root.get("rule").and_then(|item| item.list());
    let rules = rules
        .iter()
        .flatten()
        .filter_map(|item| read_rule(item, &attributes))
        .collect();
    let mut relations = Vec::new();
    for (key, kind) in [
        ("autorequire", AutoKind::Require),
        ("autosubscribe", AutoKind::Subscribe),
        ("autobefore", AutoKind::Before),
        ("autonotify", AutoKind::Notify),
    ] {
        for item in root.get(key).and_then(|item| item.list()).iter().flatten() {
            relations.extend(read_relation(item, kind, &attributes));
        }
    }
    let refers = root.get("refers").and_then(|item| item.list());
    let refers = refers
        .iter()
        .flatten()
        .filter_map(|item| read_reference(item, &attributes))
        .collect();
    let built_in = root.get("built_in").and_then(|item| whole_pattern(&item));
    root.finish();

    Some(TypeModel {
        name: name?,
        doc,
        runs_on: runs_on.unwrap_or(RunsOn::Device),
        style: style.unwrap_or(Style::ResourceApi),
        refresh: refresh.unwrap_or(Refresh::No),
        attributes,
        titles,
        rules,
        relations,
        refers,
        built_in,
    })
}

fn ensure(default: Option<&str>) -> AttributeModel {
    AttributeModel {
        name: "ensure".to_owned(),
        doc: "Whether the instance is on the device.".to_owned(),
        role: Role::Property,
        values: ["present", "absent"]
            .map(|name| ValueSpec::Literal(name.into()))
            .to_vec(),
        array: None,
        default: default.map(Value::from),
        required: false,
        sensitive: false,
        canon: Vec::new(),
    }
}

fn read_attribute(name: &str, table: &Table<'_>) -> AttributeModel {
    let role = table.get("role").and_then(|item| {
        word(
            &item,
            &[
                ("namevar", Role::Namevar),
                ("property", Role::Property),
                ("init_only", Role::InitOnly),
                ("read_only", Role::ReadOnly),
                ("parameter", Role::Parameter),
            ],
        )
    });
    let array = table
        .get("array")
        .and_then(|item| word(&item, &[("set", ArrayKind::Set), ("list", ArrayKind::List)]));
    let canon = table.get("canon").and_then(|item| {
        let canons = [
            ("decimal", Canon::Decimal),
            ("ip", Canon::Ip),
            ("network", Canon::Network),
            ("lower", Canon::Lower),
            ("upper", Canon::Upper),
            ("trim", Canon::Trim),
        ];
        if item.is_list() {
            let items = item.list()?;
            Some(
                items
                    .iter()
                    .filter_map(|item| word(item, &canons))
                    .collect(),
            )
        } else {
            word(&item, &canons).map(|one| vec![one])
        }
    });
    let values = table.get("values");
    let notation = values.as_ref().and_then(read_notation);
    let said = notation.as_ref();
    let attribute = AttributeModel {
        name: name.to_owned(),
        doc: table.string("doc").unwrap_or_default(),
        role: role.unwrap_or(Role::Property),
        values: match (said, values) {
            (Some(notation), _) => notation.values.clone(),
            (None, Some(item)) if item.is_list() => read_values(&item),
            _ => Vec::new(),
        },
        array: array.or(said.and_then(|notation| notation.array)),
        default: table.get("default").and_then(|item| value_of(&item)),
        required: table.bool("required").unwrap_or(false),
        sensitive: table
            .bool("sensitive")
            .unwrap_or_else(|| said.is_some_and(|notation| notation.sensitive)),
        canon: canon.unwrap_or_default(),
    };
    if let Some(default) = &attribute.default
        && let Err(error) = attribute.canonicalize(default)
        && let Some(item) = table.get("default")
    {
        item.error(
            "default",
            format!("the default is refused by the model: {}", error.message),
        );
    }
    attribute
}

/// Values as Puppet's notation of types, where they are not a list.
fn read_notation(item: &Item<'_>) -> Option<Notation> {
    if item.is_list() {
        return None;
    }
    match Notation::parse(&item.string()?) {
        Ok(notation) => Some(notation),
        Err(error) => {
            item.error("type-notation", format!("this is no type: {error}"));
            None
        }
    }
}

fn read_values(item: &Item<'_>) -> Vec<ValueSpec> {
    let mut specs: Vec<ValueSpec> = Vec::new();
    for item in item.list().iter().flatten() {
        let Some(spec) = read_value_spec(item) else {
            continue;
        };
        if specs.iter().any(|other| other.name() == spec.name()) {
            item.error(
                "duplicate-value",
                format!("two values are named `{}`", spec.name()),
            );
        }
        specs.push(spec);
    }
    specs
}

fn read_value_spec(item: &Item<'_>) -> Option<ValueSpec> {
    if !item.is_table() {
        return match value_of(item)? {
            literal @ (Value::String(_) | Value::Bool(_) | Value::Integer(_)) => {
                Some(ValueSpec::Literal(literal))
            }
            _ => {
                item.error(
                    "wrong-kind",
                    "a value is a literal or a table with a name and what it may be",
                );
                None
            }
        };
    }
    let table = item.table()?;
    let name = table.required_string("name");
    let text = table.get("pattern");
    let bounds = table.get("integer");
    let fields = table.get("struct");
    let items = table.get("tuple");
    table.finish();
    let name = name?;
    match (text, bounds, fields, items) {
        (Some(item), None, None, None) => Some(ValueSpec::Pattern {
            name,
            pattern: whole_pattern(&item)?,
        }),
        (None, Some(item), None, None) => {
            let numbers: Vec<i64> = item.list()?.iter().filter_map(Item::integer).collect();
            let [low, high] = numbers[..] else {
                item.error(
                    "wrong-kind",
                    "`integer` needs two numbers, lowest and highest",
                );
                return None;
            };
            Some(ValueSpec::Integer { name, low, high })
        }
        (None, None, Some(item), None) => {
            let fields = item.table()?.entries();
            let fields = fields
                .iter()
                .filter_map(|(key, _, item)| {
                    let optional = key.ends_with('?');
                    let key = key.trim_end_matches('?').to_owned();
                    Some((key, read_field(item, optional)?))
                })
                .collect();
            Some(ValueSpec::Struct { name, fields })
        }
        (None, None, None, Some(item)) => {
            let items = item.list()?;
            let items = items.iter().map(|item| kinds(item).unwrap_or_default());
            Some(ValueSpec::Tuple {
                name,
                items: items.collect(),
            })
        }
        _ => {
            item.error(
                "wrong-kind",
                "a named value has one of `pattern`, `integer`, `struct` and `tuple`",
            );
            None
        }
    }
}

fn read_field(item: &Item<'_>, optional: bool) -> Option<StructField> {
    if !item.is_table() {
        return Some(StructField {
            values: kinds(item)?,
            optional,
            default: None,
        });
    }
    let table = item.table()?;
    let values = table.get("values").and_then(|item| kinds(&item));
    let default = table.get("default").and_then(|item| value_of(&item));
    table.finish();
    Some(StructField {
        values: values.unwrap_or_default(),
        optional: optional || default.is_some(),
        default,
    })
}

/// What a field or an element may be: a list as in `values`, or the name of a common kind.
fn kinds(item: &Item<'_>) -> Option<Vec<ValueSpec>> {
    if item.is_list() {
        return Some(read_values(item));
    }
    let pattern = |text: &str| {
        let name = item.value.as_str().unwrap_or_default().to_owned();
        let pattern = Pattern::new(&format!(r"\A(?:{text})\z")).expect("written here");
        vec![ValueSpec::Pattern { name, pattern }]
    };
    let kind = word(
        item,
        &[
            ("text", ".*"),
            ("word", r"\S+"),
            ("path", r"(?:/[\w.:%-]+)+"),
            ("port", r"\d{1,5}|[a-z*][\w-]*"),
            ("integer", "integer"),
            ("boolean", "boolean"),
        ],
    )?;
    Some(match kind {
        "integer" => vec![ValueSpec::Integer {
            name: "integer".to_owned(),
            low: i64::MIN,
            high: i64::MAX,
        }],
        "boolean" => vec![
            ValueSpec::Literal(true.into()),
            ValueSpec::Literal(false.into()),
        ],
        text => pattern(text),
    })
}

fn whole_pattern(item: &Item<'_>) -> Option<Pattern> {
    let text = item.string()?;
    pattern(item, &format!(r"\A(?:{text})\z"))
}

fn title_pattern(
    item: &Item<'_>,
    text: &str,
    attributes: &IndexMap<String, AttributeModel>,
) -> Option<TitlePattern> {
    let mut pattern = String::from(r"(?s)\A");
    let mut rest = text;
    while let Some((literal, tail)) = rest.split_once('{') {
        let Some((name, after)) = tail.split_once('}') else {
            item.error("title", format!("`{text}` has a `{{` without `}}`"));
            return None;
        };
        if attributes
            .get(name)
            .is_none_or(|attribute| attribute.role != Role::Namevar)
        {
            item.error("title", format!("`{name}` in the title is not a namevar"));
            return None;
        }
        pattern.push_str(&regex::escape(literal));
        pattern.push_str(&format!("(?P<{name}>.+)"));
        rest = after;
    }
    pattern.push_str(&regex::escape(rest));
    pattern.push_str(r"\z");
    let pattern = self::pattern(item, &pattern)?;
    Some(TitlePattern {
        text: text.to_owned(),
        pattern,
    })
}

fn read_rule(item: &Item<'_>, attributes: &IndexMap<String, AttributeModel>) -> Option<Rule> {
    let table = item.table()?;
    let mut found = None;
    for (key, kind) in [
        ("together", RuleKind::Together),
        ("exclusive", RuleKind::Exclusive),
        ("needs", RuleKind::Needs),
        ("one_of", RuleKind::OneOf),
        ("any_of", RuleKind::AnyOf),
        ("forbidden", RuleKind::Forbidden),
    ] {
        if let Some(item) = table.get(key) {
            let names = item.strings().unwrap_or_default();
            for name in &names {
                known_attribute(&item, name, attributes);
            }
            if found.replace((kind, names)).is_some() {
                item.error(
                    "rule",
                    "a rule has one of `together`, `exclusive`, `needs`, `one_of`, `any_of` and `forbidden`",
                );
            }
        }
    }
    let conditions = |key: &str| {
        let mut conditions = IndexMap::default();
        for (name, _, item) in table.table(key).iter().flat_map(Table::entries) {
            known_attribute(&item, &name, attributes);
            let values = if item.is_list() {
                item.list().iter().flatten().filter_map(value_of).collect()
            } else {
                value_of(&item).into_iter().collect()
            };
            conditions.insert(name, values);
        }
        conditions
    };
    let when = conditions("when");
    let unless = conditions("unless");
    let doc = table.string("doc").unwrap_or_default();
    table.finish();
    let Some((kind, attributes)) = found else {
        item.error(
            "rule",
            "a rule needs one of `together`, `exclusive`, `needs`, `one_of`, `any_of` and `forbidden`",
        );
        return None;
    };
    Some(Rule {
        kind,
        attributes,
        when,
        unless,
        doc,
    })
}

fn known_attribute(item: &Item<'_>, name: &str, attributes: &IndexMap<String, AttributeModel>) {
    if attributes.contains_key(name) {
        return;
    }
    let help = match nearest(name, attributes.keys().map(String::as_str)) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "attributes are declared as [attr.NAME]".to_owned(),
    };
    item.findings.error_with_help(
        "unknown-attribute",
        item.span.clone(),
        format!("the type has no attribute `{name}`"),
        help,
    );
}

fn read_relation(
    item: &Item<'_>,
    kind: AutoKind,
    attributes: &IndexMap<String, AttributeModel>,
) -> Option<AutoRelation> {
    let table = item.table()?;
    let target = table.required_string("type");
    let from = table.get("from");
    let partition = table.get("partition");
    let names = table.strings("names");
    table.finish();
    let attribute = |item: Item<'_>| path(&item, attributes);
    let source = match (from, partition, names) {
        (Some(item), None, None) => RelationSource::Attribute(attribute(item)?),
        (None, Some(item), None) => RelationSource::Partition(attribute(item)?),
        (None, None, Some(names)) => RelationSource::Fixed(names),
        _ => {
            item.error(
                "relation",
                "a relation has one of `from`, `partition` and `names`",
            );
            return None;
        }
    };
    Some(AutoRelation {
        kind,
        target: target?,
        from: source,
    })
}

/// An attribute, or a field of the structs in it: `members.name`.
fn path(item: &Item<'_>, attributes: &IndexMap<String, AttributeModel>) -> Option<String> {
    let text = item.string()?;
    let name = text.split('.').next().unwrap_or(&text);
    known_attribute(item, name, attributes);
    Some(text)
}

fn read_reference(
    item: &Item<'_>,
    attributes: &IndexMap<String, AttributeModel>,
) -> Option<Reference> {
    let table = item.table()?;
    let target = table.required_string("type");
    let from = table.get("from");
    let numbers = table.bool("numbers").unwrap_or(false);
    if from.is_none() {
        table.missing("from");
    }
    table.finish();
    Some(Reference {
        target: target?,
        from: path(&from?, attributes)?,
        numbers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(text: &str) -> Vec<String> {
        match load(&Source::new("t.toml", text)) {
            Ok(_) => Vec::new(),
            Err(list) => list
                .into_iter()
                .map(|found| match found.help {
                    Some(help) => format!("{} ({help})", found.message),
                    None => found.message,
                })
                .collect(),
        }
    }

    #[test]
    fn a_model_has_its_attributes_in_order_and_ensure_first() {
        let model = load(&Source::new(
            "t.toml",
            r#"
            schema = 1
            type = "thing"
            doc = "A thing."
            ensurable = true
            ensure_default = "present"
            [attr.id]
            role = "namevar"
            values = [{ name = "id", integer = [1, 9] }]
            [attr.size]
            values = ["unset", { name = "size", struct = { width = "integer", "depth?" = "integer" } }]
            "#,
        ))
        .unwrap();
        let names: Vec<_> = model.attributes.keys().map(String::as_str).collect();
        assert_eq!(names, ["ensure", "id", "size"]);
        assert_eq!(model.attributes["ensure"].default, Some("present".into()));
    }

    #[test]
    fn mistakes_are_told_with_what_was_meant() {
        let cases = [
            (
                "rolle = 1\n",
                "unknown key `rolle` in [attr.id] (did you mean `role`?)",
            ),
            (
                "role = \"namvar\"\n",
                "`attr.id.role` cannot be `namvar` (did you mean `namevar`?)",
            ),
            (
                "role = \"namevar\"\nvalues = [\"a\", \"a\"]\n",
                "two values are named `a`",
            ),
            (
                "role = \"namevar\"\nvalues = [1.5]\n",
                "`attr.id.values[0]` cannot be a number with a fraction or a date",
            ),
            (
                "role = \"namevar\"\nvalues = [\"a\"]\ndefault = \"b\"\n",
                "the default is refused by the model: \"b\" is not valid: expected `a`",
            ),
            (
                "role = \"namevar\"\n[[rule]]\nneeds = [\"id\", \"idd\"]\n",
                "the type has no attribute `idd` (did you mean `id`?)",
            ),
        ];
        for (text, expected) in cases {
            let text = format!("schema = 1\ntype = \"x\"\ndoc = \"x\"\n[attr.id]\n{text}");
            let found = messages(&text);
            assert!(
                found.iter().any(|message| message == expected),
                "{text}\n{found:?}"
            );
        }
    }
}
