//! Attributes that belong to one resource: descriptions, addresses, and what nearly every resource has otherwise.

use std::collections::HashMap;
use std::net::IpAddr;

use foldhash::HashSet;
use switchtender_devices::value::Value;

use super::parts::{PartValue, Parts, ResourcePart};
use crate::desired_state::declared::DeclaredValue;

/// Text for people about one resource.
const DESCRIPTION: &str = "description";

/// The most resources whose values can all differ by chance.
const FEW: usize = 3;

/// The attributes that count for no profile.
#[derive(Default)]
pub(super) struct PersonalParts {
    parts: HashSet<ResourcePart>,
}

impl PersonalParts {
    /// Those of resources of one view or type.
    pub(super) fn of<'a>(resources: impl Iterator<Item = &'a Parts>) -> Self {
        let mut values: HashMap<&ResourcePart, (usize, HashSet<String>)> = HashMap::new();
        let mut found = Self::default();
        for (part, value) in resources.flatten() {
            if part.attribute.is_none() {
                continue;
            }
            let (count, keys) = values.entry(part).or_default();
            *count += 1;
            keys.insert(value.key());
            if is_description(part) || is_address(value) {
                found.parts.insert(part.clone());
            }
        }
        for (part, (count, keys)) in values {
            if count > FEW && keys.len() * 2 > count {
                found.parts.insert(part.clone());
            }
        }
        found
    }

    pub(super) fn contains(&self, part: &ResourcePart) -> bool {
        self.parts.contains(part)
    }
}

fn is_description(part: &ResourcePart) -> bool {
    let name = part.attribute.as_deref();
    name.is_some_and(|name| name == DESCRIPTION)
}

/// Whether a value begins with an address.
fn is_address(value: &PartValue) -> bool {
    let PartValue::Set(DeclaredValue::Value(value)) = value else {
        return false;
    };
    let is_address = |value: &Value| {
        let word = value
            .as_str()
            .and_then(|text| text.split([' ', '/']).next());
        word.is_some_and(|word| word.parse::<IpAddr>().is_ok())
    };
    match value {
        Value::List(items) => items.iter().any(is_address),
        value => is_address(value),
    }
}
