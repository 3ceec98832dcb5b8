//! Dependencies follow `deny.toml`, and none is unused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The packages of `cargo metadata` for the targets of `deny.toml`.
fn metadata(rules: &toml::Table) -> Value {
    let mut command = Command::new(env!("CARGO"));
    command.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    for target in list(&rules["graph"]["targets"]) {
        command.args(["--filter-platform", target.as_str().expect("a target")]);
    }
    let output = command.output().expect("cargo starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn rules() -> toml::Table {
    fs::read_to_string("deny.toml")
        .expect("deny.toml is there")
        .parse()
        .expect("TOML")
}

fn list(value: &toml::Value) -> &[toml::Value] {
    value.as_array().expect("a list")
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().expect("packages")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[test]
fn dependency_licenses_are_allowed() {
    let rules = rules();
    let allowed: BTreeSet<&str> = list(&rules["licenses"]["allow"])
        .iter()
        .filter_map(toml::Value::as_str)
        .collect();
    let metadata = metadata(&rules);
    let mode = spdx::ParseMode {
        allow_slash_as_or_operator: true,
        ..spdx::ParseMode::STRICT
    };
    for package in packages(&metadata) {
        let license = text(&package["license"]);
        let name = text(&package["name"]);
        let expression = spdx::Expression::parse_mode(license, mode)
            .unwrap_or_else(|error| panic!("{name}: {license:?}: {error}"));
        let is_allowed =
            |requirement: &spdx::LicenseReq| allowed.contains(requirement.to_string().as_str());
        assert!(expression.evaluate(is_allowed), "{name}: {license}");
    }
}

#[test]
fn dependencies_are_not_banned_and_have_one_version() {
    let rules = rules();
    let metadata = metadata(&rules);
    let bans = &rules["bans"];
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in packages(&metadata) {
        let found = versions.entry(text(&package["name"])).or_default();
        found.insert(format!("={}", text(&package["version"])));
    }
    for banned in list(&bans["deny"]) {
        let name = banned["name"].as_str().expect("a name");
        assert!(!versions.contains_key(name), "{name} is banned");
    }
    assert_eq!(bans["multiple-versions"].as_str(), Some("deny"));
    for skipped in list(&bans["skip"]) {
        let name = skipped["name"].as_str().expect("a name");
        let version = skipped["version"].as_str().expect("a version");
        let removed = versions
            .get_mut(name)
            .is_some_and(|all| all.remove(version));
        assert!(
            removed,
            "{name} {version} is gone: delete it from deny.toml"
        );
    }
    versions.retain(|_, versions| versions.len() > 1);
    assert!(versions.is_empty(), "more than one version: {versions:?}");
}

#[test]
fn dependencies_come_from_allowed_sources() {
    let rules = rules();
    let sources = &rules["sources"];
    for unknown in ["unknown-registry", "unknown-git"] {
        assert_eq!(sources[unknown].as_str(), Some("deny"));
    }
    let allowed: Vec<String> = list(&sources["allow-registry"])
        .iter()
        .map(|url| format!("registry+{}", url.as_str().expect("an address")))
        .collect();
    let metadata = metadata(&rules);
    for package in packages(&metadata) {
        // A package without a source is a member of the workspace.
        if let Some(source) = package["source"].as_str() {
            let name = text(&package["name"]);
            assert!(allowed.iter().any(|one| one == source), "{name}: {source}");
        }
    }
}

#[test]
fn dependencies_are_used() {
    let metadata = metadata(&rules());
    let mut used = BTreeSet::new();
    let mut unused = Vec::new();
    for package in packages(&metadata) {
        if !package["source"].is_null() {
            continue;
        }
        let mut sources: BTreeMap<&str, String> = BTreeMap::new();
        for target in package["targets"].as_array().expect("targets") {
            let kind = match text(&target["kind"][0]) {
                "lib" | "bin" => "product",
                _ => "dev",
            };
            let folder = Path::new(text(&target["src_path"])).parent();
            let folder = folder.expect("a source is in a folder");
            super::tidy::for_each_source(folder, &mut |source| {
                *sources.entry(kind).or_default() += source;
            });
        }
        let product = sources.remove("product").unwrap_or_default();
        let all = format!("{product}{}", sources.remove("dev").unwrap_or_default());
        for dependency in package["dependencies"].as_array().expect("a list") {
            let name = dependency["rename"].as_str();
            let name = name.unwrap_or(text(&dependency["name"]));
            let code = if dependency["kind"].is_null() {
                &product
            } else {
                &all
            };
            used.insert(text(&dependency["name"]).to_owned());
            let name = name.replace('-', "_");
            let pattern = format!(r"\b{name}(::|;| as )");
            if !regex::Regex::new(&pattern)
                .expect("a pattern")
                .is_match(code)
            {
                unused.push(format!("{}: {name}", text(&package["name"])));
            }
        }
    }
    let manifest = fs::read_to_string("Cargo.toml").expect("Cargo.toml");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let shared = manifest["workspace"]["dependencies"].as_table();
    let shared = shared.expect("a table").keys();
    unused.extend(
        shared
            .filter(|name| !used.contains(*name))
            .map(|name| format!("workspace: {name}")),
    );
    assert!(unused.is_empty(), "unused dependencies: {unused:#?}");
}

#[test]
fn dependencies_are_sorted() {
    let is_dependencies = |line: &str| line.starts_with('[') && line.ends_with("dependencies]");
    for manifest in [
        "",
        "devices/",
        "mocks/",
        "outline/",
        "tests/mutation/",
        "tests/support/",
    ] {
        let text = fs::read_to_string(format!("{manifest}Cargo.toml")).expect("a manifest");
        for section in text
            .split("\n\n")
            .filter(|section| section.lines().next().is_some_and(is_dependencies))
        {
            let names = section.lines().skip(1);
            let names = names.filter(|line| !line.starts_with('#'));
            let names = names.map(|line| line.split(['.', ' ']).next().unwrap_or_default());
            assert!(names.is_sorted(), "{manifest}Cargo.toml: {section}");
        }
    }
}
