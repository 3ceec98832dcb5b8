//! The agent's part of device runs, against a Puppet Server on loopback.

mod cached_catalog;
mod reports;

use serde_json::json;
use switchtender::agent::run_log::Level;
use switchtender::catalog::CachedStatus;
use switchtender::error_chain::chain;
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use test_support::proxy_host::{ProxyHost, has_message, run_of};

const SW1: &str = "sw1.lab.test";

/// The requests after the certificate was set up, query left out.
fn requests(server: &PuppetServer) -> Vec<String> {
    let state = server.state();
    let lines = state.request_lines().into_iter();
    lines.filter(|line| !line.contains("/puppet-ca/")).collect()
}

#[tokio::test]
async fn agent_run_sends_the_recorded_requests() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    let obtained = outcome.unwrap();
    assert_eq!(obtained.cached, CachedStatus::NotUsed);
    assert_eq!(
        requests(&server),
        [
            "GET /puppet/v3/node/sw1.lab.test",
            "GET /puppet/v3/file_metadatas/plugins",
            "POST /puppet/v3/catalog/sw1.lab.test",
        ]
    );
    let state = server.state();
    let posted = state.received.last().unwrap();
    let (ours, theirs) = (fields(&posted.text()), recorded_fields());
    assert_eq!(
        ours.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        theirs.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "the same fields in the same order"
    );
    for constant in [
        "facts_format",
        "environment",
        "check_environment",
        "static_catalog",
        "job_uuid",
    ] {
        assert_eq!(
            value(&ours, constant),
            value(&theirs, constant),
            "{constant}"
        );
    }
    assert_eq!(value(&ours, "transaction_uuid"), run.agent.transaction_uuid);
    assert_eq!(
        posted.headers["accept"],
        "application/vnd.puppet.rich+json, application/json"
    );
    // Decoded twice by the server, values arrive as they were.
    assert_eq!(state.facts[SW1]["values"]["weird"], "a+b %41");
    let node = &state.received[state.received.len() - 3];
    assert_eq!(
        node.parameter("transaction_uuid").unwrap(),
        run.agent.transaction_uuid
    );
    assert_eq!(
        node.parameter("configured_environment").unwrap(),
        "production"
    );
    assert!(has_message(
        &run.log,
        Level::Info,
        "Using environment 'production'"
    ));
}

fn fields(form: &str) -> Vec<(String, String)> {
    form.split('&')
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    &fields.iter().find(|(key, _)| key == name).unwrap().1
}

/// The form that a real device run has sent.
fn recorded_fields() -> Vec<(String, String)> {
    let recorded: serde_json::Value = serde_json::from_str(include_str!(
        "../fixtures/puppetserver/exchanges/device_run_sw1.json"
    ))
    .unwrap();
    let exchanges = recorded.as_array().unwrap();
    let catalog = exchanges
        .iter()
        .find(|exchange| {
            exchange["request_line"]
                .as_str()
                .unwrap()
                .starts_with("POST /puppet/v3/catalog")
        })
        .unwrap();
    fields(catalog["body"].as_str().unwrap())
}

#[tokio::test]
async fn agent_run_uses_the_environment_of_the_server() {
    let server = PuppetServer::start().await;
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    let host = ProxyHost::new(&server, &[]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().head.environment, "staging");
    assert_eq!(run.agent.environment(), "staging");
    assert!(has_message(
        &run.log,
        Level::Notice,
        "Local environment: 'production' doesn't match server specified node environment 'staging'"
    ));
    let catalogs = requests(&server)
        .iter()
        .filter(|line| line.starts_with("POST"))
        .count();
    assert_eq!(catalogs, 1);

    // The next device of the same process begins where it is configured to begin.
    let (other, outcome) = run_of(&host.process(&[]), "sw2.lab.test").await;
    assert_eq!(outcome.unwrap().head.environment, "production");
    assert_eq!(other.agent.environment(), "production");
}

