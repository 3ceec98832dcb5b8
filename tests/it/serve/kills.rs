//! `kill -9` of the process: no run that it reported as stored is lost.
//!
//! `SWITCHTENDER_KILLS=50` sets the number of kills; without it there are a few.

use std::collections::HashMap;

use serde_json::Value;
use test_support::catalog::vlan;
use test_support::lab::Lab;

use super::history;
use super::process::{ServeProcess, configure};

const SAMPLE: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn kill_loses_no_stored_run() {
    let kills = std::env::var("SWITCHTENDER_KILLS").ok();
    let kills = kills.map_or(SAMPLE, |text| text.parse().expect("a number"));
    let mut lab = Lab::new();
    let devices = ["sw1", "sw2", "sw3", "sw4"];
    for device in devices {
        lab.add_switch(device, &[]).await;
    }
    configure(
        &lab,
        "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n",
    );
    let mut stored: HashMap<i64, (String, String)> = HashMap::new();
    for round in 0..kills {
        for device in devices {
            lab.write_resources(device, &[vlan(42, &format!("round{round}"))]);
        }
        let mut serve = ServeProcess::start(&lab, &[]).await;
        // Other runs are in progress or not yet stored when it is killed.
        for _ in 0..=round {
            let (device, status, number) = serve.next_stored().await;
            stored.insert(number, (device, status));
        }
        for (device, status, number) in serve.kill().await {
            stored.insert(number, (device, status));
        }
    }
    // The next process marks what the killed ones left.
    let mut serve = ServeProcess::start(&lab, &[]).await;
    for device in devices {
        serve.stored(device, "unchanged").await;
    }
    serve.stop().await;
    let runs = history(&lab, &["--limit", "100000"]).await;
    let found: HashMap<i64, &Value> = runs
        .iter()
        .map(|run| (run["id"].as_i64().unwrap(), run))
        .collect();
    for (number, (device, status)) in &stored {
        let run = found
            .get(number)
            .unwrap_or_else(|| panic!("run {number} is lost"));
        assert_eq!(
            (&run["device"], &run["status"]),
            (&device.as_str().into(), &status.as_str().into())
        );
    }
    let open = runs.iter().filter(|run| run["ended"].is_null());
    assert_eq!(open.count(), 0, "{runs:?}");
    let check = super::process::run(&lab, &["store", "check"]).await;
    check.assert_code(0);
}
