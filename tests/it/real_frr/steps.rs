//! The steps of the test, in order.

use std::net::TcpListener;

use super::*;
use test_support::difference::{missing_lines, planned_lines};

/// The secrets of the resources, which plans mask.
const SECRETS: [&str; 3] = ["s3cret", "another", "newer"];

/// The longest line in bytes.
const LONGEST_LINE: usize = 430;

/// Applies resources, and compares the difference of the plan with that of the router. `omitted` are
/// headers of blocks without lines: the plan keeps them, and the router does not print them.
pub(super) fn plan_predicts(
    router: &Router,
    site: &Site,
    name: &str,
    resources: &[Resource],
    omitted: &[&str],
) {
    let masked = || {
        let config = router.config();
        let secrets = SECRETS.iter();
        secrets.fold(config, |text, secret| text.replace(secret, "••••"))
    };
    let before = masked();
    let plan = site.run(&["plan", "--catalog", &site.catalog(name, resources)]);
    let output = site.apply(name, resources);
    assert_eq!(output.code, 2, "{output}");
    let after = masked();
    let (added, mut removed) = planned_lines(&plan.stdout).unwrap();
    removed.extend(omitted.iter().map(ToString::to_string));
    removed.sort();
    assert_eq!(added, missing_lines(&before, &after), "{plan}");
    assert_eq!(removed, missing_lines(&after, &before), "{plan}");
}

pub(super) fn an_apply_sends_nothing(site: &Site, resources: &[Resource]) {
    let output = site.apply("again", resources);
    assert_eq!(output.code, 0, "{output}");
    assert!(
        !site.sent().iter().any(|line| line == "configure terminal"),
        "{:?}",
        site.sent()
    );
}

pub(super) fn a_plan_shows_lines_and_changes_nothing(router: &Router, site: &Site) {
    let before = router.config();
    let output = site.run(&["plan", "--catalog", &site.catalog("plan", &first())]);
    assert_eq!(output.code, 0, "{output}");
    for resource in first() {
        for line in resource.lines {
            let line_of_plan = format!("    > {line}\n");
            assert!(
                output.stdout.contains(&line_of_plan),
                "{line:?} in {output}"
            );
        }
    }
    let lines = first().iter().flat_map(|resource| resource.lines).count();
    let command_lines = output
        .stdout
        .lines()
        .filter(|line| line.starts_with("    > "));
    assert_eq!(command_lines.count(), lines, "{output}");
    for added in [
        "+interface eth2",
        "+ shutdown",
        "+ip route 203.0.113.128/25 blackhole 200",
    ] {
        assert!(
            output.stdout.contains(&format!("\n  {added}\n")),
            "{added:?} in {output}"
        );
    }
    assert_eq!(router.config(), before);
}

pub(super) fn an_apply_does_what_the_plan_showed(router: &Router, site: &Site) {
    plan_predicts(router, site, "first", &first(), &[]);
    assert_eq!(
        router.config(),
        "\
ip route 10.97.0.0/16 192.0.2.2 tag 42
ip route 203.0.113.128/25 blackhole 200
ipv6 route 2001:db8:99::/48 2001:db8::2
interface eth1
 description Uplink to spine 1
exit
interface eth2
 description spare
 shutdown
exit
ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 28
ip prefix-list CUSTOMER seq 10 deny 0.0.0.0/0 le 32
ipv6 prefix-list SIX seq 5 permit 2001:db8::/32 ge 40 le 48
"
    );
    // The routes of the kernel, not only the configuration.
    let routes = router.vtysh("show ip route static json");
    let routes: Value = serde_json::from_str(&routes).unwrap();
    assert_eq!(routes["203.0.113.128/25"][0]["distance"], 200, "{routes}");
}

pub(super) fn a_second_apply_sends_nothing(site: &Site) {
    let output = site.apply("first", &first());
    assert_eq!(output.code, 0, "{output}");
    let report = site.report();
    assert_eq!(report["status"], "unchanged", "{report}");
    let sent = site.sent();
    assert_eq!(
        sent,
        [
            "no terminal paginate",
            "show version",
            "show running-config",
            "exit"
        ],
        "each read once, and no line of configuration"
    );
}

