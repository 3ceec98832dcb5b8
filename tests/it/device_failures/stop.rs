//! A signal ends `switchtender device`.

use serde_json::json;
use test_support::device_host::{DeviceHost, name};
use test_support::interrupt::{FIRST_NOTICE, SECOND_NOTICE, interrupt, output_after};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::give;

#[tokio::test(flavor = "multi_thread")]
async fn device_stop_during_a_run_reports_stores_and_unlocks() {
    for twice in [false, true] {
        let host = DeviceHost::with_faults(2, &["busy=^vlan 105"]).await;
        let numbers: Vec<String> = (100..200).map(|number: u16| number.to_string()).collect();
        let desired: Vec<_> = numbers
            .iter()
            .map(|number| {
                (
                    "Network_vlan",
                    number.as_str(),
                    json!({"vlan_name": "made"}),
                )
            })
            .collect();
        give(&host, 1, &desired);
        let mut run = host.command(&["--detailed-exitcodes"]).spawn().unwrap();
        let deferred = host.switches[0].wait_for_deferred();
        tokio::time::timeout(std::time::Duration::from_secs(60), deferred)
            .await
            .expect("the device defers a line");
        let mut notices = BufReader::new(run.stderr.take().unwrap()).lines();
        let mut printed = interrupt(&run, "-TERM", &mut notices, FIRST_NOTICE).await;
        if twice {
            printed += &interrupt(&run, "-TERM", &mut notices, SECOND_NOTICE).await;
        } else {
            host.switches[0].resume();
        }
        let ran = output_after(printed, notices, run).await;
        ran.assert_no_secrets();
        let (code, text) = (ran.code.unwrap(), ran.text());
        // 4 as well, if the signal came between the lines of a resource.
        assert!(matches!(code, 3 | 7), "changes, and stopped: {code} {text}");
        assert!(
            text.contains(
                "Error: sw1.lab.test: the run was stopped; the remaining resources were skipped"
            ),
            "{text}"
        );

        // The current resource was completed, and the session closed. A second signal closes the session
        // during the resource, unless both signals arrive as one; a last read decides its status.
        let received = host.switches[0].log().received();
        assert!(
            twice || received.iter().any(|line| line == "end"),
            "{received:?}"
        );
        assert_eq!(received.last().unwrap(), "exit");
        let vlans = host.switches[0].vlans();
        let made = vlans.iter().filter(|(_, name, _)| name == "made").count();
        assert!((5..100).contains(&made), "{made}");

        // The server has the report, which agrees with the device; the rest was skipped.
        let report = host.report(&name(1));
        assert_eq!(
            (&report["status"], &report["transaction_completed"]),
            (&json!("failed"), &json!(false))
        );
        let statuses = report["resource_statuses"].as_object().unwrap();
        let counted = |field: &str| {
            let mut all = statuses.values();
            all.by_ref()
                .filter(|status| status["resource_type"] == "Network_vlan")
                .filter(|status| status[field] == true)
                .count()
        };
        assert_eq!(counted("changed"), made, "{text}");
        assert!(counted("skipped") >= 99 - made, "{text}");
        // The other device had ended, or was stopped as well; it has its report.
        host.report(&name(2));

        // What is to be remembered lies there, and the next run does the rest.
        let state = host.file("var/devices/sw1.lab.test/memory.json");
        assert!(state.contains("Network_vlan[100]"), "{state}");
        let (code, text) = host
            .run(&["--target", "sw1.lab.test", "--detailed-exitcodes"])
            .await;
        assert_eq!(code, 2, "{text}");
        let report = host.report(&name(1));
        assert_eq!(report["metrics"]["resources"]["values"][5][2], 100 - made);
    }
}
