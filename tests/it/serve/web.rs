//! Pages, API and access of the running process.

use std::io::Write as _;
use std::process::Stdio;

use reqwest::{Client, redirect};
use serde_json::Value;
use test_support::browser::Browser;
use test_support::catalog::vlan;
use test_support::lab::Lab;
use test_support::program::{self, PLANTED, ProgramOutput};
use test_support::stderr_note;

use super::process::{self, ServeProcess, configure};
use crate::apply::secrets;

/// A client of the process with the token of the host.
struct Pages {
    client: Client,
    url: String,
    token: String,
}

impl Pages {
    fn of(lab: &Lab, serve: &ServeProcess) -> Self {
        let token = std::fs::read_to_string(lab.path("state/serve/local.token")).unwrap();
        drop(rustls::crypto::ring::default_provider().install_default());
        let client = Client::builder().redirect(redirect::Policy::none());
        Self {
            client: client.build().unwrap(),
            url: serve.url(),
            token,
        }
    }

    /// The text of an answer with status 200, without planted secrets.
    async fn get(&self, path: &str) -> String {
        let request = self.client.get(format!("{}{path}", self.url));
        let answer = request.bearer_auth(&self.token).send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 200, "{path}: {text}");
        assert!(!text.contains(PLANTED), "{path}: {text}");
        text
    }

    async fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path).await).unwrap()
    }
}

