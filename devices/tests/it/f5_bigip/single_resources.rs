//! Single resources: refusals, findings, omitted attributes, secrets.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use switchtender_devices::change::Change;
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::{NoSecretHistory, SecretHistory};
use switchtender_devices::operation::Action;
use switchtender_devices::read::State;
use switchtender_devices::value::Value;

use super::{desired, print, shipped, state_with};
use crate::support::offline::apply;

#[test]
fn render_refuses_changes_that_the_device_does_not_support() {
    let (registry, driver) = shipped();
    let node = json!({"items": [{"fullPath": "/Common/x", "address": "192.0.2.1"}]});
    let server =
        json!({"items": [{"fullPath": "/Common/x", "destination": "/Common/192.0.2.1:80"}]});
    let monitor = json!({"items": [{"fullPath": "/Common/x", "defaultsFrom": "/Common/tcp"}]});
    let route =
        json!({"items": [{"fullPath": "/Common/x", "network": "default", "gw": "192.0.2.1"}]});
    let cases = [
        (
            "f5_node",
            ("GET /mgmt/tm/ltm/node", &node),
            json!({"ensure": "present", "address": "192.0.2.2"}),
            "address: cannot be changed; remove the resource and create it again",
        ),
        (
            "f5_node",
            ("", &Json::Null),
            json!({"ensure": "present", "ratio": 2}),
            "address: is required to create the object",
        ),
        (
            "f5_virtualserver",
            ("GET /mgmt/tm/ltm/virtual", &server),
            json!({"ensure": "present", "provider": "forwarding_ip"}),
            "provider: cannot be changed; remove the resource and create it again",
        ),
        (
            "f5_virtualserver",
            ("", &Json::Null),
            json!({"ensure": "present", "provider": "performance_l4", "destination_address": "192.0.2.1", "service_port": 80}),
            "protocol_profile_client: is required to create the object",
        ),
        (
            "f5_monitor",
            ("GET /mgmt/tm/ltm/monitor/tcp", &monitor),
            json!({"ensure": "present", "provider": "tcp", "parent_monitor": "/Common/other"}),
            "parent_monitor: cannot be changed; remove the resource and create it again",
        ),
        (
            "f5_route",
            ("GET /mgmt/tm/net/route", &route),
            json!({"ensure": "present", "pool": "/Common/routers"}),
            "pool: cannot be changed; remove the resource and create it again",
        ),
    ];
    for (kind, (read, answer), attributes, expected) in cases {
        let desired = desired(registry, &driver, kind, &attributes);
        let state = state_with(&driver, &desired, read, answer);
        let current = driver.instance(&desired, &state).expect("understood");
        let differing = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
        let change = Change::new(Arc::new(desired), current, differing);
        let error = driver.render(&change, &state).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn check_finds_errors_without_the_device() {
    let (registry, driver) = shipped();
    let cases = [
        (
            "f5_monitor",
            json!({"ensure": "present", "provider": "icmp", "send_string": "x"}),
            Severity::Warning,
            "ignored: kind `icmp` has no such attribute",
        ),
        (
            "f5_virtualserver",
            json!({"ensure": "present", "provider": "reject", "default_pool": "/Common/p"}),
            Severity::Warning,
            "ignored: kind `reject` has no such attribute",
        ),
        (
            "f5_pool",
            json!({"ensure": "present", "health_monitors": ["/Common/a", "/Common/b"], "availability_requirement": 3}),
            Severity::Error,
            "3 monitors must be up, of 2",
        ),
        (
            "f5_irule",
            json!({"name": "/Common/_sys_auth_ldap", "ensure": "absent"}),
            Severity::Warning,
            "/Common/_sys_auth_ldap is reserved and is never changed",
        ),
    ];
    for (kind, attributes, severity, message) in cases {
        let desired = desired(registry, &driver, kind, &attributes);
        let problems = driver.check(&desired);
        let found: Vec<_> = problems
            .iter()
            .map(|problem| (problem.severity, problem.message.as_str()))
            .collect();
        assert_eq!(found, [(severity, message)], "{kind} {attributes}");
    }
}

#[test]
fn attributes_of_other_kinds_are_not_sent() {
    let (registry, driver) = shipped();
    let attributes =
        json!({"ensure": "present", "provider": "icmp", "send_string": "x", "interval": 9});
    let desired = desired(registry, &driver, "f5_monitor", &attributes);
    let mut state = state_with(&driver, &desired, "", &Json::Null);
    assert_eq!(
        print(&apply(&driver, &desired, &mut state)),
        [r#"POST /mgmt/tm/ltm/monitor/icmp {"name":"x","partition":"Common","interval":9}"#]
    );
    assert!(apply(&driver, &desired, &mut state).is_empty());
}

/// Remembers one secret.
struct Remembered(&'static str);

impl SecretHistory for Remembered {
    fn matches_last_set(&self, _: &str, attribute: &str, value: &Value) -> Option<bool> {
        (attribute == "password").then(|| value.unwrap_sensitive().as_str() == Some(self.0))
    }
}

#[test]
fn password_is_sent_if_changed_and_never_printed() {
    let (registry, driver) = shipped();
    let attributes = json!({"ensure": "present", "provider": "http", "username": "probe", "password": "s3\"cret"});
    let desired = desired(registry, &driver, "f5_monitor", &attributes);
    let mut state = state_with(&driver, &desired, "", &Json::Null);
    let before = state.clone();
    let operations = apply(&driver, &desired, &mut state);
    assert_eq!(
        print(&operations),
        [
            r#"POST /mgmt/tm/ltm/monitor/http {"name":"x","partition":"Common","username":"probe","password":"••••"}"#
        ]
    );
    let Action::Request(request) = &operations[0].action else {
        panic!("a request");
    };
    let body: Json =
        serde_json::from_str(&request.body.as_ref().expect("a body").reveal()).expect("JSON");
    assert_eq!(body["password"], "s3\"cret");
    let diff = driver.config_diff(&before, &state);
    assert!(
        diff.contains("username") && !diff.contains("cret"),
        "{diff}"
    );
    assert!(!format!("{operations:?}").contains("cret"));

    let answer = json!({"items": [{"fullPath": "/Common/x", "username": "probe", "password": "$M$ab$cdef=="}]});
    let state = state_with(&driver, &desired, "GET /mgmt/tm/ltm/monitor/http", &answer);
    let current = driver.instance(&desired, &state).expect("understood");
    for (last, expected) in [("s3\"cret", &[][..]), ("another", &["password".to_owned()])] {
        assert_eq!(
            driver.differs(&desired, current.as_ref(), &Remembered(last)),
            expected
        );
    }
    let diff = driver.config_diff(&State::default(), &state);
    assert!(diff.contains("password") && !diff.contains("$M$"), "{diff}");
}
