//! The location of an attribute, from the keys of `[attr.x]`.

use super::attribute::TypeDefaults;
use super::attribute_keys::{
    ConditionFields, FieldPosition, FieldPositions, LocationCodec, LocationKeys, MoveForm,
    MoveKeys, UnsetKeys,
};
use super::members::members;
use crate::document::{At, Named, Table};
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::definition::{
    ChoiceRule, ChosenField, DefaultEntry, EntriesRule, FieldRule, ObjectMove, OrderRule,
    RestLocation, StateFields, UnsetRule, UploadRule,
};
use crate::driver::rest::template::TextTemplate;
use crate::map::IndexMap;
use crate::model::AttributeModel;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};
use serde_json::Value as Json;

/// The location of a value. `None`: its error is reported.
pub(super) fn location(
    keys: &LocationKeys,
    table: &Table<'_>,
    model: &AttributeModel,
    defaults: TypeDefaults,
) -> Option<RestLocation> {
    let unsupported = keys.unsupported.as_ref();
    if let Some(reason) = unsupported.and_then(|one| one.attribute()) {
        return Some(RestLocation::Unsupported(reason.clone()));
    }
    if let Some(leader) = &keys.inside {
        return Some(RestLocation::Inside(leader.clone()));
    }
    if keys.sub.is_some() {
        return members(keys, table, &model.name);
    }
    if let Some(of) = &keys.entry {
        return entries(keys, table, of);
    }
    if let Some(upload) = &keys.upload {
        let Some(field) = &keys.field else {
            table.missing("field");
            return None;
        };
        return Some(RestLocation::Upload(Box::new(UploadRule {
            path: upload.path.clone(),
            field: simple_path(field, table)?,
            value: upload.value.clone(),
        })));
    }
    if let Some(order) = &keys.order {
        let rule = order_rule(order, keys.absent.clone(), (table, defaults.is_netconf));
        return rule.map(|rule| RestLocation::Order(Box::new(rule)));
    }
    if keys.set.iter().any(|(_, value)| value.has_fields()) {
        let set = keys.set.iter();
        let set = set.map(|(value, fields)| (value.as_str(), &fields.fields));
        let states = states(set, keys.when.as_ref(), table);
        return Some(RestLocation::States(states));
    }
    let unset = match keys.unset.as_ref().map(|unset| &unset.value) {
        Some(UnsetKeys::Request(_)) => None,
        Some(UnsetKeys::Field(rule)) => Some(*rule),
        None => defaults.unset,
    };
    if let Some(choice) = &keys.choice {
        let places = choice.iter();
        return Some(RestLocation::Choice(ChoiceRule {
            places: places
                .map(|(value, path)| (value.value.clone(), path.clone()))
                .collect(),
            absent: keys.absent.clone(),
            unset,
        }));
    }
    let Some(field) = &keys.field else {
        table.findings.error_with_help(
            "missing-key",
            table.span.clone(),
            format!("[{}] has no location", table.path),
            "add `field`, `set`, `choice`, `sub`, `entry`, `order`, `upload`, `inside` or `unsupported`",
        );
        return None;
    };
    let source = FieldSource {
        keys,
        table,
        is_array: model.array.is_some(),
        unset,
    };
    match &field.value {
        FieldPositions::Always(position) => source.location(position),
        FieldPositions::ByValue(places) => source.chosen(places, &field.span),
    }
}

/// A path that is neither one by value nor one in the elements of a list.
pub(super) fn simple_path(field: &At<FieldPositions>, table: &Table<'_>) -> Option<FieldPath> {
    match &field.value {
        FieldPositions::Always(FieldPosition { path, each: None }) => Some(path.clone()),
        _ => {
            let message = format!("`field` of [{}] must be the path of one field", table.path);
            let span = field.span.clone();
            table.findings.error("path", span, message);
            None
        }
    }
}

/// What a field is made of.
struct FieldSource<'a, 'd> {
    keys: &'a LocationKeys,
    table: &'a Table<'d>,
    is_array: bool,
    unset: Option<UnsetRule>,
}

impl FieldSource<'_, '_> {
    /// A value in a field whose place depends on another attribute.
    fn chosen(
        &self,
        places: &Named<FieldPosition>,
        span: &std::ops::Range<usize>,
    ) -> Option<RestLocation> {
        let Some(by) = &self.keys.by else {
            self.table.missing("by");
            return None;
        };
        let places = places.iter();
        let places = places.map(|(value, position)| match self.location(position)? {
            RestLocation::Field(field) => Some((value.value.clone(), field)),
            _ => None,
        });
        let places: IndexMap<_, _> = places.collect::<Option<_>>()?;
        if places.is_empty() {
            let message = "`field` requires a path for a value of `by`";
            let findings = self.table.findings;
            findings.error("wrong-kind", span.clone(), message);
            return None;
        }
        let by = Name::from(by.as_str());
        Some(RestLocation::Chosen(ChosenField { by, places }))
    }

