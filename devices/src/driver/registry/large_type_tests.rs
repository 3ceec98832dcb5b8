//! Types of `tests/fixtures/definitions`, most of them with dozens of attributes as in modules of Puppet:
//! each validates beside the examples and passes its self-tests.

use std::collections::BTreeSet;
use std::path::Path;

use crate::definitions;
use crate::diagnostic::Severity;
use crate::driver::Registry;

const TYPES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/definitions");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/definitions");

#[test]
fn large_types_validate_and_pass_their_tests() {
    let types = definitions::from_directory(Path::new(TYPES)).unwrap();
    let examples = definitions::from_directory(Path::new(EXAMPLES)).unwrap();
    let own: BTreeSet<String> = types.iter().map(|file| file.path.clone()).collect();
    let registry = match Registry::load(&[types, examples].concat()) {
        Ok(registry) => registry,
        Err(findings) => panic!("{findings:#?}"),
    };
    let mut failures = String::new();
    for finding in registry.check() {
        let file = finding
            .labels
            .first()
            .map(|label| label.source.name.as_str());
        if finding.severity == Severity::Error {
            failures += &format!("{}: {}\n", file.unwrap_or_default(), finding.message);
        }
    }
    let mut count = 0;
    for result in registry.test(None) {
        if own.contains(&format!("{}.toml", result.definition)) {
            count += 1;
        }
        if let Some(failure) = &result.failure {
            failures += &format!("{}: {}: {failure}\n", result.definition, result.name);
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count > 20, "{count} tests of {own:?}");
}
