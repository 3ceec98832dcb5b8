//! Each class of a line, and the sums of all lines.

use std::collections::BTreeSet;
use std::sync::Arc;

use switchtender_devices::change::Desired;
use switchtender_devices::driver::{Driver, Facts, Registry};
use switchtender_devices::read::Reads;
use switchtender_devices::value::{Attributes, Value};
use switchtender_mutation::{Dice, mutated};

use super::classification::{Classifier, CoveredLine, DeclaredResources};
use super::counts::ClassCounts;
use super::{LineClass, constructs};

/// Number of mutated configurations.
const INPUTS: usize = 60;

/// Lines as the documentation of the platform has them.
const CONFIGURATION: &str = "\
Building configuration...

Current configuration : 1024 bytes
!
version 15.2
service timestamps log datetime msec
!
frame-relay switching
!
aaa new-model
tacacs server t1
 address ipv4 192.0.2.20
 key s3cret-key
!
interface GigabitEthernet1/0/1
 description uplink
 no ip address
 dsl operating-mode auto
 mtu 9000 strange
!
interface GigabitEthernet1/0/2
 description printer
!
ntp server 192.0.2.1
ntp server 192.0.2.2
crypto isakmp policy 10
 encr aes 256
banner motd ^C
 welcome
^C
end
";

fn driver() -> (Registry, Driver) {
    let registry = Registry::shipped();
    let driver = Driver::new(registry.platform("cisco_ios").unwrap(), &Facts::default());
    (registry, driver)
}

fn desired(
    (registry, driver): &(Registry, Driver),
    (type_name, title): (&str, &str),
    attributes: &[(&str, &str)],
) -> Arc<Desired> {
    let model = registry.model(type_name).unwrap();
    let supplied: Attributes = attributes
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Value::string(*value)))
        .collect();
    let attributes = model.resolve(title, &supplied).unwrap();
    Arc::new(Desired {
        reference: title.into(),
        model: Arc::clone(model),
        attributes: driver.canonicalize(model, attributes).unwrap(),
    })
}

fn classified(
    driver: &Driver,
    text: &str,
    declared: Option<&DeclaredResources>,
) -> Vec<CoveredLine> {
    let reads: Reads = [("config".to_owned(), text.to_owned())]
        .into_iter()
        .collect();
    let state = driver.platform().parse(&reads).unwrap();
    let classifier = Classifier {
        declared,
        owner: &|types| {
            let shortest = types.iter().map(|name| name.len()).min();
            let position = types.iter().position(|name| Some(name.len()) == shortest);
            position.unwrap_or_default()
        },
        is_excluded: &|claim| claim.type_name.as_str() == "banner",
        is_excluded_line: &|text| text.starts_with("crypto "),
    };
    let lines = driver.surveyed_lines(&reads, &state).into_iter();
    lines.map(|line| classifier.classify(line)).collect()
}

#[test]
fn each_line_has_its_class_and_its_owner() {
    let device = driver();
    let declared = DeclaredResources::new(
        [
            desired(
                &device,
                ("network_interface", "GigabitEthernet1/0/1"),
                &[("description", "x")],
            ),
            desired(&device, ("ntp_server", "192.0.2.1"), &[]),
        ]
        .into_iter(),
    );
    let lines = classified(&device.1, CONFIGURATION, Some(&declared));
    let text = |line: &CoveredLine| {
        format!(
            "{:2} {} | {} | {}",
            line.line,
            line.text.trim(),
            line.class,
            line.owner()
        )
    };
    let found: Vec<String> = lines.iter().map(text).collect();
    let expected = [
        " 1 Building configuration... | generated | ",
        " 3 Current configuration : 1024 bytes | generated | ",
        " 5 version 15.2 | generated | ",
        " 8 frame-relay switching | not covered | ",
        "11 tacacs server t1 | available | tacacs_server[t1]",
        "13 key •••• | available | tacacs_server[t1] key",
        "15 interface GigabitEthernet1/0/1 | managed | network_interface[GigabitEthernet1/0/1]",
        "16 description uplink | managed | network_interface[GigabitEthernet1/0/1] description",
        "17 no ip address | default | ios_ip_interface[GigabitEthernet1/0/1] ipv4_address",
        "18 dsl operating-mode auto | not covered | ",
        "19 mtu 9000 strange | not understood | network_interface",
        "22 description printer | available | network_interface[GigabitEthernet1/0/2] description",
        "24 ntp server 192.0.2.1 | managed | ntp_server[192.0.2.1]",
        "25 ntp server 192.0.2.2 | available | ntp_server[192.0.2.2]",
        "26 crypto isakmp policy 10 | excluded | ios_isakmp_policy[10]",
        "27 encr aes 256 | excluded | ios_isakmp_policy[10] encryption",
        "28 banner motd ^C | excluded | banner motd",
        "29 welcome | excluded | banner motd",
        "31 end | generated | ",
    ];
    for line in expected {
        assert!(found.iter().any(|one| one == line), "{line}\n{found:#?}");
    }
    let constructs = constructs::of_device(&lines);
    let constructs: Vec<(&str, usize)> = constructs
        .iter()
        .map(|(name, lines)| (name.as_str(), *lines))
        .collect();
    assert!(
        constructs.contains(&("interface / dsl operating-mode", 1)),
        "{constructs:?}"
    );
}

#[test]
fn nothing_is_managed_without_desired_state() {
    let (_, driver) = driver();
    let lines = classified(&driver, CONFIGURATION, None);
    assert_eq!(ClassCounts::of(&lines).count(LineClass::Managed), 0);
    for line in lines {
        let json = line.json("sw1").to_string();
        assert!(!json.contains("s3cret"), "{json}");
    }
}

#[test]
fn every_line_has_one_class_and_the_sums_agree() {
    let (_, driver) = driver();
    let corpus = [CONFIGURATION.as_bytes().to_vec()];
    let mut dice = Dice(0x5117_c4fe_0bad_cafe);
    for _ in 0..INPUTS {
        let text = String::from_utf8_lossy(&mutated(&corpus, &mut dice)).into_owned();
        let lines = classified(&driver, &text, None);
        let numbers: BTreeSet<u32> = lines.iter().map(|line| line.line).collect();
        assert_eq!(numbers.len(), lines.len(), "{text}");
        let counted = text
            .lines()
            .filter(|line| line.contains(char::is_alphanumeric));
        assert_eq!(counted.count(), lines.len(), "{text}");
        let counts = ClassCounts::of(&lines);
        let sum: usize = LineClass::ALL
            .iter()
            .map(|class| counts.count(*class))
            .sum();
        assert_eq!(sum, lines.len());
        assert_eq!(counts.total(), lines.len());
        assert!(counts.covered() <= counts.written());
        let uncovered: usize = constructs::of_device(&lines).values().sum();
        assert_eq!(uncovered, counts.written() - counts.covered());
        for line in &lines {
            // A pattern excludes lines of types and others.
            if line.class != LineClass::Excluded {
                let has_type = !matches!(line.class, LineClass::Generated | LineClass::NotCovered);
                assert_eq!(line.type_name.is_some(), has_type, "{line:?}");
            }
            assert!(
                !line
                    .type_name
                    .as_ref()
                    .is_some_and(|own| line.also.contains(own))
            );
        }
    }
}
