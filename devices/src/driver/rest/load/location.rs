//! Loads `[attr.x]`: the location of an attribute.

use crate::map::IndexMap;

use super::attribute_keys::{self, LocationForm};
use crate::document::{At, Item, KeyValue, Table, word};
use crate::driver::json_fields::{all_fields, fields, json_of};
use crate::driver::rest::choice::{ChoiceRule, ChosenField};
use crate::driver::rest::codec::{GroupCodec, ValueCodec};
use crate::driver::rest::definition::{
    CreateOnly, DefaultEntry, DeviceOwned, EntriesRule, FieldRule, KeySplit, MemberCodec,
    MemberPaths, MembersRule, ObjectMove, OrderRule, RestAttributeRule, RestLocation, StateFields,
    UnsetRule, UploadRule,
};
use crate::driver::rest::own_request::OwnRequest;
use crate::driver::rest::template::TextTemplate;
use crate::driver::rest::toml::{body, item_template, named, required_template};
use crate::model::load::value_of;
use crate::model::load::value_spec::{Values, narrowed};
use crate::model::{AttributeModel, TypeModel};
use crate::operation::Method;
use crate::read::field_path::FieldPath;
use crate::value::{Name, Value};
use serde_json::Value as Json;

/// Reads `[attr.NAME]`; `unset` is the default of the type.
pub(crate) fn read_attribute(
    name: &str,
    table: &Table<'_>,
    model: &TypeModel,
    (unset, is_netconf): (Option<UnsetRule>, bool),
) -> Option<RestAttributeRule> {
    let create_only = read_create_only(table);
    let write_only = table.bool("write_only").unwrap_or(false);
    let kinds = table.strings("kinds").unwrap_or_default();
    let spellings = read_spellings(table, &model.attributes[name]);
    let requests = value_requests(table);
    let location = if let Some(reason) = table.string("unsupported") {
        Some(RestLocation::Unsupported(reason))
    } else if let Some(leader) = table.string("inside") {
        Some(RestLocation::Inside(leader))
    } else {
        let needs_list = model.attributes[name].array.is_some();
        read_location(name, table, needs_list, (unset, is_netconf))
    };
    let values = table.get("values");
    let values = values.and_then(|item| At::<Values>::read(&item));
    let narrowed = values.map(|values| narrowed(&model.attributes[name], values, table.findings));
    let form = location
        .as_ref()
        .and_then(|location| LocationForm::of(location, is_netconf));
    match form {
        Some(
            LocationForm::Leaf
            | LocationForm::LeafStates
            | LocationForm::LeafOrder
            | LocationForm::Chosen
            | LocationForm::Choice,
        )
        | None => {}
        Some(_) if is_netconf => table.findings.error_with_help(
            "location",
            table.span.clone(),
            format!(
                "[{}] has a location that is not available with NETCONF",
                table.path
            ),
            "use `field`, `set`, `choice` or `order`",
        ),
        Some(_) => {}
    }
    if let Some(form) = form {
        attribute_keys::TABLE.check(form, table);
    }
    table.finish();
    Some(RestAttributeRule {
        location: location?,
        narrowed,
        spellings,
        requests,
        kinds,
        create_only,
        write_only,
    })
}

/// The key of a request in `set.VALUE`.
const REQUEST: &str = "request";

/// Whether `set` has fields, besides requests.
fn has_states(table: &Table<'_>) -> bool {
    let states = table.table("set");
    let mut states = states.iter().flat_map(Table::entries);
    states.any(|(_, _, item)| {
        let fields = item.table().map(|table| table.entries());
        fields.is_none_or(|fields| {
            fields.is_empty() || fields.iter().any(|(name, ..)| name != REQUEST)
        })
    })
}

/// The requests of their own: `set.VALUE.request`, and `unset` for the value `absent`.
fn value_requests(table: &Table<'_>) -> IndexMap<String, OwnRequest> {
    let states = table.table("set");
    let states = states.iter().flat_map(Table::entries);
    let requests = states.filter_map(|(value, _, item)| {
        let fields = item.table()?;
        let request = fields.get(REQUEST)?.table()?;
        Some((value, OwnRequest::load(&request)?))
    });
    let mut requests: IndexMap<String, OwnRequest> = requests.collect();
    let unset = table.get("unset").filter(Item::is_table);
    let absent = table.get("absent").and_then(|item| value_of(&item));
    let absent = absent.as_ref().and_then(Value::scalar_text);
    if let (Some(unset), Some(absent)) = (unset.and_then(|item| item.table()), absent)
        && let Some(request) = OwnRequest::load(&unset)
    {
        requests.insert(absent, request);
    }
    requests
}

