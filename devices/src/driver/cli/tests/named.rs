//! Instances of lines that have the names at any position.

use switchtender_outline::NegativeForm;

use super::{PLATFORM, desired, driver_of, files_of, render_all};
use crate::driver::Registry;
use crate::read::Reads;

const MODEL: &str = r#"
ensurable = true
[attr.name]
role = "namevar"
[attr.tag]
values = [{ name = "tag", integer = [1, 4094] }]
[attr.routed]
values = [true, false]
"#;

const LINES: &str = r#"
unsupported = ["routed"]
[instance]
from   = "config"
named  = true
create = "create vlan {name}"
remove = "delete vlan {name}"
[attr.tag]
line = "configure vlan {name} tag {tag}"
"#;

/// Two types may have lines of one instance, and instances do not conflict.
#[test]
fn setting_of_a_line_has_the_names() {
    let (registry, driver) = driver_of(MODEL, LINES);
    let slots = driver.effect_slots(registry.model("thing").unwrap());
    let slot = slots.iter().find(|slot| slot.attribute == "tag").unwrap();
    assert_eq!(slot.what, "configure vlan {name} tag");
    let desired = desired(&registry, &[("name", "users".into()), ("tag", 10.into())]);
    let effects = driver.effects(&desired, &["tag"]);
    assert_eq!(effects[0].what, "configure vlan users tag");
}

/// The mock prints the line that a device prints: the one for the value that is not the default.
#[test]
fn outline_has_the_line_that_is_no_default() {
    for (routed, expected) in [
        (
            "set.true = \"routing\"\nset.false = \"no routing\"\nabsent = true",
            NegativeForm::OnlyPrinted,
        ),
        (
            "set.true = \"routing\"\nset.false = \"no routing\"\nabsent = false",
            NegativeForm::Absent,
        ),
        (
            "set.true = \"routing\"\nset.false = \"no routing\"",
            NegativeForm::Printed,
        ),
        (
            "set.true = \"no off\"\nset.false = \"off\"\nabsent = false",
            NegativeForm::OnlyPrinted,
        ),
        (
            "line = \"routing\"\nabsent = true",
            NegativeForm::OnlyPrinted,
        ),
    ] {
        let text = format!(
            "unsupported = [\"tag\"]\n[instance]\nfrom = \"config\"\nblock = \"x {{name}}\"\n[attr.routed]\n{routed}\n"
        );
        let platform = PLATFORM.replace("config_mode = \"exec\"\n", "").replace(
            "[mode.exec]",
            "config_mode = \"config\"\nsub_mode = \"sub\"\n[mode.config]\nprompt = '\\S+\\(c\\)#'\n[mode.sub]\nprompt = '\\S+\\(s\\)#'\n[mode.exec]",
        );
        let registry = Registry::from_files(&[], &files_of(&platform, MODEL, &text))
            .unwrap_or_else(|found| panic!("{}", render_all(&found)));
        let platform = registry.platform("box").unwrap();
        let outline = platform
            .command_line_outline("box", &Reads::default())
            .unwrap();
        let lines = outline
            .command_line
            .shapes
            .iter()
            .filter(|line| !line.is_header);
        let forms: Vec<NegativeForm> = lines.map(|line| line.negative).collect();
        assert_eq!(forms, [expected], "{routed}");
    }
}
