//! The pages in Chromium: no console errors, keyboard, dark mode, live events.
//!
//! With `SWITCHTENDER_SCREENSHOTS=DIR`, the images are written there.

use std::path::PathBuf;

use test_support::browser::Browser;

use super::harness::{TestOptions, TestServer};
use super::visible::add_approval;
use serde_json::json;

use crate::history::{RunEffect, RunId};
use crate::report::RunStatus;
use crate::serve::live::{LiveEvent, LiveEventKind};

/// A phone, a laptop and a large screen.
const SIZES: [(u32, u32, &str); 3] = [(390, 844, "390"), (1280, 800, "1280"), (1920, 1080, "1920")];

const MODES: [(&str, bool); 2] = [("light", false), ("dark", true)];

fn screenshot(browser: &mut Browser, name: &str) {
    if let Some(dir) = std::env::var_os("SWITCHTENDER_SCREENSHOTS") {
        browser.screenshot(&PathBuf::from(dir).join(format!("{name}.png")));
    }
}

/// Follows the link of the operator.
fn log_in(browser: &mut Browser, server: &TestServer) {
    browser.open(&server.link);
    browser.wait_for("document.querySelector('form[action=\"/login/code\"] button') !== null");
    browser.evaluate("document.querySelector('form button').click()");
    browser.wait_for("document.querySelector('nav') !== null");
    // The page with all its scripts.
    browser.open(&server.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_renders_all_pages_without_errors() {
    let server = TestServer::start(TestOptions {
        devices: 250,
        ..TestOptions::default()
    })
    .await;
    let Some(mut browser) = Browser::start() else {
        return;
    };
    add_approval(&server).await;
    for (width, height, suffix) in SIZES {
        browser.resize(width, height);
        for (mode, is_dark) in MODES {
            browser.set_dark(is_dark);
            browser.open(&server.url("/"));
            browser.wait_for("document.getElementById('password') !== null");
            screenshot(&mut browser, &format!("login-{suffix}-{mode}"));
        }
    }
    log_in(&mut browser, &server);
    browser.wait_for("document.querySelectorAll('#devices tbody tr').length === 100");
    let runs = server.json("/api/v1/runs?device=sw0&status=failed").await;
    let failed = format!("/runs/{}", runs["runs"][0]["id"]);
    let versions = server.json("/api/v1/devices/sw0/configurations").await;
    let from = versions["configurations"][1]["time"]
        .as_str()
        .unwrap()
        .to_owned();
    let configuration = format!("/devices/sw0/configuration?from={from}");
    for (name, path) in [
        ("fleet", "/?sort=status"),
        ("device", "/devices/sw0"),
        ("resources", "/devices/sw0/resources"),
        (
            "resource",
            "/devices/sw0/resource?reference=Network_vlan%5B10%5D",
        ),
        ("configuration", &configuration),
        ("graph", "/devices/sw0/graph"),
        ("runs", "/runs"),
        ("run", &failed),
        ("findings", "/findings"),
        ("audit", "/audit"),
        ("approvals", "/approvals"),
        ("search", "/search?q=vlan"),
        ("compare", "/compare?device=sw0&device=sw1"),
        ("not-found", "/nothing"),
    ] {
        for (size, (mode, is_dark)) in SIZES
            .into_iter()
            .flat_map(|size| MODES.map(|mode| (size, mode)))
        {
            let (width, height, suffix) = size;
            browser.resize(width, height);
            browser.set_dark(is_dark);
            browser.open(&server.url(path));
            let excess = browser.evaluate(
                "document.documentElement.scrollWidth - document.documentElement.clientWidth",
            );
            assert_eq!(excess, 0, "{path} is wider than {width} pixels");
            let color = browser.evaluate("getComputedStyle(document.body).backgroundColor");
            let expected = if is_dark {
                "rgb(13, 17, 23)"
            } else {
                "rgb(255, 255, 255)"
            };
            assert_eq!(color, expected, "{path}");
            screenshot(&mut browser, &format!("{name}-{suffix}-{mode}"));
        }
    }
    browser.errors.retain(|error| !error.contains("/nothing"));
    let hosts = browser.evaluate(
        "performance.getEntriesByType('resource').filter(e => !e.name.startsWith(location.origin)).length",
    );
    assert_eq!(hosts, 0, "the page loads something from another host");
    browser.assert_no_errors();
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_filters_and_navigates_with_the_keyboard() {
    let server = TestServer::start(TestOptions {
        devices: 250,
        ..TestOptions::default()
    })
    .await;
    let Some(mut browser) = Browser::start() else {
        return;
    };
    log_in(&mut browser, &server);
    browser.wait_for("document.querySelectorAll('#devices tbody tr').length === 100");
    browser.press("/");
    browser.wait_for("document.activeElement.matches('[data-filter]')");
    for key in ["s", "w", "2", "4"] {
        browser.press(key);
    }
    // sw24 and sw240 to sw249
    browser.wait_for("document.querySelectorAll('#devices tbody tr').length === 11");
    browser.wait_for("location.search.includes('q=sw24')");
    browser.press("Escape");
    browser.press("j");
    browser.press("j");
    browser.wait_for("document.querySelectorAll('tr.selected').length === 1");
    browser.press("x");
    browser.wait_for("document.querySelector('[data-count]').textContent === '1 selected'");
    browser.wait_for("document.querySelector('button[data-selected=\"2\"]').disabled");
    browser.press("Enter");
    browser
        .wait_for("location.pathname === '/devices/sw240' && document.readyState === 'complete'");
    browser.press("?");
    browser.wait_for("document.getElementById('help').open");
    browser.evaluate("document.getElementById('help').close()");
    browser.press("g");
    browser.press("d");
    browser.wait_for("location.pathname === '/findings'");
    browser.assert_no_errors();
}

#[tokio::test(flavor = "multi_thread")]
async fn browser_shows_the_events_of_a_run_as_they_happen() {
    let server = TestServer::start(TestOptions::default()).await;
    let Some(mut browser) = Browser::start() else {
        return;
    };
    log_in(&mut browser, &server);
    browser.wait_for("document.querySelectorAll('#devices tbody tr').length === 3");
    browser.open(&server.url("/devices/sw1"));
    browser.wait_for("window.htmx !== undefined");
    browser.press("p");
    browser.wait_for("location.pathname.startsWith('/runs/')");
    browser.wait_for("document.querySelector('.live') !== null && window.htmx !== undefined");
    let path = browser.evaluate("location.pathname");
    let run = RunId(
        path.as_str()
            .unwrap()
            .trim_start_matches("/runs/")
            .parse()
            .unwrap(),
    );
    let emit = |event| {
        let device = "sw1".to_owned();
        server.service.live().emit(LiveEvent { run, device, event });
    };
    let resource = serde_json::from_value(json!({
        "resource": "Network_vlan[<b>77</b>]", "status": "changed", "corrective": false, "events": [],
        "operations": [{
            "mode": ["vlan 77"], "text": "name <i>new</i>", "outcome": "done", "milliseconds": 3,
        }],
    }));
    emit(LiveEventKind::Resource(resource.unwrap()));
    browser.wait_for(
        "document.querySelector('.live').textContent.includes('Network_vlan[<b>77</b>]')",
    );
    browser.wait_for("document.querySelector('.live').textContent.includes('name <i>new</i>')");
    screenshot(&mut browser, "run-live");
    let now = crate::clock::timestamp();
    let history = server.service.history();
    history
        .write(move |writer| writer.cancel_run(run, now, None))
        .await
        .unwrap();
    emit(LiveEventKind::Ended {
        status: RunStatus::Canceled,
        effect: RunEffect::default(),
    });
    browser.wait_for("document.querySelector('#run .status').textContent === 'canceled'");
    assert_eq!(
        browser.evaluate("document.querySelector('.live') === null"),
        true
    );
    browser.assert_no_errors();
}
