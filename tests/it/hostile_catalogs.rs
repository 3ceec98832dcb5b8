//! Damaged, truncated and absurd catalogs. Loading and validating returns
//! an error that can be shown, in bounded time and memory, and never a panic.
//!
//! Damaged catalogs are made from the corpus (`tests/fixtures/hostile` and the recorded catalogs),
//! as text and as JSON (values replaced, moved, renamed, repeated, taken from another catalog), the
//! same ones in every run. `SWITCHTENDER_FUZZ_SECONDS` sets for how long; without it a few are
//! tried. One that fails is made small, printed, and belongs into the corpus.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use switchtender::diagnostic::json;
use switchtender::diagnostic::terminal::{RenderOptions, render_all};
use switchtender_devices::driver::Registry;

use test_support::corrupt::{Dice, damaged, smallest};
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
    let whole = format!(r#"{{"name":"n","catalog_format":2,"resources":[{resource},{resource}]}}"#);
    let cut = &whole[..whole.find("pl4nted").expect("there") + 12];
    // A secret that cannot be read, and another error.
    let unread = whole.replace("\"pl4nted\"", r#"{"__ptype":"Odd","__pvalue":"pl4nted"}"#);
    let by_model = unread.replace(
        r#","sensitive_parameters":["password"]"#,
        r#","tags":["a"]"#,
    );
    let beside = by_model.replace(r#""x":{"__ptype":"Odd"}"#, r#""require":"Ntp_server[x]""#);
    for text in [whole.as_str(), cut, &unread, &by_model, &beside] {
        let found = findings(text.as_bytes().to_vec(), &registry);
        let shown = format!(
            "{}{}",
            render_all(&found, RenderOptions::PLAIN),
            json::lines(&found)
        );
        assert!(!shown.is_empty() && !shown.contains("pl4nted"), "{shown}");
    }
}

#[test]
fn damaged_catalogs_do_not_panic_or_change_devices() {
    const FEW: usize = 150;
    let limit = std::env::var("SWITCHTENDER_FUZZ_SECONDS")
        .ok()
        .map(|text| Duration::from_secs(text.parse().expect("a number of seconds")));
    let begun = Instant::now();
    let (mut tried, mut catalogs) = (0, 0);
    let more = |tried| match limit {
        Some(limit) => begun.elapsed() < limit,
        None => tried < FEW,
    };
    let corpus = recorded();
    let registry = Registry::shipped();
    let harmless = |bytes: &[u8]| {
        let bytes = bytes.to_vec();
        catch_unwind(AssertUnwindSafe(|| findings(bytes, &registry)))
    };
    let mut dice = Dice(0x5117_c4fe_0bad_cafe);
    while more(tried) {
        tried += 1;
        let bytes = damaged(&corpus, &mut dice);
        match harmless(&bytes) {
            Ok(found) => {
                let syntax = found.iter().any(|found| found.code == "catalog-syntax");
                catalogs += usize::from(!syntax);
            }
            Err(_) => {
                // It joins the corpus, so that it is tried first from now on.
                let small = smallest(&bytes, |bytes| harmless(bytes).is_err());
                let path = fixtures().join(format!("hostile/found-{tried}.json"));
                std::fs::write(&path, &small).expect("written");
                panic!(
                    "damaged catalog {tried} does harm; kept in {}:\n{}",
                    path.display(),
                    String::from_utf8_lossy(&small)
                );
            }
        }
    }
    println!(
        "{tried} damaged catalogs tried in {:.1} s, from {} whole ones; {catalogs} were catalogs",
        begun.elapsed().as_secs_f64(),
        corpus.len()
    );
    assert!(
        catalogs * 4 > tried,
        "too few get past the parser: {catalogs} of {tried}"
    );
}

#[test]
fn damaged_catalogs_of_the_corpus_do_not_panic() {
    let registry = Registry::shipped();
    for bytes in recorded() {
        findings(bytes, &registry);
    }
}

#[test]
fn damaged_catalogs_are_minimized() {
    let text = format!("{}needle{}", "x".repeat(3000), "y".repeat(3000));
    let small = smallest(text.as_bytes(), |bytes| {
        bytes.windows(6).any(|six| six == b"needle")
    });
    assert_eq!(small, b"needle");
}
