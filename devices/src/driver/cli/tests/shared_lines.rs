//! Lines that two types read.

use super::files;
use crate::definitions::DefinitionFile;
use crate::driver::{Driver, Facts, Registry};
use crate::read::Reads;

const SHORT: &str = "[attr.name]\nrole = \"namevar\"\n[attr.label]\nvalues = [\"unset\", { name = \"text\", pattern = '.{1,4}' }]\n";

const LONG: &str = "schema = 1\ntype = \"other\"\ndoc = \"x\"\n[attr.name]\nrole = \"namevar\"\n[attr.label]\nvalues = [\"unset\", { name = \"text\", pattern = '.+' }]\n";

const IMPLEMENTATION: &str = r#"
[instance]
from = "config"
block = "port {name}"
[attr.label]
line = "label {label:rest}"
absent = "unset"
"#;

/// The text is too long for one of the types. Its value is then unknown, and not that of a missing line.
#[test]
fn value_that_only_another_type_understands_is_unknown() {
    let header = "schema = 1\nplatform = \"box\"\ntype = \"other\"\n";
    let own = [
        DefinitionFile::new("models/other.toml", LONG),
        DefinitionFile::new("box/other.toml", format!("{header}{IMPLEMENTATION}")),
    ];
    let registry = Registry::from_files(&files(SHORT, IMPLEMENTATION), &own).unwrap();
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    let mut reads = Reads::default();
    reads.insert(
        "config".to_owned(),
        "port 1\n label abcd\nport 2\n label abcde\n".to_owned(),
    );
    let state = driver.platform().parse(&reads).unwrap();
    let listed = |type_name: &str| -> Vec<String> {
        let model = registry.model(type_name).unwrap();
        let found = driver.not_understood(&[model], &state);
        assert!(found.iter().all(|one| one.hides_value()));
        found.iter().map(ToString::to_string).collect()
    };
    assert_eq!(listed("thing"), ["port 2 / label abcde"]);
    assert_eq!(listed("other"), [""; 0]);
}
