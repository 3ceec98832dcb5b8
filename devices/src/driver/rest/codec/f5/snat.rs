//! Source address translation: `none`, `automap`, or a pool by kind: `{snat => /Common/pool}`.

use serde_json::{Value as Json, json};

use crate::value::Value;

pub(crate) fn read(field: Option<&Json>) -> Value {
    let part = |name: &str| {
        field
            .and_then(|field| field.get(name))
            .and_then(Json::as_str)
    };
    match (part("type"), part("pool")) {
        (Some(kind @ ("snat" | "lsn")), Some(pool)) => {
            Value::Hash(vec![(kind.into(), pool.into())])
        }
        (Some(kind), _) => kind.into(),
        (None, _) => "none".into(),
    }
}

pub(crate) fn write(value: Option<&Value>) -> Json {
    match value {
        Some(Value::Hash(entries)) => entries
            .first()
            .and_then(|(kind, pool)| Some((kind.as_str()?, pool.as_str()?)))
            .map_or_else(
                || json!({"type": "none"}),
                |(kind, pool)| json!({"type": kind, "pool": pool}),
            ),
        Some(word) => json!({"type": word.as_str().unwrap_or("none")}),
        None => json!({"type": "none"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snat_round_trip() {
        let pool = |kind: &str| Value::Hash(vec![(kind.into(), "/Common/p".into())]);
        for (value, json) in [
            (Value::from("none"), json!({"type": "none"})),
            ("automap".into(), json!({"type": "automap"})),
            (pool("snat"), json!({"type": "snat", "pool": "/Common/p"})),
            (pool("lsn"), json!({"type": "lsn", "pool": "/Common/p"})),
        ] {
            assert_eq!(write(Some(&value)), json);
            assert_eq!(read(Some(&json)), value);
        }
        assert_eq!(read(None), "none".into());
    }
}
