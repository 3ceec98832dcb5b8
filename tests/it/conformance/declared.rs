//! What the declared deviations do, on the recorded cases that show what Puppet does.

use serde_json::{Value as Json, json};
use switchtender::compat::{Deviation, Deviations};

use super::case;

/// A case, the deviation that it is about, and what is so with it (paths into the runs).
type Row = (&'static str, Deviation, Vec<(&'static str, Json)>);

const TRY_GRAPH: &str =
    "Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz";

fn rows() -> Vec<Row> {
    vec![
        (
            "refresh-device-class-boundary",
            Deviation::ContainerEvents,
            vec![("/0/resources/Dev_save[running]/restarted", json!(true))],
        ),
        (
            "cycle-two",
            Deviation::ShortCycles,
            vec![
                ("/0/logs/1/2", json!("Found 1 dependency cycle:")),
                (
                    "/0/logs/2/2",
                    json!("(Dev_acl[a] => Dev_vlan[10] => Dev_acl[a])"),
                ),
                ("/0/logs/3/2", json!(TRY_GRAPH)),
            ],
        ),
        // Puppet begins at Dev_acl[gamma], which only leads to the cycle it shows.
        (
            "random-1-0088",
            Deviation::ShortCycles,
            vec![
                ("/0/logs/3/2", json!("Found 1 dependency cycle:")),
                (
                    "/0/logs/4/2",
                    json!("(Dev_port[eth0] => Class[Core] => Dev_vlan[20] => Dev_port[eth0])"),
                ),
                ("/0/logs/5/2", json!(TRY_GRAPH)),
            ],
        ),
        (
            "schedule-unknown",
            Deviation::UnusableScheduleFailsResource,
            vec![
                ("/0/error", Json::Null),
                ("/0/resources/Dev_vlan[20]/failed", json!(true)),
                (
                    "/0/resources/Dev_vlan[20]/events/0/message",
                    json!("Could not find schedule nightly"),
                ),
                ("/0/final_state/dev_vlan", json!({"10": {}, "30": {}})),
                ("/0/report/transaction_completed", json!(true)),
            ],
        ),
        (
            "unknown-type",
            Deviation::UnknownTypeFailsResource,
            vec![
                ("/0/error", Json::Null),
                (
                    "/0/resources/Dev_mystery[x]/events/0/message",
                    json!("Resource type 'Dev_mystery' was not found"),
                ),
                ("/0/resources/Dev_vlan[10]/changed", json!(true)),
                ("/0/report/status", json!("failed")),
            ],
        ),
        (
            "stop-requested",
            Deviation::StoppedRunFails,
            vec![
                ("/0/report/transaction_completed", json!(false)),
                ("/0/report/status", json!("failed")),
                ("/0/resources/Dev_vlan[20]/changed", json!(true)),
            ],
        ),
        (
            "stop-requested-deferred",
            Deviation::StoppedRunFails,
            vec![
                ("/0/resources/Dev_vlan[10]/skipped", json!(true)),
                ("/0/report/metrics/resources/skipped", json!(6)),
                ("/0/report/status", json!("failed")),
            ],
        ),
        (
            "property-false-and-empty",
            Deviation::FalseIsEnforced,
            vec![
                ("/0/final_state/both_thing/a/value", json!(false)),
                ("/0/final_state/dev_port/eth0/dns", json!([])),
                (
                    "/0/resources/Both_thing[a]/events/0/message",
                    json!("value changed 'x' to false"),
                ),
            ],
        ),
        (
            "history-list-noop",
            Deviation::ListHistoryIsStored,
            vec![
                (
                    "/0/persisted/system_values/Dev_port[eth0]/dns",
                    json!(["a"]),
                ),
                ("/1/report/corrective_change", json!(true)),
            ],
        ),
        (
            "provider-unsuitable",
            Deviation::NoProviderHasEvent,
            vec![(
                "/0/resources/Dev_acl[a]/events/0/message",
                json!(
                    "Could not find a suitable provider for dev_acl: \
                     dev_acl is not supported on mem"
                ),
            )],
        ),
        (
            "kind-missing",
            Deviation::KindlessIsTyped,
            vec![("/0/resources/Dev_vlan[10]/changed", json!(true))],
        ),
        (
            "property-sensitive-mistakes",
            Deviation::PathsAreComplete,
            vec![("/0/logs/0/1", json!("/Stage[main]/Main/Dev_port[eth3]"))],
        ),
        (
            "generate-purge",
            Deviation::PurgersApply,
            vec![
                ("/0/resources/Resources[dev_vlan]/skipped", Json::Null),
                ("/0/resources/Dev_vlan[10]/changed", json!(true)),
            ],
        ),
        (
            "api-set-fails",
            Deviation::OutcomeBeforeEvent,
            vec![
                ("/0/resources/Net_iface[e0]/changed", Json::Null),
                (
                    "/0/resources/Net_iface[e0]/events/0/message",
                    json!("change from 1500 to 9000 failed: locked"),
                ),
                (
                    "/0/resources/Net_iface[e0]/events/0/status",
                    json!("failure"),
                ),
                ("/0/resources/Net_iface[e0]/events/1", Json::Null),
                ("/0/resources/Dev_acl[a]/skipped", json!(true)),
                ("/0/report/status", json!("failed")),
            ],
        ),
        (
            "api-tags",
            Deviation::ResourceApiKeepsTags,
            vec![("/0/resources/Net_vlan[10]/changed", json!(true))],
        ),
        (
            "api-audit-unset",
            Deviation::ResourceApiAuditReadsOnly,
            vec![("/0/final_state/net_iface/e0/description", json!("keep me"))],
        ),
        (
            "api-properties",
            Deviation::ResourceApiBooleansAlike,
            vec![(
                "/0/resources/Net_iface[e0]/events/1/message",
                json!("enable changed true to false"),
            )],
        ),
        (
            "api-init-only",
            Deviation::InitOnlyIsChecked,
            vec![
                ("/0/resources/Net_iface[e0]/failed", json!(true)),
                ("/0/resources/Net_iface[e0]/change_count", json!(1)),
                (
                    "/0/resources/Net_iface[e0]/events/1/message",
                    json!(
                        "change from 'copper' to 'fiber' failed: Attempting to change `medium` \
                         init_only attribute value from `'copper'` to `'fiber'`"
                    ),
                ),
            ],
        ),
        (
            "refresh-failed-source",
            Deviation::FailuresLoggedOnce,
            vec![(
                "/0/logs/10",
                json!([
                    "err",
                    "/Stage[main]/Main/Dev_acl[a]/mode",
                    "change from 'absent' to 'deny' failed: rejected"
                ]),
            )],
        ),
        (
            "noop-global",
            Deviation::NoopText,
            vec![(
                "/0/resources/Dev_vlan[20]/events/0/message",
                json!("created (noop)"),
            )],
        ),
    ]
}

