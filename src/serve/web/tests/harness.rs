//! A web server on loopback with a store, and requests to it.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::diagnostic::Source;
use switchtender_devices::task;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::{Client, RequestBuilder, Response, redirect};
use crate::clock;
use crate::coverage::line_classes::LineClasses;
use crate::history::leases::NodeRecord;
use crate::history::{
    CatalogOrigin, CompletedRun, HistoryOptions, HistoryStore, HistoryWriter, NewRun, Requester,
    RunUuid, StoreLocation,
};
use crate::report::{FindingRecord, RunRecord, RunStatus};
use crate::run_kind::RunKind;
use crate::serve::access::{
    AccessFile, AccessPaths, ApiToken, LocalUser, OnceSecrets, Role, TokenText, hash_password,
};
use crate::serve::fleet::{LoadContext, ServeFleet};
use crate::serve::lease::leases::Leases;
use crate::serve::lease::times::LeaseTimes;
use crate::serve::service::{Service, ServiceFiles, ServiceParts};
use crate::serve::settings::ServeSettings;
use crate::serve::watched_files::WatchedFiles;
use crate::serve::web::{WebServer, WebSettings};
use crate::store::Store;

/// The password of the users.
pub(super) const PASSWORD: &str = "correct horse";

/// The token with the role `apply` for the devices of one site.
pub(super) const LIMITED_TOKEN: &str = "swt_test_limited";

/// The token of bob with the role `apply`.
pub(super) const BOB_TOKEN: &str = "swt_test_bob";

/// A running server.
pub(super) struct TestServer {
    pub(super) url: String,
    pub(super) service: Service,
    pub(super) paths: AccessPaths,
    pub(super) link: String,
    pub(super) client: Client,
    pub(super) dir: Arc<tempfile::TempDir>,
    _task: AbortOnDropHandle<()>,
    _work: Option<AbortOnDropHandle<()>>,
}

/// The number of devices, and the settings of the server.
pub(super) struct TestOptions {
    pub(super) devices: usize,
    pub(super) settings: WebSettings,
    /// The directory of an earlier server.
    pub(super) dir: Option<Arc<tempfile::TempDir>>,
    /// The store. `None`: a file in the directory.
    pub(super) store: Option<StoreLocation>,
    /// Devices that run. `None`: devices that no run contacts.
    pub(super) fleet: Option<ServeFleet>,
    /// The node of a fleet. `None`: the server is alone.
    pub(super) node: Option<NodeRecord>,
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            devices: 3,
            settings: WebSettings::default(),
            dir: None,
            store: None,
            fleet: None,
            node: None,
        }
    }
}

