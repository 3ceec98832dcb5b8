//! `docs/reference/upstream-types.md`: what this program has of the types of Puppet modules.

use std::fmt::Write as _;
use std::path::Path;

use serde::Deserialize;
use switchtender_devices::driver::{Facts, Registry};
use toml::Table;

/// `docs/reference/upstream-types.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpstreamTypes {
    module: Vec<Module>,
    planned: Vec<PlannedModule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Module {
    name: String,
    version: String,
    platform: String,
    /// The names of attributes of each type.
    types: Table,
    /// The reason for each type and each `TYPE.ATTRIBUTE` that the platform does not have.
    #[serde(default)]
    missing: Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlannedModule {
    name: String,
    version: String,
    device: String,
    types: Vec<String>,
}

/// A type of a module.
struct TypeRow<'a> {
    name: &'a str,
    is_on_platform: bool,
    supported: Vec<&'a str>,
    /// What is not supported, with the reason.
    others: String,
}

#[test]
fn upstream_types_page_matches_the_definitions() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference");
    let data = std::fs::read_to_string(folder.join("upstream-types.toml")).unwrap();
    let page = page(&toml::from_str(&data).unwrap(), &Registry::shipped());
    let path = folder.join("upstream-types.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert!(
        std::fs::read_to_string(&path).unwrap_or_default() == page,
        "{} differs from the definitions; run the test with UPDATE_DOCS=1",
        path.display()
    );
}

fn page(upstream: &UpstreamTypes, registry: &Registry) -> String {
    let mut text = String::from(
        "# Types of Puppet modules\n\n\
         Types and attributes of the modules for network devices, and what Switchtender has of them. `upstream-types.toml` has\n\
         the names. The names of types, attributes and values and the defaults are those of the modules.\n\n\
         | state | meaning |\n|---|---|\n\
         | supported | read and written on the device |\n\
         | ignored with a warning | accepted in a catalog, with a warning and the reason |\n\
         | not supported | a resource that sets it is refused before the connection |\n\
         | planned | without a definition; a catalog with the type is refused |\n\n\
         A model of a device can exclude more attributes: `switchtender driver explain PLATFORM TYPE`.\n",
    );
    for module in &upstream.module {
        let rows: Vec<TypeRow<'_>> = module
            .types
            .iter()
            .map(|of_type| row(module, registry, of_type))
            .collect();
        add_module(&mut text, module, &rows);
    }
    text += "\n## Planned\n\n| module | device | types |\n|---|---|---|\n";
    for module in &upstream.planned {
        let (name, version, device) = (&module.name, &module.version, &module.device);
        let types = codes(module.types.iter().map(String::as_str));
        writeln!(text, "| {name} {version} | {device} | {types} |").unwrap();
    }
    text
}

fn add_module(text: &mut String, module: &Module, rows: &[TypeRow<'_>]) {
    let supported = rows.iter().map(|row| row.supported.len());
    let attributes = module.types.values().filter_map(toml::Value::as_array);
    writeln!(
        text,
        "\n## {} {} on {}\n\n{} of {} types and {} of {} attributes are supported.\n\n\
         | type | supported attributes | other attributes |\n|---|---|---|",
        module.name,
        module.version,
        module.platform,
        rows.iter().filter(|row| row.is_on_platform).count(),
        rows.len(),
        supported.sum::<usize>(),
        attributes.map(Vec::len).sum::<usize>(),
    )
    .unwrap();
    for row in rows {
        let name = if row.is_on_platform {
            format!("[`{0}`](types/{0}.md)", row.name)
        } else {
            code(row.name)
        };
        let supported = codes(row.supported.iter().copied());
        writeln!(text, "| {name} | {supported} | {} |", row.others).unwrap();
    }
}

fn row<'a>(
    module: &'a Module,
    registry: &Registry,
    (name, attributes): (&'a String, &'a toml::Value),
) -> TypeRow<'a> {
    let attributes = attributes.as_array().expect("a list of names").iter();
    let attributes = attributes.map(|name| name.as_str().expect("a name"));
    let missing = |key: &str| module.missing.get(key).and_then(toml::Value::as_str);
    let platform = registry.platform(&module.platform).expect(&module.platform);
    let Some(driver) = platform.type_driver(name.as_str()) else {
        let reason = missing(name).unwrap_or_else(|| panic!("`missing` has no reason for {name}"));
        let others = format!("{reason}: {}", codes(attributes));
        return TypeRow {
            name,
            is_on_platform: false,
            supported: Vec::new(),
            others,
        };
    };
    assert!(
        missing(name).is_none(),
        "`missing` has a reason for {name}, which is supported"
    );
    let model = registry.model(name).expect(name);
    let explanation = driver.choose(&Facts::default()).expect(name).explain();
    let mut supported = Vec::new();
    let mut others = Vec::new();
    for attribute in attributes {
        let key = format!("{name}.{attribute}");
        let explained = explanation
            .attributes
            .iter()
            .find(|one| one.name == attribute);
        let not_applied = explained.and_then(|explained| explained.not_applied.as_ref());
        match (
            model.attributes.contains_key(attribute),
            not_applied,
            missing(&key),
        ) {
            (true, None, None) => supported.push(attribute),
            (true, Some(not_applied), None) => others.push(format!("`{attribute}` {not_applied}")),
            (false, _, Some(reason)) => others.push(format!("`{attribute}` {reason}")),
            (false, _, None) => panic!("`missing` has no reason for {key}"),
            (true, _, Some(_)) => panic!("`missing` has a reason for {key}, which the model has"),
        }
    }
    TypeRow {
        name,
        is_on_platform: true,
        supported,
        others: others.join("; "),
    }
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

fn codes<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(code).collect::<Vec<_>>().join(", ")
}
