//! VTP, whose state the configuration shows in some modes only.

use serde_json::json;
use test_support::catalog::resource;

use super::{Step, follow};

#[tokio::test(flavor = "multi_thread")]
async fn life_cycle_of_vtp() {
    let vtp = |attributes| vec![resource("Ios_vtp", "default", attributes)];
    let steps = vec![
        Step {
            resources: vtp(
                json!({"domain": "CAMPUS", "mode": "transparent", "version": 2,
                                  "password": "s3cret"}),
            ),
            lines: &["vtp domain CAMPUS", "vtp mode transparent"],
        },
        // A client cannot change the version, so that the mode is the last line.
        Step {
            resources: vtp(
                json!({"domain": "LAB", "mode": "client", "version": 1, "pruning": true,
                                  "password": "unset"}),
            ),
            lines: &[],
        },
        // It becomes a server before it changes the version.
        Step {
            resources: vtp(json!({"mode": "server", "version": 3, "pruning": false})),
            lines: &[],
        },
        Step {
            resources: vtp(json!({"mode": "off"})),
            lines: &["vtp domain LAB", "vtp mode off"],
        },
    ];
    follow("", &["vtp"], steps).await;
}
