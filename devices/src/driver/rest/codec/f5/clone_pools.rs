//! Pools that receive a copy of a virtual server's traffic: at most one for each side.

use serde_json::{Value as Json, json};

use super::persistence::entry_path;
use crate::value::Value;

const SIDES: [&str; 2] = ["clientside", "serverside"];

/// No values: an entry for another side.
pub(crate) fn read(field: Option<&Json>) -> Vec<Option<Value>> {
    let mut pools = vec![Some("none".into()), Some("none".into())];
    for entry in field.and_then(Json::as_array).into_iter().flatten() {
        let context = entry.get("context").and_then(Json::as_str);
        match SIDES.iter().position(|side| context == Some(side)) {
            Some(side) => pools[side] = entry_path(entry).map(Value::from),
            None => return vec![None, None],
        }
    }
    pools
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
        let other = json!([{"name": "/Common/a", "context": "inside"}]);
        assert_eq!(read(Some(&other)), [None, None]);
    }
}