impl TestServer {
    pub(super) async fn start(options: TestOptions) -> Self {
        drop(rustls::crypto::ring::default_provider().install_default());
        let is_new = options.dir.is_none();
        let runs_devices = options.fleet.is_some();
        let dir = options
            .dir
            .unwrap_or_else(|| Arc::new(tempfile::tempdir().unwrap()));
        let store = options.store.map(HistoryOptions::from);
        let fills = is_new && store.is_none();
        let store = store.unwrap_or_else(|| HistoryOptions::at(dir.path().join("history.db")));
        let history = HistoryStore::open(store).unwrap();
        let count = options.devices;
        if fills {
            let now = clock::timestamp();
            let fill = history.write(move |writer| {
                fill(writer, count, now);
                Ok(())
            });
            fill.await.unwrap();
        }
        let paths = AccessPaths::in_state_directory(dir.path());
        if is_new || runs_devices {
            add_users(&paths);
        }
        let stop = CancellationToken::new();
        let fleet = match options.fleet {
            Some(fleet) => fleet,
            None => fleet(dir.path(), count, &stop).await,
        };
        let leases = options.node.map(|node| {
            let times = LeaseTimes {
                lease: Duration::from_secs(4),
            };
            Leases::new(Arc::new(history.clone()), node, times, stop.clone())
        });
        let parts = ServiceParts {
            history: Some(history),
            link: None,
            files: ServiceFiles::open(&paths).unwrap(),
            leases,
            stop: stop.clone(),
        };
        let service = Service::start(fleet, parts).await.unwrap();
        let address = "127.0.0.1:0".parse().unwrap();
        let settings = &options.settings;
        let server = WebServer::bind(address, settings, &paths).await.unwrap();
        let url = server.url();
        let codes = OnceSecrets::of(service.history().clone());
        let code = codes.new_login_code(clock::timestamp()).unwrap();
        let link = format!("{url}/login?code={}", code.expose());
        let client = Client::builder().redirect(redirect::Policy::none());
        let worker = service.clone();
        Self {
            url,
            service: service.clone(),
            paths,
            link,
            client: client.timeout(Duration::from_secs(60)).build().unwrap(),
            dir,
            _task: task::spawn(server.serve(service, stop)),
            _work: runs_devices.then(|| task::spawn(async move { worker.work().await })),
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// A request with the token of a role.
    pub(super) fn get(&self, role: Role, path: &str) -> RequestBuilder {
        self.client.get(self.url(path)).bearer_auth(token(role))
    }

    pub(super) fn post(&self, role: Role, path: &str, body: &Value) -> RequestBuilder {
        let request = self.client.post(self.url(path)).bearer_auth(token(role));
        request
            .header("content-type", "application/json")
            .body(body.to_string())
    }

    /// The JSON of an answer with status 200.
    pub(super) async fn json(&self, path: &str) -> Value {
        let (status, text) = text(self.get(Role::View, path).send().await.unwrap()).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
}

/// Status and body.
pub(super) async fn text(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    (status, response.text().await.unwrap())
}

fn token(role: Role) -> String {
    format!("swt_test_{}", role.word())
}

fn add_users(paths: &AccessPaths) {
    AccessFile::update(&paths.access_file(), |rules| {
        for role in [Role::View, Role::Plan, Role::Apply, Role::Admin] {
            let sha256 = TokenText::received(&token(role)).digest();
            let token = ApiToken {
                role,
                devices: None,
                // The role tokens are of programs, except one.
                user: (role == Role::Apply).then(|| "alice".to_owned()),
                sha256,
                expires: None,
            };
            rules.tokens.insert(format!("test-{}", role.word()), token);
        }
        let limited = ApiToken {
            role: Role::Apply,
            devices: Some("site=site-0".parse().unwrap()),
            user: None,
            sha256: TokenText::received(LIMITED_TOKEN).digest(),
            expires: None,
        };
        rules.tokens.insert("test-limited".to_owned(), limited);
        let bob = ApiToken {
            role: Role::Apply,
            devices: None,
            user: Some("bob".to_owned()),
            sha256: TokenText::received(BOB_TOKEN).digest(),
            expires: None,
        };
        rules.tokens.insert("test-bob".to_owned(), bob);
        let password = Some(hash_password(&PASSWORD.to_owned().into()));
        let user = LocalUser {
            role: Role::Apply,
            devices: None,
            password,
        };
        let bob = LocalUser {
            password: None,
            ..user.clone()
        };
        rules.users.insert("alice".to_owned(), user);
        rules.users.insert("bob".to_owned(), bob);
    })
    .unwrap();
}

/// Devices that no run contacts, because the service does not work.
async fn fleet(dir: &Path, count: usize, stop: &CancellationToken) -> ServeFleet {
    let mut inventory = String::new();
    for number in 0..count {
        let platform = if number % 7 == 3 {
            "f5_bigip"
        } else {
            "cisco_ios"
        };
        writeln!(
            inventory,
            "[device.{}]\nplatform = \"{platform}\"\naddress = \"192.0.2.1\"\n\
             user = \"admin\"\npassword.env = \"PASSWORD\"\nsite = \"site-{}\"\nlabels = {{ role = \"access\" }}",
            name(number),
            number % 20
        )
        .unwrap();
    }
    fs::write(dir.join("inventory.toml"), inventory).unwrap();
    fs::create_dir_all(dir.join("catalogs")).unwrap();
    let vlan = test_support::catalog::vlan(10, "one");
    let catalog = test_support::catalog::catalog("sw0", &[vlan]);
    fs::write(dir.join("catalogs/sw0.json"), catalog.to_string()).unwrap();
    let source = Source::new(
        "serve.toml",
        "[defaults]\ncatalog = \"catalogs\"\n[device.sw2]\nmode = \"plan\"\n",
    );
    let settings = ServeSettings::parse(&source, dir).unwrap();
    let context = LoadContext {
        stop: stop.clone(),
        ..LoadContext::of_own_files(Store::at(dir))
    };
    let mut files = WatchedFiles::default();
    ServeFleet::load(settings, &context, &mut files)
        .await
        .unwrap()
}

pub(super) fn name(number: usize) -> String {
    format!("sw{number}")
}

/// Devices with one run each; `sw0` has a history.
fn fill(writer: &HistoryWriter<'_>, count: usize, now: Timestamp) {
    let minutes = SignedDuration::from_mins;
    for number in 1..count {
        let device = name(number);
        let status = match number % 50 {
            7 => RunStatus::NotRun,
            11 => RunStatus::Failed,
            13 => RunStatus::Pending,
            17 => RunStatus::Changed,
            _ => RunStatus::Unchanged,
        };
        let start = now - minutes(i64::try_from(number % (23 * 60)).unwrap() + 1);
        let report = match status {
            RunStatus::Pending => report("noop", "name changed one to two", &[]),
            _ => report("", "", &[]),
        };
        add(writer, &device, start, status, report);
    }
    add_runs(writer, now);
}

/// One more unchanged run of a device.
pub(super) fn add_unchanged(writer: &HistoryWriter<'_>, device: &str, now: Timestamp) {
    let start = now - SignedDuration::from_secs(10);
    add(
        writer,
        device,
        start,
        RunStatus::Unchanged,
        report("", "", &[]),
    );
}

/// Three runs of `sw0`: a change, a failure and a plan with drift.
pub(super) fn add_runs(writer: &HistoryWriter<'_>, now: Timestamp) {
    let minutes = SignedDuration::from_mins;
    let refused = json!([
        {"mode": ["vlan 10"], "line": "name two", "outcome": "refused", "attributes": ["vlan_name"],
         "device_message": "% Bad VLAN name <img src=x onerror=alert(1)>", "milliseconds": 12},
    ]);
    let done = json!([
        {"mode": ["vlan 10"], "line": "name one", "outcome": "done", "attributes": ["vlan_name"],
         "device_message": null, "milliseconds": 7},
    ]);
    let runs = [
        (
            RunStatus::Changed,
            report(
                "success",
                "name changed zero to one",
                done.as_array().unwrap(),
            ),
        ),
        (
            RunStatus::Failed,
            report(
                "failure",
                "change from one to two failed",
                refused.as_array().unwrap(),
            ),
        ),
        (
            RunStatus::Pending,
            report("noop", "current_value one, should be two (noop)", &[]),
        ),
    ];
    for (number, (status, report)) in runs.into_iter().enumerate() {
        let start = now - minutes(90 - 30 * i64::try_from(number).unwrap());
        add(writer, "sw0", start, status, report);
    }
}

/// A report with two resources, of which one can have an event.
fn report(event: &str, message: &str, operations: &[Value]) -> Value {
    let status = |title: &str, events: Value, operations: &[Value]| {
        json!({
            "title": title, "file": "/etc/site.pp", "line": 7, "resource_type": "Network_vlan",
            "evaluation_time": 0.1, "failed": event == "failure", "failed_to_restart": false,
            "changed": event == "success", "out_of_sync": true, "skipped": false,
            "corrective_change": event == "success", "events": events, "operations": operations,
        })
    };
    let time = "2026-01-01T00:00:00.000000000+00:00";
    let events = json!([{
        "name": "vlan_name_changed", "property": "vlan_name", "status": event, "message": message,
        "previous_value": "one", "desired_value": "two", "time": time, "corrective_change": false,
    }]);
    let mut statuses = json!({});
    if event.is_empty() {
        statuses["Network_vlan[10]"] = status("10", json!([]), &[]);
    } else {
        statuses["Network_vlan[10]"] = status("10", events, operations);
    }
    json!({
        "host": "sw0", "time": "2026-11-24T12:00:00Z", "status": "changed",
        "configuration_version": "17", "transaction_completed": true,
        "logs": [{"level": "notice", "source": "Network_vlan[10]", "message": message, "time": time}],
        "metrics": {"time": {"values": [["config_retrieval", "Config retrieval", 0.25], ["total", "Total", 1.5]]}},
        "resource_statuses": statuses,
        "configuration_difference": if event == "noop" { "@@ -1 +1 @@\n vlan 10\n- name one\n+ name two\n" } else { "" },
    })
}

fn add(
    writer: &HistoryWriter<'_>,
    device: &str,
    start: Timestamp,
    status: RunStatus,
    report: Value,
) {
    let kind = if status == RunStatus::Pending {
        RunKind::Plan
    } else {
        RunKind::Apply
    };
    let new = NewRun {
        uuid: RunUuid::new(start),
        device: device.to_owned(),
        kind,
        follows_windows: true,
        requester: Requester::schedule(),
        priority: 0,
        queued: start,
        started: Some(start),
    };
    let run = writer.add_run(&new).unwrap();
    let is_not_run = status == RunStatus::NotRun;
    let finding = FindingRecord {
        code: "trunk-vlan".to_owned(),
        severity: Severity::Warning,
        message: "VLAN 20 is on no trunk".to_owned(),
        file: Some("/etc/site.pp".to_owned()),
        line: Some(7),
        help: Some("add the VLAN to a trunk".to_owned()),
        is_note: false,
    };
    let mut record = RunRecord::of_json(report.to_string().as_bytes()).unwrap();
    record.kind = kind;
    record.counts.resources = 2;
    record.counts.changed = usize::from(status == RunStatus::Changed);
    record.counts.failed = usize::from(status == RunStatus::Failed);
    record.counts.pending = usize::from(status == RunStatus::Pending);
    if is_not_run {
        record = RunRecord::lost(
            kind,
            "cannot connect to 192.0.2.1: connection refused".to_owned(),
        );
        record.hint = Some("check address, port and route".to_owned());
        record.is_unreachable = true;
    } else {
        let facts = [("operatingsystem".to_owned(), "ios".to_owned())];
        record.facts = Some(facts.into());
    }
    if status == RunStatus::Failed {
        record.findings = vec![finding];
    }
    assert_eq!(record.status(), status);
    let completed = CompletedRun {
        record,
        ended: start + SignedDuration::from_secs(2),
        line_classes: (!is_not_run).then(|| LineClasses::parse("n2m")),
        configuration: (!is_not_run).then(|| {
            let name = if status == RunStatus::Changed {
                "one"
            } else {
                "zero"
            };
            format!("hostname {device}\nvlan 10\n name {name}\n")
        }),
        origin: Some(CatalogOrigin {
            path: "/state".to_owned(),
            is_authoritative: true,
        }),
    };
    writer.finish_run(run, &completed).unwrap();
}
