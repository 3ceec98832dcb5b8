//! The facts of a device in the format of the server (`docs/reference/agent-protocol.md`, section 10).

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use switchtender_devices::driver::Facts as DriverFacts;
use switchtender_devices::names::Certname;

use crate::agent::PROTOCOL_VERSION;
use crate::agent::puppet_conf::FactLimits;
use crate::agent::run_log::RunLog;
use crate::clock::{self, puppet_time};

/// Facts of one device at one moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    pub(crate) name: Certname,
    pub(crate) values: Map<String, Value>,
    pub(crate) timestamp: Timestamp,
    /// The facts expire after this time.
    pub(crate) lifetime: Duration,
}

impl Facts {
    /// Facts of the device with those that every agent adds.
    pub fn new(
        certname: &Certname,
        device: &Map<String, Value>,
        noop: bool,
        timestamp: Timestamp,
        lifetime: Duration,
    ) -> Self {
        let mut values = device.clone();
        let text = |values: &Map<String, Value>, name: &str| {
            values.get(name).and_then(Value::as_str).map(str::to_owned)
        };
        // Manifests use the structured names; platforms provide the flat ones.
        let family = match values.remove("os.family") {
            Some(Value::String(family)) => Some(family),
            _ => None,
        };
        if !values.contains_key("os")
            && let Some(name) = text(&values, "operatingsystem")
        {
            let family = family.or_else(|| text(&values, "osfamily"));
            let mut os = json!({"name": name, "family": family.as_ref().unwrap_or(&name)});
            if let Some(release) = text(&values, "operatingsystemrelease") {
                let major = release.split('.').next().unwrap_or_default().to_owned();
                os["release"] = json!({"full": release, "major": major});
            }
            values.insert("os".to_owned(), os);
        }
        if !values.contains_key("networking")
            && let Some(hostname) = text(&values, "hostname")
        {
            values.insert("networking".to_owned(), json!({"hostname": hostname}));
        }
        values.insert("clientcert".to_owned(), certname.as_str().into());
        values.insert("clientversion".to_owned(), PROTOCOL_VERSION.into());
        values.insert("clientnoop".to_owned(), noop.into());
        values.insert(
            "switchtender".to_owned(),
            json!({"version": env!("CARGO_PKG_VERSION")}),
        );
        Self {
            name: certname.clone(),
            values,
            timestamp,
            lifetime,
        }
    }

    /// Facts that a driver read, without the options of the driver.
    pub(crate) fn of_driver(
        certname: &Certname,
        device: &DriverFacts,
        noop: bool,
        lifetime: Duration,
    ) -> Self {
        let values = device.iter();
        let values = values
            .filter(|(name, _)| !name.starts_with("option."))
            .map(|(name, value)| (name.clone(), value.clone().into()));
        Self::new(
            certname,
            &values.collect(),
            noop,
            clock::timestamp(),
            lifetime,
        )
    }

    /// The request body.
    pub(crate) fn to_json(&self) -> String {
        let expiration = self
            .timestamp
            .checked_add(self.lifetime)
            .unwrap_or(Timestamp::MAX);
        json!({
            "name": self.name.as_str(),
            "values": self.values,
            "timestamp": puppet_time(self.timestamp),
            "expiration": puppet_time(expiration),
        })
        .to_string()
    }

    /// Logs warnings about facts beyond the soft limits.
    pub(crate) fn check(&self, limits: &FactLimits, log: &mut dyn RunLog) {
        let exceeds = |found: usize, limit: usize| limit > 0 && found > limit;
        let mut count = 0;
        let mut long_names = Vec::new();
        let mut long_values = Vec::new();
        for (name, value) in &self.values {
            walk(name, value, &mut |path, leaf| {
                count += 1;
                if exceeds(path.len(), limits.name_length) {
                    long_names.push(path.to_owned());
                }
                if leaf
                    .as_str()
                    .is_some_and(|text| exceeds(text.len(), limits.value_length))
                {
                    long_values.push(path.to_owned());
                }
            });
        }
        let payload = self.to_json().len();
        for name in long_names {
            let short: String = name.chars().take(80).collect();
            log.warning(format!(
                "Fact name '{short}…' with length: '{}' exceeds the length limit: {}",
                name.len(),
                limits.name_length
            ));
        }
        for name in long_values {
            log.warning(format!(
                "Fact value of '{name}' exceeds the value length limit: {}",
                limits.value_length
            ));
        }
        for (found, limit, what) in [
            (
                self.values.len(),
                limits.top_level,
                "number of top level facts",
            ),
            (count, limits.number, "total number of fact values"),
            (payload, limits.payload, "size of the facts payload"),
        ] {
            if exceeds(found, limit) {
                log.warning(format!(
                    "The current {what}: {found} exceeds the limit: {limit}"
                ));
            }
        }
    }
}

fn walk(path: &str, value: &Value, seen: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                walk(&format!("{path}.{name}"), value, seen);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                walk(&format!("{path}.{index}"), value, seen);
            }
        }
        leaf => seen(path, leaf),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::run_log::{Level, has_message};

    fn facts(device: Value) -> Facts {
        let Value::Object(device) = device else {
            panic!()
        };
        let time = "2026-11-21T08:00:00Z".parse().unwrap();
        Facts::new(
            &Certname::parse("sw1.lab.test").unwrap(),
            &device,
            false,
            time,
            Duration::from_secs(1800),
        )
    }

    #[test]
    fn to_json_reproduces_a_recorded_document() {
        let recorded: Value = serde_json::from_str(include_str!(
            "../../../tests/fixtures/puppetserver/facts/sw1.json"
        ))
        .unwrap();
        let mut device = recorded["values"].as_object().unwrap().clone();
        for added in ["clientcert", "clientversion", "clientnoop"] {
            device.remove(added);
        }
        let mut made: Value =
            serde_json::from_str(&facts(Value::Object(device)).to_json()).unwrap();
        // Additions of Switchtender, and the version.
        let values = made["values"].as_object_mut().unwrap();
        assert_eq!(
            values.remove("networking"),
            Some(json!({"hostname": "sw1"}))
        );
        assert!(values.remove("switchtender").is_some());
        values["clientversion"] = "7.23.0".into();
        assert_eq!(made, recorded);
    }

    #[test]
    fn new_adds_structured_names() {
        let made = facts(json!({"operatingsystem": "IOS", "operatingsystemrelease": "15.2(2)E6"}));
        assert_eq!(
            made.values["os"],
            json!({"name": "IOS", "family": "IOS", "release": {"full": "15.2(2)E6", "major": "15"}})
        );
        assert!(!made.values.contains_key("networking"));
    }

    #[test]
    fn check_warns_beyond_the_soft_limits() {
        let limits = FactLimits {
            value_length: 5,
            name_length: 0,
            top_level: 4,
            number: 6,
            payload: 10,
        };
        let mut log = Vec::new();
        facts(json!({"a": {"b": ["123456", "x"]}, "c": 1})).check(&limits, &mut log);
        for beginning in [
            "Fact value of 'a.b.0' exceeds the value length limit: 5",
            "The current number of top level facts: 6 exceeds the limit: 4",
            "The current total number of fact values: 7 exceeds the limit: 6",
            "The current size of the facts payload: ",
        ] {
            assert!(
                has_message(&log, Level::Warning, beginning),
                "{beginning}: {log:?}"
            );
        }
    }
}