    /// A value in a field, or several in common fields.
    fn location(&self, position: &FieldPosition) -> Option<RestLocation> {
        let (keys, table) = (self.keys, self.table);
        let error = |code, message: String| table.findings.error(code, table.span.clone(), message);
        if position.each.is_some() && !self.is_array {
            error("path", "`[*]` requires an array attribute".to_owned());
        }
        let codec = match keys.codec.as_ref().map(|codec| &codec.value) {
            None => None,
            Some(LocationCodec::Value(codec)) => Some(*codec),
            Some(LocationCodec::Group(codec, arity)) => {
                if keys.with.len() + 1 != *arity {
                    error(
                        "codec",
                        format!("the codec requires {arity} attributes; list the others in `with`"),
                    );
                }
                return Some(RestLocation::Group {
                    codec: *codec,
                    field: position.path.clone(),
                    with: keys
                        .with
                        .iter()
                        .map(|name| Name::from(name.as_str()))
                        .collect(),
                });
            }
            Some(LocationCodec::By { .. }) => {
                let message = "a codec with `by` is for the keys of members: it requires `sub`";
                error("codec", message.to_owned());
                return None;
            }
        };
        if matches!(codec, Some(ValueCodec::Words | ValueCodec::Lines)) && !self.is_array {
            let message = format!("[{}]: this codec requires an array attribute", table.path);
            error("codec", message);
        }
        if let (Some(unset), None) = (&keys.unset, &keys.absent) {
            let message = "`unset` requires `absent`, the value without the field";
            table.findings.error("unset", unset.span.clone(), message);
        }
        let map = keys.map.iter();
        Some(RestLocation::Field(FieldRule {
            path: position.path.clone(),
            each: position.each.clone(),
            map: map
                .map(|(value, json)| (value.value.clone(), json.clone()))
                .collect(),
            unset: self.unset.filter(|_| keys.absent.is_some()),
            absent: keys.absent.clone(),
            codec,
        }))
    }
}

/// The entries of an array that other attributes share.
fn entries(keys: &LocationKeys, table: &Table<'_>, of: &str) -> Option<RestLocation> {
    if keys.kind.is_empty() {
        table.missing("kind");
        return None;
    }
    let default_entry = keys.otherwise.as_ref().map(|keys| DefaultEntry {
        when: keys
            .when
            .iter()
            .map(|(name, values)| (name.value.clone(), values.clone()))
            .collect(),
        kind: keys.kind.clone(),
        paths: keys.paths.clone(),
    });
    Some(RestLocation::Entries(EntriesRule {
        of: of.to_owned(),
        kinds: keys.kind.clone(),
        context: keys.context.clone(),
        both: keys.both.clone(),
        absent: keys.absent.clone(),
        default_entry,
    }))
}

/// `order`: the requests, or attributes of an edit, that move an object.
fn order_rule(
    keys: &MoveKeys,
    absent: Option<Value>,
    (table, is_netconf): (&Table<'_>, bool),
) -> Option<OrderRule> {
    let Some(none) = absent else {
        table.missing("absent");
        return None;
    };
    let order = table.table("order")?;
    let wrong = |form: &At<MoveForm>, expected: &str| {
        let message = format!("`{}.after` and `before` must be {expected}", order.path);
        table
            .findings
            .error("wrong-kind", form.span.clone(), message);
    };
    if is_netconf {
        if let Some(verb) = &keys.verb {
            let message = "`verb` has no effect with NETCONF: an edit moves the element";
            table
                .findings
                .error("no-effect", verb.span.clone(), message);
        }
        // Without them: those of YANG, when the list is known.
        let attributes = |form: &Option<At<MoveForm>>| match form.as_ref().map(|form| &form.value) {
            None => Some(Vec::new()),
            Some(MoveForm::Attributes(attributes)) => {
                let attributes = attributes.iter();
                let attributes = attributes.map(|(name, text)| (name.value.clone(), text.clone()));
                Some(attributes.collect())
            }
            Some(MoveForm::Path(_)) => {
                let form = form.iter();
                form.for_each(|form| wrong(form, "attributes of the element"));
                None
            }
        };
        let moves = ObjectMove::Attributes {
            after: attributes(&keys.after)?,
            before: attributes(&keys.before)?,
        };
        return Some(OrderRule { moves, none });
    }
    let path = |key: &str, form: &Option<At<MoveForm>>| -> Option<TextTemplate> {
        match form.as_ref().map(|form| &form.value) {
            Some(MoveForm::Path(path)) => Some(path.clone()),
            Some(MoveForm::Attributes(_)) => {
                form.iter().for_each(|form| wrong(form, "paths"));
                None
            }
            None => {
                order.missing(key);
                None
            }
        }
    };
    if keys.verb.is_none() {
        order.missing("verb");
    }
    let (after, before) = (path("after", &keys.after), path("before", &keys.before));
    let moves = ObjectMove::Requests {
        method: keys.verb.as_ref()?.0,
        after: after?,
        before: before?,
    };
    Some(OrderRule { moves, none })
}

/// The fields for each value.
pub(super) fn states<'k>(
    set: impl Iterator<Item = (&'k str, &'k Vec<(FieldPath, Json)>)>,
    when: Option<&Named<ConditionFields>>,
    table: &Table<'_>,
) -> IndexMap<String, StateFields> {
    let states = set.map(|(value, fields)| {
        let set = fields.clone();
        (value.to_owned(), StateFields { set, when: None })
    });
    let mut states: IndexMap<String, StateFields> = states.collect();
    // Without `when` an attribute is read with the values of `set`; with `when`, in its order.
    let Some(when) = when else {
        for state in states.values_mut() {
            let fields = state.set.iter();
            let conditions = fields.map(|(path, json)| (path.clone(), vec![json.clone()]));
            state.when = Some(conditions.collect());
        }
        return states;
    };
    let mut ordered = IndexMap::default();
    for (name, ConditionFields(conditions)) in when.iter() {
        let Some(mut state) = states.shift_remove(name.as_str()) else {
            let message = format!("`when.{0}` has no `set.{0}`", name.value);
            let span = name.span.clone();
            table.findings.error("unknown-value", span, message);
            continue;
        };
        state.when = Some(conditions.clone());
        ordered.insert(name.value.clone(), state);
    }
    ordered.extend(states);
    ordered
}
