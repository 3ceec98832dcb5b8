//! A real Puppet Server, the recorded site's modules and manifests, mock switches and a mock load
//! balancer.
//!
//! The server is started by `tests/real-peers/puppetserver.sh` on a free port of loopback and
//! stopped by its own directory. Where it is not installed the test says that it was skipped,
//! except with `SWITCHTENDER_REQUIRE_PEERS=1`. What the server stored as reports is read back.
//!
//! It is the longest of all tests. By its name it is one of the first that start.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchtender_mocks::{
    CliSwitch, LoadBalancer, LoadBalancerOptions, RunningLoadBalancer, RunningSwitch, SwitchOptions,
};
use test_support::free_port::free_port;
use test_support::{peer, program};
use tokio::process::Command;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/tests/real-peers/puppetserver.sh"
);
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/puppetserver");

/// A definition that a module of the environment `staging` carries.
const DEFINITION: &str = "models/syslog_server.toml";
const SYSLOG_SERVER: &str = include_str!("../../devices/definitions/models/syslog_server.toml");

/// The server with its directory; stopped when dropped.
struct Server {
    dir: PathBuf,
    port: u16,
}

impl Server {
    /// Starts the server.
    async fn start(dir: &Path, port: u16) -> Self {
        let server = Self {
            dir: dir.to_owned(),
            port,
        };
        let began = Instant::now();
        let output = Command::new("bash")
            .arg(SCRIPT)
            .args(["start", "--timeout", "540", "--port", &port.to_string()])
            .arg("--dir")
            .arg(dir.join("server"))
            .arg("--code")
            .arg(dir.join("code"))
            .arg("--enc")
            .arg(dir.join("enc.sh"))
            .arg("--autosign")
            .arg(dir.join("autosign.sh"))
            .env("ENC_STATE", dir)
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "{}", text_of(&output));
        println!("server ready after {:.0} s", began.elapsed().as_secs_f64());
        server
    }

    async fn script(&self, verb: &str, names: &[&str]) {
        let output = Command::new("bash")
            .arg(SCRIPT)
            .arg(verb)
            .arg("--dir")
            .arg(self.dir.join("server"))
            .args(names)
            .output()
            .await
            .unwrap();
        assert!(
            output.status.success(),
            "{verb} {names:?}: {}",
            text_of(&output)
        );
    }

    /// The newest report that the server has stored of each device, as the server's own code reads
    /// it. Those of one minute share a file.
    async fn stored(&self, names: &[&str]) -> Vec<Value> {
        let newest = names.iter().map(|name| {
            let dir = self.dir.join("server/var/reports").join(name);
            std::fs::read_dir(&dir)
                .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
                .map(|entry| entry.unwrap().path())
                .max()
                .unwrap()
        });
        let output = Command::new("ruby")
            .args(["-rpuppet", "-ryaml", "-rjson", "-e"])
            .arg("puts JSON.generate(ARGV.map { |file| YAML.unsafe_load_file(file).to_data_hash })")
            .args(newest)
            .output()
            .await
            .unwrap();
        assert!(output.status.success(), "{}", text_of(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The names that wait for a signature.
    fn requested(&self) -> Vec<String> {
        let dir = std::fs::read_dir(self.dir.join("server/ca/requests"));
        let files = dir
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let stems = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
        stems.collect()
    }

    /// How many reports of a device the server has taken, by its own log.
    fn taken(&self, name: &str) -> usize {
        let log = std::fs::read_to_string(self.dir.join("server/log/access.log")).unwrap();
        let request = format!("\"PUT /puppet/v3/report/{name}?");
        log.lines()
            .filter(|line| line.contains(&request) && line.contains("\" 200 "))
            .count()
    }

    /// The server takes exactly this number of reports of a device. It writes its log some time after the
    /// answer.
    async fn assert_taken(&self, name: &str, expected: usize) {
        let taken = async {
            while self.taken(name) < expected {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(60), taken).await;
        assert_eq!(self.taken(name), expected, "{name}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = std::process::Command::new("bash")
            .arg(SCRIPT)
            .arg("stop")
            .arg("--dir")
            .arg(self.dir.join("server"))
            .output();
    }
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The recorded site, with nodes of this test and a policy that signs unless told to wait.
fn site(dir: &Path) {
    let fixtures = Path::new(FIXTURES);
    for environment in ["production", "staging"] {
        let target = dir.join("code/environments").join(environment);
        copy(&fixtures.join("modules"), &target.join("modules"));
        copy(
            &fixtures.join("manifests").join(environment),
            &target.join("manifests"),
        );
    }
    write(
        &dir.join("code/environments/production/manifests/devices.pp"),
        "node /^dev\\d+\\.lab\\.test$/ {\n  network_vlan { '10': vlan_name => 'users' }\n  network_vlan { '20': vlan_name => 'voice' }\n}\n",
        0o644,
    );
    let lib = "code/environments/staging/modules/netlab/lib/switchtender/definitions";
    write(&dir.join(lib).join(DEFINITION), SYSLOG_SERVER, 0o644);
    let enc = std::fs::read_to_string(fixtures.join("manifests/enc.sh")).unwrap();
    write(&dir.join("enc.sh"), &enc, 0o755);
    let hold = dir.join("hold");
    write(
        &dir.join("autosign.sh"),
        &format!("#!/bin/sh\n[ ! -e {} ]\n", hold.display()),
        0o755,
    );
}

/// A proxy host with a switch for each device.
struct Proxy {
    dir: PathBuf,
    switches: Vec<(String, RunningSwitch)>,
    /// Under its name `lb1.lab.test`.
    _balancer: RunningLoadBalancer,
}

impl Proxy {
    async fn new(dir: &Path, port: u16, names: &[String]) -> Self {
        let dir = dir.join("proxy");
        let mut device_conf = String::new();
        let mut switches = Vec::new();
        for name in names {
            let options = SwitchOptions {
                name: name.clone(),
                user: "ops".to_owned(),
                password: "s3cret".to_owned(),
                ..SwitchOptions::default()
            };
            let enable = options.enable_password.clone();
            let switch = CliSwitch::start(options, 0).await.unwrap();
            let credentials = json!({
                "host": "127.0.0.1", "port": switch.address().port(), "user": "ops",
                "password": "s3cret", "enable_password": enable,
            });
            let file = dir.join(format!("credentials/{name}.conf"));
            write(&file, &credentials.to_string(), 0o640);
            device_conf += &format!(
                "[{name}]\ntype cisco_ios\nurl file://{}\n\n",
                file.display()
            );
            switches.push((name.clone(), switch));
        }
        let options = LoadBalancerOptions {
            password: "s3cret".to_owned(),
            ..LoadBalancerOptions::default()
        };
        let balancer = LoadBalancer::start(options, 0).await.unwrap();
        device_conf += &format!(
            "[lb1.lab.test]\ntype f5\nurl https://admin:s3cret@127.0.0.1:{}/\n\n",
            balancer.address().port()
        );
        write(&dir.join("device.conf"), &device_conf, 0o640);
        let proxy = Self {
            dir,
            switches,
            _balancer: balancer,
        };
        proxy.set_server_port(port);
        proxy
    }

    fn set_server_port(&self, port: u16) {
        let conf = format!("[main]\nserver = localhost\nserverport = {port}\nwaitforcert = 0\n");
        write(&self.dir.join("puppet.conf"), &conf, 0o644);
    }

    async fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output = Command::new(program::path())
            .args(["device", "--detailed-exitcodes"])
            .args(arguments)
            .arg(format!("--confdir={}", self.dir.display()))
            .arg(format!("--vardir={}", self.dir.join("var").display()))
            .output()
            .await
            .unwrap();
        let text = text_of(&output);
        assert!(!text.contains("s3cret"), "{text}");
        (output.status.code().unwrap(), text)
    }

    fn last_report(&self, name: &str) -> Value {
        let path = self
            .dir
            .join(format!("var/devices/{name}/state/last_run_report.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn vlans(&self, name: &str) -> Vec<u16> {
        let (_, switch) = self.switches.iter().find(|(key, _)| key == name).unwrap();
        switch.vlans().into_iter().map(|(id, ..)| id).collect()
    }
}

/// The newest report of each device on the server equals that of the proxy, in all fields of the
/// server's reports: not in the extensions.
async fn assert_stored(server: &Server, proxy: &Proxy, names: &[&str], status: &str) {
    let newest = server.stored(names).await;
    assert_eq!(newest.len(), names.len());
    for (name, newest) in names.iter().zip(newest) {
        assert_equals_last_report(&newest, proxy, name, status);
    }
}

fn assert_equals_last_report(newest: &Value, proxy: &Proxy, name: &str, status: &str) {
    let mut ours = proxy.last_report(name);
    assert_eq!(ours["status"], status, "{name}");
    for resource in ours["resource_statuses"]
        .as_object_mut()
        .unwrap()
        .values_mut()
    {
        let resource = resource.as_object_mut().unwrap();
        resource.remove("operations");
        resource.remove("skip_reason");
    }
    ours.as_object_mut()
        .unwrap()
        .remove("configuration_difference");
    let (Some(theirs), Some(fields)) = (newest.as_object(), ours.as_object()) else {
        panic!("{name}: {newest:#}");
    };
    for field in theirs.keys().chain(fields.keys()) {
        assert_eq!(theirs.get(field), fields.get(field), "{name}: {field}");
    }
    assert!(!newest.to_string().contains("s3cret"));
}

#[tokio::test(flavor = "multi_thread")]
async fn real_puppetserver_runs_devices() {
    if peer::skips(peer::missing_puppetserver()) {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let dir = temporary.path();
    site(dir);
    let port = free_port();
    let server = Server::start(dir, port).await;
    let numbered: Vec<String> = (1..=10)
        .map(|number| format!("dev{number}.lab.test"))
        .collect();
    let others =
        ["dev11", "sw2", "flap1", "broken1", "mixed1"].map(|name| format!("{name}.lab.test"));
    let unsigned: Vec<String> = (21..=30)
        .map(|number| format!("dev{number}.lab.test"))
        .collect();
    let names: Vec<String> = [&numbered[..], &others, &unsigned].concat();
    let proxy = Proxy::new(dir, port, &names).await;
    let only = |names: &[&str]| {
        // A device.conf with these sections alone.
        let all = std::fs::read_to_string(proxy.dir.join("device.conf")).unwrap();
        let chosen: String = all
            .split("\n\n")
            .filter(|section| {
                names
                    .iter()
                    .any(|name| section.starts_with(&format!("[{name}]")))
            })
            .map(|section| format!("{section}\n\n"))
            .collect();
        let path = proxy.dir.join("chosen.conf");
        write(&path, &chosen, 0o640);
        path.display().to_string()
    };
    let ten: Vec<&str> = numbered.iter().map(String::as_str).collect();

    // Ten new devices at once; then changes on none of them.
    let began = Instant::now();
    let (code, text) = proxy.run(&["--deviceconfig", &only(&ten)]).await;
    assert_eq!(code, 2, "{text}");
    println!("first run of ten: {:.1} s", began.elapsed().as_secs_f64());
    assert_stored(&server, &proxy, &ten, "changed").await;
    for name in &numbered {
        assert!(proxy.vlans(name).contains(&20), "{name}");
    }
    let began = Instant::now();
    let (code, text) = proxy.run(&["--deviceconfig", &only(&ten)]).await;
    assert_eq!(code, 0, "{text}");
    println!("second run of ten: {:.1} s", began.elapsed().as_secs_f64());
    assert_stored(&server, &proxy, &[ten[4]], "unchanged").await;

    // Ten devices without a signature wait concurrently, and run when they are signed.
    write(&dir.join("hold"), "", 0o644);
    let waiting: Vec<&str> = unsigned.iter().map(String::as_str).collect();
    let conf = only(&waiting);
    let arguments = ["--deviceconfig", &conf, "--waitforcert", "1"];
    let run = proxy.run(&arguments);
    let signing = async {
        while server.requested().len() < waiting.len() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        server.script("sign", &waiting).await;
    };
    let both = async { tokio::join!(run, signing) };
    let ((code, text), ()) = tokio::time::timeout(Duration::from_secs(300), both)
        .await
        .expect("they are signed and run");
    assert_eq!(code, 2, "{text}");
    for name in &waiting {
        assert_eq!(proxy.last_report(name)["status"], "changed", "{name}");
        assert!(proxy.vlans(name).contains(&20), "{name}");
    }

    // A device that is not signed does not delay another.
    let (code, text) = proxy
        .run(&[
            "--deviceconfig",
            &only(&["dev11.lab.test", "dev1.lab.test"]),
        ])
        .await;
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("you might still need to sign this agent's certificate (dev11.lab.test)"),
        "{text}"
    );
    server.assert_taken("dev1.lab.test", 3).await;
    server.script("sign", &["dev11.lab.test"]).await;
    std::fs::remove_file(dir.join("hold")).unwrap();
    let (code, text) = proxy.run(&["--target", "dev11.lab.test"]).await;
    assert_eq!(code, 2, "{text}");
    // The report of the failed attempt came, too.
    server.assert_taken("dev11.lab.test", 2).await;

    // A load balancer, by a legacy URL.
    let (code, text) = proxy.run(&["--target", "lb1.lab.test"]).await;
    assert_eq!(code, 2, "{text}");
    assert_stored(&server, &proxy, &["lb1.lab.test"], "changed").await;
    let (code, text) = proxy.run(&["--target", "lb1.lab.test"]).await;
    assert_eq!(code, 0, "{text}");

    // Environments: followed, refused in strict mode, given up when they never settle.
    let (code, text) = proxy.run(&["--target", "sw2.lab.test"]).await;
    assert_eq!(code, 2, "{text}");
    assert_eq!(proxy.last_report("sw2.lab.test")["environment"], "staging");
    // Definitions come from the environment of the device, and nothing else of the modules.
    let synced = |name: &str| {
        let lib = proxy.dir.join(format!("var/devices/{name}/lib"));
        std::fs::read_to_string(lib.join(format!("switchtender/definitions/{DEFINITION}"))).ok()
    };
    assert_eq!(synced("sw2.lab.test").as_deref(), Some(SYSLOG_SERVER));
    assert_eq!(synced("dev1.lab.test"), None);
    assert!(!text.contains("Ignored plugin"), "{text}");
    assert_stored(&server, &proxy, &["sw2.lab.test"], "changed").await;
    let (code, text) = proxy
        .run(&["--target", "sw2.lab.test", "--strict_environment_mode"])
        .await;
    assert_eq!(code, 1, "{text}");
    assert_stored(&server, &proxy, &["sw2.lab.test"], "failed").await;
    let (code, text) = proxy.run(&["--target", "flap1.lab.test"]).await;
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("Catalog environment didn't stabilize after 4 fetches, aborting run"),
        "{text}"
    );
    assert_stored(&server, &proxy, &["flap1.lab.test"], "failed").await;

    // A compile error on one of two; host resources in a device's catalog.
    let (code, text) = proxy
        .run(&[
            "--deviceconfig",
            &only(&["broken1.lab.test", "dev2.lab.test"]),
        ])
        .await;
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("no parameter named 'colour'"), "{text}");
    assert_stored(&server, &proxy, &["broken1.lab.test"], "failed").await;
    assert_stored(&server, &proxy, &["dev2.lab.test"], "unchanged").await;
    proxy.run(&["--target", "mixed1.lab.test"]).await;
    let report = proxy.last_report("mixed1.lab.test");
    assert_eq!(
        report["resource_statuses"]["File[/etc/motd]"]["skipped"], true,
        "{report:#}"
    );
    assert!(proxy.vlans("mixed1.lab.test").contains(&40));

    // The server does not answer, and answers again; then it no longer accepts one of the devices. No program
    // has port 1. A second start of the server would take half a minute.
    let before = server.taken("dev3.lab.test");
    proxy.set_server_port(1);
    let (code, text) = proxy.run(&["--target", "dev3.lab.test"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("Using cached catalog from environment 'production'"),
        "{text}"
    );
    proxy.set_server_port(server.port);
    let (code, text) = proxy.run(&["--target", "dev3.lab.test"]).await;
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Sent reports of earlier runs: 1"), "{text}");
    server.assert_taken("dev3.lab.test", before + 2).await;
    assert_stored(&server, &proxy, &["dev3.lab.test"], "unchanged").await;

    server.script("revoke", &["dev4.lab.test"]).await;
    let refused = async {
        loop {
            let (code, text) = proxy.run(&["--target", "dev4.lab.test"]).await;
            // The server takes a moment to read its own CRL again.
            if code == 1 && text.contains("rejected the device's certificate") {
                return text;
            }
        }
    };
    let text = tokio::time::timeout(Duration::from_secs(120), refused)
        .await
        .expect("the CRL is read in time");
    assert!(text.contains("puppetserver ca clean"), "{text}");
}
