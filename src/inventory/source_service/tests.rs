//! A small server with the API of NetBox and of Nautobot, which answers page by page.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};
use switchtender_devices::driver::Registry;

use crate::diagnostic::terminal::{RenderOptions, render_all};
use crate::inventory::{Inventory, InventoryOptions};

const TOKEN: &str = "s3cret-token";

/// A server that has these devices. It serves until the test ends.
struct Service {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn start(devices: Vec<Json>, machines: Vec<Json>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::default();
        let seen: Arc<Mutex<Vec<String>>> = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&stream.unwrap(), &devices, &machines, &seen);
            }
        });
        Self { url, requests }
    }
}

/// Answers one request, and closes the connection.
fn answer(stream: &TcpStream, devices: &[Json], machines: &[Json], seen: &Mutex<Vec<String>>) {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let target = head[0].split(' ').nth(1).unwrap().to_owned();
    seen.lock().unwrap().push(target.clone());
    let is_allowed = head
        .iter()
        .any(|line| *line == format!("authorization: Token {TOKEN}"));
    let (path, query) = target.split_once('?').unwrap();
    let all = match path {
        "/api/dcim/devices/" => devices,
        "/api/virtualization/virtual-machines/" => machines,
        path => panic!("{path}"),
    };
    let number = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let found = pairs.find(|(key, _)| *key == name);
        found.map(|(_, value)| value.parse::<usize>().unwrap())
    };
    let (status, body) = if !is_allowed {
        ("403 Forbidden", json!({"detail": "Invalid token"}))
    } else if query.contains("tag=none") {
        ("400 Bad Request", json!({"tag": ["none is not a choice"]}))
    } else {
        // The server has a smaller limit than the client asks for.
        let (offset, limit) = (
            number("offset").unwrap_or(0),
            number("limit").unwrap().min(2),
        );
        let end = (offset + limit).min(all.len());
        // Behind a proxy, the link names another host.
        let next = (end < all.len()).then(|| {
            format!(
                "http://inside.test:1{path}?{}limit=2&offset={end}",
                "depth=1&"
            )
        });
        let results = &all[offset..end];
        (
            "200 OK",
            json!({"count": all.len(), "next": next, "results": results}),
        )
    };
    let body = body.to_string();
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
}

/// Loads an inventory with this source, or returns its errors as text.
fn load(source: &str, token: &str) -> Result<Inventory, String> {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("token", token, 0o600);
    let text = format!("{source}\n[defaults]\nuser = \"ops\"\nagent = true\n");
    write("inventory.toml", &text, 0o600);
    let registry = Registry::shipped();
    let options = InventoryOptions {
        registry: Some(&registry),
        ..InventoryOptions::default()
    };
    let loaded = Inventory::load(&directory.path().join("inventory.toml"), &options);
    loaded.map_err(|found| render_all(&found, RenderOptions::PLAIN).as_str().to_owned())
}

fn source(kind: &str, url: &str, more: &str) -> String {
    format!("[source.{kind}]\nurl = \"{url}/\"\ntoken = {{ file = \"token\" }}\n{more}")
}

/// `name platform address site` of each device, with its labels.
fn rows(inventory: &Inventory) -> Vec<String> {
    let devices = inventory.devices.values();
    devices
        .map(|device| {
            let settings = &device.settings;
            let address = settings
                .address
                .as_ref()
                .map(|address| address.value.as_str());
            let labels = settings.labels.iter();
            let labels = labels.map(|(key, label)| format!("{key}={}", label.value));
            format!(
                "{} {} {} {}: {}",
                device.name,
                device.platform,
                address.unwrap_or("-"),
                device.site().unwrap_or("-"),
                labels.collect::<Vec<_>>().join(" ")
            )
        })
        .collect()
}

