//! What no case file says of definitions of command lines.

mod growth;
mod instance_keys;
mod lines;
mod named;
mod number_sets;
mod overrides;
mod positions;
mod rows_of_two_types;
mod shared_lines;
mod unknown_values;
mod write_only;

use std::sync::Arc;

use crate::change::Desired;
use crate::definitions::DefinitionFile;
use crate::diagnostic::Diagnostic;
use crate::driver::{Driver, Facts, Registry};
use crate::read::{Reads, State};
use crate::value::{Attributes, Value};

const PLATFORM: &str = include_str!("../tests/command_line/platform.toml");

fn files(model: &str, implementation: &str) -> Vec<DefinitionFile> {
    files_of(PLATFORM, model, implementation)
}

fn files_of(platform: &str, model: &str, implementation: &str) -> Vec<DefinitionFile> {
    let model = format!("schema = 1\ntype = \"thing\"\ndoc = \"x\"\n{model}");
    let implementation =
        format!("schema = 1\nplatform = \"box\"\ntype = \"thing\"\n{implementation}");
    vec![
        DefinitionFile::new("models/thing.toml", model),
        DefinitionFile::new("box/platform.toml", platform),
        DefinitionFile::new("box/thing.toml", implementation),
    ]
}

fn render_all(findings: &[Diagnostic]) -> String {
    let lines = findings.iter().map(|finding| match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn driver_of(model: &str, implementation: &str) -> (Registry, Driver) {
    let registry = Registry::from_files(&[], &files(model, implementation))
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let driver = Driver::new(registry.platform("box").unwrap(), &Facts::default());
    (registry, driver)
}

fn state(driver: &Driver, config: &str) -> State {
    let reads = Reads::from_iter([("config".to_owned(), config.to_owned())]);
    driver.platform().parse(&reads).unwrap()
}

fn desired(registry: &Registry, supplied: &[(&str, Value)]) -> Desired {
    desired_of(registry, "thing", supplied)
}

fn desired_of(registry: &Registry, type_name: &str, supplied: &[(&str, Value)]) -> Desired {
    let model = registry.model(type_name).unwrap();
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