#[test]
fn declared_deviations_have_the_described_effect() {
    for (name, deviation, claims) in rows() {
        let case = super::recorded_case(name);
        let played = case::play_with_containers(&case, Deviations::puppet7().with(deviation));
        let runs = Json::from(played);
        for (path, expected) in claims {
            let actual = runs.pointer(path).cloned().unwrap_or(Json::Null);
            assert_eq!(actual, expected, "{name}: {path}");
        }
    }
}

#[test]
fn audited_secrets_are_absent_from_state_and_reports() {
    let case = super::recorded_case("property-sensitive-audit");
    let runs = case::play(&case, Deviations::default());
    for run in &runs {
        let stored = run["persisted"]["state"]["Dev_port[eth0]"]["secret"].as_str();
        assert!(stored.unwrap().starts_with("sha256:"));
        for part in ["persisted", "logs", "resources", "report"] {
            let text = run[part].to_string();
            for secret in [
                "\"old\"",
                "\"new\"",
                "\"other\"",
                "'old'",
                "'new'",
                "'other'",
            ] {
                assert!(!text.contains(secret), "{part} shows {secret}");
            }
        }
    }
    // A digest is enough to see the change of the third run.
    let event = &runs[2]["resources"]["Dev_port[eth0]"]["events"][0];
    assert_eq!(event["status"], json!("audit"));
}
