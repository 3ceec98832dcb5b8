//! Hostile catalogs: loading and validating gives an error that can be printed, in bounded time and
//! memory, and never a panic.
//!
//! Mutated catalogs are made from `tests/fixtures/hostile` and the recorded catalogs.
//! `SWITCHTENDER_MUTATIONS` is the number of mutated inputs of all kinds; without it a sample runs.

use std::path::{Path, PathBuf};

use switchtender::diagnostic::json;
use switchtender::diagnostic::terminal::{RenderOptions, render_all};
use switchtender_devices::driver::Registry;
use switchtender_mutation::{Campaign, smallest};
use test_support::safe_output::findings;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn recorded() -> Vec<Vec<u8>> {
    let mut corpus: Vec<_> = ["puppetserver/catalogs", "hostile"]
        .iter()
        .flat_map(|part| std::fs::read_dir(fixtures().join(part)).expect("fixtures"))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    corpus.sort();
    corpus
        .iter()
        .map(|path| std::fs::read(path).expect("readable"))
        .collect()
}

#[test]
fn damaged_catalog_has_a_message_for_each_kind() {
    let resource = |rest: &str| {
        format!(
            r#"{{"name": "n", "catalog_format": 2, "resources": [{{"type": "Network_vlan",
            "title": "40", "kind": "compilable_type"{rest}}}]}}"#
        )
        .into_bytes()
    };
    let nested = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("no bytes", vec![], "catalog-syntax"),
        (
            "no UTF-8",
            b"{\"name\": \"\xff\"}".to_vec(),
            "catalog-encoding",
        ),
        (
            "a cut file",
            b"{\"name\": \"n\", \"resources\": [{\"ty".to_vec(),
            "catalog-syntax",
        ),
        ("a page", b"<html>503</html>".to_vec(), "catalog-syntax"),
        ("a list", b"[]".to_vec(), "catalog-syntax"),
        (
            "deep nesting",
            resource(&format!(r#", "parameters": {{"vlan_name": {nested}}}"#)),
            "catalog-syntax",
        ),
        (
            "a number out of range",
            resource(r#", "parameters": {"vlan_name": 1e999}"#),
            "catalog-syntax",
        ),
        (
            "a negative line",
            resource(r#", "file": "x", "line": -1"#),
            "catalog-syntax",
        ),
        (
            "a huge number",
            resource(r#", "parameters": {"shutdown": 123456789012345678901234567890}"#),
            "invalid-value",
        ),
        (
            "a huge text",
            resource(&format!(
                r#", "parameters": {{"vlan_name": "{}"}}"#,
                "x".repeat(1 << 20)
            )),
            "invalid-value",
        ),
        (
            "a key that stands twice",
            resource(r#", "parameters": {"shutdown": true, "shutdown": false}"#),
            "duplicate-key",
        ),
        (
            "two names",
            b"{\"name\": \"a\", \"name\": \"b\"}".to_vec(),
            "catalog-syntax",
        ),
        (
            "rich data of no type",
            resource(r#", "parameters": {"vlan_name": {"__ptype": "Odd", "__pvalue": 1}}"#),
            "catalog-value",
        ),
        (
            "a container in itself",
            br#"{"name": "n", "catalog_format": 2,
                "resources": [{"type": "Class", "title": "a", "kind": "class"},
                              {"type": "Class", "title": "b", "kind": "class"}],
                "edges": [{"source": "Class[a]", "target": "Class[b]"},
                          {"source": "Class[b]", "target": "Class[a]"}]}"#
                .to_vec(),
            "cycle",
        ),
        (
            "terminal commands",
            resource(r#", "parameters": {"shutdown": "\u001b[2J"}"#),
            "invalid-value",
        ),
    ];
    let registry = Registry::shipped();
    for (name, bytes, code) in cases {
        let found = findings(bytes, &registry);
        let codes: Vec<&str> = found.iter().map(|found| found.code).collect();
        assert!(codes.contains(&code), "{name}: {codes:?}");
    }
}

#[test]
fn damaged_catalog_errors_do_not_contain_secrets() {
    let registry = Registry::shipped();
    let resource = r#"{"type":"Ntp_auth_key","title":"7","kind":"compilable_type","parameters":{"password":"pl4nted","x":{"__ptype":"Odd"}},"sensitive_parameters":["password"]}"#;
    let complete =
        format!(r#"{{"name":"n","catalog_format":2,"resources":[{resource},{resource}]}}"#);
    let cut = &complete[..complete.find("pl4nted").expect("there") + 12];
    // A secret that cannot be read, and another error.
    let unread = complete.replace("\"pl4nted\"", r#"{"__ptype":"Odd","__pvalue":"pl4nted"}"#);
    let by_model = unread.replace(
        r#","sensitive_parameters":["password"]"#,
        r#","tags":["a"]"#,
    );
    let beside = by_model.replace(r#""x":{"__ptype":"Odd"}"#, r#""require":"Ntp_server[x]""#);
    for text in [complete.as_str(), cut, &unread, &by_model, &beside] {
        let found = findings(text.as_bytes().to_vec(), &registry);
        let rendered = format!(
            "{}{}",
            render_all(&found, RenderOptions::PLAIN).as_str(),
            json::lines(&found)
        );
        assert!(
            !rendered.is_empty() && !rendered.contains("pl4nted"),
            "{rendered}"
        );
    }
}

/// A catalog with these resources as text.
fn catalog_of(resources: impl Iterator<Item = String>) -> Vec<u8> {
    let resources: Vec<String> = resources.collect();
    let all = resources.join(",");
    format!(r#"{{"name":"n","catalog_format":2,"resources":[{all}]}}"#).into_bytes()
}

/// Every repeated declaration is found, and the text of the findings grows as their number.
#[test]
fn many_duplicates_are_found_in_linear_size() {
    let registry = Registry::shipped();
    let size = |count: usize| {
        let resource = r#"{"type":"Network_vlan","title":"40","kind":"compilable_type"}"#;
        let bytes = catalog_of((0..count).map(|_| resource.to_owned()));
        let found = findings(bytes, &registry);
        let duplicates = found.iter().filter(|found| found.code == "duplicate");
        assert_eq!(duplicates.count(), count - 1);
        json::lines(&found).len()
    };
    let (small, large) = (size(2_000), size(20_000));
    assert!(large < 11 * small, "{small} bytes, then {large}");
}

#[test]
fn many_tags_are_read() {
    let tags: Vec<String> = (0..100_000)
        .map(|number| format!("\"t{number}\""))
        .collect();
    let text = format!(
        r#"{{"type":"Network_vlan","title":"40","kind":"compilable_type","tags":[{}]}}"#,
        tags.join(",")
    );
    let bytes = catalog_of(std::iter::once(text));
    let found = findings(bytes, &Registry::shipped());
    let messages: Vec<_> = found.into_iter().map(|found| found.message).collect();
    assert_eq!(messages, [""; 0]);
}

#[test]
fn mutations_of_catalogs_do_not_panic() {
    let registry = Registry::shipped();
    let campaign = Campaign {
        name: "catalogs",
        share: 150,
    };
    let (catalogs, tried) = campaign.run(&recorded(), |bytes| {
        let found = findings(bytes.to_vec(), &registry);
        !found.iter().any(|found| found.code == "catalog-syntax")
    });
    assert!(
        catalogs * 4 > tried,
        "too few get past the parser: {catalogs} of {tried}"
    );
}

#[test]
fn mutations_are_minimized() {
    let text = format!("{}needle{}", "x".repeat(3000), "y".repeat(3000));
    let small = smallest(text.as_bytes(), |bytes| {
        bytes.windows(6).any(|six| six == b"needle")
    });
    assert_eq!(small, b"needle");
}
