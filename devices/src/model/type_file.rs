//! Type files of Puppet modules as text: the types that a file declares, and where each runs.
//!
//! Both forms are read, `Puppet::ResourceApi.register_type` and `Puppet::Type.newtype`. Nothing is
//! executed.

use std::sync::LazyLock;

use regex::Regex;

use super::RunsOn;
use crate::names::TypeName;

/// A type that a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredType {
    /// Lower-case name, `network_vlan`.
    pub name: TypeName,
    /// Where the agent applies resources of the type.
    pub runs_on: RunsOn,
}

/// A call that declares a type: a classic one has its name next, as the group `classic`.
static DECLARATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"Puppet::(?:Type(?:\.|::)newtype\s*\(?\s*:?['"]?(?<classic>[a-z][a-z0-9_]*)|ResourceApi\.register_type\b)"#,
    )
    .expect("the pattern compiles")
});

/// The key `name` of a type of the Resource API. An attribute `name` has a hash instead of a word.
static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\bname['"]?\s*(?::|=>)\s*[:'"](?<name>[a-z][a-z0-9_]*)"#)
        .expect("the pattern compiles")
});

/// The types that a file declares. A file without a readable declaration has none.
pub fn declared_types(text: &str) -> Vec<DeclaredType> {
    let code = without_comments(text);
    let declarations: Vec<_> = DECLARATION.captures_iter(&code).collect();
    let mut types = Vec::new();
    for (at, found) in declarations.iter().enumerate() {
        let begin = found.get(0).map_or(0, |found| found.end());
        let next = declarations.get(at + 1).and_then(|next| next.get(0));
        let body = &code[begin..next.map_or(code.len(), |next| next.start())];
        let declared = match found.name("classic") {
            Some(name) => Some((name.as_str(), apply_to(body))),
            None => NAME.captures(body).map(|found| {
                let name = found.name("name").map_or("", |name| name.as_str());
                let is_remote = has_word(body, "remote_resource");
                let runs_on = if is_remote {
                    RunsOn::Device
                } else {
                    RunsOn::Host
                };
                (name, runs_on)
            }),
        };
        types.extend(declared.map(|(name, runs_on)| DeclaredType {
            name: name.into(),
            runs_on,
        }));
    }
    types
}

/// Where a classic type with this body is applied. Puppet's default is the host.
fn apply_to(body: &str) -> RunsOn {
    match () {
        () if has_word(body, "apply_to_all") => RunsOn::Both,
        () if has_word(body, "apply_to_device") => RunsOn::Device,
        () => RunsOn::Host,
    }
}

fn has_word(body: &str, word: &str) -> bool {
    body.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|found| found == word)
}

/// The text without lines of comments.
fn without_comments(text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declared_types_reads_both_forms_and_where_they_run() {
        let cases = [
            (
                "Puppet::Type.newtype(:site_cron) do\n  ensurable\nend",
                vec![("site_cron", RunsOn::Host)],
            ),
            (
                "Puppet::Type::newtype :dev_port, self_refresh: true do\n  apply_to_device\nend",
                vec![("dev_port", RunsOn::Device)],
            ),
            (
                "Puppet::Type.newtype('both_thing') do\n  apply_to_all\nend",
                vec![("both_thing", RunsOn::Both)],
            ),
            (
                "# Puppet::Type.newtype(:old)\nPuppet::Type.newtype(:new) do\n# apply_to_device\nend",
                vec![("new", RunsOn::Host)],
            ),
            (
                "Puppet::ResourceApi.register_type(\n  name: 'api_host', attributes: {}\n)",
                vec![("api_host", RunsOn::Host)],
            ),
            (
                "Puppet::ResourceApi.register_type(name: 'api_dev', features: ['remote_resource'])",
                vec![("api_dev", RunsOn::Device)],
            ),
            (
                "Puppet::ResourceApi.register_type(\n  attributes: {\n    name: { type: 'String' },\n  },\n  :name => :api_late,\n)",
                vec![("api_late", RunsOn::Host)],
            ),
            ("class Foo\nend", vec![]),
            ("Puppet::Type.newtype(NAME) do", vec![]),
        ];
        for (text, expected) in cases {
            let found = declared_types(text);
            let found: Vec<(&str, RunsOn)> = found
                .iter()
                .map(|one| (one.name.as_str(), one.runs_on))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
