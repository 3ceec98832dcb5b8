//! Pools that receive a copy of a virtual server's traffic: at most one for each side.

use serde_json::{Value as Json, json};

use super::persistence::entry_path;
use crate::value::Value;

const SIDES: [&str; 2] = ["clientside", "serverside"];

pub(crate) fn read(field: Option<&Json>) -> Vec<Option<Value>> {
    let entries = field.and_then(Json::as_array);
    SIDES
        .iter()
        .map(|side| {
            let path = entries.and_then(|entries| {
                entries
                    .iter()
                    .find(|entry| entry.get("context") == Some(&json!(side)))
                    .and_then(entry_path)
            });
            Some(path.map_or_else(|| "none".into(), Value::from))
        })
        .collect()
}

pub(crate) fn write(client: Option<&Value>, server: Option<&Value>) -> Json {
    SIDES
        .iter()
        .zip([client, server])
        .filter_map(|(side, pool)| {
            let pool = pool?.as_str()?;
            (pool != "none").then(|| json!({"name": pool, "context": side}))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clone_pools_round_trip() {
        for (client, server) in [
            ("/Common/a", "/Common/b"),
            ("none", "/Common/b"),
            ("none", "none"),
        ] {
            let json = write(Some(&client.into()), Some(&server.into()));
            assert_eq!(
                read(Some(&json)),
                [Some(client.into()), Some(server.into())]
            );
        }
    }
}
