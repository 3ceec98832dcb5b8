//! Loads the REST sections of a definition: `[instance]`, `[kind]`, `[shared.x]`, `[attr.x]` and
//! `[refresh]`.
//!
//! Unknown keys are errors; `docs/definitions.md` describes all keys. [`check`](check::check)
//! compares the result with the type's model.

mod attribute;
pub(in crate::driver) mod attribute_keys;
mod check;
mod choice;
mod instance;
pub(in crate::driver) mod instance_keys;
#[cfg(test)]
mod key_tests;
mod location;
mod members;
mod netconf;
mod parent;
mod placeholders;
mod refresh;
mod requests;
pub(in crate::driver) mod sections;

use self::attribute::{TypeDefaults, read_attribute};
use self::instance::{check_answer, read_instance};
use self::instance_keys::{KindKeys, SharedArrayKeys};
use self::refresh::read_refresh;
use self::sections::RestTypeSections;
use super::definition::{ObjectKind, ObjectKinds, RestAttributeRule, RestDefinition, SharedArray};
use crate::diagnostic::suggest;
use crate::document::{Findings, KeyValue, Table, read_value};
use crate::driver::context::Context;
use crate::map::IndexMap;
use crate::model::TypeModel;
use crate::value::Name;

/// Reads the REST sections of a file; what is wrong goes to the file's findings. `lacking` has the
/// attributes that are not supported although the file does not say so, and the reason.
pub(crate) fn read(
    root: &Table<'_>,
    context: &Context<'_>,
    (lacking, reason): &(&[Name], String),
) -> Option<RestDefinition> {
    let (model, rows) = (&**context.model, context.rows);
    let namespaces = context.namespaces;
    let instance = RestTypeSections::instance(root).and_then(|item| item.table());
    let instance = instance.and_then(|table| match namespaces {
        Some(namespaces) => netconf::read_instance(&table, model, namespaces),
        None => read_instance(&table, context),
    });
    let defaults = TypeDefaults {
        unset: instance.as_ref().and_then(|instance| instance.unset),
        is_netconf: namespaces.is_some(),
    };
    let kind_keys: Option<KindKeys> = read_value(RestTypeSections::kind(root));
    let shared = shared_arrays(root);
    let mut attributes: IndexMap<Name, RestAttributeRule> = IndexMap::default();
    if let Some(table) = RestTypeSections::attr(root).and_then(|item| item.table()) {
        for (name, span, item) in table.entries() {
            if !check_attribute_exists(table.findings, &span, &name, model) {
                continue;
            }
            let attribute = &model.attributes[name.as_str()];
            let rule = item.table();
            let rule = rule.and_then(|table| read_attribute(&table, attribute, defaults));
            if let Some(mut rule) = rule {
                if namespaces.is_some() && attribute.array.is_some() {
                    netconf::unset_of_list(&mut rule);
                }
                attributes.insert(name.into(), rule);
            }
        }
    }
    if let (Some(namespaces), Some(instance)) = (namespaces, &instance) {
        for (name, rule) in &mut attributes {
            netconf::complete_order((name, rule), instance, namespaces);
        }
    }
    for name in *lacking {
        let rule = RestAttributeRule::unsupported(reason.clone());
        attributes.insert(name.clone(), rule);
    }
    let refresh = RestTypeSections::refresh(root);
    let refresh = refresh.and_then(|item| read_refresh(&item, model));
    let definition = RestDefinition {
        namespaces: namespaces.cloned(),
        inactive: context.inactive.cloned(),
        instance: instance?,
        rows: rows.cloned(),
        manager: context.manager.cloned(),
        kinds: kind_keys.map(kinds),
        shared,
        attributes,
        refresh,
    };
    check::check(&definition, root, model);
    if let Some(namespaces) = namespaces {
        netconf::check(&definition, model, root, namespaces);
    }
    Some(definition)
}

fn check_attribute_exists(
    findings: &Findings,
    span: &std::ops::Range<usize>,
    name: &str,
    model: &TypeModel,
) -> bool {
    if model.attributes.contains_key(name) {
        return true;
    }
    let names = model.attributes.keys().map(Name::as_str);
    let help = suggest(name, names, "declare it in the model first");
    findings.error_with_help(
        "unknown-attribute",
        span.clone(),
        format!("`{}` has no attribute `{name}`", model.name),
        help,
    );
    false
}

/// The kinds of objects.
fn kinds(keys: KindKeys) -> ObjectKinds {
    let kinds = keys.is.into_iter().map(|(name, keys)| {
        let mut entry = keys.entry.into_iter();
        let kind = ObjectKind {
            path: keys.path,
            marks: keys.when.0,
            entry: entry.next().map(|(array, kind)| (array.value, kind)),
            needs: keys.needs,
        };
        (name.value, kind)
    });
    ObjectKinds {
        attribute: keys.attr,
        kinds: kinds.collect(),
    }
}

/// The arrays that several attributes share.
fn shared_arrays(root: &Table<'_>) -> IndexMap<String, SharedArray> {
    let Some(table) = RestTypeSections::shared(root).and_then(|item| item.table()) else {
        return IndexMap::default();
    };
    let arrays = table.entries().into_iter().filter_map(|(name, _, item)| {
        let keys = SharedArrayKeys::read(&item)?;
        let answer = keys.answer.0;
        check_answer(&item.table()?, &answer, true);
        let array = SharedArray {
            read: keys.sub,
            write: keys.field,
            kinds: keys.kinds,
            answer,
        };
        Some((name, array))
    });
    arrays.collect()
}
