//! The pages: content, and the time of the server with 10,000 devices.

use std::time::Duration;

use super::harness::{TestOptions, TestServer, text};
use crate::clock;
use crate::serve::access::Role;

/// All pages with one text that each has.
const PAGES: [(&str, &str); 21] = [
    ("/", "<a href=\"/devices/sw0\">sw0</a>"),
    ("/?status=drifted&sort=status", "sw0"),
    ("/?q=role%3Daccess&chart=month", "sw1"),
    ("/?q=sw*%2C+!sw1&status=failed&sort=version", "sw11"),
    ("/?status=drift", "did you mean `drifted`?"),
    (
        "/?columns=address&columns=version",
        "<th class=\"\">Address</th>",
    ),
    ("/compare?device=sw0&device=sw1", "Compare configurations"),
    ("/runs", "Runs"),
    ("/runs?target=sw0&status=failed", "failed"),
    ("/findings", "trunk-vlan"),
    ("/devices/sw0", "operatingsystem"),
    ("/devices/sw0/resources", "Network_vlan[10]"),
    (
        "/devices/sw0/resource?reference=Network_vlan%5B10%5D",
        "vlan_name: change from one to two failed",
    ),
    ("/devices/sw0/configuration", "hostname sw0"),
    (
        "/devices/sw0/configuration?from=",
        "<span class=\"same line managed\" title=\"managed\">",
    ),
    ("/?sort=last_run&columns=managed", "66 %"),
    ("/devices/sw0/graph", "/devices/sw0/graph.svg"),
    ("/devices/sw0/graph.svg", "<svg"),
    ("/devices/sw1/graph", "catalogs/sw1.json"),
    ("/metrics", "switchtender_devices_drifted"),
    (
        "/metrics",
        "switchtender_config_lines{class=\"not covered\"} ",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn pages_take_less_than_200_ms_with_10_000_devices() {
    const LIMIT: Duration = Duration::from_millis(200);
    let server = TestServer::start(TestOptions {
        devices: 10_000,
        ..TestOptions::default()
    })
    .await;
    let mut slow = Vec::new();
    for (path, expected) in PAGES {
        let mut fastest = Duration::MAX;
        // Others use the machine meanwhile.
        for _ in 0..50 {
            if fastest <= LIMIT {
                break;
            }
            let start = clock::instant();
            let answer = server.get(Role::View, path).send().await.unwrap();
            let (status, body) = text(answer).await;
            fastest = fastest.min(clock::instant().duration_since(start));
            assert_eq!(status, 200, "{path}: {body}");
            assert!(body.contains(expected), "{path} has no {expected}: {body}");
        }
        let milliseconds = fastest.as_secs_f64() * 1000.0;
        test_support::stderr_note::print(&format!("{milliseconds:.1} ms: {path}"));
        if fastest > LIMIT {
            slow.push(format!("{path}: {milliseconds:.1} ms"));
        }
    }
    assert!(slow.is_empty(), "{}", slow.join(", "));
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_escape_the_answers_of_devices() {
    let server = TestServer::start(TestOptions::default()).await;
    let runs = server.json("/api/v1/runs?device=sw0&status=failed").await;
    let id = runs["runs"][0]["id"].as_i64().unwrap();
    let path = format!("/runs/{id}");
    let (status, body) = text(server.get(Role::View, &path).send().await.unwrap()).await;
    assert_eq!(status, 200, "{body}");
    assert!(body.contains("name two"), "{body}");
    assert!(body.contains("% Bad VLAN name &#60;img src=x"), "{body}");
    assert!(!body.contains("<img src=x"), "{body}");
    assert!(
        body.contains("Config retrieval") || body.contains("config_retrieval"),
        "{body}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_unknown_things_are_errors() {
    let server = TestServer::start(TestOptions::default()).await;
    for (path, status, expected) in [
        ("/devices/none", 404, "unknown device `none`"),
        ("/runs/99999", 404, "unknown run `99999`"),
        ("/runs/one", 404, "unknown run `one`"),
        ("/nothing", 404, "there is no such page"),
        ("/nothing", 404, "<a href=\"/runs\" data-key=\"r\">Runs</a>"),
        (
            "/compare?device=sw0&device=none",
            404,
            "unknown device `none`",
        ),
        (
            "/devices/sw0/configuration?from=yesterday",
            400,
            "`yesterday` is no time",
        ),
        ("/devices/sw0/resource", 400, "reference"),
        ("/devices/%3Cb%3E", 404, "unknown device `&#60;b&#62;`"),
        ("/api/v1/devices?limit=many", 400, "\"error\":"),
        ("/api/v1/runs/1x", 404, "\"error\":"),
    ] {
        let (found, body) = text(server.get(Role::View, path).send().await.unwrap()).await;
        assert_eq!(found, status, "{path}: {body}");
        assert!(body.contains(expected), "{path}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_configurations_have_the_difference_of_two_times() {
    let server = TestServer::start(TestOptions::default()).await;
    let versions = server.json("/api/v1/devices/sw0/configurations").await;
    let versions = versions["configurations"].as_array().unwrap();
    assert_eq!(versions.len(), 2, "{versions:?}");
    let time = |number: usize| versions[number]["time"].as_str().unwrap();
    let query = format!("from={}&to={}", time(1), time(0));
    let path = format!("/devices/sw0/configuration?{query}");
    let (status, body) = text(server.get(Role::View, &path).send().await.unwrap()).await;
    assert_eq!(status, 200, "{body}");
    assert!(
        body.contains("<span class=\"removed\">- name one</span>"),
        "{body}"
    );
    assert!(
        body.contains("<span class=\"added\">+ name zero</span>"),
        "{body}"
    );
    let difference = server
        .json(&format!("/api/v1/devices/sw0/difference?{query}"))
        .await;
    let difference = difference["configuration_difference"].as_str().unwrap();
    assert!(
        difference.contains("- name one\n+ name zero\n"),
        "{difference}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_search_and_compare_configurations() {
    let server = TestServer::start(TestOptions::default()).await;
    for (path, expected) in [
        ("/search?q=HOSTNAME", "/devices/sw0/configuration"),
        ("/search?q=%5Ehost&regex=1", "hostname sw0"),
        ("/search?q=(&regex=1", "is no regular expression"),
        (
            "/search?q=hostname&target=sw0",
            "1 of 1 configurations have a line with it.",
        ),
        (
            "/search?q=none&absent=1",
            "configurations have no line with it.",
        ),
        ("/search?q=x&target=(", "role=alert"),
        ("/search", "Searches each line"),
        (
            "/compare?device=sw0&device=sw0",
            "The configurations are equal.",
        ),
    ] {
        let (status, body) = text(server.get(Role::View, path).send().await.unwrap()).await;
        assert_eq!(status, 200, "{path}: {body}");
        let found = body.replace(['"', '\''], "");
        assert!(found.contains(expected), "{path} has no {expected}: {body}");
    }
    let found = server.json("/api/v1/search?text=hostname&target=sw0").await;
    assert_eq!(
        (&found["total"], &found["searched"]),
        (&1.into(), &1.into())
    );
    assert_eq!(found["devices"][0]["lines"][0]["text"], "hostname sw0");
    let equal = server.json("/api/v1/comparison?from=sw0&to=sw0").await;
    assert_eq!(equal["configuration_difference"], "");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_act_on_the_selected_devices() {
    let server = TestServer::start(TestOptions::default()).await;
    let post = |path: &str, form: &'static str| {
        let request = server.client.post(server.url(path));
        request
            .bearer_auth("swt_test_apply")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form)
            .send()
    };
    let answer = post("/selection/plan", "device=sw0&device=sw2")
        .await
        .unwrap();
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.headers()["hx-redirect"], "/runs");
    let runs = server.json("/api/v1/runs?status=queued").await;
    let mut devices: Vec<&str> = (runs["runs"].as_array().unwrap().iter())
        .map(|run| run["device"].as_str().unwrap())
        .collect();
    devices.sort_unstable();
    assert_eq!(devices, ["sw0", "sw2"]);
    let paused = post("/selection/pause", "all=1&q=sw*%2C+!sw1")
        .await
        .unwrap();
    assert_eq!(paused.status(), 204);
    let paused = server.json("/api/v1/devices?paused=true").await;
    assert_eq!(paused["total"], 2);
    for (form, status, expected) in [
        (
            "device=sw0&device=none",
            409,
            "done for 1 of 2 devices; not for none",
        ),
        ("", 400, "no device is selected"),
        ("all=1&status=drift", 400, "did you mean `drifted`?"),
    ] {
        let (found, body) = text(post("/selection/resume", form).await.unwrap()).await;
        assert_eq!(found, status, "{form}: {body}");
        assert!(body.contains(expected), "{form}: {body}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_name_the_user_of_a_failed_login() {
    let server = TestServer::start(TestOptions::default()).await;
    let login = server.client.post(server.url("/login"));
    let login = login.header("content-type", "application/x-www-form-urlencoded");
    let login = login
        .body("user=ali%22ce&password=wrong&next=%2Fruns")
        .send();
    let (status, body) = text(login.await.unwrap()).await;
    assert_eq!(status, 401, "{body}");
    assert!(body.contains("value=\"ali&#34;ce\""), "{body}");
    assert!(body.contains("value=\"/runs\""), "{body}");
}