/// `create_only`: `true`, or `"field"`.
fn read_create_only(table: &Table<'_>) -> CreateOnly {
    let Some(item) = table.get("create_only") else {
        return CreateOnly::Nothing;
    };
    match (item.as_bool(), item.as_str()) {
        (Some(true), _) => CreateOnly::Value,
        (Some(false), _) => CreateOnly::Nothing,
        (None, Some("field")) => CreateOnly::Field,
        _ => {
            item.error("wrong-kind", "`create_only` is `true` or `\"field\"`");
            CreateOnly::Nothing
        }
    }
}

/// `alike`: other spellings by the value that they mean.
fn read_spellings(table: &Table<'_>, model: &AttributeModel) -> Vec<(String, Value)> {
    let entries = table
        .table("alike")
        .iter()
        .flat_map(Table::entries)
        .collect::<Vec<_>>();
    let spellings = entries.into_iter().flat_map(|(name, _, item)| {
        let text = Value::from(name);
        let meant = model.canonicalize_element(&text).unwrap_or(text);
        let others = Vec::<Value>::read(&item).unwrap_or_default();
        let others = others.into_iter().filter_map(|other| other.scalar_text());
        others
            .map(move |other| (other, meant.clone()))
            .collect::<Vec<_>>()
    });
    spellings.collect()
}

fn read_location(
    name: &str,
    table: &Table<'_>,
    is_array: bool,
    (unset, is_netconf): (Option<UnsetRule>, bool),
) -> Option<RestLocation> {
    if table.get("sub").is_some() {
        return read_members(name, table);
    }
    if let Some(of) = table.string("entry") {
        return Some(RestLocation::Entries(EntriesRule {
            of,
            kinds: table.strings("kind").unwrap_or_else(|| {
                table.missing("kind");
                Vec::new()
            }),
            context: table.string("context"),
            both: table.strings("both").unwrap_or_default(),
            absent: table.get("absent").and_then(|item| value_of(&item)),
            default_entry: table.table("otherwise").and_then(|table| {
                let rule = DefaultEntry {
                    when: table
                        .table("when")
                        .iter()
                        .flat_map(Table::entries)
                        .filter_map(|(key, _, item)| Some((key, item.strings()?)))
                        .collect(),
                    kind: required_template(&table, "kind")?,
                    paths: table
                        .get("paths")
                        .and_then(|item| item.list())
                        .iter()
                        .flatten()
                        .filter_map(item_template)
                        .collect(),
                };
                table.finish();
                Some(rule)
            }),
        }));
    }
    if let Some(upload) = table.table("upload") {
        let path = required_template(&upload, "path");
        let value = required_template(&upload, "value");
        upload.finish();
        let field = table
            .required("field")
            .and_then(|item| FieldPath::read(&item));
        return Some(RestLocation::Upload(Box::new(UploadRule {
            path: path?,
            field: field?,
            value: value?,
        })));
    }
    if let Some(order) = table.table("order") {
        let rule = read_order(table, &order, is_netconf);
        order.finish();
        return rule.map(|rule| RestLocation::Order(Box::new(rule)));
    }
    if has_states(table) {
        return Some(RestLocation::States(read_states(table)));
    }
    if let Some(choice) = table.table("choice") {
        return read_choice(table, &choice, unset).map(RestLocation::Choice);
    }
    let Some(field) = table.get("field") else {
        table.findings.error_with_help(
            "missing-key",
            table.span.clone(),
            format!("[{}] has no location", table.path),
            "add `field`, `set`, `choice`, `sub`, `entry`, `order`, `upload`, `inside` or `unsupported`",
        );
        return None;
    };
    if field.is_table() {
        let by = table.required_string("by")?;
        let places = field.table()?.entries().into_iter();
        let places =
            places.map(
                |(value, _, field)| match read_field(table, &field, is_array, unset)? {
                    RestLocation::Field(field) => Some((value, field)),
                    _ => None,
                },
            );
        let places: IndexMap<_, _> = places.collect::<Option<_>>()?;
        if places.is_empty() {
            field.error("wrong-kind", "`field` requires a path for a value of `by`");
            return None;
        }
        let by = Name::from(by);
        return Some(RestLocation::Chosen(ChosenField { by, places }));
    }
    read_field(table, &field, is_array, unset)
}