#[tokio::test]
async fn agent_run_never_returns_an_empty_mismatch_catalog() {
    let server = PuppetServer::start().await;
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    server.state().catalogs.insert(
        (SW1.to_owned(), "staging".to_owned()),
        serde_json::from_str(
            &include_str!("../fixtures/puppetserver/catalogs/sw2.json")
                .replace("sw2.lab.test", SW1),
        )
        .unwrap(),
    );
    // The node request fails, so the run begins in the wrong environment.
    server.state().inject(
        "/puppet/v3/node/",
        [ServerResponse::json(
            500,
            &json!({"message": "Server Error: x"}),
        )],
    );
    let host = ProxyHost::new(&server, &[]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    let text = outcome.unwrap().text;
    assert!(text.contains("Network_vlan"), "{text}");
    assert!(has_message(
        &run.log,
        Level::Warning,
        "Unable to fetch my node definition, but the agent run will continue:"
    ));
    assert!(has_message(
        &run.log,
        Level::Notice,
        "Local environment: 'production' doesn't match server specified environment 'staging', restarting agent run with environment 'staging'"
    ));
}

#[tokio::test]
async fn agent_run_limits_environment_restarts() {
    let server = PuppetServer::start().await;
    let environments = ["staging", "production"].map(str::to_owned).to_vec();
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), environments);
    let host = ProxyHost::new(&server, &[]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "Catalog environment didn't stabilize after 4 fetches, aborting run"
    );
    let fetches = requests(&server)
        .iter()
        .filter(|line| line.starts_with("POST"))
        .count();
    assert_eq!(fetches, 4, "three restarts");
    assert!(!run.agent.layout.cached_catalog().exists());
}

#[tokio::test]
async fn agent_run_in_strict_mode_rejects_other_environments() {
    let server = PuppetServer::start().await;
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    let host = ProxyHost::new(&server, &[("strict_environment_mode", "true")]);
    let (_, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "Not using catalog because its environment 'staging' does not match agent specified environment 'production' and strict_environment_mode is set"
    );
    let requested = requests(&server);
    assert!(
        !requested.iter().any(|line| line.contains("/node/")),
        "{requested:?}"
    );

    let (_, outcome) = run_of(&host.process(&[("environment", "retired")]), SW1).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "Environment 'retired' not found on server, aborting run."
    );
}

#[tokio::test]
async fn agent_run_with_environment_flag_does_not_request_the_node() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[("environment", "staging")]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().head.environment, "staging");
    assert_eq!(run.agent.environment(), "staging");
    assert!(!requests(&server).iter().any(|line| line.contains("/node/")));
}

#[tokio::test]
async fn agent_run_fails_with_a_reason_for_unusable_catalogs() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[("usecacheonfailure", "false")]);
    run_of(&host.process(&[]), SW1).await.1.unwrap();
    let rich = |body: &str| ServerResponse::new(200, "application/vnd.puppet.rich+json", body);
    let compile_error = include_str!("../fixtures/puppetserver/errors/broken1.json");
    let cases = [
        (
            rich("<html>"),
            "/puppet/v3/catalog/sw1.lab.test: unusable response: invalid catalog: expected value",
        ),
        (
            rich("{\"name\":\"sw1.lab.test\",\"environ"),
            "/puppet/v3/catalog/sw1.lab.test: unusable response: invalid catalog: EOF",
        ),
        (
            rich("{\"name\":\"sw2.lab.test\",\"environment\":\"production\"}"),
            "/puppet/v3/catalog/sw1.lab.test: the catalog is for 'sw2.lab.test', not for 'sw1.lab.test'",
        ),
        (
            rich("{\"name\":\"sw1.lab.test\",\"environment\":\"production\"}").cut(10),
            "Could not retrieve catalog from remote server: POST https://localhost:",
        ),
        (
            ServerResponse::new(500, "application/json", compile_error),
            "Could not retrieve catalog from remote server: POST https://localhost:",
        ),
        (
            ServerResponse::text(406, "Not Acceptable"),
            "Could not retrieve catalog from remote server: POST https://localhost:",
        ),
    ];
    for (answer, expected) in cases {
        server
            .state()
            .inject("/puppet/v3/catalog", [answer.clone()]);
        let (_, outcome) = run_of(&host.process(&[]), SW1).await;
        let message = chain(&outcome.unwrap_err());
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("POST https://localhost:"), "{message}");
        if answer.status == 500 {
            assert!(message.contains("site.pp, line: 235"), "{message}");
        }
    }
}

