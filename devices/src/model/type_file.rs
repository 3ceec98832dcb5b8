//! Type files of Puppet modules as text: the types that a file declares, and where each runs.
//!
//! Both forms are read, `Puppet::ResourceApi.register_type` and `Puppet::Type.newtype`. Nothing is
//! executed.

use std::sync::LazyLock;

use regex::Regex;

use super::RunsOn;
use super::ruby::{self, Ruby};
use crate::names::TypeName;

/// The call that declares a type of the Resource API.
pub(super) const REGISTER: &str = "Puppet::ResourceApi.register_type";

/// A type that a file declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredType {
    /// Lower-case name, `network_vlan`.
    pub name: TypeName,
    /// Where the agent applies resources of the type.
    pub runs_on: RunsOn,
}

/// The call that declares a classic type; the name is the group `name`.
pub(super) static NEWTYPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"Puppet::Type(?:\.|::)newtype\s*\(?\s*:?['"]?(?<name>[a-z][a-z0-9_]*)"#)
        .expect("the pattern compiles")
});

/// The types that a file declares. A file without a readable declaration has none.
pub fn declared_types(text: &str) -> Vec<DeclaredType> {
    let code = without_comments(text);
    let mut types = Vec::new();
    let mut rest = 0;
    while let Some(at) = code[rest..].find(REGISTER) {
        let begin = rest + at + REGISTER.len();
        rest = begin;
        let Ok(hash) = ruby::arguments(&code, begin) else {
            continue;
        };
        let name = hash.get("name").map(|entry| &entry.value);
        if let Some(Ruby::Text(name) | Ruby::Symbol(name)) = name {
            let features = hash.words("features");
            let is_remote = features.iter().any(|feature| feature == "remote_resource");
            types.push(DeclaredType {
                name: name.as_str().into(),
                runs_on: if is_remote {
                    RunsOn::Device
                } else {
                    RunsOn::Host
                },
            });
        }
    }
    let declared: Vec<_> = NEWTYPE.captures_iter(&code).collect();
    for (at, found) in declared.iter().enumerate() {
        let begin = found.get(0).map_or(0, |found| found.end());
        let next = declared.get(at + 1).and_then(|next| next.get(0));
        let body = &code[begin..next.map_or(code.len(), |next| next.start())];
        types.push(DeclaredType {
            name: found["name"].into(),
            runs_on: apply_to(body),
        });
    }
    types
}

/// Where a classic type with this body is applied. Puppet's default is the host.
pub(super) fn apply_to(body: &str) -> RunsOn {
    let has = |word: &str| {
        body.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|found| found == word)
    };
    match () {
        () if has("apply_to_all") => RunsOn::Both,
        () if has("apply_to_device") => RunsOn::Device,
        () => RunsOn::Host,
    }
}

/// The text with comments replaced by blanks, so that positions stay the same.
pub(super) fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('#') {
            code.extend(line.chars().map(|c| match c {
                '\n' => "\n".to_owned(),
                c => " ".repeat(c.len_utf8()),
            }))
        } else {
            code.push_str(line)
        }
    }
    code
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