/// `choice`: the field that exists with each value.
fn read_choice(
    table: &Table<'_>,
    choice: &Table<'_>,
    unset: Option<UnsetRule>,
) -> Option<ChoiceRule> {
    let places = choice.entries().into_iter();
    let places = places.map(|(value, _, item)| Some((value, FieldPath::read(&item)?)));
    let unset = match table.get("unset") {
        Some(item) if item.is_table() => None,
        Some(item) => word(&item, &UNSET),
        None => unset,
    };
    Some(ChoiceRule {
        places: places.collect::<Option<_>>()?,
        absent: table.get("absent").and_then(|item| value_of(&item)),
        unset,
    })
}

/// A value in a field, or several in common fields.
fn read_field(
    table: &Table<'_>,
    field: &Item<'_>,
    is_array: bool,
    unset: Option<UnsetRule>,
) -> Option<RestLocation> {
    let (path, each) = field_and_each(field)?;
    if each.is_some() && !is_array {
        field.error("path", "`[*]` requires an array attribute");
    }
    let with = table.strings("with").unwrap_or_default();
    let codec = table.get("codec");
    if let Some(item) = &codec
        && let Some((_, group, arity)) = GroupCodec::ALL
            .iter()
            .find(|(word, ..)| Some(*word) == item.as_str())
    {
        if with.len() + 1 != *arity {
            item.error(
                "codec",
                format!("the codec requires {arity} attributes; list the others in `with`"),
            );
        }
        return Some(RestLocation::Group {
            codec: *group,
            field: path,
            with: with.into_iter().map(Name::from).collect(),
        });
    }
    let codec = match codec {
        Some(item) => {
            let words: Vec<_> = ValueCodec::ALL
                .iter()
                .map(|(name, codec)| (*name, Some(*codec)))
                .chain(GroupCodec::ALL.iter().map(|(name, ..)| (*name, None)))
                .collect();
            word(&item, &words).flatten()
        }
        None => None,
    };
    if matches!(codec, Some(ValueCodec::Words | ValueCodec::Lines)) && !is_array {
        table.findings.error(
            "codec",
            table.span.clone(),
            format!("[{}]: this codec requires an array attribute", table.path),
        );
    }
    let absent = table.get("absent").and_then(|item| value_of(&item));
    let own_unset = table.get("unset");
    if let (Some(item), None) = (&own_unset, &absent) {
        item.error(
            "unset",
            "`unset` requires `absent`, the value without the field",
        );
    }
    let unset = match own_unset {
        Some(item) if item.is_table() => None,
        Some(item) => word(&item, &UNSET),
        None => unset,
    };
    Some(RestLocation::Field(FieldRule {
        path,
        each,
        map: map(table),
        unset: unset.filter(|_| absent.is_some()),
        absent,
        codec,
    }))
}

/// `order`: the requests, or attributes of an edit, that move an object.
fn read_order(table: &Table<'_>, order: &Table<'_>, is_netconf: bool) -> Option<OrderRule> {
    let none = table.required("absent").and_then(|item| value_of(&item));
    let moves = if is_netconf {
        // Without them: those of YANG, when the list is known.
        let attributes = |key| match order.get(key) {
            Some(item) => item.table().map(|table| attributes(&table)),
            None => Some(Vec::new()),
        };
        ObjectMove::Attributes {
            after: attributes("after")?,
            before: attributes("before")?,
        }
    } else {
        let verbs = [
            ("PUT", Method::Put),
            ("POST", Method::Post),
            ("PATCH", Method::Patch),
        ];
        let verb = order.required("verb").and_then(|item| word(&item, &verbs));
        let after = required_template(order, "after");
        let before = required_template(order, "before");
        ObjectMove::Requests {
            method: verb?,
            after: after?,
            before: before?,
        }
    };
    Some(OrderRule { moves, none: none? })
}

/// Attributes of an element, with templates.
fn attributes(table: &Table<'_>) -> Vec<(String, TextTemplate)> {
    let entries = table.entries().into_iter();
    let attributes = entries.filter_map(|(name, _, item)| Some((name, item_template(&item)?)));
    attributes.collect()
}

/// The words of `unset`.
pub(super) const UNSET: [(&str, UnsetRule); 3] = [
    ("delete", UnsetRule::Delete),
    ("null", UnsetRule::Null),
    ("omit", UnsetRule::Omit),
];

/// The path of a field; for `upstreams[*].dial`, that of the list and that in its elements.
pub(in crate::driver) fn field_and_each(item: &Item<'_>) -> Option<(FieldPath, Option<FieldPath>)> {
    let text = item.template()?;
    if text.contains('{') {
        let message = format!("the path `{text}` has no placeholders");
        let help = "write `by`, the attribute that decides, and a `field.VALUE` for each value";
        let span = item.span.clone();
        item.findings.error_with_help("path", span, message, help);
        return None;
    }
    let Some((list, field)) = text.split_once("[*].") else {
        return Some((FieldPath::read(item)?, None));
    };
    match (list.parse(), field.parse()) {
        (Ok(list), Ok(field)) => Some((list, Some(field))),
        (Err(error), _) | (_, Err(error)) => {
            let error: crate::read::field_path::FieldPathError = error;
            item.error("path", error.to_string());
            None
        }
    }
}

