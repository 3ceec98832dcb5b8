//! Loads `[instance]` of a type on a platform with NETCONF. `docs/definitions.md` describes the keys.

use super::instance::{key_rules, named};
use super::instance_keys::{ElementCreateKeys, ElementForm, ElementKeys};
use crate::document::{At, Table};
use crate::driver::rest::definition::{
    CreateRule, DeviceOwned, ObjectMove, RemoveRule, RequestTarget, RestAttributeRule,
    RestDefinition, RestInstanceRule, RestLocation, UnsetRule, UpdateRule,
};
use crate::driver::rest::template::TextTemplate;
use crate::map::IndexMap;
use crate::model::{ArrayKind, TypeModel};
use crate::operation::Method;
use crate::read::field_path::{FieldPath, PathStep};
use crate::read::nested_rows::NestedRows;
use crate::read::xml::{Namespaces, is_name};

/// Reads `[instance]`: the path of the elements, and how they are created and changed.
pub(super) fn read_instance(
    table: &Table<'_>,
    model: &TypeModel,
    namespaces: &Namespaces,
) -> Option<RestInstanceRule> {
    let Some(keys) = ElementKeys::of(table) else {
        table.finish();
        return None;
    };
    let is_singleton = keys.singleton.is_some();
    let form = if is_singleton {
        ElementForm::Singleton
    } else {
        ElementForm::List
    };
    ElementKeys::KEYS.check(form, table);
    table.finish();
    let key = key_rules(keys.key, model, is_singleton, table)?;
    let create = keys.create.map(CreateRule::from);
    let creates = model.is_ensurable() && !is_singleton;
    let create = create.or_else(|| creates.then(CreateRule::edit));
    let update = keys.update.map_or(Method::Patch, |keys| keys.verb.0);
    let path = keys.collection;
    let mut lists = read_lists(&path, table, namespaces)?;
    let text = path.value;
    if is_singleton && lists.len() > 1 {
        table.findings.error_with_help(
            "path",
            path.span,
            format!("`{EACH}` makes no sense for a singleton, which is one element"),
            "remove `singleton` and add `key`",
        );
        return None;
    }
    // The keys of a list, by the number of lists above that of the type.
    let names = |up: usize| -> String {
        let names = key.iter().filter(|key| key.up == up);
        let names = names.filter_map(|key| {
            let field = key.field.as_ref()?;
            Some(format!("[{field}={{{}|percent}}]", key.attribute))
        });
        names.collect()
    };
    let object = if is_singleton {
        text.clone()
    } else {
        let parts: Vec<&str> = text.split(EACH).collect();
        let named = parts.iter().enumerate();
        named
            .map(|(index, part)| format!("{part}{}", names(parts.len() - 1 - index)))
            .collect()
    };
    let (rows, location) = if is_singleton {
        (None, lists.pop()?)
    } else {
        let rows = NestedRows::elements(lists);
        (rows.map(|rows| named(rows, &key)), FieldPath::default())
    };
    let collection = TextTemplate::parse(&text).ok()?;
    let object = TextTemplate::parse(&object).ok()?;
    Some(RestInstanceRule {
        collection,
        query: IndexMap::default(),
        answer: Vec::new(),
        is_optional: keys.optional,
        parent: None,
        rows,
        parent_levels: 0,
        location,
        source: None,
        document: None,
        key,
        name: None,
        key_codec: None,
        object,
        envelope: FieldPath::default(),
        create,
        update: UpdateRule::with(update),
        has_etag: false,
        remove: keys
            .remove
            .unwrap_or(!is_singleton)
            .then(RemoveRule::default),
        singleton: keys.singleton,
        reserved: keys.reserved,
        device_owned: DeviceOwned(keys.device_owned.0),
        unset: keys.unset,
        lookups: Vec::new(),
    })
}

impl CreateRule {
    /// Creates an object with its keys.
    pub(in crate::driver::rest) fn edit() -> Self {
        Self {
            method: Method::Post,
            target: RequestTarget::Object,
            body: None,
            frame: Vec::new(),
            needs: Vec::new(),
            adds: Vec::new(),
        }
    }
}

impl From<ElementCreateKeys> for CreateRule {
    fn from(keys: ElementCreateKeys) -> Self {
        Self {
            method: keys.verb.0,
            body: keys.body.map(|body| body.0),
            needs: keys.needs,
            ..Self::edit()
        }
    }
}

/// The mark of a list in whose elements the objects are.
const EACH: &str = "[*]";

