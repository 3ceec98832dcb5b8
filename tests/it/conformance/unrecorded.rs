//! Deviations that no recorded case touches: what happens as in Puppet 7, by the specification, and
//! with the deviation.

use serde_json::{Value as Json, json};
use switchtender::compat::{Deviation, Deviations};

use super::case;

/// Where to look in the runs, what is there as Puppet 7, and with the deviation.
type Claim = (&'static str, Json, Json);

struct Row {
    deviation: Deviation,
    case: Json,
    claims: Vec<Claim>,
}

/// A catalog of resources in one class: type, title, parameters.
fn catalog(resources: &[(&str, &str, Json)]) -> Json {
    let mut all = vec![json!({
        "type": "Class", "title": "main", "tags": ["class", "main"], "kind": "class",
    })];
    let mut edges = Vec::new();
    for (type_name, title, parameters) in resources {
        all.push(json!({
            "type": type_name, "title": title, "tags": [type_name.to_lowercase()],
            "file": "/site.pp", "line": 7, "kind": "compilable_type", "parameters": parameters,
        }));
        edges.push(json!({"source": "Class[main]", "target": format!("{type_name}[{title}]")}));
    }
    json!({"name": "device.test", "version": "v1", "catalog_format": 2, "resources": all, "edges": edges})
}

fn rows() -> Vec<Row> {
    vec![
        Row {
            deviation: Deviation::AuditDoesNotRefresh,
            case: json!({
                "state": {"dev_vlan": {"10": {"label": "x"}}},
                "catalog": catalog(&[
                    ("Dev_vlan", "10", json!({"audit": ["label"], "notify": "Dev_save[running]"})),
                    ("Dev_save", "running", json!({})),
                ]),
                "steps": [{}, {"drift": {"dev_vlan": {"10": {"label": "y"}}}}],
            }),
            claims: vec![
                (
                    "/1/resources/Dev_vlan[10]/events/0/status",
                    json!("audit"),
                    json!("audit"),
                ),
                (
                    "/1/resources/Dev_save[running]/restarted",
                    json!(true),
                    Json::Null,
                ),
            ],
        },
        Row {
            deviation: Deviation::AuditOfParametersWarns,
            case: json!({
                "state": {"dev_acl": {"a": {"mode": "deny"}}},
                "catalog": catalog(&[("Dev_acl", "a", json!({"audit": ["ports"]}))]),
            }),
            claims: vec![
                ("/0/resources/Dev_acl[a]/failed", json!(true), Json::Null),
                (
                    "/0/resources/Dev_acl[a]/events/0/message",
                    json!("undefined method `notice' for nil:NilClass"),
                    Json::Null,
                ),
            ],
        },
        Row {
            deviation: Deviation::PrefetchOnlyApplied,
            case: json!({
                "options": {"tags": "dev_acl"},
                "catalog": catalog(&[
                    ("Dev_vlan", "10", json!({"ensure": "present"})),
                    ("Dev_acl", "a", json!({"mode": "deny"})),
                ]),
            }),
            claims: vec![
                (
                    "/0/calls/0",
                    json!(["prefetch", "dev_vlan", ["10"]]),
                    json!(["set", "Dev_acl[a]", "mode", "deny"]),
                ),
                (
                    "/0/resources/Dev_vlan[10]/skipped",
                    json!(true),
                    json!(true),
                ),
            ],
        },
        Row {
            deviation: Deviation::ResourceApiKeepsPosition,
            case: json!({
                "catalog": catalog(&[("Net_vlan", "10", json!({"ensure": "present"}))]),
            }),
            claims: vec![
                (
                    "/0/resources/Net_vlan[10]/file",
                    Json::Null,
                    json!("/site.pp"),
                ),
                ("/0/resources/Net_vlan[10]/line", Json::Null, json!(7)),
            ],
        },
        Row {
            // The first of a month has the number that 1970 began with.
            deviation: Deviation::PeriodsAreCompared,
            case: json!({
                "now": "2024-03-01T12:00:00Z",
                "catalog": catalog(&[
                    ("Schedule", "day", json!({"period": "daily", "periodmatch": "number"})),
                    ("Dev_acl", "a", json!({"mode": "deny", "schedule": "day"})),
                ]),
            }),
            claims: vec![
                ("/0/resources/Dev_acl[a]/changed", Json::Null, json!(true)),
                ("/0/resources/Dev_acl[a]/skipped", json!(true), Json::Null),
            ],
        },
        Row {
            deviation: Deviation::SecretsAreHidden,
            case: json!({
                "state": {"dev_port": {"eth0": {"secret": "old"}}},
                "catalog": catalog(&[(
                    "Dev_port",
                    "eth0",
                    json!({
                        "secret": {"__ptype": "Sensitive", "__pvalue": "old"},
                        "audit": ["secret"],
                    }),
                )]),
            }),
            claims: vec![(
                "/0/persisted/state/Dev_port[eth0]/secret",
                json!("old"),
                // SHA-256 over reference, name and value, each ended by a zero byte.
                json!("sha256:e89ff7bc2f0dab893296db4c1848223f706d6159e9463319eedebfa6f844aaa6"),
            )],
        },
    ]
}

#[test]
fn unrecorded_deviations_have_the_described_effect() {
    for row in rows() {
        let puppet = Json::from(case::play(&row.case, Deviations::puppet7()));
        let deviations = Deviations::puppet7().with(row.deviation);
        let ours = Json::from(case::play(&row.case, deviations));
        for (path, as_puppet, as_we) in row.claims {
            for (runs, expected) in [(&puppet, as_puppet), (&ours, as_we)] {
                let actual = runs.pointer(path).cloned().unwrap_or(Json::Null);
                assert_eq!(actual, expected, "{:?}: {path}", row.deviation);
            }
        }
    }
}

/// As Puppet, which goes through the catalog until it meets what it cannot take.
#[test]
fn load_failure_keeps_messages_of_earlier_resources() {
    let mut catalog = catalog(&[
        ("Dev_vlan", "10", json!({"ensure": "present"})),
        ("Dev_vlan", "20", json!({"nonsense": 1})),
        ("Dev_vlan", "30", json!({"ensure": "present"})),
    ]);
    for index in [1, 3] {
        catalog["resources"][index]["sensitive_parameters"] = json!(["label"]);
    }
    // Puppet cuts the path of what is not in the catalog yet.
    for (deviations, source) in [
        (Deviations::puppet7(), "/Dev_vlan[10]"),
        (Deviations::default(), "/Main/Dev_vlan[10]"),
    ] {
        let runs = Json::from(case::play(&json!({ "catalog": catalog }), deviations));
        let logs = json!([
            [
                "warning",
                source,
                "Unable to mark 'label' as sensitive: the property itself was not assigned a value.",
            ],
            [
                "err",
                "Puppet",
                "Failed to apply catalog: no parameter named 'nonsense'",
            ],
        ]);
        assert_eq!(runs[0]["logs"], logs);
    }
}

#[test]
fn load_refuses_a_container_that_contains_itself() {
    let mut catalog = catalog(&[("Dev_vlan", "10", json!({"ensure": "present"}))]);
    let resources = catalog["resources"].as_array_mut().unwrap();
    resources.push(json!({"type": "Class", "title": "inner", "kind": "class"}));
    catalog["edges"] = json!([
        {"source": "Class[main]", "target": "Class[inner]"},
        {"source": "Class[inner]", "target": "Class[main]"},
    ]);
    let case = json!({ "catalog": catalog });
    let runs = Json::from(case::play(&case, Deviations::default()));
    assert_eq!(runs[0]["error"], "Class[Main] contains itself");
    assert_eq!(runs[0]["calls"], json!([]));
}
