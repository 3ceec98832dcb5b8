//! Recorded catalogs with the definitions of `cisco_ios`, without a device: refused values, the
//! lines for a new switch, and an empty second run.

use std::sync::Arc;

use switchtender_devices::change::Desired;
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::Driver;
use switchtender_devices::driver::test_run;
use switchtender_devices::read::{Reads, State};

use crate::support::catalog;
use crate::support::offline::{self, REGISTRY};

struct Switch {
    driver: Driver,
}

impl Switch {
    fn new() -> Self {
        Self {
            driver: offline::driver("cisco_ios"),
        }
    }

    /// The resources of a catalog that the platform supports: each with its desired state, or its errors.
    fn resources(&self, catalog: &str) -> Vec<(String, Result<Desired, Vec<String>>)> {
        catalog::resources(catalog)
            .into_iter()
            .filter_map(|resource| {
                let model = REGISTRY.model(&resource.type_name)?;
                self.driver.supports(model).ok()?;
                let attributes = model
                    .resolve(&resource.title, &resource.attributes)
                    .and_then(|attributes| self.driver.canonicalize(model, attributes))
                    .map_err(|errors| errors.iter().map(ToString::to_string).collect());
                let desired = attributes.and_then(|attributes| {
                    let desired = Desired {
                        reference: resource.reference.as_str().into(),
                        model: Arc::clone(model),
                        attributes,
                    };
                    let errors: Vec<String> = self
                        .driver
                        .check(&desired)
                        .into_iter()
                        .filter(|problem| problem.severity == Severity::Error)
                        .map(|problem| format!("{}: {}", problem.attribute, problem.message))
                        .collect();
                    if errors.is_empty() {
                        Ok(desired)
                    } else {
                        Err(errors)
                    }
                });
                Some((resource.reference, desired))
            })
            .collect()
    }

    /// The state of a switch with these ports and no configuration.
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
        self.driver.platform().parse(&reads).unwrap()
    }

    /// Returns the lines for a resource and applies them to the state.
    fn apply(&self, desired: &Desired, state: &mut State) -> Vec<String> {
        test_run::print(&offline::apply(&self.driver, desired, state))
    }
}

#[test]
fn recorded_catalogs_are_valid_except_values_that_the_device_refuses() {
    let switch = Switch::new();
    let cases: [(&str, &[&str]); 8] = [
        // A name with blanks is in sync while the device has it.
        ("sw1", &[]),
        ("sw2", &[]),
        ("mixed1", &[]),
        ("meta1", &[]),
        ("bench1", &[]),
        ("cycle1", &[]),
        (
            "failing1",
            &[
                "Network_vlan[broken-80] id: \"broken-80\" is not valid: expected an integer from 1 to 4094",
            ],
        ),
        (
            "titles1",
            &[
                "Network_interface[a => b] name: \"a => b\" contains spaces; cisco_ios accepts one word",
            ],
        ),
    ];
    for (catalog, expected) in cases {
        let resources = switch.resources(catalog);
        assert!(!resources.is_empty(), "{catalog}");
        let refused: Vec<String> = resources
            .into_iter()
            .filter_map(|(reference, desired)| {
                Some(format!("{reference} {}", desired.err()?.join("; ")))
            })
            .collect();
        assert_eq!(refused, expected, "{catalog}");
    }
}

#[test]
fn recorded_catalog_configures_a_new_switch_and_the_second_run_sends_nothing() {
    let switch = Switch::new();
    let mut state = switch.state(&[
        "GigabitEthernet1/0/1",
        "GigabitEthernet1/0/2",
        "GigabitEthernet1/0/3",
        "TenGigabitEthernet1/1/1",
    ]);
    let resources: Vec<Desired> = switch
        .resources("sw1")
        .into_iter()
        // Its name has blanks, which no command sets.
        .filter(|(reference, _)| reference != "Network_vlan[30]")
        .filter_map(|(_, desired)| desired.ok())
        .collect();
    let before = state.clone();
    let lines: Vec<String> = resources
        .iter()
        .flat_map(|desired| switch.apply(desired, &mut state))
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
 speed 10000
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
    for desired in &resources {
        assert_eq!(
            switch.apply(desired, &mut state),
            Vec::<String>::new(),
            "{}",
            desired.reference
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
