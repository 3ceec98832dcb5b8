//! When a run uses the cached catalog, and when it stores one.

use switchtender::agent::run::{AgentRun, CatalogResponse};
use switchtender::agent::run_log::Level;
use switchtender::catalog::CachedStatus;
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use test_support::proxy_host::{ProxyHost, certname, facts, has_message, run_of};

use super::{SW1, requests};

#[tokio::test]
async fn agent_run_uses_the_cached_catalog_after_a_failed_request() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[]);
    run_of(&host.process(&[]), SW1).await.1.unwrap();

    server.state().inject(
        "/puppet/v3/catalog",
        [ServerResponse::text(500, "compile error")],
    );
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().cached, CachedStatus::OnFailure);
    assert!(has_message(
        &run.log,
        Level::Err,
        "Could not retrieve catalog from remote server: "
    ));
    assert!(has_message(
        &run.log,
        Level::Notice,
        "Using cached catalog from environment 'production'"
    ));

    // Another environment is requested: the cached catalog does not match.
    server.state().inject(
        "/puppet/v3/catalog",
        [ServerResponse::text(500, "compile error")],
    );
    let (run, outcome) = run_of(&host.process(&[("environment", "staging")]), SW1).await;
    assert!(outcome.is_err());
    assert!(has_message(
        &run.log,
        Level::Err,
        "Not using cached catalog because its environment 'production' does not match 'staging'"
    ));

    // The server is gone altogether.
    server.stop();
    drop(server);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().cached, CachedStatus::OnFailure);
    assert_eq!(run.agent.environment(), "production");
}

#[tokio::test]
async fn agent_run_without_a_server_uses_the_cached_catalog_of_its_environment() {
    let server = PuppetServer::start().await;
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    let host = ProxyHost::new(&server, &[]);
    run_of(&host.process(&[]), SW1).await.1.unwrap();
    server.stop();
    drop(server);
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().cached, CachedStatus::OnFailure);
    assert_eq!(run.agent.environment(), "staging");
    // An environment that the user names is not replaced.
    let (_, outcome) = run_of(&host.process(&[("environment", "production")]), SW1).await;
    assert!(outcome.is_err());
}

#[tokio::test]
async fn agent_run_with_use_cached_catalog_uses_its_environment() {
    let server = PuppetServer::start().await;
    server
        .state()
        .classifier
        .insert(SW1.to_owned(), vec!["staging".to_owned()]);
    let host = ProxyHost::new(&server, &[("use_cached_catalog", "true")]);
    // There is none yet: the server is contacted.
    assert_eq!(
        run_of(&host.process(&[]), SW1).await.1.unwrap().cached,
        CachedStatus::NotUsed
    );
    server.state().received.clear();
    let (run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert_eq!(outcome.unwrap().cached, CachedStatus::ExplicitlyRequested);
    assert_eq!(run.agent.environment(), "staging");
    assert_eq!(requests(&server), [""; 0]);
}

#[tokio::test]
async fn agent_run_caches_only_applied_catalogs() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[]);
    let mut log = Vec::new();
    let mut run = AgentRun::new(&host.process(&[]), &certname(SW1));
    run.set_up(&mut log).await.unwrap();
    run.begin(&mut log).await.unwrap();
    let response = run.catalog(&facts(SW1), &mut log).await.unwrap();
    let CatalogResponse::Catalog(obtained, _) = response else {
        panic!("the environments agree");
    };
    run.store_catalog(&obtained, true, &mut log).await.unwrap();
    assert!(!run.layout.cached_catalog().exists());
}
