//! Tests of the examples of rules, with a small parser of manifests.
//!
//! The parser supports what the examples need: resources with titles and attributes, classes without
//! parameters, strings, numbers, booleans, lists, hashes, references and `Sensitive(…)`. `«»`
//! marks the value that a finding must label.

use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::{Driver, Registry};

use super::rule::{Example, RULES, Rule};
use super::{CatalogTarget, Policy, RunningConfig};
use crate::catalog::{Catalog, Loading, load};

/// The catalog of a manifest, and the marked spans in its text.
pub(crate) struct Compiled {
    pub(crate) catalog: Catalog,
    pub(crate) marked: Vec<Range<usize>>,
}

pub(crate) fn compile(manifest: &str) -> Compiled {
    let mut reader = ManifestReader {
        rest: manifest.chars().peekable(),
        line: 1,
        name: "dev.example.net".to_owned(),
        resources: Vec::new(),
        edges: Vec::new(),
    };
    reader.add("Class", "main", "class", json!({}), vec![]);
    reader.statements("Class[Main]", None);
    let text = json!({
        "name": reader.name,
        "version": 1,
        "environment": "production",
        "catalog_format": 2,
        "resources": reader.resources,
        "edges": reader.edges,
    })
    .to_string();
    // Marks are removed and their spans recorded.
    let mut text_without_marks = String::new();
    let mut marked = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('«') {
        let end = rest.find('»').expect("each mark ends");
        let mut start = at;
        let mut stop = end + '»'.len_utf8();
        let inner = &rest[at + '«'.len_utf8()..end];
        if let Some(raw) = inner.strip_prefix('=') {
            // A number, boolean or list: the quotes belong to the marks.
            let raw: String =
                serde_json::from_str(&format!("\"{raw}\"")).expect("it was written so");
            start -= 1;
            stop += 1;
            text_without_marks.push_str(&rest[..start]);
            marked.push(text_without_marks.len()..text_without_marks.len() + raw.len());
            text_without_marks.push_str(&raw);
        } else {
            text_without_marks.push_str(&rest[..at]);
            marked.push(text_without_marks.len() - 1..text_without_marks.len() + inner.len() + 1);
            text_without_marks.push_str(inner);
        }
        rest = &rest[stop..];
    }
    text_without_marks.push_str(rest);
    let source = Source::new("catalog.json", text_without_marks);
    let catalog = load(&source, &Loading::default()).expect("an example is a catalog");
    Compiled { catalog, marked }
}

struct ManifestReader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    line: usize,
    name: String,
    resources: Vec<Value>,
    edges: Vec<Value>,
}

