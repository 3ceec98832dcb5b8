//! The pages of `plan`, `apply` and `report` with `--output html`, in a real browser.
//!
//! The browser is Chromium (the program `chromium`). Without it the tests check the text of the page
//! only.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use test_support::catalog::{resource, vlan};
use test_support::lab::Lab;
use test_support::peer;
use test_support::program::{self, ProgramOutput};

/// A text that is harmful where it is not escaped.
const ATTACK: &str = "<img src=x onerror=\"document.title='attacked'\">&amp;";

/// A switch with one success, one refusal whose answer is HTML, and one resource that is skipped.
async fn lab() -> Lab {
    let mut lab = Lab::new();
    let refuse = format!("refuse=^name two => % Bad VLAN name {ATTACK}");
    lab.add_switch("sw1", &[&refuse]).await;
    let after = json!({"id": "30", "vlan_name": "three", "require": "Network_vlan[20]"});
    let message = json!({"message": ATTACK});
    lab.write_resources(
        "sw1",
        &[
            vlan(10, "one"),
            vlan(20, "two"),
            resource("Network_vlan", "30", after),
            resource("Notify", ATTACK, message),
        ],
    );
    lab
}

fn page(output: &ProgramOutput, name: &str, lab: &Lab) -> std::path::PathBuf {
    assert!(output.stdout.starts_with("<!DOCTYPE html>"), "{output:?}");
    output.assert_no_secrets();
    let path = lab.path(name);
    fs::write(&path, &output.stdout).expect("the page can be written");
    path
}

/// The document as the browser has it after its scripts ran, if there were any. `None`: there is no
/// browser.
fn document(page: &Path) -> Option<String> {
    if peer::skips(peer::missing_programs("test-tools.sh", &["chromium"])) {
        return None;
    }
    let profile = tempfile::tempdir().expect("a directory");
    let output = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("chromium can be started");
    let text = String::from_utf8(output.stdout).expect("a document is UTF-8");
    assert!(
        output.status.success() && text.contains("</html>"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(text)
}

/// The texts of all elements with this name and class.
fn texts(document: &str, element: &str, class: &str) -> Vec<String> {
    let start = format!("<{element} class=\"{class}\">");
    let parts = document.split(&start).skip(1);
    parts
        .map(|rest| rest.split(&format!("</{element}>")).next().unwrap_or(rest))
        .map(str::to_owned)
        .collect()
}

fn assert_not_attacked(document: &str) {
    assert!(!document.contains("<img"), "{document}");
    assert!(!document.contains("<title>attacked"), "{document}");
}

#[tokio::test(flavor = "multi_thread")]
async fn html_page_of_apply_and_report_has_answers_and_graph() {
    let lab = lab().await;
    let output = lab.run(&["apply", "--output", "html"]).await;
    output.assert_code(1);
    let applied = page(&output, "apply.html", &lab);
    let state = lab.path("state").display().to_string();
    let catalogs = lab.path("catalogs").display().to_string();
    let arguments = [
        "--state-dir",
        &state,
        "--output",
        "html",
        "--catalog",
        &catalogs,
    ];
    let output = program::run(&[&["report", "sw1"], &arguments[..]].concat());
    output.assert_code(0);
    let stored = page(&output, "report.html", &lab);
    for page in [applied, stored] {
        let Some(document) = document(&page) else {
            return;
        };
        assert_not_attacked(&document);
        let answers = texts(&document, "pre", "answer");
        let escaped =
            "% Bad VLAN name &lt;img src=x onerror=\"document.title='attacked'\"&gt;&amp;amp;";
        assert_eq!(answers, [escaped], "{document}");
        assert_eq!(texts(&document, "span", "problem"), ["refused"]);
        let commands = texts(&document, "div", "command");
        assert!(commands[0].contains("vlan 10"), "{commands:?}");
        assert!(commands[1].contains(" name one"), "{commands:?}");
        for expected in [
            "Network_vlan[30]",
            "skipped: ",
            "Dependency Network_vlan[20] has failures",
        ] {
            assert!(document.contains(expected), "{expected}: {document}");
        }
        assert_eq!(document.matches("<svg").count(), 1, "{document}");
        assert!(document.contains("/manifests/site.pp:1"), "{document}");
        let added = texts(&document, "span", "added");
        assert!(added.contains(&"+ name one".to_owned()), "{added:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn html_page_of_a_plan_has_the_difference() {
    let lab = lab().await;
    let output = lab.run(&["plan", "--show-undo", "--output", "html"]).await;
    output.assert_code(0);
    let html = &output.stdout;
    assert!(html.contains("<h3>Undo, last change first</h3>"), "{html}");
    assert!(html.contains("<code>no vlan 10</code>"), "{html}");
    let Some(document) = document(&page(&output, "plan.html", &lab)) else {
        return;
    };
    assert_not_attacked(&document);
    let added = texts(&document, "span", "added");
    for line in ["+vlan 10", "+ name one", "+ name three"] {
        assert!(added.contains(&line.to_owned()), "{line}: {added:?}");
    }
    assert!(
        texts(&document, "span", "status failed").is_empty(),
        "{document}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn html_page_of_a_device_that_is_not_reachable_has_the_error() {
    let lab = Lab::with_devices(&[("sw1", "cisco_ios")]);
    lab.write_resources("sw1", &[vlan(10, "one")]);
    let output = lab.run(&["apply", "--output", "html"]).await;
    output.assert_code(1);
    let html = &output.stdout;
    assert!(
        html.contains("<span class=\"status unreachable\">unreachable</span>"),
        "{html}"
    );
    assert!(html.contains("Connection refused"), "{html}");
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_plan_has_totals_and_the_future_tense() {
    let mut lab = Lab::new();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &[]).await;
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    let planned = lab.run(&["plan", "--output", "html"]).await;
    planned.assert_code(0);
    planned.assert_contains("<p>2 devices: 2 pending in ");
    planned.assert_contains(">Duration<");
    for past in [" (noop)</code>", "Applied catalog in", ">1 messages<"] {
        assert!(!planned.stdout.contains(past), "{past}: {planned:?}");
    }
    lab.run(&["apply"]).await.assert_code(0);
    let state = lab.path("state").display().to_string();
    let arguments = ["report", "--output", "html", "--state-dir", &state];
    let reports = lab.run(&arguments).await;
    reports.assert_code(0);
    reports.assert_contains("<p>2 devices: 2 changed</p>");
}
