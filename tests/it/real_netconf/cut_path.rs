//! A protected run whose change cuts the path to the device.
//!
//! The path leads through a proxy of the test. It forwards while the device has the configuration from before
//! the run, which the proxy reads by a client of its own. So the path depends on the configuration alone, as that
//! of a real device.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use test_support::peer;

use super::{Client, ETHERNET, Host, Resource, SERVER, Site, data, interface, resource, site};
use crate::real_frr::RunOutput;

/// What a change cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CutPath {
    /// Every connection.
    All,
    /// Connections that begin after the change: the session that made it stays.
    New,
}

/// Whether the path to the device exists.
struct PathState {
    client: Mutex<Client>,
    before: String,
    cut: CutPath,
    /// Connections that were refused or cut.
    cut_count: Mutex<usize>,
}

impl PathState {
    fn is_open(&self) -> bool {
        let mut client = self.client.lock().unwrap_or_else(PoisonError::into_inner);
        data(&mut client) == self.before
    }

    fn count_cut(&self) {
        *self.cut_count.lock().unwrap() += 1;
    }
}

/// Starts the proxy in front of a port. Its threads end with the process of the test.
fn start_proxy(state: &Arc<PathState>, device: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let state = Arc::clone(state);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            if !state.is_open() {
                state.count_cut();
                continue;
            }
            let Ok(device) = TcpStream::connect(("127.0.0.1", device)) else {
                // The test has ended.
                break;
            };
            let pairs = [
                (stream.try_clone().unwrap(), device.try_clone().unwrap()),
                (device, stream),
            ];
            for (from, to) in pairs {
                let state = Arc::clone(&state);
                std::thread::spawn(move || forward(&state, from, to));
            }
        }
    });
    port
}

/// Forwards until one side ends, or the path is cut.
fn forward(state: &PathState, mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if state.cut == CutPath::All && !state.is_open() {
            state.count_cut();
            break;
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        // The other thread may have closed it.
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Applies with a timer of a few seconds: the device is not reached before its end.
fn apply(site: &Site, dir: &Path, name: &str, resources: &[Resource]) -> RunOutput {
    let definitions = dir.join("definitions");
    std::fs::create_dir_all(definitions.join("ietf_netconf")).unwrap();
    let platform = "schema = 1\nplatform = \"ietf_netconf\"\nextends = \"shipped\"\n[candidate]\nconfirm = 10\n";
    std::fs::write(definitions.join("ietf_netconf/platform.toml"), platform).unwrap();
    let catalog = site.catalog(name, resources);
    let (definitions, reports) = (definitions.display(), dir.join("site/reports"));
    let arguments = ["apply", "--catalog", &catalog, "--detailed-exitcodes"];
    let (definitions, reports) = (definitions.to_string(), reports.display().to_string());
    let more = ["--definitions", &definitions, "--report", &reports];
    site.run(&[&arguments[..], &more].concat())
}

/// The site of the device behind the proxy.
fn behind(site: &Site, dir: &Path, device: u16, proxy: u16) -> Site {
    let known = std::fs::read_to_string(dir.join("ssh/known_hosts")).unwrap();
    let known = known.replace(&format!("]:{device} "), &format!("]:{proxy} "));
    let file = dir.join("known_hosts_of_the_proxy");
    std::fs::write(&file, known).unwrap();
    site.with(&format!("port = {proxy}\n"))
        .with(&format!("known_hosts = {file:?}\n"))
}

#[test]
fn real_netconfd_reverts_a_change_that_cuts_the_path() {
    if peer::skips(peer::missing_for_host(
        "real-host.sh",
        &["netconfd", "sshd"],
    )) {
        return;
    }
    let _server = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    for cut in [CutPath::All, CutPath::New] {
        let dir = tempfile::tempdir().unwrap();
        let host = Host::start(dir.path(), "netconfd");
        let device: u16 = host.setting("PORT").parse().unwrap();
        let direct = site(&host).with("protect = \"required\"\n");
        let first = [
            resource("Ietf_system", "default", json!({ "hostname": "r1" })),
            interface("eth0", json!({ "type": ETHERNET })),
        ];
        let output = direct.apply("first", &first);
        assert_eq!(output.code, 2, "{output}");

        let mut client = Client::connect(&host);
        let before = data(&mut client);
        let state = Arc::new(PathState {
            client: Mutex::new(client),
            before: before.clone(),
            cut,
            cut_count: Mutex::default(),
        });
        let proxy = start_proxy(&state, device);
        let site = behind(&direct, dir.path(), device, proxy);
        let second = [
            resource("Ietf_system", "default", json!({ "hostname": "r2" })),
            interface("eth0", json!({ "type": ETHERNET, "enable": false })),
        ];
        let output = apply(&site, dir.path(), "second", &second);
        assert_eq!(output.code, 4, "{cut:?}: {output}");
        let report = site.report();
        assert_eq!(report["protection"], "reverted", "{cut:?}: {output}");
        assert!(*state.cut_count.lock().unwrap() > 0, "{cut:?}: {output}");
        assert!(state.is_open(), "{cut:?}");
        // The device is as before, also for the next run.
        let output = apply(&site, dir.path(), "first", &first);
        assert_eq!(output.code, 0, "{cut:?}: {output}");
        assert!(!format!("{output}").contains("ended early"), "{output}");
    }
}