/// A device of NetBox 4.
fn device(name: &str, platform: &str, address: &str, more: Json) -> Json {
    let mut device = json!({
        "id": 1, "name": name, "display": name,
        "device_type": {"id": 3, "model": "Catalyst 9300", "slug": "c9300"},
        "role": {"id": 1, "name": "Access", "slug": "access"},
        "tenant": null,
        "platform": {"id": 1, "name": platform, "slug": platform},
        "site": {"id": 5, "name": "Berlin", "slug": "berlin"},
        "location": null, "rack": {"id": 1, "name": "R1"},
        "status": {"value": "active", "label": "Active"},
        "primary_ip": {"address": address}, "primary_ip4": {"address": address},
        "primary_ip6": null, "tags": [], "custom_fields": {},
    });
    let fields = device.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    device
}

#[test]
fn all_pages_of_netbox_are_devices() {
    let devices = vec![
        device(
            "sw1",
            "cisco-ios",
            "192.0.2.1/24",
            json!({
                "tags": [{"name": "Campus", "slug": "campus"}],
                "custom_fields": {
                    "uplinks": 2, "owner": {"id": 1, "name": "Net"}, "zones": ["b", "a"], "empty": null,
                    "stage": {"value": "prod", "label": "Production"},
                    "switchtender_port": 2222, "switchtender_save_config": null,
                },
            }),
        ),
        device(
            "sw2",
            "ios-17",
            "192.0.2.2/24",
            json!({"role": null, "device_role": {"slug": "core"}}),
        ),
        device(
            "lb1",
            "f5-big-ip",
            "2001:db8::1/64",
            json!({"primary_ip4": null}),
        ),
    ];
    let machine = json!({
        "name": "lb2", "role": null, "platform": {"slug": "f5-big-ip"}, "site": null,
        "status": {"value": "active"}, "primary_ip": {"address": "192.0.2.9/32"}, "tags": [],
        "custom_fields": {},
    });
    let service = Service::start(devices, vec![machine]);
    let more = "filter = { status = \"active\", tag = [\"a b\", \"c\"] }\n\
                platforms = { \"ios-17\" = \"cisco_ios\" }\nvirtual_machines = true\n";
    let inventory = load(&source("netbox", &service.url, more), TOKEN).unwrap();
    assert_eq!(
        rows(&inventory),
        [
            "sw1 cisco_ios 192.0.2.1 berlin: cf_owner=Net cf_stage=prod cf_uplinks=2 cf_zones=a,b \
             device_type=c9300 rack=R1 role=access status=active tag_campus=true",
            "sw2 cisco_ios 192.0.2.2 berlin: device_type=c9300 rack=R1 role=core status=active",
            "lb1 f5_bigip 2001:db8::1 berlin: device_type=c9300 rack=R1 role=access status=active",
            "lb2 f5_bigip 192.0.2.9 -: status=active",
        ]
    );
    let port = inventory.devices["sw1"].settings.port.as_ref();
    assert_eq!(port.map(|port| port.value), Some(2222));
    assert_eq!(inventory.warnings, []);
    let first = "status=active&tag=a%20b&tag=c&exclude=config_context&limit=500";
    assert_eq!(
        *service.requests.lock().unwrap(),
        [
            format!("/api/dcim/devices/?{first}"),
            "/api/dcim/devices/?depth=1&limit=2&offset=2".to_owned(),
            format!("/api/virtualization/virtual-machines/?{first}"),
        ]
    );
}

#[test]
fn devices_of_nautobot_have_names_instead_of_slugs() {
    let device = json!({
        "name": "sw1", "display": "sw1", "platform": {"name": "Cisco IOS", "network_driver": "cisco_ios"},
        "location": {"name": "Berlin"}, "role": {"name": "Access"}, "status": {"name": "Active"},
        "tenant": null, "rack": null, "device_type": {"model": "C9300"},
        "primary_ip4": {"address": "192.0.2.1/24", "host": "192.0.2.1"}, "primary_ip6": null,
        "tags": [{"name": "campus"}], "custom_fields": {"stage": "prod"},
    });
    let service = Service::start(vec![device], Vec::new());
    let inventory = load(&source("nautobot", &service.url, ""), TOKEN).unwrap();
    let expected = "sw1 cisco_ios 192.0.2.1 Berlin: cf_stage=prod device_type=C9300 role=Access \
                    status=Active tag_campus=true";
    assert_eq!(rows(&inventory), [expected]);
    let requests = service.requests.lock().unwrap();
    assert_eq!(*requests, ["/api/dcim/devices/?depth=1&limit=500"]);
}