fn map(table: &Table<'_>) -> Vec<(String, Json)> {
    table
        .table("map")
        .iter()
        .flat_map(Table::entries)
        .filter_map(|(key, _, item)| Some((key, json_of(&item)?)))
        .collect()
}

fn read_states(table: &Table<'_>) -> IndexMap<String, StateFields> {
    let mut states: IndexMap<String, StateFields> = named(table, "set", |table| {
        Some(StateFields {
            set: all_fields(table, &[REQUEST]),
            when: None,
        })
    });
    // Without `when` an attribute is read with the values of `set`; with `when`, in its order.
    let Some(when) = table.table("when") else {
        for state in states.values_mut() {
            let conditions = state
                .set
                .iter()
                .map(|(path, json)| (path.clone(), vec![json.clone()]));
            state.when = Some(conditions.collect());
        }
        return states;
    };
    let mut ordered = IndexMap::default();
    for (name, span, item) in when.entries() {
        let Some(mut state) = states.shift_remove(&name) else {
            table.findings.error(
                "unknown-value",
                span,
                format!("`when.{name}` has no `set.{name}`"),
            );
            continue;
        };
        if let Some(table) = item.table() {
            let conditions = all_fields(&table, &[])
                .into_iter()
                .map(|(path, json)| match json {
                    Json::Array(any) => (path, any),
                    one => (path, vec![one]),
                });
            state.when = Some(conditions.collect());
        }
        ordered.insert(name, state);
    }
    ordered.extend(states);
    ordered
}

/// A codec for all members, or `{ by = "type", ip = "f5-network" }`.
fn member_codec(item: &Item<'_>) -> Option<MemberCodec> {
    let codec = |item: &Item<'_>| word(item, &ValueCodec::ALL);
    if item.as_str().is_some() {
        return codec(item).map(MemberCodec::Always);
    }
    let table = item.table()?;
    let attribute = table.required_string("by")?;
    let entries = table.entries().into_iter();
    let codecs = entries
        .filter(|(name, _, _)| name != "by")
        .filter_map(|(name, _, item)| Some((name, codec(&item)?)))
        .collect();
    table.finish();
    Some(MemberCodec::By { attribute, codecs })
}

fn read_members(name: &str, table: &Table<'_>) -> Option<RestLocation> {
    let read = table.required("sub");
    let write = match table.get("field") {
        Some(item) => FieldPath::read(&item),
        None => Some(FieldPath::of(name)),
    };
    let key = table.required("key");
    let split = match table.get("split") {
        None => KeySplit::Complete,
        Some(item) => {
            let template = item_template(&item)?;
            let holes: Vec<_> = template.holes().map(str::to_owned).collect();
            match holes.as_slice() {
                [one] => KeySplit::Field(one.clone()),
                [host, port] => KeySplit::HostPort(host.clone(), port.clone()),
                _ => {
                    item.error("split", "`split` must be `{host}:{port}` or `{field}`");
                    return None;
                }
            }
        }
    };
    let create = table.table("create");
    let created = create.as_ref().map(|create| body(create, "body"));
    if let Some(create) = create {
        create.finish();
    }
    let own = match table.get("collection").or_else(|| table.get("object")) {
        None => None,
        Some(_) => Some(MemberPaths {
            collection: required_template(table, "collection")?,
            object: required_template(table, "object")?,
        }),
    };
    Some(RestLocation::Members(Box::new(MembersRule {
        read: FieldPath::read(&read?)?,
        write: write?,
        own,
        key: FieldPath::read(&key?)?,
        split,
        device_owned: DeviceOwned(fields(table, "device_owned")),
        codec: table.get("codec").and_then(|item| member_codec(&item)),
        none: table.get("none").and_then(|item| value_of(&item)),
        create: created.unwrap_or_default(),
        fields: named(table, "item", |table| {
            let location = if table.get("set").is_some() {
                RestLocation::States(read_states(table))
            } else {
                RestLocation::Field(FieldRule {
                    path: FieldPath::read(&table.required("field")?)?,
                    each: None,
                    map: map(table),
                    absent: table.get("absent").and_then(|item| value_of(&item)),
                    unset: None,
                    codec: None,
                })
            };
            table.finish();
            Some(location)
        }),
    })))
}