/// Adds a user whose password contains the planted secret.
fn add_user(lab: &Lab) {
    let arguments = [
        "access",
        "add-user",
        "alice",
        "--role",
        "view",
        "--state-dir",
        "state",
    ];
    let mut child = program::switchtender(&arguments)
        .current_dir(lab.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "s3cret-user").unwrap();
    let output = ProgramOutput::from(child.wait_with_output().unwrap());
    output.assert_code(0);
    output.assert_no_secrets();
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_masked_in_pages_api_metrics_store_and_log() {
    let echoing = [
        "refuse=^ntp authentication-key => % Invalid key: s3cret-ntp",
        "refuse=^snmp-server => % Bad community s3cret-community here",
    ];
    let refusing =
        ["refuse=^POST .*/monitor/http => 01070734: bad password s3cret-\"probe\" given"];
    let lab = secrets::lab(&echoing, &refusing).await;
    add_user(&lab);
    configure(
        &lab,
        "[defaults]\ninterval = \"1s\"\ncatalog = \"catalogs\"\n",
    );
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let runs = [
        serve.stored("sw1", "failed").await,
        serve.stored("lb1", "failed").await,
    ];
    let pages = Pages::of(&lab, &serve);
    let login = pages.client.post(format!("{}/login", pages.url));
    let login = login.header("content-type", "application/x-www-form-urlencoded");
    let login = login
        .body("user=alice&password=s3cret-user")
        .send()
        .await
        .unwrap();
    assert_eq!(login.status(), 303);
    for path in [
        "/",
        "/runs",
        "/findings",
        "/audit",
        "/metrics",
        "/api/v1/devices",
        "/api/v1/runs",
    ] {
        pages.get(path).await;
    }
    for path in [
        "/api/v1/drift",
        "/api/v1/findings",
        "/api/v1/status",
        "/api/v1/audit",
    ] {
        pages.get(path).await;
    }
    for device in ["sw1", "lb1"] {
        for end in ["", "/resources", "/configuration", "/graph", "/graph.svg"] {
            pages.get(&format!("/devices/{device}{end}")).await;
        }
        pages.get(&format!("/api/v1/devices/{device}")).await;
    }
    let mut answers = String::new();
    for run in runs {
        answers.push_str(&pages.get(&format!("/runs/{run}")).await);
        pages.get(&format!("/api/v1/runs/{run}")).await;
        pages.get(&format!("/api/v1/runs/{run}/events")).await;
    }
    // The answers of the devices are there, without the secrets in them.
    for expected in [
        "% Invalid key: ••••",
        "% Bad community •••• here",
        "bad password ••••",
    ] {
        assert!(answers.contains(expected), "{expected}: {answers}");
    }
    // The log has no secret, either.
    serve.stop().await;
    for directory in ["state", "history.db", "history.db-wal"] {
        for (path, text) in lab.files(directory) {
            let is_token = path.ends_with("serve/local.token");
            assert!(
                is_token || !text.contains(PLANTED),
                "{}: {text}",
                path.display()
            );
        }
    }
    let audit = [
        "access",
        "audit",
        "--state-dir",
        "state",
        "--action",
        "login",
    ];
    let audit = process::run(&lab, &audit).await;
    audit.assert_code(0);
    audit.assert_contains("Identified by");
    audit.assert_contains("alice");
}

#[tokio::test(flavor = "multi_thread")]
async fn run_command_requests_a_run_that_starts_at_once() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    configure(
        &lab,
        "[defaults]\ninterval = \"10h\"\ncatalog = \"catalogs\"\n",
    );
    let serve = ServeProcess::start(&lab, &[]).await;
    // Another program listens there: it must not get the token.
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", other.local_addr().unwrap());
    let refused = process::run(&lab, &["run", "sw1", "--url", &url]).await;
    refused.assert_code(1);
    assert!(
        refused.stderr.contains("whose token is not sent there"),
        "{}",
        refused.stderr
    );
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err(), "it was connected");
    let arguments = ["run", "sw1", "--kind", "apply", "--wait", "--url"];
    let printed = process::run(&lab, &[&arguments[..], &[&serve.url()]].concat()).await;
    printed.assert_code(0);
    printed.assert_contains("sw1: changed, run 1");
    let page = format!("details: {}/runs/1\n", serve.url().trim_end_matches('/'));
    printed.assert_contains(&page);
    let pages = Pages::of(&lab, &serve);
    let run = pages.json("/api/v1/runs/1").await;
    assert_eq!(run["requester"]["kind"], "command line");
    let time = |key: &str| -> jiff::Timestamp { run[key].as_str().unwrap().parse().unwrap() };
    let delay = time("started").duration_since(time("queued"));
    stderr_note::print(&format!(
        "a requested run started after {} ms",
        delay.as_millis()
    ));
    assert!(pages.get("/runs/1").await.contains("name users"));
    let audit = pages.json("/api/v1/audit").await;
    assert_eq!(audit["entries"][0]["action"], "apply");
    assert_eq!(audit["entries"][0]["target"], "sw1");
    assert!(
        pages
            .get("/metrics")
            .await
            .contains("switchtender_runs_total{status=\"changed\"} 1")
    );
    serve.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn demo_has_pages_without_errors() {
    let lab = Lab::new();
    let mut serve = ServeProcess::demo(&lab).await;
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let run = serve.stored("sw1", "changed").await;
    for name in ["sw2", "lb1"] {
        serve.stored(name, "changed").await;
    }
    serve.stored("sw3", "pending").await;
    for (name, path) in [
        ("demo-fleet", "/".to_owned()),
        ("demo-device", "/devices/sw1".to_owned()),
        (
            "demo-configuration",
            "/devices/sw1/configuration".to_owned(),
        ),
        ("demo-graph", "/devices/sw1/graph".to_owned()),
        ("demo-run", format!("/runs/{run}")),
        ("demo-drift", "/devices/sw3".to_owned()),
    ] {
        browser.open(&format!("{}{path}", serve.url()));
        browser.wait_for("document.querySelector('h1') !== null");
        if let Some(dir) = std::env::var_os("SWITCHTENDER_SCREENSHOTS") {
            let file = std::path::Path::new(&dir).join(format!("{name}.png"));
            browser.screenshot(&file);
        }
    }
    browser.assert_no_errors();
    serve.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn run_of_the_command_line_accepts_the_certificate_of_the_settings_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    // The name is not that of the address, and the certificate is its own issuer.
    let write = |name: &str| {
        let made = rcgen::generate_simple_self_signed(["proxy.test".to_owned()]).unwrap();
        std::fs::write(lab.path(&format!("{name}.pem")), made.cert.pem()).unwrap();
        let key = lab.path(&format!("{name}.key"));
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
    };
    write("proxy");
    write("other");
    let settings = "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\n\
                    [web]\ncertificate = \"proxy.pem\"\nkey = \"proxy.key\"\n\
                    url = \"https://proxy.test:8440/\"\n";
    configure(&lab, settings);
    let serve = ServeProcess::start(&lab, &[]).await;
    let run = process::run(&lab, &["run", "sw1", "--wait"]).await;
    run.assert_code(0);
    assert!(
        run.stdout.starts_with("sw1: changed, run ")
            && run.stdout.contains("details: switchtender report "),
        "{}",
        run.stdout
    );
    let link = process::run(&lab, &["access", "link", "--state-dir", "state"]).await;
    let expected = "https://proxy.test:8440/login?code=";
    assert!(link.stdout.starts_with(expected), "{}", link.stdout);
    let text = std::fs::read_to_string(lab.path("serve.toml")).unwrap();
    let other = text
        .replace("proxy.pem", "other.pem")
        .replace("proxy.key", "other.key");
    std::fs::write(lab.path("other.toml"), other).unwrap();
    let refused = process::run(&lab, &["run", "sw1", "--config", "other.toml"]).await;
    refused.assert_code(1);
    assert!(
        refused.stderr.contains("cannot connect to the process"),
        "{}",
        refused.stderr
    );
    serve.stop().await;
}