pub(super) fn resources_and_facts_are_printed(router: &Router, site: &Site) {
    let output = site.run(&["resource", "leaf", "frr_static_route", "--output", "json"]);
    assert_eq!(output.code, 0, "{output}");
    let routes: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(
        routes,
        json!({ "frr_static_route": {
            "10.97.0.0/16 192.0.2.2": { "ensure": "present", "prefix": "10.97.0.0/16", "next_hop": "192.0.2.2", "tag": 42, "distance": 1 },
            "203.0.113.128/25 blackhole": { "ensure": "present", "prefix": "203.0.113.128/25", "next_hop": "blackhole", "distance": 200 },
            "2001:db8:99::/48 2001:db8::2": { "ensure": "present", "prefix": "2001:db8:99::/48", "next_hop": "2001:db8::2", "distance": 1 },
        }}),
        "{output}"
    );
    let output = site.run(&["resource", "leaf", "network_interface", "eth2"]);
    let desired =
        "network_interface { 'eth2':\n  enable      => false,\n  description => 'spare',\n}\n";
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (0, desired),
        "{output}"
    );

    let output = site.run(&["facts", "leaf"]);
    let facts: Value = serde_json::from_str(&output.stdout).unwrap();
    let version = router.vtysh("show version");
    let version = version.split_whitespace().nth(1).unwrap();
    assert_eq!(facts["operatingsystem"], "frr");
    assert_eq!(facts["operatingsystemrelease"], version);
    assert_eq!(facts["hostname"], router.setting("HOSTNAME"));
}

pub(super) fn changes_and_removals(router: &Router, site: &Site) {
    let changed = || {
        [
            interface(
                "eth1",
                json!({ "enable": true, "description": "Uplink to spine 2" }),
            ),
            interface("eth2", json!({ "enable": true, "description": "unset" })),
            route(
                "10.97.0.0/16 192.0.2.2",
                json!({ "tag": 43, "distance": 5 }),
            ),
            route("203.0.113.128/25 blackhole", json!({ "ensure": "absent" })),
            entry(
                "CUSTOMER 5",
                json!({ "action": "permit", "prefix": "203.0.113.0/24", "le": 27 }),
            ),
            entry("CUSTOMER 10", json!({ "ensure": "absent" })),
        ]
    };
    plan_predicts(router, site, "changed", &changed(), &["interface eth2"]);
    assert_eq!(
        router.config(),
        "\
ip route 10.97.0.0/16 192.0.2.2 tag 43 5
ipv6 route 2001:db8:99::/48 2001:db8::2
interface eth1
 description Uplink to spine 2
exit
ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 27
ipv6 prefix-list SIX seq 5 permit 2001:db8::/32 ge 40 le 48
"
    );
    let output = site.apply("changed", &changed());
    assert_eq!(output.code, 0, "{output}");
}

pub(super) fn save_config_saves_the_applied_state(router: &Router, site: &Site) {
    let saved = || std::fs::read_to_string(router.setting("CONFIG")).unwrap();
    let mut desired = [interface(
        "eth3",
        json!({ "enable": true, "description": "kept" }),
    )];
    let output = site.apply("unsaved", &desired);
    assert_eq!(output.code, 2, "{output}");
    assert!(!saved().contains("kept"), "{}", saved());

    let site = site.with("save_config = \"on_change\"\n");
    desired[0].parameters["description"] = json!("kept for good");
    let output = site.apply("saved", &desired);
    assert_eq!(output.code, 2, "{output}");
    assert!(
        saved().contains(" description kept for good\n"),
        "{}",
        saved()
    );
}

pub(super) fn refused_line_is_reported_with_the_text_of_the_router(router: &Router, site: &Site) {
    let output = site.apply(
        "refused",
        &[
            entry(
                "WRONG 5",
                json!({ "action": "permit", "prefix": "203.0.113.0/24", "ge": 16 }),
            ),
            route("10.98.0.0/16 blackhole", json!({})),
        ],
    );
    // The other resource was applied all the same.
    assert_eq!(output.code, 6, "{output}");
    let expected = "\
leaf:   > ip prefix-list WRONG seq 5 permit 203.0.113.0/24 ge 16
leaf:   % Configuration failed.
leaf:   Error type: validation
leaf:   Error description: Invalid prefix range for 203.0.113.0/24: Make sure that mask length <= ge <= le
";
    assert!(output.stdout.contains(expected), "{output}");
    let config = router.config();
    assert!(
        config.contains("ip route 10.98.0.0/16 blackhole\n"),
        "{config}"
    );
    assert!(!config.contains("WRONG"), "{config}");
}

