//! Loads `[instance]` of a type on a platform with NETCONF. `docs/definitions.md` describes the keys.

use super::read_key;
use super::toml::body;
use crate::document::{Item, Table};
use crate::driver::rest::definition::{
    CreateRule, CreateTarget, RestAttributeRule, RestDefinition, RestInstanceRule, RestLocation,
    UnsetRule, UpdateRule,
};
use crate::driver::rest::template::TextTemplate;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::model::load::word;
use crate::operation::Method;
use crate::read::field_path::{FieldPath, PathStep};
use crate::read::rows::RowsRule;
use crate::read::xml::{Namespaces, is_name};

/// Reads `[instance]`: the path of the elements, and how they are created and changed.
pub(super) fn read_instance(
    table: &Table<'_>,
    model: &TypeModel,
    namespaces: &Namespaces,
) -> Option<RestInstanceRule> {
    let collection = table.required("collection");
    let location = collection
        .as_ref()
        .and_then(|item| read_location(item, namespaces));
    let singleton = table.string("singleton");
    let is_singleton = singleton.is_some();
    let key = read_key(table, model, is_singleton);
    let create = table.table("create").map(|create| read_create(&create));
    let creates = model.is_ensurable() && !is_singleton;
    let create = create.or_else(|| creates.then(CreateRule::edit));
    let update = table.table("update").map(|update| {
        let verbs = [("merge", Method::Patch), ("replace", Method::Put)];
        let verb = update.get("verb").and_then(|item| word(&item, &verbs));
        update.finish();
        verb.unwrap_or(Method::Patch)
    });
    let update = update.unwrap_or(Method::Patch);
    let reserved = table.pattern("reserved");
    let remove = table.bool("remove").unwrap_or(!is_singleton);
    let is_optional = table.bool("optional").unwrap_or(false);
    // `unset` was read for the attributes.
    table.get("unset");
    table.finish();
    let collection = TextTemplate::parse(&collection?.string()?).ok()?;
    let (key, location) = (key?, location?);
    let keys = key.iter().filter_map(|key| {
        let field = key.field.as_ref()?;
        Some(format!("[{field}={{{}|percent}}]", key.attribute))
    });
    let object = match is_singleton {
        true => collection.clone(),
        false => {
            let keys: String = keys.collect();
            TextTemplate::parse(&format!("{collection}{keys}")).ok()?
        }
    };
    let (rows, location) = match is_singleton {
        true => (None, location),
        false => (Some(RowsRule::elements(location)), FieldPath::default()),
    };
    Some(RestInstanceRule {
        collection,
        query: IndexMap::default(),
        answer: Vec::new(),
        is_optional,
        rows,
        location,
        each: None,
        source: None,
        document: None,
        key,
        key_codec: None,
        object,
        envelope: FieldPath::default(),
        create,
        update: UpdateRule {
            method: update,
            is_complete: update == Method::Put,
            frame: Vec::new(),
            fields: Vec::new(),
        },
        has_etag: false,
        remove,
        remove_body: Vec::new(),
        singleton,
        reserved,
        lookups: Vec::new(),
    })
}

impl CreateRule {
    /// An edit that creates the element with its keys.
    fn edit() -> Self {
        Self {
            method: Method::Post,
            target: CreateTarget::Object,
            body: None,
            frame: Vec::new(),
            needs: Vec::new(),
        }
    }
}

fn read_create(table: &Table<'_>) -> CreateRule {
    let verbs = [
        ("create", Method::Post),
        ("merge", Method::Patch),
        ("replace", Method::Put),
    ];
    let verb = table.get("verb").and_then(|item| word(&item, &verbs));
    let rule = CreateRule {
        method: verb.unwrap_or(Method::Post),
        body: table.get("body").map(|_| body(table, "body")),
        needs: table.strings("needs").unwrap_or_default(),
        ..CreateRule::edit()
    };
    table.finish();
    rule
}

/// The path `/prefix:name/name` as a path in the tree of an answer.
fn read_location(item: &Item<'_>, namespaces: &Namespaces) -> Option<FieldPath> {
    let text = item.string()?;
    let Some(names) = text.strip_prefix('/') else {
        item.error("path", format!("the path `{text}` must begin with `/`"));
        return None;
    };
    let names: Vec<&str> = names.split('/').collect();
    if !names[0].contains(':') {
        let message = format!("`{}` needs a prefix of [namespace]", names[0]);
        item.error("namespace", message);
        return None;
    }
    for name in &names {
        if let Some(message) = name_error(name, namespaces) {
            item.error("namespace", message);
            return None;
        }
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    quoted.join(".").parse().ok()
}

/// Why a name in a path cannot be that of an element.
fn name_error(name: &str, namespaces: &Namespaces) -> Option<String> {
    let (prefix, local) = match name.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, name),
    };
    if !is_name(local) {
        return Some(format!("`{name}` is not the name of an element"));
    }
    let prefix = prefix.filter(|prefix| namespaces.uri(prefix).is_none())?;
    let known: Vec<&str> = namespaces.prefixes().collect();
    let known = known.join(", ");
    Some(format!(
        "the prefix `{prefix}` is not in [namespace]: {known}"
    ))
}

/// A list is deleted by its elements, not as a field.
pub(super) fn unset_of_list(rule: &mut RestAttributeRule) {
    if let RestLocation::Field(field) = &mut rule.location
        && field.unset == Some(UnsetRule::Delete)
    {
        field.unset = None;
    }
}

/// Checks what the sections of a type with NETCONF cannot have.
pub(super) fn check(definition: &RestDefinition, root: &Table<'_>, namespaces: &Namespaces) {
    let error = |message: String| {
        let start = root.span.start;
        root.findings.error("incomplete", start..start, message);
    };
    if definition.kinds.is_some() || !definition.shared.is_empty() {
        error("[kind] and [shared] are not available with NETCONF".to_owned());
    }
    if definition.refresh.is_some() {
        error("[refresh] is not available with NETCONF".to_owned());
    }
    let mut paths: Vec<&FieldPath> = Vec::new();
    paths.extend(
        definition
            .instance
            .key
            .iter()
            .filter_map(|key| key.field.as_ref()),
    );
    for (name, rule) in &definition.attributes {
        match &rule.location {
            RestLocation::Field(field) => paths.extend(field.each.iter().chain([&field.path])),
            RestLocation::States(states) => {
                paths.extend(
                    states
                        .values()
                        .flat_map(|state| &state.set)
                        .map(|(path, _)| path),
                );
            }
            RestLocation::Unsupported(_) => {}
            _ => error(format!(
                "`{name}` has a location that is not available with NETCONF: use `field` or `set`"
            )),
        }
    }
    for step in paths.iter().flat_map(|path| path.steps()) {
        let name = match step {
            PathStep::Name(name) | PathStep::Element { field: name, .. } => name,
            PathStep::Index(index) => {
                error(format!(
                    "`[{index}]` is not available with NETCONF: name a key, `[name=x]`"
                ));
                continue;
            }
        };
        if let Some(message) = name_error(name, namespaces) {
            error(message);
        }
    }
}
