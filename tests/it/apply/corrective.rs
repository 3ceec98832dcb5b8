//! Corrective changes: the device differs from what the last run set.

use std::fs;

use serde_json::json;
use test_support::catalog::resource;
use test_support::lab::Lab;

/// The device drops the line end of a banner. That it does is no change by somebody else.
#[tokio::test(flavor = "multi_thread")]
async fn change_of_a_value_in_another_form_is_not_corrective() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let banner = |text: &str| resource("Banner", "default", json!({"motd": text}));
    for text in ["one\n", "two\n"] {
        lab.write_resources("sw1", &[banner(text)]);
        let ran = lab.run(&["apply"]).await;
        ran.assert_code(0);
        assert!(!ran.text().contains("(corrective)"), "{}", ran.text());
    }
    let undone = lab.run(&["undo", "--last", "--yes"]).await;
    undone.assert_contains("motd changed 'two' to 'one'");
    assert!(!undone.text().contains("(corrective)"), "{}", undone.text());
    // Somebody else sets another text.
    let state = lab.path("state");
    let hidden = lab.path("hidden");
    fs::rename(&state, &hidden).unwrap();
    lab.write_resources("sw1", &[banner("other")]);
    lab.run(&["apply"]).await.assert_code(0);
    fs::remove_dir_all(&state).unwrap();
    fs::rename(&hidden, &state).unwrap();
    lab.write_resources("sw1", &[banner("three\n")]);
    let ran = lab.run(&["apply"]).await;
    ran.assert_contains("motd changed 'other' to \"three\\n\" (corrective)");
}
