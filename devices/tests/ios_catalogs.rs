//! Recorded catalogs against the definitions of `cisco_ios`, without a device: what is refused
//! before connecting, which lines a new switch gets, and that a second run sends none.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::change::{Change, Wanted};
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::{
    Driver, Facts, NothingRemembered, Platform, Registry, self_test,
};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::{Attributes, Value};

const METAPARAMETERS: [&str; 10] = [
    "alias",
    "audit",
    "before",
    "loglevel",
    "noop",
    "notify",
    "require",
    "schedule",
    "subscribe",
    "tag",
];

struct Switch {
    registry: Registry,
    platform: Arc<Platform>,
    driver: Driver,
}

impl Switch {
    fn new() -> Self {
        let registry = Registry::shipped();
        let platform = Arc::clone(registry.platform("cisco_ios").unwrap());
        let driver = Driver::new(&platform, &Facts::default());
        Self {
            registry,
            platform,
            driver,
        }
    }

    /// The resources of a catalog that the platform has, each as wanted or with what is said
    /// against it.
    fn resources(&self, catalog: &str) -> Vec<(String, Result<Wanted, Vec<String>>)> {
        let path = format!("../tests/fixtures/puppetserver/catalogs/{catalog}.json");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let json: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        let resources = json["resources"].as_array().unwrap().iter();
        resources
            .filter_map(|resource| {
                let kind = resource["type"].as_str().unwrap().to_lowercase();
                let model = self.registry.model(&kind)?;
                self.driver.supports(model).ok()?;
                let title = resource["title"].as_str().unwrap();
                let reference = format!("{kind}[{title}]");
                let given: Attributes = resource["parameters"]
                    .as_object()
                    .into_iter()
                    .flatten()
                    .filter(|(name, _)| !METAPARAMETERS.contains(&name.as_str()))
                    .map(|(name, value)| (name.clone(), value_of(value)))
                    .collect();
                let attributes = model
                    .resolve(title, &given)
                    .and_then(|attributes| self.driver.canonicalize(model, attributes))
                    .map_err(|errors| errors.iter().map(ToString::to_string).collect());
                let wanted = attributes.and_then(|attributes| {
                    let wanted = Wanted {
                        reference: reference.as_str().into(),
                        model: Arc::clone(model),
                        attributes,
                    };
                    let errors: Vec<String> = self
                        .driver
                        .check(&wanted)
                        .into_iter()
                        .filter(|problem| problem.severity == Severity::Error)
                        .map(|problem| format!("{}: {}", problem.attribute, problem.message))
                        .collect();
                    if errors.is_empty() {
                        Ok(wanted)
                    } else {
                        Err(errors)
                    }
                });
                Some((reference, wanted))
            })
            .collect()
    }

    /// What is read from a switch with these ports and nothing else.
    fn state(&self, ports: &[&str]) -> State {
        let config: String = ports
            .iter()
            .map(|port| format!("interface {port}\n!\n"))
            .collect();
        let switchport: String = ports
            .iter()
            .map(|port| {
                format!(
                    "Name: {port}\nSwitchport: Enabled\nAdministrative Mode: dynamic auto\n\
                     Administrative Trunking Encapsulation: negotiate\nTrunking Native Mode VLAN: 1 (default)\n\n"
                )
            })
            .collect();
        let reads = Reads::from_iter([
            ("config".to_owned(), config),
            ("switchport".to_owned(), switchport),
            ("vlan_brief".to_owned(), String::new()),
            ("interfaces_status".to_owned(), String::new()),
        ]);
        self.platform.parse(&reads).unwrap()
    }

    /// The lines that a resource takes; their effect is kept in the state.
    fn apply(&self, wanted: &Wanted, state: &mut State) -> Vec<String> {
        let current = self.driver.instance(wanted, state).unwrap();
        let wanted = self.driver.resolve(wanted, current.as_ref());
        let attributes = self
            .driver
            .differs(&wanted, current.as_ref(), &NothingRemembered);
        if attributes.is_empty() {
            return Vec::new();
        }
        let model = Arc::clone(&wanted.model);
        let change = Change::new(Arc::new(wanted.into_owned()), current, attributes);
        let operations = self.driver.render(&change, state).unwrap();
        self.driver.predict(&model, state, &operations);
        self_test::print(&operations)
    }
}