impl ManifestReader<'_> {
    fn add(&mut self, kind: &str, title: &str, word: &str, parameters: Value, secret: Vec<String>) {
        let mut resource = json!({
            "type": kind, "title": title, "kind": word,
            "file": "/site.pp", "line": self.line, "parameters": parameters,
        });
        if !secret.is_empty() {
            resource["sensitive_parameters"] = json!(secret);
        }
        self.resources.push(resource);
    }

    fn blank(&mut self) {
        while let Some(next) = self.rest.next_if(|c| c.is_whitespace()) {
            self.line += usize::from(next == '\n');
        }
    }

    fn eat(&mut self, desired: char) -> bool {
        self.blank();
        self.rest.next_if_eq(&desired).is_some()
    }

    fn need(&mut self, desired: char) {
        assert!(
            self.eat(desired),
            "line {}: {desired:?} expected, found {:?}",
            self.line,
            self.rest.peek()
        );
    }

    fn word(&mut self) -> String {
        self.blank();
        let mut word = String::new();
        while let Some(next) = self
            .rest
            .next_if(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '-'))
        {
            // The colon after a title is not part of a word.
            word.push(next);
        }
        word
    }

    fn statements(&mut self, container: &str, end: Option<char>) {
        loop {
            self.blank();
            if end.is_some_and(|end| self.eat(end)) || self.rest.peek().is_none() {
                return;
            }
            let marked = self.eat('«');
            let kind = self.word();
            if kind == "node" {
                let name = self.value(&mut false);
                self.name = name.as_str().expect("a name").to_owned();
                self.need('{');
                self.statements(container, Some('}'));
                continue;
            }
            if kind == "class" {
                let marked = self.eat('«');
                let name = capital(&self.word());
                let title = if marked {
                    format!("«{name}»")
                } else {
                    name.clone()
                };
                if marked {
                    self.need('»');
                }
                self.add("Class", &title, "class", json!({}), vec![]);
                let reference = format!("Class[{name}]");
                self.edges
                    .push(json!({"source": container, "target": reference}));
                self.need('{');
                self.statements(&reference, Some('}'));
                continue;
            }
            let name = capital(&kind);
            let marked_name = if marked {
                format!("«{name}»")
            } else {
                name.clone()
            };
            if marked {
                self.need('»');
            }
            self.need('{');
            let title = self.value(&mut false);
            let title = title.as_str().expect("a title").to_owned();
            self.need(':');
            let line = self.line;
            let mut parameters = Map::new();
            let mut secret = Vec::new();
            while !self.eat('}') {
                let attribute = self.word();
                self.need('=');
                self.need('>');
                let mut sensitive = false;
                let value = self.value(&mut sensitive);
                if sensitive {
                    secret.push(attribute.clone());
                }
                parameters.insert(attribute, value);
                self.eat(',');
            }
            let unmarked = title.replace(['«', '»'], "");
            self.edges.push(json!({
                "source": container, "target": format!("{name}[{unmarked}]"),
            }));
            let after = std::mem::replace(&mut self.line, line);
            self.add(
                &marked_name,
                &title,
                "compilable_type",
                parameters.into(),
                secret,
            );
            self.line = after;
        }
    }

    fn value(&mut self, sensitive: &mut bool) -> Value {
        if self.eat('«') {
            let value = self.value(sensitive);
            self.need('»');
            return match value {
                Value::String(text) => format!("«{text}»").into(),
                other => format!("«={other}»").into(),
            };
        }
        if self.eat('\'') {
            let mut text = String::new();
            for next in self.rest.by_ref() {
                if next == '\'' {
                    break;
                }
                text.push(next);
            }
            return text.into();
        }
        if self.eat('[') {
            let mut items = Vec::new();
            while !self.eat(']') {
                items.push(self.value(sensitive));
                self.eat(',');
            }
            return items.into();
        }
        if self.eat('{') {
            let mut entries = Map::new();
            while !self.eat('}') {
                let key = self.value(sensitive);
                self.need('=');
                self.need('>');
                let key = key.as_str().expect("a key").to_owned();
                entries.insert(key, self.value(sensitive));
                self.eat(',');
            }
            return entries.into();
        }
        let word = self.word();
        match word.as_str() {
            "true" => true.into(),
            "false" => false.into(),
            "Sensitive" => {
                self.need('(');
                *sensitive = true;
                let value = self.value(sensitive);
                self.need(')');
                value
            }
            _ if self.eat('[') => {
                let title = self.value(sensitive);
                self.need(']');
                format!("{word}[{}]", title.as_str().expect("a title")).into()
            }
            number => number.parse::<i64>().map_or_else(
                |_| panic!("line {}: what is `{number}`?", self.line),
                Value::from,
            ),
        }
    }
}

fn capital(name: &str) -> String {
    name.split("::")
        .map(|part| part[..1].to_uppercase() + &part[1..])
        .collect::<Vec<_>>()
        .join("::")
}

pub(crate) fn registry() -> Arc<Registry> {
    static REGISTRY: std::sync::LazyLock<Arc<Registry>> =
        std::sync::LazyLock::new(|| Arc::new(Registry::shipped()));
    Arc::clone(&REGISTRY)
}

pub(crate) fn device(platform: &str) -> CatalogTarget {
    let registry = registry();
    let platform = registry.platform(platform).expect("it is shipped");
    CatalogTarget::Device {
        certname: None,
        driver: Some(Driver::new(platform, &Default::default())),
        running: None,
        max_shutdown: None,
    }
}

/// A device whose answers have no objects.
pub(crate) fn empty_device(platform: &str) -> CatalogTarget {
    let mut target = device(platform);
    if let CatalogTarget::Device {
        driver: Some(driver),
        running,
        ..
    } = &mut target
    {
        let models = driver.platform().type_drivers().map(|one| &one.model);
        let reads = driver.reads(&models.collect::<Vec<_>>()).into_iter();
        let answers = reads.map(|read| (read.name, String::new())).collect();
        *running = Some(RunningConfig::new(driver, &answers).expect("empty answers are valid"));
    }
    target
}

