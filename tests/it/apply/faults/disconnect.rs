//! Connections that end during a change.

use super::*;

/// Something that is not there yet: what was sent of it may have come to be in part, or not at all.
#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_a_creation_is_reported_after_reading_again() {
    let vlan = || vlan(10, "one");
    let bundle = || {
        resource(
            "Port_channel",
            "Port-channel5",
            json!({"ensure": "present", "description": "up"}),
        )
    };
    // (fault, what is made, what is reported: a VLAN is made when its mode is left, a bundle when it is
    // entered)
    let pending = "the value is unknown, not present yet";
    let cases = [
        ("drop-after=^name one", vlan(), pending),
        ("stall-after=^name one", vlan(), pending),
        ("drop-unanswered=^name one", vlan(), pending),
        ("drop-after=^exit", vlan(), pending),
        ("stall-after=^exit", vlan(), pending),
        ("endless-question=^exit", vlan(), pending),
        ("drop-unanswered=^exit", vlan(), "it was applied"),
        (
            "drop-after=^description up",
            bundle(),
            "it was applied, except description",
        ),
        (
            "drop-unanswered=^description up",
            bundle(),
            "it was applied",
        ),
    ];
    // Devices that stall cost time but no work.
    let cases = cases.map(|(fault, made, expected)| async move {
        let lab = two(&[fault]).await;
        let reference = reference(&made);
        lab.write_resources("sw1", &[made]);
        let ran = lab
            .run(&["apply", "--output", "json", "--detailed-exitcodes"])
            .await;
        let status = ran.resource("sw1", &reference);
        assert_eq!(status["failed"], true, "{fault}: {status}");
        let event = &status["events"][0];
        let not_applied = expected == pending;
        assert_eq!(
            event["status"],
            if not_applied { "failure" } else { "success" },
            "{fault}: {event}"
        );
        assert_eq!(status["changed"], !not_applied, "{fault}: {status}");
        let warnings = ran.warnings("sw1").join("\n");
        assert!(
            warnings.contains(&format!("read again: {expected}")),
            "{fault}: {warnings}"
        );
        assert_eq!(
            warnings.contains("it was applied"),
            !not_applied,
            "{fault}: {warnings}"
        );

        let left = if expected == "it was applied" { 0 } else { 2 };
        lab.apply().await.assert_code(left);
        lab.apply().await.assert_code(0);
    });
    futures_util::future::join_all(cases).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fault_disconnect_in_a_change_is_reported_after_reading_again() {
    // (fault, whether the line came to be)
    let cases = [
        ("drop-after=^description desk", false),
        ("drop-unanswered=^description desk", true),
        ("stall-after=^description desk", false),
    ];
    for (fault, applied) in cases {
        let lab = two(&[fault]).await;
        lab.write_resources(
            "sw1",
            &[
                vlan(10, "one"),
                resource(
                    "Network_interface",
                    "GigabitEthernet1/0/1",
                    json!({"enable": true, "description": "desk"}),
                ),
                vlan(20, "two"),
            ],
        );
        let ran = lab
            .run(&[
                "apply",
                "--output",
                "json",
                "--detailed-exitcodes",
                "--transcripts",
                "seen",
            ])
            .await;
        ran.assert_code(6);
        let interface = ran.resource("sw1", "Network_interface[GigabitEthernet1/0/1]");
        let event = &interface["events"][0];
        assert_eq!(event["property"], "description", "{fault}");
        let config = lab.switches["sw1"].running_config();
        assert_eq!(config.contains("description desk"), applied, "{fault}");
        if applied {
            assert_eq!(event["status"], "success", "{fault}: {event}");
        } else {
            assert_eq!(event["status"], "failure", "{fault}: {event}");
            let message = event["message"].as_str().unwrap();
            // The device may still execute the line.
            let expected = "read again: the value is unknown, not present yet";
            assert!(message.contains(expected), "{fault}: {message}");
            assert!(message.contains("`description desk`"), "{fault}: {message}");
        }
        // Nothing more is sent: the change may have been what cut the connection.
        assert_eq!(ran.resource("sw1", "Network_vlan[10]")["changed"], true);
        let skipped = ran.resource("sw1", "Network_vlan[20]");
        assert_eq!(skipped["skipped"], true, "{skipped}");
        let reason = skipped["skip_reason"].as_str().unwrap();
        assert!(
            reason.starts_with("the connection broke in Network_interface[GigabitEthernet1/0/1]: ")
                && reason.contains("`description desk`"),
            "{reason}"
        );
        let vlans = lab.switches["sw1"].vlans();
        assert!(!vlans.iter().any(|row| row.0 == 20), "{fault}: {vlans:?}");
        the_other_succeeds(&lab, &ran);
        // The transcript has the dialogue before the disconnect.
        let seen = lab.files("seen");
        let (_, transcript) = seen
            .iter()
            .find(|(path, _)| path.ends_with("sw1.log"))
            .unwrap();
        assert!(transcript.contains("description desk"), "{transcript}");

        // The next run finds a device that works, and does what is left.
        let ran = lab.apply().await;
        ran.assert_code(2);
        let vlans = lab.switches["sw1"].vlans();
        assert!(vlans.iter().any(|row| row.0 == 20), "{fault}: {vlans:?}");
        assert!(
            lab.switches["sw1"]
                .running_config()
                .contains("description desk")
        );
    }
}

/// One error has the reason. The resources after it are skipped, each with the reason in the report
/// and without a log line.
#[tokio::test(flavor = "multi_thread")]
async fn broken_connection_is_reported_once() {
    // A resource that cannot be read is failed and skipped, as in Puppet.
    for (fault, skipped) in [
        ("drop-after=^show vlan brief", 5),
        ("drop-after=^name one", 4),
    ] {
        let lab = two(&[fault]).await;
        let ran = lab
            .run(&["apply", "--output", "json", "--report", "reports"])
            .await;
        ran.assert_code(1);
        let warnings = ran.warnings("sw1");
        let with_reason = warnings
            .iter()
            .filter(|text| text.contains("connection ended"));
        assert_eq!(with_reason.count(), 1, "{fault}: {warnings:#?}");
        assert!(
            warnings.contains(&"nothing more is sent: 4 resources are skipped".to_owned()),
            "{fault}: {warnings:#?}"
        );
        assert!(warnings.len() <= 4, "{fault}: {warnings:#?}");
        let (_, report) = lab
            .files("reports")
            .into_iter()
            .find(|(path, _)| path.to_string_lossy().contains("sw1"))
            .unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        for reference in ["Network_vlan[20]", "Network_vlan[30]", "Network_vlan[40]"] {
            let status = &report["resource_statuses"][reference];
            assert_eq!(status["skipped"], true, "{fault}: {status}");
            let reason = status["skip_reason"].as_str().unwrap();
            assert!(reason.starts_with("the connection broke"), "{reason}");
            assert!(reason.contains("connection ended"), "{reason}");
        }
        let counts = &ran.device("sw1")["counts"];
        assert_eq!(counts["failed"], 1, "{fault}: {counts}");
        assert_eq!(counts["skipped"], skipped, "{fault}: {counts}");
    }
}
