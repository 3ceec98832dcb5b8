//! Catalogs that a real Puppet server sent load, or fail with the right message.

use std::fs;
use std::path::Path;

use switchtender::catalog::{self, Catalog, LoadError, Loading};

fn load(name: &str) -> Result<Catalog, LoadError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/puppetserver/catalogs")
        .join(name);
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    catalog::load(&catalog::source(name, bytes)?, &Loading::default())
}

#[test]
fn recorded_catalogs_load() {
    let expected = [
        ("sw1.json", 33),
        ("lb1.json", 15),
        ("mixed1.json", 18),
        ("meta1.json", 18),
        ("rich1.json", 8),
        ("rich1_plain_json.json", 8),
        ("rich1.pson", 8),
        ("titles1.json", 14),
        ("cycle1.json", 8),
        ("failing1.json", 7),
        ("bench1.json", 24),
        ("other.json", 5),
        ("sw2.json", 6),
        ("sw2_environment_mismatch.json", 0),
    ];
    for (name, resources) in expected {
        let catalog = load(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(catalog.resources.len(), resources, "{name}");
    }
}

#[test]
fn recorded_error_of_a_wrong_environment_names_the_right_one() {
    let catalog = load("sw2_environment_mismatch.json").unwrap();
    assert_eq!(catalog.environment.as_deref(), Some("staging"));
    assert_eq!(catalog.version, None);
}
