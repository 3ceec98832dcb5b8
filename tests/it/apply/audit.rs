//! An audited property without a desired value is read and not changed.

use serde_json::json;

use switchtender_mocks::SwitchOptions;
use test_support::catalog::resource;
use test_support::lab::{Lab, switch_options};
use test_support::program::ProgramOutput;

/// The device shows a hash in place of the secret. A digest of it shows that it changed.
#[tokio::test(flavor = "multi_thread")]
async fn audit_of_a_secret_notices_another_hash() {
    let old = "$1$mERr$hx5rVt7rPNoS4wqbXKX7m0";
    let new = "$1$zXcv$1234567890abcdefghijkl";
    let mut lab = Lab::new();
    lab.add_switch_with(SwitchOptions {
        config: Some(format!(
            "enable secret 5 {old}\nusername ops privilege 15 secret 5 {old}\n"
        )),
        ..switch_options("sw1")
    })
    .await;
    let audited = || {
        let audit = json!({ "audit": ["secret"] });
        let mut user = audit.clone();
        user["ensure"] = "present".into();
        vec![
            resource("Ios_enable", "default", audit),
            resource("Ios_user", "ops", user),
        ]
    };
    let events = |ran: &ProgramOutput| {
        ran.assert_code(0);
        for secret in [old, new] {
            assert!(!ran.text().contains(secret), "{}", ran.text());
        }
        let lines = ran.text();
        let lines = lines.lines().filter(|line| line.contains("audit change"));
        lines.count()
    };
    lab.write_resources("sw1", &audited());
    let first = lab.run(&["apply", "-v"]).await;
    first.assert_contains("secret: audit change: newly-recorded value [redacted]");
    assert_eq!(events(&first), 2);
    assert_eq!(events(&lab.run(&["apply", "-v"]).await), 0);
    let mut changing = audited();
    let lines = format!("enable secret 5 {new}\nusername ops privilege 15 secret 5 {new}");
    changing.push(resource(
        "Ios_config",
        "others",
        json!({ "command": lines, "require": ["Ios_enable[default]", "Ios_user[ops]"] }),
    ));
    lab.write_resources("sw1", &changing);
    events(&lab.run(&["apply", "-v"]).await);
    lab.write_resources("sw1", &audited());
    let changed = lab.run(&["apply", "-v"]).await;
    assert_eq!(events(&changed), 2, "{}", changed.text());
    changed.assert_contains("previously recorded value [redacted] has been changed to [redacted]");
    for (path, text) in lab.files("state") {
        assert!(!text.contains(new), "{}", path.display());
    }
}
