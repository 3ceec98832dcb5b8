//! Delivery of reports, and the spool of those that could not be sent.

use serde_json::json;
use switchtender::agent::client::report_spool::{Delivery, ReportSpool};
use switchtender_mocks::puppet_server::{PuppetServer, ServerResponse};
use test_support::proxy_host::{ProxyHost, run_of};

use super::SW1;

#[tokio::test]
async fn agent_run_spools_reports_and_sends_them_in_order() {
    let server = PuppetServer::start().await;
    let host = ProxyHost::new(&server, &[]);
    let report = |number: u64| json!({"host": SW1, "number": number, "logs": [], "metrics": {}, "resource_statuses": {}});
    let (mut run, _) = run_of(&host.process(&[]), SW1).await;
    let busy = || ServerResponse::text(503, "busy");
    server.state().inject("/puppet/v3/report", [busy(), busy()]);
    for number in [1, 2] {
        let delivery = run.deliver(&report(number)).await.unwrap();
        assert!(matches!(delivery, Delivery::Spooled(_)), "{delivery:?}");
    }
    let delivery = run.deliver(&report(3)).await.unwrap();
    assert!(
        matches!(delivery, Delivery::Sent { earlier: 2 }),
        "{delivery:?}"
    );
    let numbers: Vec<_> = server
        .state()
        .reports
        .iter()
        .map(|report| report["number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(ReportSpool::new(&run.agent.layout).reports().is_empty());

    // A report that the server always rejects does not block the next.
    let wrong = json!({"host": "sw2.lab.test"});
    let delivery = run.deliver(&wrong).await.unwrap();
    let Delivery::Refused(error, file) = delivery else {
        panic!("{delivery:?}")
    };
    assert_eq!(error.status(), Some(400));
    assert!(file.exists());
    run.deliver(&report(4)).await;
    assert_eq!(server.state().reports.len(), 4);
}

#[tokio::test]
async fn agent_run_without_certificate_spools_its_report() {
    let server = PuppetServer::start().await;
    server.state().autosign = false;
    let host = ProxyHost::new(&server, &[]);
    let (mut run, outcome) = run_of(&host.process(&[]), SW1).await;
    assert!(outcome.is_err());
    run.deliver(&json!({"host": SW1})).await;
    assert_eq!(ReportSpool::new(&run.agent.layout).reports().len(), 1);
    server.state().sign(SW1);
    let (mut run, outcome) = run_of(&host.process(&[]), SW1).await;
    outcome.unwrap();
    run.deliver(&json!({"host": SW1})).await;
    assert_eq!(server.state().reports.len(), 2);
}
