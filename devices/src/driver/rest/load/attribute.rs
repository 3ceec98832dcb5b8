//! Loads `[attr.x]`: how an attribute is read and written.

use super::attribute_keys::{LocationForm, LocationKeys, SetFields, UnsetKeys};
use super::location::location;
use crate::diagnostic::suggest;
use crate::document::{Named, Table};
use crate::driver::rest::definition::{OwnRequest, RestAttributeRule, UnsetRule};
use crate::map::IndexMap;
use crate::model::load::value_spec::narrowed;
use crate::model::{AttributeModel, ValueSpec};
use crate::value::Value;

/// What the attributes of a type have in common.
#[derive(Clone, Copy)]
pub(super) struct TypeDefaults {
    pub(super) unset: Option<UnsetRule>,
    pub(super) is_netconf: bool,
}

/// Reads `[attr.NAME]`. `None`: its error is reported.
pub(super) fn read_attribute(
    table: &Table<'_>,
    model: &AttributeModel,
    defaults: TypeDefaults,
) -> Option<RestAttributeRule> {
    let keys = LocationKeys::of(table);
    if !table.finish() {
        return None;
    }
    let keys = keys?;
    let location = location(&keys, table, model, defaults);
    let narrowed = keys
        .values
        .clone()
        .map(|values| narrowed(model, values, table.findings));
    let form = location
        .as_ref()
        .and_then(|location| LocationForm::of(location, defaults.is_netconf));
    if let Some(form) = form {
        if defaults.is_netconf {
            check_netconf(form, table);
        }
        LocationKeys::KEYS.check(form, table);
    }
    let unsupported = keys.unsupported.as_ref();
    let unsupported_values = unsupported.and_then(|one| one.values().cloned());
    let unsupported_values = unsupported_values.unwrap_or_default();
    if let Some(span) = unsupported.map(|one| one.span.clone()) {
        let names: Vec<_> = model.values.iter().map(ValueSpec::name).collect();
        let unknown = unsupported_values.keys();
        for value in unknown.filter(|value| names.iter().all(|name| name != value.as_str())) {
            let all = format!("values in the model: {}", names.join(", "));
            let help = suggest(value, names.iter().map(AsRef::as_ref), all);
            let message = format!("the model has no value `{value}` of `{}`", model.name);
            let span = span.clone();
            table
                .findings
                .error_with_help("unknown-value", span, message, help);
        }
    }
    Some(RestAttributeRule {
        location: location?,
        narrowed,
        unsupported_values,
        spellings: spellings(&keys, model),
        requests: value_requests(keys.set, keys.unset.map(|unset| unset.value), keys.absent),
        kinds: keys.kinds,
        create_only: keys.create_only,
        write_only: keys.write_only,
    })
}

/// Reports a location that an element of a configuration does not have.
fn check_netconf(form: LocationForm, table: &Table<'_>) {
    let is_available = matches!(
        form,
        LocationForm::Leaf
            | LocationForm::LeafStates
            | LocationForm::LeafOrder
            | LocationForm::Chosen
            | LocationForm::Choice
    );
    if !is_available {
        table.findings.error_with_help(
            "location",
            table.span.clone(),
            format!(
                "[{}] has a location that is not available with NETCONF",
                table.path
            ),
            "use `field`, `set`, `choice` or `order`",
        );
    }
}

/// `alike`: other spellings by the value that they mean.
fn spellings(keys: &LocationKeys, model: &AttributeModel) -> Vec<(String, Value)> {
    let spellings = keys.alike.iter().flat_map(|(name, others)| {
        let text = Value::from(name.as_str());
        let meant = model.canonicalize_element(&text).unwrap_or(text);
        let others = others.iter().filter_map(Value::scalar_text);
        others.map(move |other| (other, meant.clone()))
    });
    spellings.collect()
}

/// The requests of their own: `set.VALUE.request`, and `unset` for the value `absent`.
fn value_requests(
    set: Named<SetFields>,
    unset: Option<UnsetKeys>,
    absent: Option<Value>,
) -> IndexMap<String, OwnRequest> {
    let set = set.into_iter();
    let requests = set.filter_map(|(value, fields)| Some((value.value, fields.request?)));
    let mut requests: IndexMap<String, OwnRequest> = requests.collect();
    let absent = absent.as_ref().and_then(Value::scalar_text);
    if let (Some(UnsetKeys::Request(request)), Some(absent)) = (unset, absent) {
        requests.insert(absent, request);
    }
    requests
}
