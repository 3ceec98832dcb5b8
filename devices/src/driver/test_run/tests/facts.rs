//! Facts of Cisco IOS in the forms that releases print.

use crate::driver::Registry;
use crate::read::Reads;

#[test]
fn facts_are_read_from_the_forms_of_several_releases() {
    // (output of `show version`, facts)
    let cases: [(&str, &[(&str, &str)]); 4] = [
        (
            "Cisco CISCO1941/K9 (revision 1.0) with 491520K/32768K bytes of memory.\n\
             Processor board ID FTX1410A1B2\n",
            &[
                ("hardwaremodel", "CISCO1941/K9"),
                ("model", "1941"),
                ("serialnumber", "FTX1410A1B2"),
            ],
        ),
        (
            "Cisco IOSv (revision 1.0) with 460137K/62464K bytes of memory.\n",
            &[("hardwaremodel", "IOSv")],
        ),
        (
            "cisco WS-C3750G-24TS-1U (PowerPC405) processor (revision B0) with 131072K bytes of memory.\n\
             Processor board ID 15897747, with hardware revision 0000\n",
            &[
                ("hardwaremodel", "WS-C3750G-24TS-1U"),
                ("model", "3750"),
                ("serialnumber", "15897747"),
            ],
        ),
        (
            "IOS (tm) s72033_rp Software (s72033_rp-IPSERVICESK9-M), Version 12.2(17d)SXB1, RELEASE\n",
            &[("operatingsystemrelease", "12.2(17d)SXB1")],
        ),
    ];
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    for (text, expected) in cases {
        let facts = platform.facts(&Reads::from_iter([("version".to_owned(), text.to_owned())]));
        for (name, value) in expected {
            assert_eq!(
                facts.get(*name).map(String::as_str),
                Some(*value),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn facts_are_read_from_saved_configurations() {
    let oxidized = "! Cisco IOS Software, C2960X Software (C2960X-UNIVERSALK9-M), Version 15.2(7)E3\n\
                    ! Image: Software: C2960X-UNIVERSALK9-M, 15.2(7)E3, RELEASE SOFTWARE (fc2)\n\
                    ! Chassis type: WS-C2960X-48FPD-L\n! Processor ID: FOC1234ABCD\n!\nversion 15.2\nhostname sw1\n";
    let rancid = "!RANCID-CONTENT-TYPE: cisco\n!\n!Chassis type: WS-C3560-24TS\n!Processor ID: FDO1\n!\n\
                  !Image: Software: C3560-IPBASE-M, 12.2(25)SEE2, RELEASE SOFTWARE (fc1)\n!\nversion 12.2\nhostname sw2\n";
    let printed = "version 16.12\nhostname sw3\nlicense udi pid C9300-48P sn FOC2\nswitch 1 provision c9300-48p\n";
    // (configuration, facts)
    let cases: [(&str, &[(&str, &str)]); 3] = [
        (
            oxidized,
            &[
                ("hostname", "sw1"),
                ("hardwaremodel", "WS-C2960X-48FPD-L"),
                ("model", "2960"),
                ("serialnumber", "FOC1234ABCD"),
                ("operatingsystemrelease", "15.2(7)E3"),
                ("os.family", "Cisco IOS Software, C2960X Software"),
            ],
        ),
        (
            rancid,
            &[
                ("hostname", "sw2"),
                ("model", "3560"),
                ("serialnumber", "FDO1"),
                ("operatingsystemrelease", "12.2(25)SEE2"),
            ],
        ),
        (
            printed,
            &[
                ("hostname", "sw3"),
                ("hardwaremodel", "C9300-48P"),
                ("model", "9300"),
                ("serialnumber", "FOC2"),
                ("operatingsystemrelease", "16.12"),
            ],
        ),
    ];
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    for (text, expected) in cases {
        let facts = platform.facts(&Reads::from_iter([("config".to_owned(), text.to_owned())]));
        for (name, value) in expected {
            assert_eq!(
                facts.get(*name).map(String::as_str),
                Some(*value),
                "{name}: {text}"
            );
        }
    }
}

#[test]
fn serial_numbers_are_those_of_all_members_of_a_stack() {
    // (output of `show version`, numbers)
    let cases: [(&str, &[&str]); 4] = [
        ("Processor board ID FTX1410A1B2\n", &["FTX1410A1B2"]),
        (
            "Processor board ID 15897747, with hardware revision 0000\n",
            &["15897747"],
        ),
        (
            "Processor board ID FDO1415X0ZL\n\
             System serial number            : FDO1415X0ZL\n\n\
             Switch 02\n---------\n\
             Model number                    : WS-C3750X-48P\n\
             System serial number            : FDO1416Z0YC\n",
            &["FDO1415X0ZL", "FDO1415X0ZL", "FDO1416Z0YC"],
        ),
        ("Cisco IOSv (revision 1.0)\n", &[]),
    ];
    let registry = Registry::shipped();
    let platform = registry.platform("cisco_ios").unwrap();
    for (text, expected) in cases {
        let reads = Reads::from_iter([("version".to_owned(), text.to_owned())]);
        assert_eq!(platform.serial_numbers(&reads), expected, "{text}");
    }
}
