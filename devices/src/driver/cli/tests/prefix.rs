//! Instances of lines with a common beginning.

use std::sync::Arc;

use super::nested::NEIGHBOR;
use super::{PLATFORM, files, files_of, holds, render_all};
use crate::change::{Change, Desired};
use crate::driver::{Driver, Facts, NoSecretHistory, Registry};
use crate::read::{Reads, State};
use crate::value::{Attributes, Value};

/// FRRouting and IOS: all lines of a neighbor begin with its address, also in address families.
const BY_PREFIX: &str = r#"
    [instance]
    from = "config"
    block = "router bgp {asn}"
    prefix = "neighbor {name}"
    [attr.remote_as]
    line = "remote-as {remote_as}"
    [attr.description]
    line = "description {description:rest}"
    absent = "unset"
    [attr.password]
    line = "password {password}"
    absent = "unset"
    [attr.ipv4]
    sub = "address-family ipv4 unicast"
    line = "activate"
    default = "on"
    [attr.ipv4_maximum]
    sub = "address-family ipv4 unicast"
    line = "maximum-prefix {ipv4_maximum}"
    absent = "unset"
    "#;

const FRR_TEXT: &str = "\
router bgp 65000
 bgp router-id 10.0.0.1
 neighbor 192.0.2.1 remote-as 65001
 neighbor 192.0.2.1 description to spine 1
 neighbor 192.0.2.1 timers 3 9
 neighbor 192.0.2.11 remote-as 65002
 !
 address-family ipv4 unicast
  network 10.0.0.0/8
  no neighbor 192.0.2.1 activate
  neighbor 192.0.2.11 maximum-prefix 100
";

pub(super) fn driver_of(model: &str, implementation: &str) -> (Registry, Driver) {
    let registry = Registry::from_files(&[], &files(model, implementation))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    (registry, driver)
}

pub(super) fn state(driver: &Driver, config: &str) -> State {
    let reads = Reads::from_iter([("config".to_owned(), config.to_owned())]);
    driver.platform().parse(&reads).unwrap()
}

pub(super) fn desired(registry: &Registry, supplied: &[(&str, Value)]) -> Desired {
    let model = registry.model("thing").unwrap();
    let supplied: Attributes = supplied
        .iter()
        .map(|(name, value)| (*name, value.clone()))
        .collect();
    Desired {
        reference: "Thing[x]".into(),
        model: Arc::clone(model),
        attributes: model.resolve("", &supplied).unwrap(),
    }
}

/// The configuration after a change.
fn predicted(
    (registry, driver): &(Registry, Driver),
    config: &str,
    supplied: &[(&str, Value)],
) -> String {
    let mut state = state(driver, config);
    let desired = desired(registry, supplied);
    let current = driver.instance(&desired, &state).unwrap();
    let differs = driver.differs(&desired, current.as_ref(), &NoSecretHistory);
    let change = Change::new(Arc::new(desired), current, differs);
    let operations = driver.render(&change, &state).unwrap();
    driver.predict(&change.desired.model, &mut state, &operations);
    driver.configuration(&state).text()
}

