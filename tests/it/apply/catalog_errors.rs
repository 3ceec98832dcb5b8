//! Errors in a catalog: which fail a resource, which refuse the device, and which are only warnings.

use serde_json::{Value, json};

use test_support::catalog::{catalog, resource, vlan};
use test_support::lab::Lab;

async fn lab(resources: &[Value]) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", resources);
    lab
}

fn with(mut resource: Value, name: &str, value: Value) -> Value {
    resource["parameters"][name] = value;
    resource
}

#[tokio::test(flavor = "multi_thread")]
async fn misspelled_type_without_kind_is_refused_with_a_suggestion() {
    let mut misspelled = resource("Network_vlann", "10", json!({ "ensure": "present" }));
    misspelled.as_object_mut().unwrap().remove("kind");
    let lab = lab(&[misspelled, vlan(30, "three")]).await;
    let ran = lab.run(&["apply"]).await;
    ran.assert_code(1);
    ran.assert_contains("did you mean `network_vlan`?");
    assert_eq!(lab.log("sw1").connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn virtual_resource_is_skipped() {
    let mut hidden = vlan(10, "one");
    hidden["virtual"] = json!(true);
    let lab = lab(&[hidden, vlan(30, "three")]).await;
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(ran.resource("sw1", "Network_vlan[10]")["skipped"], true);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["vlan 30", "name three"]
    );
}

fn cycle() -> [Value; 2] {
    [
        with(vlan(10, "one"), "require", json!("Network_vlan[20]")),
        with(vlan(20, "two"), "require", json!("Network_vlan[10]")),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn cycle_is_refused_in_puppets_words_and_its_graph_written() {
    let lab = lab(&cycle()).await;
    let graphs = lab.path("graphs");
    let ran = lab
        .run(&["apply", "--graph", graphs.to_str().unwrap()])
        .await;
    ran.assert_code(1);
    let file = graphs.join("sw1/cycles.dot");
    let lines = ran.stdout.lines().chain(ran.stderr.lines());
    let errors: Vec<&str> = lines
        .filter(|line| line.contains("rror") || line.contains("ycle"))
        .collect();
    let written = format!("sw1: Error: Cycle graph written to {}.", file.display());
    assert_eq!(
        errors,
        [
            written.as_str(),
            "error[cycle]: Found 1 dependency cycle: \
             (Network_vlan[10] => Network_vlan[20] => Network_vlan[10])",
            "sw1: Error: the catalog was refused: it has 1 error",
        ],
        "{}",
        ran.text()
    );
    let graph = std::fs::read_to_string(file).unwrap();
    assert!(graph.starts_with("digraph Resource_Cycles"), "{graph}");
    assert_eq!(lab.log("sw1").connections(), 0);

    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("Try the '--graph' option");
    let text = ran.text();
    assert!(!text.contains("Applied catalog"), "{text}");
}

/// The report holds what a user of the console needs to repair the catalog.
#[tokio::test(flavor = "multi_thread")]
async fn report_of_a_refused_catalog_has_the_reasons() {
    let lab = lab(&[with(vlan(10, "one"), "require", json!("Network_vlan[99]"))]).await;
    let reports = lab.path("reports");
    let ran = lab
        .run(&["apply", "--report", reports.to_str().unwrap()])
        .await;
    ran.assert_code(1);
    let text = std::fs::read_to_string(reports.join("sw1.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["status"], "failed");
    let logs = report["logs"].as_array().unwrap();
    let reason = "Could not find dependency Network_vlan[99] for Network_vlan[10]";
    let has_reason = |log: &&Value| log["message"].as_str().unwrap().contains(reason);
    assert_eq!(logs.iter().filter(has_reason).count(), 1, "{text}");
}

/// A graph is for people: what the run does and stores is the same without it. But it was asked for.
#[tokio::test(flavor = "multi_thread")]
async fn unwritable_graph_fails_the_run_and_affects_nothing_else() {
    let mut lab = lab(&[vlan(30, "three")]).await;
    lab.configure("sw1", "save_config = \"on_change\"");
    std::fs::write(lab.path("graphs"), "a file").unwrap();
    let ran = lab
        .run(&[
            "apply",
            "--output",
            "json",
            "--detailed-exitcodes",
            "--graph",
            lab.path("graphs").to_str().unwrap(),
        ])
        .await;
    ran.assert_code(6);
    ran.assert_contains("cannot write a graph");
    let received = lab.log("sw1").received();
    let sent = |line: &str| received.iter().filter(|sent| *sent == line).count();
    assert_eq!(sent("show vlan brief"), 2, "read and verified");
    assert_eq!(sent("copy running-config startup-config"), 1);
    let files: Vec<_> = lab.files("state");
    for name in ["memory.json", "last_run_summary.yaml", "resources.txt"] {
        assert!(files.iter().any(|(path, _)| path.ends_with(name)), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refresh_sends_the_action_of_the_type_and_other_types_have_none() {
    let dns = |domain: &str| {
        let attributes = json!({ "ensure": "present", "domain": domain });
        resource("Network_dns", "default", attributes)
    };
    let first = with(
        vlan(10, "one"),
        "notify",
        json!(["Network_dns[default]", "Network_vlan[20]"]),
    );
    let lab = lab(&[first, dns("example.net"), vlan(20, "two")]).await;
    let ran = lab
        .run(&["apply", "-v", "--output", "json", "--detailed-exitcodes"])
        .await;
    ran.assert_code(2);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        [
            "vlan 10",
            "name one",
            "ip domain name example.net",
            "vlan 20",
            "name two",
        ]
    );
    assert!(sent_do(&lab));
    let events = ran.events("sw1");
    assert!(
        events.contains(
            &"Network_dns[default]/: success: Triggered 'refresh' from 1 event".to_owned()
        ),
        "{events:?}"
    );
    ran.assert_contains("Network_vlan[20] has no refresh action");
    lab.log("sw1").clear();
    lab.apply().await.assert_code(0);
    assert!(!sent_do(&lab), "nothing has changed");
}

fn sent_do(lab: &Lab) -> bool {
    let received = lab.log("sw1").received();
    received.iter().any(|line| line == "do clear host *")
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_of_a_host_reaches_no_device() {
    let file = resource("File", "/etc/motd", json!({ "ensure": "file" }));
    let lab = lab(&[]).await;
    lab.write_catalog(
        "sw1",
        &catalog("web1.lab.test", &[file.clone(), vlan(10, "one")]),
    );
    for command in ["apply", "plan"] {
        let ran = lab.run(&[command]).await;
        ran.assert_code(1);
        ran.assert_contains("hosts are out of scope");
        ran.assert_contains("`puppet apply`");
        assert_eq!(lab.log("sw1").connections(), 0);
    }
    lab.write_resources("sw1", &[file]);
    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("hosts are out of scope");
    ran.assert_contains("`puppet apply`");
    assert_eq!(lab.log("sw1").configuration_lines(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn host_types_of_the_settings_are_skipped_with_their_dependents_applied() {
    let first = resource("Site_cron", "nightly", json!({ "hour": 2 }));
    let dependent = with(vlan(20, "two"), "require", json!("Site_cron[nightly]"));
    let lab = lab(&[first, dependent]).await;
    std::fs::write(
        lab.path("switchtender.toml"),
        "host_types = [\"site_cron\"]\n",
    )
    .unwrap();
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(ran.resource("sw1", "Site_cron[nightly]")["skipped"], true);
    assert_eq!(
        lab.log("sw1").configuration_lines(),
        ["vlan 20", "name two"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn catalog_errors_are_reported_together_before_connecting() {
    let misspelt = resource("Network_vlan", "20", json!({"vlan_nam": "two"}));
    let lab = lab(&[vlan(10, "one"), vlan(10, "again"), misspelt]).await;
    let ran = lab.run(&["apply", "--report", "reports"]).await;
    ran.assert_code(1);
    ran.assert_contains("Network_vlan[10] is declared twice");
    ran.assert_contains("vlan_nam: unknown attribute of network_vlan");
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());

    // A directory that is not writable is an error before the connection, too.
    lab.write_resources("sw1", &[vlan(10, "one")]);
    let ran = lab
        .run(&["apply", "--report", "inventory.toml/reports"])
        .await;
    ran.assert_code(1);
    ran.assert_contains("cannot write reports to inventory.toml/reports");
    assert_eq!(lab.log("sw1").received(), Vec::<String>::new());
}