fn value_of(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Undef,
        serde_json::Value::Bool(truth) => Value::Bool(*truth),
        serde_json::Value::Number(number) => Value::Integer(number.as_i64().unwrap()),
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::List(items.iter().map(value_of).collect()),
        serde_json::Value::Object(_) => panic!("no hashes in these catalogs"),
    }
}

#[test]
fn recorded_catalogs_are_taken_but_for_what_the_device_would_refuse() {
    let switch = Switch::new();
    let cases: [(&str, &[&str]); 8] = [
        (
            "sw1",
            &[
                "network_vlan[30] vlan_name: \"Guests & visitors\" has blanks, and cisco_ios takes one word here",
            ],
        ),
        ("sw2", &[]),
        ("mixed1", &[]),
        ("meta1", &[]),
        ("bench1", &[]),
        ("cycle1", &[]),
        (
            "failing1",
            &[
                "network_vlan[broken-80] id: \"broken-80\" is not valid: expected a whole number from 1 to 4094",
            ],
        ),
        (
            "titles1",
            &[
                "network_interface[a => b] name: \"a => b\" has blanks, and cisco_ios takes one word here",
            ],
        ),
    ];
    for (catalog, expected) in cases {
        let resources = switch.resources(catalog);
        assert!(!resources.is_empty(), "{catalog}");
        let refused: Vec<String> = resources
            .into_iter()
            .filter_map(|(reference, wanted)| {
                Some(format!("{reference} {}", wanted.err()?.join("; ")))
            })
            .collect();
        assert_eq!(refused, expected, "{catalog}");
    }
}

#[test]
fn a_new_switch_gets_just_these_lines_and_the_second_run_sends_none() {
    let switch = Switch::new();
    let mut state = switch.state(&[
        "GigabitEthernet1/0/1",
        "GigabitEthernet1/0/2",
        "GigabitEthernet1/0/3",
        "TenGigabitEthernet1/1/1",
    ]);
    let resources: Vec<Wanted> = switch
        .resources("sw1")
        .into_iter()
        .filter_map(|(_, wanted)| wanted.ok())
        .collect();
    let before = state.clone();
    let lines: Vec<String> = resources
        .iter()
        .flat_map(|wanted| switch.apply(wanted, &mut state))
        .collect();
    let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let expected = "\
ntp server 192.0.2.10 maxpoll 10 minpoll 6 prefer source Vlan10
ntp server 192.0.2.11 maxpoll 10 minpoll 6 source Vlan10
ntp server 192.0.2.12 maxpoll 10 minpoll 6 source Vlan10
logging host 192.0.2.20
logging host 192.0.2.21
vlan 10
 name users
vlan 20
 name voice
snmp-server community monitoring RO snmp-ro
interface TenGigabitEthernet1/1/1
 description uplink to core1.lab.test
 mtu 9000
 speed 10g
 duplex full
interface TenGigabitEthernet1/1/1
 switchport trunk encapsulation dot1q
 switchport mode trunk
interface GigabitEthernet1/0/1
 description access vlan 10
interface GigabitEthernet1/0/1
 switchport mode access
 switchport trunk native vlan 10
interface GigabitEthernet1/0/2
 description access vlan 10
interface GigabitEthernet1/0/2
 switchport mode access
 switchport trunk native vlan 10
interface GigabitEthernet1/0/3
 description access vlan 30
interface GigabitEthernet1/0/3
 switchport mode access
 switchport trunk native vlan 30";
    let mut expected: Vec<&str> = expected.lines().collect();
    // The catalog's order is not the order of evaluation; here only the set of lines counts.
    lines.sort_unstable();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    for wanted in &resources {
        assert_eq!(
            switch.apply(wanted, &mut state),
            Vec::<String>::new(),
            "{}",
            wanted.reference
        );
    }
    let diff = switch.driver.config_diff(&before, &state);
    assert!(
        diff.contains("+snmp-server community •••• RO snmp-ro"),
        "{diff}"
    );
    assert!(diff.contains("+vlan 10\n+ name users\n"), "{diff}");
    assert!(!diff.contains("monitoring"), "{diff}");
}
