//! Members of an object, from the keys of `[attr.x]`.

use super::attribute_keys::{LocationCodec, LocationKeys, MemberFieldKeys};
use super::location::{simple_path, states};
use crate::document::{Named, Table};
use crate::driver::rest::definition::{
    DeviceOwned, FieldRule, KeySplit, MemberCodec, MemberPaths, MembersRule, RestLocation,
};
use crate::map::IndexMap;
use crate::read::field_path::FieldPath;

/// The members of an attribute with `sub`. `None`: an error is reported.
pub(super) fn members(keys: &LocationKeys, table: &Table<'_>, name: &str) -> Option<RestLocation> {
    let split = split(keys, table)?;
    let Some(key) = keys.key.clone() else {
        table.missing("key");
        return None;
    };
    let write = match &keys.field {
        Some(field) => simple_path(field, table)?,
        None => FieldPath::of(name),
    };
    let own = match (&keys.collection, &keys.object) {
        (None, None) => None,
        (Some(collection), Some(object)) => Some(MemberPaths {
            collection: collection.clone(),
            object: object.clone(),
        }),
        (None, _) => {
            table.missing("collection");
            return None;
        }
        (_, None) => {
            table.missing("object");
            return None;
        }
    };
    let codec = match keys.codec.as_ref().map(|codec| (&codec.value, &codec.span)) {
        None => None,
        Some((LocationCodec::Value(codec), _)) => Some(MemberCodec::Always(*codec)),
        Some((LocationCodec::By { attribute, codecs }, _)) => Some(MemberCodec::By {
            attribute: attribute.clone(),
            codecs: codecs.clone(),
        }),
        Some((LocationCodec::Group(..), span)) => {
            let message = "this codec is for several attributes in common fields, not for members";
            table.findings.error("codec", span.clone(), message);
            return None;
        }
    };
    let create = keys.create.as_ref();
    Some(RestLocation::Members(Box::new(MembersRule {
        read: keys.sub.clone()?,
        write,
        own,
        key,
        split,
        device_owned: DeviceOwned(keys.device_owned.0.clone()),
        codec,
        none: keys.none.clone(),
        create: create
            .map(|create| create.body.0.clone())
            .unwrap_or_default(),
        fields: member_fields(&keys.item, table)?,
    })))
}

fn split(keys: &LocationKeys, table: &Table<'_>) -> Option<KeySplit> {
    let Some(template) = &keys.split else {
        return Some(KeySplit::Complete);
    };
    let holes: Vec<_> = template.holes().map(str::to_owned).collect();
    match holes.as_slice() {
        [one] => Some(KeySplit::Field(one.clone())),
        [host, port] => Some(KeySplit::HostPort(host.clone(), port.clone())),
        _ => {
            let message = "`split` must be `{host}:{port}` or `{field}`";
            table
                .findings
                .error("split", template.span.clone(), message);
            None
        }
    }
}

/// The fields of a member that are not part of its key.
fn member_fields(
    items: &Named<MemberFieldKeys>,
    table: &Table<'_>,
) -> Option<IndexMap<String, RestLocation>> {
    let fields = items.iter().map(|(name, keys)| {
        let location = match (&keys.set, &keys.field) {
            (Some(set), _) => {
                let set = set.iter();
                let set = set.map(|(value, fields)| (value.as_str(), &fields.0));
                RestLocation::States(states(set, keys.when.as_ref(), table))
            }
            (None, Some(path)) => RestLocation::Field(FieldRule {
                path: path.clone(),
                each: None,
                map: keys
                    .map
                    .iter()
                    .map(|(value, json)| (value.value.clone(), json.clone()))
                    .collect(),
                absent: keys.absent.clone(),
                unset: None,
                codec: None,
            }),
            (None, None) => {
                table.table("item")?.table(name)?.missing("field");
                return None;
            }
        };
        Some((name.value.clone(), location))
    });
    fields.collect()
}
