//! Facts and reports for PuppetDB, with an HTTP server on loopback.

use serde_json::Value;
use test_support::catalog::vlan;
use test_support::lab::Lab;
use tokio::net::{TcpListener, TcpStream};

use super::process::{ServeProcess, configure, within_limit};
use super::receiver;

/// A request: its head and its body.
async fn answer(stream: TcpStream, status: &str) -> (String, Value) {
    let (head, body) = receiver::answer(stream, status).await;
    (head, serde_json::from_str(&body).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_and_reports_are_sent_until_puppetdb_accepts_them() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let settings = format!(
        "[defaults]\ninterval = \"2s\"\ncatalog = \"catalogs\"\n\
         [puppetdb]\nurl = \"http://127.0.0.1:{port}\"\n"
    );
    configure(&lab, &settings);
    let serve = ServeProcess::start(&lab, &[]).await;
    let next = async |status: &'static str| {
        within_limit("a command", async {
            let (stream, _) = server.accept().await.unwrap();
            answer(stream, status).await
        })
        .await
    };
    let refused = next("503 Service Unavailable").await;
    let facts = next("200 OK").await;
    assert_eq!(refused, facts, "it is repeated");
    let report = next("200 OK").await;
    let path = "POST /pdb/cmd/v1?command=replace%5Ffacts&version=5&certname=sw1%2Elab%2Etest&";
    assert!(facts.0.starts_with(path), "{}", facts.0);
    assert_eq!(facts.1["certname"], "sw1.lab.test");
    assert!(
        facts.1["values"]
            .as_object()
            .is_some_and(|values| !values.is_empty())
    );
    let path = "POST /pdb/cmd/v1?command=store%5Freport&version=8&certname=sw1%2Elab%2Etest&";
    assert!(report.0.starts_with(path), "{}", report.0);
    assert_eq!(report.1["status"], "changed");
    assert_eq!(report.1["resources"][0]["resource_title"], "42");
    serve.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn command_that_puppetdb_rejects_does_not_delay_others() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_resources("sw1", &[vlan(42, "users")]);
    let settings = format!(
        "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\n\
         [puppetdb]\nurl = \"http://127.0.0.1:{port}\"\n"
    );
    configure(&lab, &settings);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    let requested = super::process::run(&lab, &["run", "sw1", "--wait"]).await;
    requested.assert_code(0);
    let next = async |status: &'static str| {
        within_limit("a command", async {
            let (stream, _) = server.accept().await.unwrap();
            answer(stream, status).await
        })
        .await
    };
    // The rights of the sender are no fault of the command.
    let forbidden = next("403 Forbidden").await;
    assert_eq!(forbidden, next("400 Bad Request").await);
    let report = next("200 OK").await;
    assert!(report.0.contains("command=store%5Freport"), "{}", report.0);
    let line = serve.line("PuppetDB rejected the command").await;
    assert!(
        line.contains("cannot send replace_facts to PuppetDB"),
        "{line}"
    );
    assert!(line.contains("status 400"), "{line}");
    let token = std::fs::read_to_string(lab.path("state/serve/local.token")).unwrap();
    drop(rustls::crypto::ring::default_provider().install_default());
    let metrics = reqwest::Client::new().get(format!("{}/metrics", serve.url()));
    let metrics = metrics.bearer_auth(token).send().await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let lost = "switchtender_puppetdb_commands_lost_total{reason=\"rejected\"} 1\n";
    assert!(metrics.contains(lost), "{metrics}");
    serve.stop().await;
}
