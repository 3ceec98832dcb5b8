//! A NETCONF server whose candidate another session has locked (RFC 6241, section 7.5).

use serde_json::{Value, json};
use test_support::catalog::resource;
use test_support::lab::Lab;

fn ethernet(name: &str) -> Value {
    let desired = json!({"ensure": "present", "type": "iana-if-type:ethernetCsmacd"});
    resource("Ietf_interface", name, desired)
}

#[tokio::test(flavor = "multi_thread")]
async fn locked_candidate_is_refused_with_the_text_of_the_server() {
    for policy in ["off", "required"] {
        let mut lab = Lab::new();
        lab.add_netconf_server("nc1", &["locked=^<lock>"]).await;
        lab.add_netconf_server("nc2", &[]).await;
        for device in ["nc1", "nc2"] {
            lab.write_resources(device, &[ethernet("eth1"), ethernet("eth2")]);
        }
        let before = lab.netconf_servers["nc1"].running_config();
        let apply = ["apply", "--output", "json", "--detailed-exitcodes"];
        let ran = lab
            .run(&[&apply[..], &["--protect", policy]].concat())
            .await;
        ran.assert_code(6);
        ran.assert_contains(
            "cannot lock the candidate configuration: another session has the lock (lock-denied); \
             a client without NETCONF has the lock",
        );
        let counts = &ran.device("nc1")["counts"];
        assert_eq!(counts["failed"], 2, "{counts}");
        assert_eq!(lab.netconf_servers["nc1"].running_config(), before);
        assert!(!lab.netconf_servers["nc1"].is_revert_pending());
        let received = lab.log("nc1").received();
        let edits = received
            .iter()
            .filter(|line| line.starts_with("<edit-config>"));
        assert_eq!(edits.count(), 0, "{received:#?}");
        assert_eq!(ran.device("nc2")["status"], "changed");
    }
}