/// All findings about a manifest.
pub(crate) fn findings(
    manifest: &str,
    target: &CatalogTarget,
    policy: &Policy,
) -> (Compiled, Vec<Diagnostic>) {
    let compiled = compile(manifest);
    let found = super::catalog(&compiled.catalog, &registry(), target, policy);
    (compiled, found)
}

/// Asserts that a manifest gives findings of this rule exactly at its marks.
pub(crate) fn assert_marked(rule: &Rule, manifest: &str, target: &CatalogTarget, policy: &Policy) {
    let (compiled, found) = findings(manifest, target, policy);
    let mut spans: Vec<Range<usize>> = found
        .iter()
        .filter(|found| found.code == rule.code)
        .map(|found| found.labels[0].span.clone())
        .collect();
    spans.sort_by_key(|span| span.start);
    let text = &compiled.catalog.source.text;
    let texts = |spans: &[Range<usize>]| -> Vec<String> {
        spans
            .iter()
            .map(|span| text[span.clone()].to_owned())
            .collect()
    };
    let codes: Vec<String> = found
        .iter()
        .map(|found| format!("{}: {}", found.code, found.message))
        .collect();
    assert!(
        spans == compiled.marked,
        "{}: marked {:?}, found {:?} in\n{manifest}\n{codes:#?}",
        rule.code,
        texts(&compiled.marked),
        texts(&spans),
    );
}

/// The codes of the findings about a JSON catalog for a switch, each with the text at its label.
fn json_findings(text: &str) -> Vec<(&'static str, String)> {
    let source = Source::new("catalog.json", text);
    let found = match load(&source, &Loading::default()) {
        Ok(catalog) => super::catalog(
            &catalog,
            &registry(),
            &device("cisco_ios"),
            &Policy::default(),
        ),
        Err(error) => error.diagnostics,
    };
    let labeled = |found: &Diagnostic| {
        let span = found
            .labels
            .first()
            .map_or(0..0, |label| label.span.clone());
        text[span].to_owned()
    };
    found
        .iter()
        .map(|found| (found.code, labeled(found)))
        .collect()
}

/// The marked texts of an example.
fn marked(example: &str) -> Vec<String> {
    let marks = example.split('«').skip(1);
    marks
        .map(|rest| rest.split('»').next().expect("each mark ends").to_owned())
        .collect()
}

#[test]
fn bad_examples_give_their_finding_at_the_mark_and_good_ones_none() {
    let policy = Policy::default();
    for rule in RULES {
        let target = match rule.example {
            Example::Device(platform) => device(platform),
            Example::EmptyDevice(platform) => empty_device(platform),
            Example::Host => CatalogTarget::Host,
            Example::Json => {
                let bad = json_findings(&rule.bad.replace(['«', '»'], ""));
                let bad = bad.into_iter().filter(|(code, _)| *code == rule.code);
                let labeled: Vec<String> = bad.map(|(_, text)| text).collect();
                assert_eq!(labeled, marked(rule.bad), "{}", rule.code);
                let mut good = json_findings(rule.good).into_iter();
                assert_eq!(good.find(|(code, _)| *code == rule.code), None);
                continue;
            }
            Example::None => continue,
        };
        assert_marked(rule, rule.bad, &target, &policy);
        let (_, found) = findings(rule.good, &target, &policy);
        let same: Vec<_> = found
            .iter()
            .filter(|found| found.code == rule.code)
            .collect();
        assert!(same.is_empty(), "{}: {same:#?}", rule.code);
    }
}

#[test]
fn rules_have_unique_codes_and_an_explanation() {
    let mut codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
    codes.sort_unstable();
    let all = codes.len();
    codes.dedup();
    assert_eq!(codes.len(), all);
    for rule in RULES {
        assert!(
            !rule.summary.is_empty() && rule.explanation.len() > 80,
            "{}",
            rule.code
        );
        assert_eq!(
            rule.bad.is_empty(),
            rule.example == Example::None,
            "{}",
            rule.code
        );
        assert_eq!(rule.bad.is_empty(), rule.good.is_empty(), "{}", rule.code);
    }
}