#[test]
fn lines_with_a_common_beginning_are_one_instance() {
    let tests = format!(
        "{BY_PREFIX}
        [[test]]
        name = \"reads\"
        given.config = '''
{FRR_TEXT}'''
        expect = [
          {{ asn = \"65000\", name = \"192.0.2.1\", remote_as = \"65001\", description = \"to spine 1\", password = \"unset\", ipv4 = false, ipv4_maximum = \"unset\" }},
          {{ asn = \"65000\", name = \"192.0.2.11\", remote_as = \"65002\", description = \"unset\", password = \"unset\", ipv4 = true, ipv4_maximum = 100 }},
        ]
        [[test]]
        name = \"changes\"
        given.config = '''
{FRR_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.1\", remote_as = \"65009\", description = \"unset\", ipv4 = true, ipv4_maximum = 5 }}
        commands = [
          \"router bgp 65000\",
          \" neighbor 192.0.2.1 remote-as 65009\",
          \" no neighbor 192.0.2.1 description\",
          \" address-family ipv4 unicast\",
          \"  neighbor 192.0.2.1 activate\",
          \"  neighbor 192.0.2.1 maximum-prefix 5\",
        ]
        [[test]]
        name = \"creates in a new block\"
        want = {{ asn = 65000, name = \"2001:DB8::1\", remote_as = \"65001\", description = \"new\", password = \"hidden\", ipv4 = false }}
        commands = [
          \"router bgp 65000\",
          \" neighbor 2001:db8::1 remote-as 65001\",
          \" neighbor 2001:db8::1 description new\",
          \" neighbor 2001:db8::1 password hidden\",
          \" address-family ipv4 unicast\",
          \"  no neighbor 2001:db8::1 activate\",
        ]
        [[test]]
        name = \"removes\"
        given.config = '''
{FRR_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.1\", ensure = \"absent\" }}
        commands = [\"router bgp 65000\", \" no neighbor 192.0.2.1\"]
        [[test]]
        name = \"nothing to change\"
        given.config = '''
{FRR_TEXT}'''
        want = {{ asn = 65000, name = \"192.0.2.11\", remote_as = \"65002\", ipv4 = true, ipv4_maximum = 100 }}
        commands = []
        "
    );
    holds(NEIGHBOR, &tests);
}

#[test]
fn lines_with_a_common_beginning_are_predicted_at_their_position() {
    let types = driver_of(NEIGHBOR, BY_PREFIX);
    let names = [
        ("asn", Value::from("65000")),
        ("name", Value::from("192.0.2.1")),
    ];
    let mut changed = names.to_vec();
    changed.push(("description", "unset".into()));
    changed.push(("ipv4", true.into()));
    changed.push(("ipv4_maximum", 7.into()));
    let expected = "\
router bgp 65000
 bgp router-id 10.0.0.1
 neighbor 192.0.2.1 remote-as 65001
 neighbor 192.0.2.1 timers 3 9
 neighbor 192.0.2.11 remote-as 65002
 address-family ipv4 unicast
  network 10.0.0.0/8
  neighbor 192.0.2.11 maximum-prefix 100
  neighbor 192.0.2.1 maximum-prefix 7
";
    assert_eq!(predicted(&types, FRR_TEXT, &changed), expected);

    let mut removed = names.to_vec();
    removed.push(("ensure", "absent".into()));
    let expected = "\
router bgp 65000
 bgp router-id 10.0.0.1
 neighbor 192.0.2.11 remote-as 65002
 address-family ipv4 unicast
  network 10.0.0.0/8
  neighbor 192.0.2.11 maximum-prefix 100
";
    assert_eq!(predicted(&types, FRR_TEXT, &removed), expected);
}

#[test]
fn lines_that_are_not_understood_are_those_of_the_device() {
    let (registry, driver) = driver_of(NEIGHBOR, BY_PREFIX);
    let model = registry.model("thing").unwrap();
    let listed = |config: &str| -> Vec<String> {
        let found = driver.not_understood(&[model], &state(&driver, config));
        found.iter().map(ToString::to_string).collect()
    };
    assert_eq!(listed(FRR_TEXT), [""; 0]);
    let odd = "\
router bgp 65000
 neighbor 192.0.2.1 remote-as external
 neighbor 192.0.2.1 timers 3 9
 neighbor 192.0.2.1 password hidden more
 neighbor FABRIC peer-group
 address-family ipv4 unicast
  neighbor 192.0.2.1 maximum-prefix 10 restart 5
 address-family ipv6 unicast
  neighbor 192.0.2.1 maximum-prefix 10 restart 5
router bgp 65000 view RED
";
    let expected = [
        "router bgp 65000 view RED",
        "router bgp 65000 / neighbor 192.0.2.1 remote-as external",
        "router bgp 65000 / neighbor 192.0.2.1 password ••••",
        "router bgp 65000 / neighbor FABRIC peer-group",
        "router bgp 65000 / address-family ipv4 unicast / neighbor 192.0.2.1 maximum-prefix 10 restart 5",
    ];
    let mut found = listed(odd);
    found.sort_unstable();
    let mut sorted = expected.to_vec();
    sorted.sort_unstable();
    assert_eq!(found, sorted);
}

/// Lines of a group, and of an address family, are no neighbors.
#[test]
fn unread_lines_beside_instances_do_not_hinder_changes() {
    let group = BY_PREFIX.replace("neighbor {name}", "group {asn} neighbor {name}");
    let (registry, driver) = driver_of(NEIGHBOR, &group);
    let model = registry.model("thing").unwrap();
    let config = "\
router bgp 65000
 group 65000 type external
 group 65000 neighbor SPINES remote-as 1
 group 65000 neighbor 192.0.2.1 remote-as 65001
router bgp 65000 view RED
";
    let state = state(&driver, config);
    let found = driver.not_understood(&[model], &state);
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "router bgp 65000 / group 65000 neighbor SPINES remote-as 1",
            "router bgp 65000 view RED",
        ]
    );
    let desired = desired(
        &registry,
        &[
            ("asn", "65000".into()),
            ("name", "192.0.2.1".into()),
            ("description", "new".into()),
        ],
    );
    let current = driver.instance(&desired, &state).unwrap();
    let change = Change::new(Arc::new(desired), current, vec!["description".into()]);
    assert!(!found.iter().any(|text| text.is_touched_by(&change)));
}

/// Configurations of `set` lines have no blocks, and other words remove.
#[test]
fn set_lines_are_deleted_below_their_beginning() {
    let platform = format!("negate = \"delete\"\nnegate_replaces = \"set\"\n{PLATFORM}");
    let registry = Registry::from_files(
        &[],
        &files_of(
            &platform,
            r#"
            ensurable = true
            ensure_default = "present"
            [attr.name]
            role = "namevar"
            [attr.mtu]
            values = ["unset", { name = "mtu", integer = [68, 16000] }]
            [attr.enable]
            values = [true, false]
            [attr.address]
            array = "set"
            "#,
            r#"
            [instance]
            from = "config"
            prefix = "set interfaces ethernet {name}"
            [attr.mtu]
            line = "mtu {mtu}"
            absent = "unset"
            [attr.enable]
            set.false = "disable"
            set.true = "delete disable"
            absent = true
            [attr.address]
            line = "address {address}"
            many = true
            absent = "unset"
            [[test]]
            name = "reads"
            given.config = '''
set interfaces ethernet eth0
set interfaces ethernet eth1 address 192.0.2.1/24
set interfaces ethernet eth1 address 192.0.2.2/24
set interfaces ethernet eth1 disable
set interfaces ethernet eth10 mtu 9000
set system host-name r1
'''
            expect = [
              { name = "eth0", enable = true, mtu = "unset", address = ["unset"] },
              { name = "eth1", enable = false, mtu = "unset", address = ["192.0.2.1/24", "192.0.2.2/24"] },
              { name = "eth10", enable = true, mtu = 9000, address = ["unset"] },
            ]
            [[test]]
            name = "changes"
            given.config = '''
set interfaces ethernet eth1 address 192.0.2.1/24
set interfaces ethernet eth1 disable
set interfaces ethernet eth1 mtu 9000
'''
            want = { name = "eth1", enable = true, mtu = "unset", address = ["192.0.2.2/24"] }
            commands = [
              "delete interfaces ethernet eth1 mtu",
              "delete interfaces ethernet eth1 disable",
              "set interfaces ethernet eth1 address 192.0.2.2/24",
              "delete interfaces ethernet eth1 address 192.0.2.1/24",
            ]
            [[test]]
            name = "creates an instance without attributes"
            want = { name = "eth1" }
            commands = ["set interfaces ethernet eth1"]
            [[test]]
            name = "removes"
            given.config = "set interfaces ethernet eth1 mtu 9000"
            want = { name = "eth1", ensure = "absent" }
            commands = ["delete interfaces ethernet eth1"]
            "#,
        ),
    )
    .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    for result in registry.test(None) {
        assert_eq!(result.failure, None, "{}", result.name);
    }
}
