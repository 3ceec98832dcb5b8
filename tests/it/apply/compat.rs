//! `--compat puppet7` restores every declared deviation for shipped device types. A sample of them runs.

use std::path::PathBuf;

use serde_json::{Value, json};
use switchtender::compat::{Deviation, TABLE};
use switchtender_mutation::sample;

use super::interrupt::interrupted_while_deferred;
use test_support::catalog::{CatalogBuilder, catalog, resource, vlan};
use test_support::lab::Lab;
use test_support::program::ProgramOutput;
use test_support::stderr_note;

/// A catalog per run; the last one is observed.
struct Scenario {
    device: &'static str,
    faults: &'static [&'static str],
    catalogs: Vec<Value>,
    arguments: &'static [&'static str],
    /// The program is stopped when the device has received this line.
    /// Whether the run is interrupted while the device is busy.
    is_stopped: bool,
    observe: fn(&Lab, &ProgramOutput) -> Value,
    here: Value,
    puppet: Value,
}

/// A scenario, or the reason why no shipped type shows the deviation in a run of the program.
enum Evidence {
    Scenario(Box<Scenario>),
    None(&'static str),
}

const NAME: &str = "sw1.lab.test";

fn of(resources: &[Value]) -> Value {
    catalog(NAME, resources)
}

fn with(mut resource: Value, name: &str, value: Value) -> Value {
    resource["parameters"][name] = value;
    resource
}

fn without_kind(mut resource: Value) -> Value {
    resource.as_object_mut().unwrap().remove("kind");
    resource
}

fn port(attributes: Value) -> Value {
    resource("Network_interface", "GigabitEthernet1/0/1", attributes)
}

fn dns(attributes: Value) -> Value {
    resource("Network_dns", "default", attributes)
}

fn balancer(resources: &[Value]) -> Value {
    catalog("lb1.lab.test", resources)
}

fn sends(lab: &Lab, line: &str) -> Value {
    let lines = lab.log("sw1").received();
    lines.iter().any(|sent| sent.trim() == line).into()
}

fn scenario(observe: fn(&Lab, &ProgramOutput) -> Value, catalogs: Vec<Value>) -> Scenario {
    Scenario {
        device: "sw1",
        faults: &[],
        catalogs,
        arguments: &[],
        is_stopped: false,
        observe,
        here: json!(true),
        puppet: json!(false),
    }
}

fn evidence(deviation: Deviation) -> Evidence {
    let scenario = match deviation {
        Deviation::ContainerEvents => {
            let resources = CatalogBuilder::new(NAME)
                .class("A", json!({ "notify": "Class[B]" }))
                .resource(vlan(10, "one"))
                .class("B", json!({}))
                .resource(dns(json!({ "ensure": "present" })));
            scenario(
                |lab, _| sends(lab, "do clear host *"),
                vec![resources.build()],
            )
        }
        Deviation::ShortCycles => scenario(
            |_, ran| (!ran.text().contains(r"\nTry")).into(),
            vec![of(&[
                with(vlan(10, "one"), "require", json!("Network_vlan[20]")),
                with(vlan(20, "two"), "require", json!("Network_vlan[10]")),
            ])],
        ),
        Deviation::UnusableScheduleFailsResource => scenario(
            |lab, _| sends(lab, "vlan 30"),
            vec![of(&[
                with(vlan(10, "one"), "schedule", json!("nightly")),
                vlan(30, "three"),
            ])],
        ),
        Deviation::UnknownTypeFailsResource => scenario(
            |lab, _| sends(lab, "vlan 30"),
            vec![of(&[
                resource("Dev_odd", "x", json!({})),
                vlan(30, "three"),
            ])],
        ),
        Deviation::StoppedRunFails => Scenario {
            faults: &["busy=^vlan 105"],
            is_stopped: true,
            here: json!("failed"),
            puppet: json!("changed"),
            ..scenario(
                |_, ran| ran.device("sw1")["status"].clone(),
                vec![of(&(100..200)
                    .map(|number| vlan(number, "made"))
                    .collect::<Vec<_>>())],
            )
        },
        Deviation::SecretsAreHidden => scenario(
            |lab, _| {
                let files = lab.files("state");
                let mut memory = files
                    .iter()
                    .filter(|(path, _)| path.ends_with("memory.json"));
                memory.all(|(_, text)| !text.contains("in-clear")).into()
            },
            vec![
                of(&[radius(json!({}))]),
                of(&[radius(json!({ "audit": ["key"] }))]),
            ],
        ),
        Deviation::AuditDoesNotRefresh => {
            let audit = json!({ "audit": ["vlan_name"], "notify": "Network_dns[default]" });
            let audited = of(&[
                resource("Network_vlan", "10", audit),
                dns(json!({ "ensure": "present" })),
            ]);
            let rename = |name| of(&[vlan(10, name)]);
            scenario(
                |lab, _| (sends(lab, "do clear host *") == json!(false)).into(),
                vec![rename("one"), audited.clone(), rename("two"), audited],
            )
        }
        Deviation::PortStateStays => scenario(
            |lab, _| (sends(lab, "shutdown") == json!(false)).into(),
            vec![of(&[port(json!({ "description": "desk" }))])],
        ),
        Deviation::AuditOfParametersWarns => scenario(
            |_, ran| (ran.resource("sw1", "Network_vlan[10]")["failed"] == json!(false)).into(),
            vec![of(&[with(vlan(10, "one"), "audit", json!(["id"]))])],
        ),
        Deviation::FalseIsEnforced => {
            let ntp = |servers: Value| {
                let ntp = resource("F5_ntp", "/Common/ntp", json!({ "servers": servers }));
                balancer(&[ntp])
            };
            Scenario {
                device: "lb1",
                ..scenario(
                    |_, ran| ran.resource("lb1", "F5_ntp[/Common/ntp]")["changed"].clone(),
                    vec![ntp(json!(["192.0.2.1"])), ntp(json!([]))],
                )
            }
        }
        Deviation::ListHistoryIsStored => Scenario {
            arguments: &["--noop"],
            ..scenario(
                |lab, _| {
                    let files = lab.files("state");
                    let mut memory = files
                        .iter()
                        .filter(|(path, _)| path.ends_with("memory.json"));
                    let (_, text) = memory.next().unwrap();
                    let memory: Value = serde_json::from_str(text).unwrap();
                    let history = &memory["content"]["Network_dns[default]"]["history"]["search"];
                    (!history.is_null()).into()
                },
                vec![of(&[dns(
                    json!({ "ensure": "present", "search": ["a.example"] }),
                )])],
            )
        },
        Deviation::PrefetchOnlyApplied => Scenario {
            arguments: &["--tags", "network_dns"],
            ..scenario(
                |lab, _| {
                    let received = lab.log("sw1").received();
                    (!received.iter().any(|line| line == "show vlan brief")).into()
                },
                vec![of(&[vlan(10, "one"), dns(json!({ "ensure": "present" }))])],
            )
        },
        Deviation::NoProviderHasEvent => scenario(
            |_, ran| {
                let pool = ran.resource("sw1", "F5_pool[/Common/web]");
                (pool["events"] != json!([])).into()
            },
            vec![of(&[resource(
                "F5_pool",
                "/Common/web",
                json!({ "ensure": "present" }),
            )])],
        ),
        Deviation::KindlessIsTyped => scenario(
            |lab, _| sends(lab, "vlan 10"),
            vec![of(&[without_kind(vlan(10, "one")), vlan(30, "three")])],
        ),
        Deviation::PathsAreComplete => {
            return Evidence::None("shipped types log nothing while a catalog loads");
        }
        Deviation::PeriodsAreCompared => {
            let hourly = |periodmatch: &str| {
                let schedule = json!({ "period": "hourly", "periodmatch": periodmatch });
                of(&[
                    resource("Schedule", "each hour", schedule),
                    with(vlan(10, "one"), "schedule", json!("each hour")),
                ])
            };
            scenario(
                |lab, ran| {
                    let was_skipped = &ran.resource("sw1", "Network_vlan[10]")["skipped"];
                    let result = was_skipped == &json!(false);
                    check_a_day_earlier(lab);
                    result.into()
                },
                // Compared by number, "never checked" is the first hour of a day for Puppet.
                vec![hourly("distance"), hourly("number")],
            )
        }
        Deviation::ChecksAreStoredDaily => scenario(
            |lab, _| {
                let checked: jiff::Timestamp = checked(&memory(lab).1).parse().unwrap();
                let started = lab.report("sw1")["time"].as_str().unwrap().parse();
                (checked < started.unwrap()).into()
            },
            vec![of(&[vlan(10, "one")]), of(&[vlan(10, "one")])],
        ),
        Deviation::PurgersApply => Scenario {
            arguments: &["--allow", "purge"],
            ..scenario(
                |_, ran| (ran.resource("sw1", "Resources[vrf]")["skipped"] == json!(false)).into(),
                vec![of(&[resource(
                    "Resources",
                    "vrf",
                    json!({ "purge": true }),
                )])],
            )
        },
        Deviation::OutcomeBeforeEvent => Scenario {
            faults: &["refuse=^description"],
            ..scenario(
                |_, ran| {
                    let events = ran.events("sw1");
                    (!events.iter().any(|event| event.contains(": success: "))).into()
                },
                vec![of(&[port(
                    json!({ "description": "desk", "enable": true }),
                )])],
            )
        },
        Deviation::ResourceApiKeepsTags => {
            let resources = CatalogBuilder::new(NAME)
                .class("Access", json!({}))
                .resource(tagged(vlan(10, "one"), "access"));
            Scenario {
                arguments: &["--tags", "access"],
                ..scenario(|lab, _| sends(lab, "vlan 10"), vec![resources.build()])
            }
        }
        Deviation::ResourceApiKeepsPosition => scenario(
            |_, ran| (!ran.resource("sw1", "Network_vlan[10]")["file"].is_null()).into(),
            vec![of(&[vlan(10, "one")])],
        ),
        Deviation::ResourceApiAuditReadsOnly => {
            return Evidence::None("the modules of shipped types ignore a null");
        }
        Deviation::ResourceApiBooleansAlike => Scenario {
            here: json!(["enable changed true to false"]),
            puppet: json!(["enable changed true to 'false'"]),
            ..scenario(
                |_, ran| messages(ran, "Network_interface[GigabitEthernet1/0/1]"),
                vec![of(&[port(json!({ "enable": false }))])],
            )
        },
        Deviation::InitOnlyIsChecked => {
            let address = |address: &str| {
                let attributes = json!({
                    "ensure": "present", "address": address, "vlan": "/Common/ops",
                });
                balancer(&[
                    resource(
                        "F5_vlan",
                        "/Common/ops",
                        json!({ "ensure": "present", "vlan_tag": 10 }),
                    ),
                    resource("F5_selfip", "/Common/self", attributes),
                ])
            };
            Scenario {
                device: "lb1",
                ..scenario(
                    |_, ran| ran.text().contains("init_only attribute value").into(),
                    vec![address("198.51.100.1/24"), address("198.51.100.2/24")],
                )
            }
        }
        Deviation::FailuresLoggedOnce => Scenario {
            device: "lb1",
            faults: &["refuse=^POST /mgmt/tm/ltm/node"],
            here: json!(1),
            puppet: json!(2),
            ..scenario(
                |_, ran| {
                    let warnings = ran.warnings("lb1");
                    let refused = warnings.iter().filter(|text| text.contains("refused it"));
                    refused.count().into()
                },
                vec![balancer(&[resource(
                    "F5_node",
                    "/Common/web1",
                    json!({ "ensure": "present", "address": "198.51.100.11" }),
                )])],
            )
        },
        Deviation::NoopText => Scenario {
            arguments: &["--noop"],
            here: json!(["enable changed true to false (noop)"]),
            puppet: json!(["current_value true, should be 'false' (noop)"]),
            ..scenario(
                |_, ran| messages(ran, "Network_interface[GigabitEthernet1/0/1]"),
                vec![of(&[port(json!({ "enable": false }))])],
            )
        },
        Deviation::ListOrderIsCompared => {
            let servers =
                |servers: Value| of(&[dns(json!({ "ensure": "present", "servers": servers }))]);
            scenario(
                |_, ran| ran.resource("sw1", "Network_dns[default]")["changed"].clone(),
                vec![
                    servers(json!(["192.0.2.1", "192.0.2.2"])),
                    servers(json!(["192.0.2.2", "192.0.2.1"])),
                ],
            )
        }
        Deviation::SilentErrorsWarn => Scenario {
            arguments: &["--tags", "nothing"],
            ..scenario(
                |_, ran| ran.text().contains("no resource has the tags").into(),
                vec![of(&[vlan(10, "one")])],
            )
        },
        Deviation::ConflictsAreRefused => scenario(
            |lab, _| (lab.log("sw1").connections() == 0).into(),
            vec![of(&[
                resource(
                    "Network_trunk",
                    "GigabitEthernet1/0/1",
                    json!({ "ensure": "present", "mode": "access" }),
                ),
                resource(
                    "Ios_network_trunk",
                    "GigabitEthernet1/0/1",
                    json!({ "ensure": "present", "mode": "trunk" }),
                ),
            ])],
        ),
    };
    Evidence::Scenario(Box::new(scenario))
}

/// Changes the time of the last check in the state to the same hour of the day before.
fn check_a_day_earlier(lab: &Lab) {
    let (path, mut memory) = memory(lab);
    let time: jiff::Timestamp = checked(&memory).parse().unwrap();
    let earlier = time - jiff::SignedDuration::from_hours(24);
    memory["content"]["Network_vlan[10]"]["state"]["checked"] = json!(earlier.to_string());
    std::fs::write(path, memory.to_string()).unwrap();
}

/// The state for the next run, with its path.
fn memory(lab: &Lab) -> (PathBuf, Value) {
    let files = lab.files("state").into_iter();
    let mut memory = files.filter(|(path, _)| path.ends_with("memory.json"));
    let (path, text) = memory.next().unwrap();
    (path, serde_json::from_str(&text).unwrap())
}

/// The time of the last check of VLAN 10.
fn checked(memory: &Value) -> &str {
    let state = &memory["content"]["Network_vlan[10]"]["state"];
    state["checked"].as_str().unwrap()
}

fn radius(attributes: Value) -> Value {
    let mut all = json!({
        "ensure": "present", "hostname": "192.0.2.5", "auth_port": 1812, "acct_port": 1813,
        "key": "in-clear", "key_format": 0,
    });
    for (name, value) in attributes.as_object().unwrap() {
        all[name] = value.clone();
    }
    resource("Radius_server", "r1", all)
}

fn tagged(mut resource: Value, tag: &str) -> Value {
    resource["tags"].as_array_mut().unwrap().push(json!(tag));
    resource
}

/// The messages of the events of a resource.
fn messages(ran: &ProgramOutput, reference: &str) -> Value {
    let resource = ran.resource("sw1", reference);
    let events = resource["events"].as_array().unwrap();
    events
        .iter()
        .map(|event| event["message"].clone())
        .collect()
}

async fn observed(scenario: &Scenario, compat: &[&str]) -> Value {
    let mut lab = Lab::new();
    match scenario.device {
        "lb1" => lab.add_load_balancer("lb1", scenario.faults).await,
        _ => lab.add_switch("sw1", scenario.faults).await,
    }
    let mut result = Value::Null;
    for catalog in &scenario.catalogs {
        lab.write_catalog(scenario.device, catalog);
        lab.log(scenario.device).clear();
        let arguments = [&["apply", "--output", "json"], scenario.arguments, compat].concat();
        let mut command = lab.command(&arguments);
        let ran = if scenario.is_stopped {
            interrupted_while_deferred(&lab, command, "-INT").await
        } else {
            command.output().await.unwrap().into()
        };
        result = (scenario.observe)(&lab, &ran);
    }
    result
}

#[tokio::test(flavor = "multi_thread")]
async fn compat_restores_every_deviation_for_shipped_types() {
    let mut wrong = Vec::new();
    let sampled = TABLE.iter().enumerate();
    let sampled = sampled.filter(|(number, _)| sample::has_case(*number));
    for (_, row) in sampled {
        let scenario = match evidence(row.deviation) {
            Evidence::Scenario(scenario) => scenario,
            Evidence::None(reason) => {
                stderr_note::print(&format!("{:?} is not shown: {reason}", row.deviation));
                continue;
            }
        };
        for (compat, expected) in [
            (&[][..], &scenario.here),
            (&["--compat", "puppet7"], &scenario.puppet),
        ] {
            let found = observed(&scenario, compat).await;
            if found != *expected {
                wrong.push(format!(
                    "{:?} {compat:?}: {found}, not {expected}",
                    row.deviation
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
