//! Catalogs that nobody would send on purpose: damaged, cut, absurd. Loading and validating gives
//! an error that can be shown, in bounded time and memory, and never a panic.
//!
//! Damaged catalogs are made from the corpus (`tests/fixtures/hostile` and the recorded catalogs),
//! the same ones in every run. `SWITCHTENDER_FUZZ_SECONDS` sets for how long; without it a few are
//! tried.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use switchtender::catalog::{Loading, load, source};
use switchtender::diagnostic::terminal::{Look, render_all};
use switchtender::diagnostic::{Diagnostic, json, sarif};
use switchtender::validate::{Policy, Routing, catalog};
use switchtender_devices::driver::Registry;

/// Everything that is found in these bytes, rendered in every way.
fn findings(bytes: Vec<u8>, registry: &Registry) -> Vec<Diagnostic> {
    let loaded = source("c.json", bytes).and_then(|source| load(&source, &Loading::default()));
    let found = match loaded {
        Err(error) => {
            assert!(!error.diagnostics.is_empty(), "{}", error.message);
            error.diagnostics
        }
        Ok(loaded) => {
            let routing = Routing {
                platform: Some("cisco_ios"),
                ..Routing::default()
            };
            let side = routing.side(&loaded, registry, &Default::default());
            catalog(&loaded, registry, &side, &Policy::default())
        }
    };
    let shown = render_all(&found, Look::PLAIN);
    assert!(!shown.contains('\u{1b}'));
    let longest = shown.lines().map(str::len).max().unwrap_or(0);
    assert!(longest < 10_000, "a line of {longest} bytes");
    json::lines(&found);
    sarif::render(&found, &[]);
    found
}

fn recorded() -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut corpus: Vec<_> = ["puppetserver/catalogs", "hostile"]
        .iter()
        .flat_map(|part| std::fs::read_dir(directory.join(part)).expect("fixtures"))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    corpus.sort();
    corpus
        .iter()
        .map(|path| std::fs::read(path).expect("readable"))
        .collect()
}

#[test]
fn each_kind_of_damage_has_its_message() {
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
fn a_catalog_that_does_not_load_shows_no_secret() {
    let registry = Registry::shipped();
    let resource = r#"{"type":"Ntp_auth_key","title":"7","kind":"compilable_type","parameters":{"password":"pl4nted","x":{"__ptype":"Odd"}},"sensitive_parameters":["password"]}"#;
    let whole = format!(r#"{{"name":"n","catalog_format":2,"resources":[{resource},{resource}]}}"#);
    let cut = &whole[..whole.find("pl4nted").expect("there") + 12];
    for text in [whole.as_str(), cut] {
        let found = findings(text.as_bytes().to_vec(), &registry);
        let shown = format!("{}{}", render_all(&found, Look::PLAIN), json::lines(&found));
        assert!(!shown.is_empty() && !shown.contains("pl4nted"), "{shown}");
    }
}

/// Numbers that look random and are the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % (end.max(1) as u64)).expect("below a usize")
    }
}

#[test]
fn damaged_catalogs_never_do_harm() {
    const PIECES: [&[u8]; 16] = [
        b"{",
        b"}",
        b"[",
        b"]",
        b"\"",
        b",",
        b":",
        b"null",
        b"-1",
        b"1e308",
        b"\\u0000",
        b"\xff",
        b"[[[[[[[[",
        b"\"__ptype\":\"Deferred\",",
        b"Class[",
        b"]]",
    ];
    const FEW: usize = 150;
    let limit = std::env::var("SWITCHTENDER_FUZZ_SECONDS")
        .ok()
        .map(|text| Duration::from_secs(text.parse().expect("a number of seconds")));
    let begun = Instant::now();
    let mut tried = 0;
    let more = |tried| match limit {
        Some(limit) => begun.elapsed() < limit,
        None => tried < FEW,
    };
    let corpus = recorded();
    let registry = Registry::shipped();
    let mut dice = Dice(0x5117_c4fe_0bad_cafe);
    while more(tried) {
        tried += 1;
        let mut bytes = corpus[dice.below(corpus.len())].clone();
        for _ in 0..=dice.below(4) {
            let at = dice.below(bytes.len());
            match dice.below(6) {
                0 => bytes.truncate(at),
                1 => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << dice.below(8);
                    }
                }
                2 => {
                    let piece = PIECES[dice.below(PIECES.len())];
                    bytes.splice(at..at, piece.iter().copied());
                }
                3 => {
                    let end = (at + dice.below(200)).min(bytes.len());
                    bytes.drain(at..end);
                }
                4 => {
                    let end = (at + dice.below(400)).min(bytes.len());
                    let copy: Vec<u8> = bytes[at..end].to_vec();
                    let to = dice.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                _ => {
                    let other = &corpus[dice.below(corpus.len())];
                    let from = dice.below(other.len());
                    bytes.truncate(at);
                    bytes.extend_from_slice(&other[from..]);
                }
            }
        }
        // Whoever sees a failure finds the input that makes it.
        let kept = bytes.clone();
        let harmless = AssertUnwindSafe(|| findings(bytes, &registry));
        if catch_unwind(harmless).is_err() {
            let path = std::env::temp_dir().join("switchtender-damaged-catalog.json");
            std::fs::write(&path, kept).expect("written");
            panic!(
                "damaged catalog {tried} does harm; it is kept in {}",
                path.display()
            );
        }
    }
    println!(
        "{tried} damaged catalogs tried in {:.1} s, from {} whole ones",
        begun.elapsed().as_secs_f64(),
        corpus.len()
    );
}