pub(super) fn the_longest_line_is_sent(router: &Router, site: &Site) {
    let longest = LONGEST_LINE - "description ".len();
    for (length, code) in [(longest, 2), (longest + 1, 4)] {
        let text = "x".repeat(length);
        let output = site.apply("long", &[interface("eth4", json!({ "description": text }))]);
        assert_eq!(output.code, code, "{length}: {output}");
        let config = router.config();
        assert_eq!(
            config.contains(&format!("description {text}\n")),
            code == 2,
            "{config}"
        );
    }
}

pub(super) fn a_key_logs_in(router: &Router, site: &Site) {
    let key = format!("private_key = {:?}\n", router.setting("IDENTITY"));
    let mut site = site.with(&key).with_password(None);
    site.settings
        .retain(|setting| !setting.starts_with("password"));
    let output = site.run(&["facts", "leaf"]);
    assert_eq!(output.code, 0, "{output}");
}

pub(super) fn wrong_and_missing_passwords(router: &Router, site: &Site) {
    let before = router.config();
    let site = site.with_password(Some("not the password"));
    let output = site.apply("wrong", &first());
    assert_eq!(output.code, 1, "{output}");
    let expected = format!(
        "leaf: Error: the device refused the login of {}\n",
        router.setting("USER")
    );
    assert!(output.stdout.contains(&expected), "{output}");
    assert!(
        !format!("{output}").contains("not the password"),
        "{output}"
    );
    assert_eq!(router.config(), before);

    let output = site.with_password(None).apply("missing", &first());
    assert_eq!(output.code, 1, "{output}");
    assert!(output.stdout.contains("FRR_TEST_PASSWORD"), "{output}");
}

pub(super) fn wrong_and_unknown_host_keys(router: &Router, site: &Site) {
    let before = router.config();
    // A key that is not the router's, under its name: that of the user.
    let other = std::fs::read_to_string(router.setting("IDENTITY") + ".pub").unwrap();
    let wrong = format!("[127.0.0.1]:{} {other}", router.setting("PORT"));
    for (known_hosts, expected) in [
        (wrong.as_str(), " has changed: its fingerprint is "),
        ("", " is not in known_hosts: "),
    ] {
        let file = site.dir.join("other_known_hosts");
        std::fs::write(&file, known_hosts).unwrap();
        let site = site.with(&format!("known_hosts = {file:?}\n"));
        let output = site.apply("other", &first());
        assert_eq!(output.code, 1, "{output}");
        assert!(output.stdout.contains(expected), "{expected:?} in {output}");
        let fingerprint = router.setting("HOSTKEY_ED25519");
        assert!(
            output.stdout.contains(&fingerprint),
            "{fingerprint} in {output}"
        );
    }
    assert_eq!(router.config(), before);
}

pub(super) fn one_run_at_a_time(router: &Router, site: &Site) {
    // The first run waits at a port that accepts connections and sends nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let first_site = site.with(&format!("port = {port}\n"));
    let catalog = site.catalog("held", &first());
    let mut held = first_site.command(&["apply", "--catalog", &catalog]);
    let held = held
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = held.id();
    let (connection, _) = silent.accept().unwrap();

    let before = router.config();
    // The lock is that of the address.
    let output = first_site.apply("second", &first());
    assert_eq!(output.code, 1, "{output}");
    let expected = format!("another run has locked leaf (process {id}, ");
    assert!(output.stdout.contains(&expected), "{output}");
    assert_eq!(router.config(), before);

    drop((connection, silent));
    let ended = RunOutput::from(held.wait_with_output().unwrap());
    assert_eq!(ended.code, 1, "{ended}");
    let output = site.apply("third", &first());
    assert_eq!(output.code, 2, "the lock is free again: {output}");
}