/// The path `/prefix:name/name` as a path in the tree of an answer; with `[*]`, the path of each list in
/// the elements of the one before.
fn read_lists(
    text: &At<String>,
    table: &Table<'_>,
    namespaces: &Namespaces,
) -> Option<Vec<FieldPath>> {
    let error = |code, message| table.findings.error(code, text.span.clone(), message);
    let Some(path) = text.strip_prefix('/') else {
        let message = format!("the path `{}` must begin with `/`", text.value);
        error("path", message);
        return None;
    };
    let lists = || path.split("[*]/");
    let names = || lists().flat_map(|list| list.split('/'));
    let first = names().next().unwrap_or_default();
    if !first.contains(':') {
        let message = format!("`{first}` needs a prefix of [namespace]");
        error("namespace", message);
        return None;
    }
    if let Some(message) = names().find_map(|name| name_error(name, namespaces)) {
        error("namespace", message);
        return None;
    }
    let field_path = |list: &str| -> Option<FieldPath> {
        let names = list.split('/').map(|name| format!("\"{name}\""));
        let names: Vec<String> = names.collect();
        names.join(".").parse().ok()
    };
    lists().map(field_path).collect()
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
    for field in rule.location.fields_mut() {
        if field.unset == Some(UnsetRule::Delete) {
            field.unset = None;
        }
    }
}

/// The attributes that move an element in a list, if a definition does not have them: those of YANG (RFC
/// 7950, section 7.8.6).
pub(super) fn complete_order(
    (attribute, rule): (&str, &mut RestAttributeRule),
    instance: &RestInstanceRule,
    namespaces: &Namespaces,
) {
    let RestLocation::Order(order) = &mut rule.location else {
        return;
    };
    let ObjectMove::Attributes { after, before } = &mut order.moves else {
        return;
    };
    let one = |name: &str, text: &str| Some((name.to_owned(), TextTemplate::parse(text).ok()?));
    if before.is_empty() {
        before.extend(one("xmlns:yang", YANG));
        before.extend(one("yang:insert", "first"));
    }
    if after.is_empty() {
        let own = &instance.key[instance.own_key()];
        let field = own.field.as_ref().map(FieldPath::to_string);
        let field = field.unwrap_or_default();
        let path = instance.collection.to_string();
        // The names of an instance identifier have prefixes; that of the list is the last of its path.
        let mut prefixes = path.split('/').filter_map(|name| name.split_once(':'));
        let prefix = prefixes.next_back().map(|(prefix, _)| prefix);
        let (prefix, field) = match field.split_once(':') {
            Some((prefix, field)) => (prefix, field),
            None => (prefix.unwrap_or_default(), field.as_str()),
        };
        let uri = namespaces.uri(prefix).unwrap_or_default();
        let key = format!("[{prefix}:{field}='{{{attribute}}}']");
        after.extend(one("xmlns:yang", YANG));
        after.extend(one("yang:insert", "after"));
        after.extend(one(&format!("xmlns:{prefix}"), uri));
        after.extend(one("yang:key", &key));
    }
}

/// The namespace of the attributes of YANG.
const YANG: &str = "urn:ietf:params:xml:ns:yang:1";

/// Checks what the sections of a type with NETCONF cannot have.
pub(super) fn check(
    definition: &RestDefinition,
    model: &TypeModel,
    root: &Table<'_>,
    namespaces: &Namespaces,
) {
    let error = |message: String| {
        let start = root.span.start;
        root.findings.error("incomplete", start..start, message);
    };
    for (section, help) in [
        ("kind", "write a type for each kind"),
        ("shared", "write a type for the elements of the list"),
        (
            "refresh",
            "remove it; a refresh is then logged and changes nothing",
        ),
    ] {
        if let Some(item) = root.get(section) {
            let message = format!("[{section}] is not available with NETCONF");
            let span = item.span.clone();
            item.findings
                .error_with_help("incomplete", span, message, help);
        }
    }
    let mut paths: Vec<&FieldPath> = Vec::new();
    let mut unset = Vec::new();
    paths.extend(
        definition
            .instance
            .key
            .iter()
            .filter_map(|key| key.field.as_ref()),
    );
    for (name, rule) in &definition.attributes {
        match &rule.location {
            RestLocation::Choice(choice) => {
                unset.push((name, choice.unset));
                paths.extend(choice.places.values());
            }
            RestLocation::States(states) => {
                paths.extend(
                    states
                        .values()
                        .flat_map(|state| &state.set)
                        .map(|(path, _)| path),
                );
            }
            location => {
                for field in location.fields() {
                    unset.push((name, field.unset));
                    paths.extend(field.each.iter().chain([&field.path]));
                }
            }
        }
    }
    for (name, _) in unset
        .iter()
        .filter(|(_, unset)| *unset == Some(UnsetRule::Null))
    {
        error(format!(
            "`unset = \"null\"` of `{name}` is not available with NETCONF: use `delete`"
        ));
    }
    for (name, _) in definition.attributes.iter().filter(|(_, rule)| {
        !definition.instance.update.is_complete && !rule.location.fields().is_empty()
    }) {
        let array = model.attributes.get(name).and_then(|one| one.array);
        if array.is_some_and(|array| array != ArrayKind::Set) {
            error(format!(
                "`{name}` is an array with an order, which `merge` does not send: use `update = {{ verb = \"replace\" }}`, or `array = \"set\"` in the model"
            ));
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