#[tokio::test]
async fn agent_run_selects_the_first_server_that_is_up() {
    let server = PuppetServer::start().await;
    let list = format!("localhost:1,localhost:{}", server.port());
    let host = ProxyHost::new(&server, &[("server_list", &list)]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    outcome.unwrap();
    assert_eq!(
        run.agent.server_used().unwrap(),
        format!("localhost:{}", server.port())
    );
    assert!(has_message(
        &run.log,
        Level::Warning,
        "Unable to connect to server from server_list setting: GET https://localhost:1/status"
    ));
    assert!(
        run.log
            .iter()
            .any(|(_, message)| { message.ends_with("Trying with next server from server_list.") })
    );

    let refused = format!("localhost:{}", server.port());
    server
        .state()
        .inject("/status", [ServerResponse::text(503, "starting")]);
    let only = [
        ("server_list", refused.as_str()),
        ("usecacheonfailure", "false"),
    ];
    let (run, outcome) = run_of(&host.process(&only), SW1).await;
    assert_eq!(
        outcome.unwrap_err().to_string(),
        format!("Could not select a functional puppet server from server_list: '{refused}'")
    );
    assert!(has_message(
        &run.log,
        Level::Warning,
        &format!("Puppet server {refused} is unavailable: 503")
    ));

    // With a cached catalog the run goes on.
    server
        .state()
        .inject("/status", [ServerResponse::text(503, "starting")]);
    server.state().inject(
        "/puppet/v3/catalog",
        [ServerResponse::text(503, "starting")],
    );
    let (_, outcome) = run_of(&host.process(&[("server_list", &refused)]), SW1).await;
    assert_eq!(outcome.unwrap().cached, CachedStatus::OnFailure);
}

#[tokio::test]
async fn agent_run_downloads_definitions_of_the_environment() {
    let server = PuppetServer::start().await;
    let model = include_str!("../../devices/definitions/models/syslog_server.toml");
    let plugin = |environment: &str, path: &str, text: &str| {
        let key = (
            environment.to_owned(),
            format!("switchtender/definitions/{path}"),
        );
        server.state().plugins.insert(key, text.to_owned());
    };
    plugin("production", "models/syslog_server.toml", model);
    plugin("production", "evil.rb", "system('id')");
    plugin("production", "notes.txt", "not for us");
    server.state().plugins.insert(
        ("production".to_owned(), "puppet/type/x.rb".to_owned()),
        "Ruby".to_owned(),
    );
    let host = ProxyHost::new(&server, &[]);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    outcome.unwrap();
    let dir = run.agent.layout.var.join("lib/switchtender/definitions");
    assert_eq!(
        std::fs::read_to_string(dir.join("models/syslog_server.toml")).unwrap(),
        model
    );
    let only: Vec<_> = std::fs::read_dir(&dir).unwrap().collect();
    assert_eq!(only.len(), 1, "nothing else is fetched: {only:?}");
    let messages = run.log.iter().filter(|(_, message)| {
        message.starts_with("Ignored plugin, because it is not a definition: ")
    });
    let messages: Vec<_> = messages.map(|(_, message)| message.as_str()).collect();
    assert_eq!(
        messages,
        ["Ignored plugin, because it is not a definition: switchtender/definitions/notes.txt"],
        "what is for the peer is none of our business"
    );
    let fetched = || {
        requests(&server)
            .iter()
            .filter(|line| line.contains("file_content"))
            .count()
    };
    assert_eq!(fetched(), 2, "the definition and the type file");

    // Unchanged files are not fetched again, and what is no longer listed goes.
    run_of(&host.process(&[]), SW1).await.1.unwrap();
    assert_eq!(fetched(), 2);
    server.state().plugins.clear();
    run_of(&host.process(&[]), SW1).await.1.unwrap();
    assert!(!dir.join("models/syslog_server.toml").exists());

    // A definition that does not pass the check fails the run of its device, and only that.
    plugin("staging", "models/syslog_server.toml", "nonsense = true\n");
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    let process = host.process(&[]);
    let (_, outcome) = run_of(&process, SW1).await;
    let message = chain(&outcome.unwrap_err());
    assert!(
        message.starts_with("invalid definitions from the server: "),
        "{message}"
    );
    assert!(message.contains("models/syslog_server.toml:"), "{message}");
    run_of(&process, "sw2.lab.test").await.1.unwrap();
}

#[tokio::test]
async fn agent_run_limits_concurrent_catalog_requests() {
    let server = PuppetServer::start().await;
    server.state().compile_together = 4;
    let host = ProxyHost::new(&server, &[]);
    let process = host.process(&[]);
    let names: Vec<String> = (0..12)
        .map(|number| format!("sw{number}.lab.test"))
        .collect();
    let runs = names.iter().map(|name| run_of(&process, name));
    for (_, outcome) in futures_util::future::join_all(runs).await {
        outcome.unwrap();
    }
    let most = server.state().max_compiling;
    assert_eq!(most, 4);
    let bundles = server
        .state()
        .request_lines()
        .iter()
        .filter(|line| *line == "GET /puppet-ca/v1/certificate/ca")
        .count();
    assert_eq!(bundles, 1, "the CA is learned once for the proxy");
}