#[test]
fn problems_of_one_device_do_not_stop_the_others() {
    let devices = vec![
        device("sw1", "cisco-ios", "192.0.2.1/24", json!({})),
        device(
            "sw2",
            "cisco-ios",
            "",
            json!({"primary_ip": null, "primary_ip4": null}),
        ),
        device("sw3", "windows-server", "192.0.2.3/24", json!({})),
        device("sw4", "", "192.0.2.4/24", json!({"platform": null})),
        device("sw5", "cisco-ios", "192.0.2.5/24", json!({})),
        device("sw5", "cisco-ios", "192.0.2.6/24", json!({})),
        device(
            "sw6",
            "cisco-ios",
            "192.0.2.7/24",
            json!({"custom_fields": {"switchtender_port": "x"}}),
        ),
        device(
            "",
            "cisco-ios",
            "192.0.2.8/24",
            json!({"name": null, "display": "C9300 (2)"}),
        ),
        device("rack 1 top", "cisco-ios", "192.0.2.9/24", json!({})),
    ];
    let service = Service::start(devices, Vec::new());
    let inventory = load(&source("netbox", &service.url, ""), TOKEN).unwrap();
    let problems: Vec<String> = inventory
        .devices
        .values()
        .map(|device| {
            let messages = device.problems.iter().map(|found| found.message.as_str());
            format!(
                "{}: {}",
                device.name,
                messages.collect::<Vec<_>>().join("; ")
            )
        })
        .collect();
    assert_eq!(
        problems,
        [
            "sw1: ",
            "sw2: device `sw2` has no `address`",
            "sw3: unknown platform `windows-server`",
            "sw4: device `sw4` has no `platform`",
            "sw5: the source has several devices with the name `sw5`",
            "sw6: `device.sw6.port` must be an integer, not string",
        ]
    );
    let warnings: Vec<&str> = inventory
        .command_warnings()
        .map(|found| found.message.as_str())
        .collect();
    let left_out = "2 devices of the source are left out: C9300 (2), rack 1 top";
    assert_eq!(warnings, [left_out]);
}

#[test]
fn refusals_are_reported_without_the_token() {
    let service = Service::start(Vec::new(), Vec::new());
    let cases = [
        (
            source("netbox", &service.url, ""),
            "other-s3cret",
            "status 403: Invalid token",
        ),
        (
            source("netbox", &service.url, "filter = { tag = \"none\" }\n"),
            TOKEN,
            "check `filter`",
        ),
        (
            source("netbox", "http://127.0.0.1:1", ""),
            TOKEN,
            "Connection refused",
        ),
        (
            source("netbox", &service.url, "filter = { limit = \"3\" }\n"),
            TOKEN,
            "all pages are read",
        ),
        (
            format!(
                "[source.netbox]\nurl = \"{}\"\ntoken = \"s3cret\"\n",
                service.url
            ),
            TOKEN,
            "`source.netbox.token` is in clear text",
        ),
        (
            "[source.netbox]\nurl = \"netbox\"\n".to_owned(),
            TOKEN,
            "is not an https URL",
        ),
        (
            format!(
                "{}[source.nautobot]\nurl = \"https://x\"\n",
                source("netbox", "https://y", "")
            ),
            TOKEN,
            "several sources",
        ),
        (
            source("netbox", &service.url, "filters = {}\n"),
            TOKEN,
            "did you mean `filter`?",
        ),
    ];
    for (source, token, expected) in cases {
        let found = load(&source, token).unwrap_err();
        assert!(found.contains(expected), "{expected}: {found}");
        assert!(!found.contains("s3cret"), "{found}");
    }
    // Offline, nothing is requested.
    let text = source("netbox", &service.url, "");
    let requested = service.requests.lock().unwrap().len();
    let options = InventoryOptions::default();
    let parsed = Inventory::parse("i.toml", &text, Path::new(""), None, &options);
    assert!(parsed.unwrap().devices.is_empty());
    assert_eq!(service.requests.lock().unwrap().len(), requested);
}
