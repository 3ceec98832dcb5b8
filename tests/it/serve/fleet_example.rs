//! `examples/fleet/run`: PostgreSQL, two hubs, a worker and mock switches, until each switch has its desired state.

use std::path::Path;
use std::process::{Command, Stdio};

use test_support::postgresql::PostgreSql;
use test_support::program;

#[test]
fn example_of_a_fleet_runs_to_its_end() {
    if PostgreSql::shared().is_none() {
        return;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(root.join("examples/fleet/run"))
        .arg("--once")
        .env("SWITCHTENDER", program::path())
        .env_remove("SWITCHTENDER_STORE")
        .env_remove("SWITCHTENDER_STATE")
        .current_dir(std::env::temp_dir())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{printed}");
    assert!(printed.contains("release 1: "), "{printed}");
    for switch in ["switch1", "switch4"] {
        let text = format!("{switch} has its desired state\n");
        assert!(printed.contains(&text), "{printed}");
    }
}
