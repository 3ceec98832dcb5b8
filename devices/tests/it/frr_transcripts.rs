//! The definitions of `frr` on the output of a real router (`tests/fixtures/frr`).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::change::Desired;
use switchtender_devices::driver::Driver;
use switchtender_devices::driver::test_run;
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::{Attributes, Value};

use crate::support::offline::{self, REGISTRY};

/// The answers to `show running-config` in the transcript, in order.
fn running_configs() -> Vec<String> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/frr/04-running-config.txt");
    let transcript = fs::read_to_string(path).unwrap();
    let mut configs = Vec::new();
    let mut open: Option<String> = None;
    for line in transcript.lines() {
        if line.ends_with("show running-config") {
            open = Some(String::new());
        } else if line.starts_with("leaf") || line.starts_with("###") {
            configs.extend(open.take());
        } else if let Some(text) = &mut open {
            text.push_str(line);
            text.push('\n');
        }
    }
    configs
}

struct Router {
    driver: Driver,
}

fn router() -> Router {
    Router {
        driver: offline::driver("frr"),
    }
}

impl Router {
    fn state(&self, config: &str) -> State {
        let reads = Reads::from_iter([("config".to_owned(), config.to_owned())]);
        self.driver.platform().parse(&reads).unwrap()
    }

    fn instances(&self, kind: &str, state: &State) -> Vec<String> {
        let model = REGISTRY.model(kind).unwrap();
        let instances = self.driver.instances(model, state).unwrap();
        let rendered = instances.iter().map(|instance| {
            let pairs = instance.attributes.iter();
            let pairs = pairs.map(|(name, value)| format!("{name}={value:?}"));
            pairs.collect::<Vec<_>>().join(" ")
        });
        rendered.collect()
    }

    /// Returns the lines for a resource and applies them to the state.
    fn apply(&self, state: &mut State, kind: &str, attributes: &[(&str, Value)]) -> Vec<String> {
        let model = REGISTRY.model(kind).unwrap();
        let supplied: Attributes = attributes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let attributes = model.resolve("x", &supplied).unwrap();
        let desired = Desired {
            reference: format!("{kind}[x]").into(),
            model: Arc::clone(model),
            attributes: self.driver.canonicalize(model, attributes).unwrap(),
        };
        test_run::print(&offline::apply(&self.driver, &desired, state))
    }
}

#[test]
fn running_config_of_a_router_is_read() {
    let router = router();
    let configs = running_configs();
    let state = router.state(&configs[1]);
    assert_eq!(
        router.instances("network_interface", &state),
        [
            "name=\"eth1\" enable=true description=\"Uplink to spine 1\"",
            "name=\"eth2\" enable=false description=\"Unused\"",
            "name=\"eth99\" enable=true description=\"Not here\"",
            "name=\"lo\" enable=true description=\"unset\"",
        ]
    );
    assert_eq!(
        router.instances("frr_static_route", &state),
        [
            "prefix=\"10.97.0.0/16\" next_hop=\"192.0.2.2\" tag=42 distance=1",
            "prefix=\"10.98.0.0/16\" next_hop=\"blackhole\" distance=1",
            "prefix=\"10.99.0.0/16\" next_hop=\"Null0\" distance=1",
            "prefix=\"203.0.113.0/24\" next_hop=\"192.0.2.2\" distance=1",
            "prefix=\"203.0.113.128/25\" next_hop=\"192.0.2.2\" distance=200",
            "prefix=\"2001:db8:99::/48\" next_hop=\"2001:db8::2\" distance=1",
        ]
    );
    assert_eq!(
        router.instances("frr_prefix_list_entry", &state),
        [
            "list=\"CUSTOMER\" sequence=\"5\" action=\"permit\" prefix=\"203.0.113.0/24\" le=28",
            "list=\"CUSTOMER\" sequence=\"10\" action=\"deny\" prefix=\"0.0.0.0/0\" le=32",
            "list=\"NOSEQ\" sequence=\"5\" action=\"permit\" prefix=\"10.1.0.0/16\"",
            "list=\"NOSEQ\" sequence=\"10\" action=\"permit\" prefix=\"10.2.0.0/16\"",
        ]
    );
}

#[test]
fn predicted_state_equals_the_state_of_the_router() {
    let router = router();
    let configs = running_configs();
    let mut state = router.state(&configs[1]);
    let name = |name: &str| ("name", Value::from(name));
    let absent = ("ensure", Value::from("absent"));

    let entry = [
        ("list", "CUSTOMER".into()),
        ("sequence", 5.into()),
        ("action", "permit".into()),
        ("prefix", "203.0.113.0/24".into()),
        ("le", 27.into()),
    ];
    let lines = router.apply(&mut state, "frr_prefix_list_entry", &entry);
    assert_eq!(
        lines,
        ["ip prefix-list CUSTOMER seq 5 permit 203.0.113.0/24 le 27"]
    );
    let replaced = router.state(&configs[3]);
    let lists = |state: &State| router.instances("frr_prefix_list_entry", state);
    assert_eq!(lists(&state), lists(&replaced));

    let route = [
        ("prefix", "203.0.113.128/25".into()),
        ("next_hop", "192.0.2.2".into()),
        absent,
    ];
    let lines = router.apply(&mut state, "frr_static_route", &route);
    assert_eq!(lines, ["no ip route 203.0.113.128/25 192.0.2.2 200"]);
    let up = ("enable", Value::from(true));
    let lines = router.apply(&mut state, "network_interface", &[name("eth2"), up]);
    assert_eq!(lines, ["interface eth2", " no shutdown"]);

    let removed = router.state(&configs[4]);
    let routes = |state: &State| {
        let mut routes = router.instances("frr_static_route", state);
        routes.retain(|route| !route.contains("10.98") && !route.contains("10.99"));
        routes
    };
    assert_eq!(routes(&state), routes(&removed));
    let eth2 = |state: &State| {
        let mut all = router.instances("network_interface", state);
        all.retain(|interface| interface.contains("eth2"));
        all
    };
    assert_eq!(eth2(&state), eth2(&removed));
}

#[test]
fn config_diff_masks_secrets() {
    let router = router();
    let configs = running_configs();
    let before = router.state(&configs[1]);
    let mut after = before.clone();
    let desired = [
        ("name", Value::from("eth1")),
        ("enable", true.into()),
        ("description", "spine 2".into()),
    ];
    router.apply(&mut after, "network_interface", &desired);
    assert_eq!(
        router.driver.config_diff(&before, &after),
        "@@ -15,7 +15,7 @@\n vrf RED\n  ip route 10.50.0.0/16 Null0\n interface eth1\n\
         - description Uplink to spine 1\n+ description spine 2\n  ip address 192.0.2.1/30\n  \
         ip ospf cost 15\n interface eth2\n"
    );
    let everything = router.driver.config_diff(&State::default(), &before);
    assert!(
        everything.contains("+ neighbor 192.0.2.6 password ••••"),
        "{everything}"
    );
    assert!(!everything.contains("s3cret"));
    assert_eq!(router.driver.config_diff(&before, &before), "");
}
