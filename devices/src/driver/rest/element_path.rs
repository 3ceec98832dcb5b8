//! Paths of elements in a NETCONF configuration, with the keys of elements in lists:
//! `/ietf-interfaces:interfaces/interface[name=eth0]`.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value as Json};

use crate::read::field_path::FieldPath;
use crate::read::xml::{self, Namespaces};

/// The attribute of an element that is not merged.
pub(super) const OPERATION: &str = "@nc:operation";

/// A read of the elements at a path: the operation that a session sends. `outer` are the keys of the
/// lists that contain them, outermost first.
pub(crate) fn get_config(path: &str, outer: &[Vec<&FieldPath>], namespaces: &Namespaces) -> String {
    // A filter without the keys returns the inner elements alone.
    let path = outer.iter().fold(path.to_owned(), |path, keys| {
        let keys: String = keys.iter().map(|key| format!("[{key}=]")).collect();
        path.replacen("[*]", &keys, 1)
    });
    let filter = xml::write(&tree(&path, Json::Null), namespaces, &|_| false);
    let filter = filter.map_or_else(|_| String::new(), |filter| filter.reveal());
    format!(
        "<get-config><source><running/></source><filter type=\"subtree\">{filter}</filter></get-config>"
    )
}

/// The elements of a path around the content of the last one.
pub(super) fn tree(path: &str, content: Json) -> Json {
    steps(path).into_iter().rev().fold(content, |inner, step| {
        let (name, keys) = step;
        let element = match (keys.is_empty(), inner) {
            (true, inner) => inner,
            (false, Json::Object(own)) => {
                let (operation, own): (Map<_, _>, Map<_, _>) =
                    own.into_iter().partition(|(name, _)| name == OPERATION);
                let mut fields = operation;
                fields.extend(keys);
                for (name, value) in own {
                    fields.entry(name).or_insert(value);
                }
                Json::Object(fields)
            }
            (false, _) => Json::Object(keys),
        };
        let mut parent = Map::new();
        parent.insert(name, element);
        Json::Object(parent)
    })
}

/// The names of the elements of a path, each with its keys.
pub(super) fn steps(path: &str) -> Vec<(String, Map<String, Json>)> {
    let steps = path.split('/').filter(|step| !step.is_empty());
    let steps = steps.map(|step| {
        let (name, keys) = step.split_once('[').unwrap_or((step, ""));
        let keys = keys.split(['[', ']']).filter_map(|key| {
            let (name, value) = key.split_once('=')?;
            Some((decoded(name), Json::from(decoded(value))))
        });
        (decoded(name), keys.collect())
    });
    steps.collect()
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn edit_paths_become_elements_with_their_keys_first() {
        let path = "/if:interfaces/interface[name=a%2Fb%5D][unit=0]/if%3Amtu";
        let expected = json!({"if:interfaces": {"interface": {"name": "a/b]", "unit": "0", "if:mtu": {"@nc:operation": "delete"}}}});
        assert_eq!(tree(path, json!({"@nc:operation": "delete"})), expected);
        let body = json!({"@nc:operation": "create", "name": "x", "mtu": 9000});
        let expected = json!({"a": {"@nc:operation": "create", "name": "x", "mtu": 9000}});
        assert_eq!(tree("/a[name=x]", body).to_string(), expected.to_string());
    }
}
