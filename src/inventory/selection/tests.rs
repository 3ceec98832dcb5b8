//! Tests of expressions.

use super::*;

struct LabeledSubject {
    name: &'static str,
    labels: &'static [(&'static str, &'static str)],
}

impl Selectable for LabeledSubject {
    fn names(&self) -> [&str; 2] {
        [self.name, self.name]
    }

    fn label(&self, key: &str) -> Option<&str> {
        let mut labels = self.labels.iter();
        labels
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    }
}

const DEVICES: [LabeledSubject; 5] = [
    LabeledSubject {
        name: "sw1",
        labels: &[("role", "access"), ("site", "berlin")],
    },
    LabeledSubject {
        name: "sw2",
        labels: &[("role", "access"), ("site", "bonn"), ("note", "a, b = c")],
    },
    LabeledSubject {
        name: "sw10",
        labels: &[("role", "core"), ("site", "bonn")],
    },
    LabeledSubject {
        name: "lb1",
        labels: &[("role", "balancer"), ("rack", "")],
    },
    LabeledSubject {
        name: "in",
        labels: &[],
    },
];

#[test]
fn expressions_select_by_name_and_label() {
    let cases: [(&str, &[&str]); 26] = [
        ("sw1", &["sw1"]),
        ("sw1,lb1", &["sw1", "lb1"]),
        ("sw*", &["sw1", "sw2", "sw10"]),
        ("sw[1-2]", &["sw1", "sw2"]),
        ("sw[1-2,10], lb?", &["sw1", "sw2", "sw10", "lb1"]),
        ("sw{1,10}", &["sw1", "sw10"]),
        ("!sw1", &["sw2", "sw10", "lb1", "in"]),
        ("sw*, !sw1", &["sw2", "sw10"]),
        ("! sw[1-2] , sw*", &["sw10"]),
        ("[!s]*", &["lb1", "in"]),
        ("role=access", &["sw1", "sw2"]),
        ("role == access", &["sw1", "sw2"]),
        ("role in (access, core)", &["sw1", "sw2", "sw10"]),
        ("role in (access,core), site != berlin", &["sw2", "sw10"]),
        // As in Kubernetes, a device without the label is selected.
        ("site != berlin", &["sw2", "sw10", "lb1", "in"]),
        ("site notin (berlin, bonn)", &["lb1", "in"]),
        ("sw1, lb1, site = berlin", &["sw1"]),
        ("site = b*", &["sw1", "sw2", "sw10"]),
        ("site = *", &["sw1", "sw2", "sw10"]),
        ("site != *", &["lb1", "in"]),
        ("rack=", &["lb1"]),
        ("note = 'a, b = c'", &["sw2"]),
        ("note in (\"a, b = c\")", &["sw2"]),
        ("'sw*'", &[]),
        ("in", &["in"]),
        ("in, sw1", &["sw1", "in"]),
    ];
    for (text, expected) in cases {
        let selection = DeviceSelection::parse(text).unwrap();
        let selected = DEVICES.iter().filter(|device| selection.matches(*device));
        let names: Vec<&str> = selected.map(|device| device.name).collect();
        assert_eq!(names, expected, "{text}");
    }
}

#[test]
fn several_expressions_are_one() {
    let texts = ["sw1", "sw10", "!sw2", "role in (access, core)"].map(str::to_owned);
    let selection = DeviceSelection::parse_all(&texts).unwrap();
    let selected = DEVICES.iter().filter(|device| selection.matches(*device));
    let names: Vec<&str> = selected.map(|device| device.name).collect();
    assert_eq!(names, ["sw1", "sw10"]);
    assert!(selection.is_named(&DEVICES[0]));
    assert!(!selection.is_named(&DEVICES[1]));
}

#[test]
fn syntax_errors_have_their_position() {
    let cases = [
        (
            "",
            "expected a name of a device or a label, at character 1 of ``",
        ),
        (
            "sw1,",
            "expected a name of a device or a label, at character 5 of `sw1,`",
        ),
        (
            "sw1 sw2",
            "expected `,`, `=`, `!=`, `in` or `notin`, at character 5 of `sw1 sw2`",
        ),
        (
            "größe in access",
            "expected `(` after `in`, at character 10 of `größe in access`",
        ),
        (
            "role in (access core)",
            "expected `,` or `)`, at character 17 of `role in (access core)`",
        ),
        (
            "role in (access",
            "expected `,` or `)`, at character 16 of `role in (access`",
        ),
        (
            "site = b c",
            "expected `,`, at character 10 of `site = b c`",
        ),
        (
            "sw*, !role=access",
            "`!` excludes names: write `KEY != VALUE` or `KEY notin (VALUE, …)`, at character 6 of `sw*, !role=access`",
        ),
        (
            "(sw1)",
            "expected a name of a device or a label, at character 1 of `(sw1)`",
        ),
        (
            "sw1 = 'a",
            "the quotation mark is not closed, at character 7 of `sw1 = 'a`",
        ),
        (
            "a, sw[1",
            "`sw[1` is not a pattern: unclosed character class; missing ']', at character 4 of `a, sw[1`",
        ),
    ];
    for (text, expected) in cases {
        let error = DeviceSelection::parse(text).expect_err(text);
        assert_eq!(error.to_string(), expected);
    }
}
