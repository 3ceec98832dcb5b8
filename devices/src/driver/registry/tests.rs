//! All shipped definitions load, and what is loaded on first use is what is loaded at once.

use super::*;
use crate::driver::MockKind;
use crate::driver::Transport;

fn render_all(findings: &[Diagnostic]) -> String {
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| {
            let position = finding.labels.first().map_or_else(String::new, |label| {
                let (line, column) = label.source.position(label.span.start);
                format!("{}:{line}:{column}: ", label.source.name)
            });
            let help = finding
                .help
                .as_deref()
                .map_or_else(String::new, |help| format!("\n    {help}"));
            format!("{position}{}{help}", finding.message)
        })
        .collect();
    lines.join("\n")
}

#[test]
fn definitions_that_are_read_when_they_are_needed_are_those_that_are_read_at_once() {
    let files = definitions::shipped_texts().iter();
    let files: Vec<DefinitionFile> = files
        .map(|(path, text)| DefinitionFile::new(*path, *text))
        .collect();
    let at_once = Registry::from_files(&files, &[])
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let when_needed = Registry::shipped();
    // Iterating loads all of them.
    assert_eq!(when_needed.models().count(), at_once.models().count());
    assert_eq!(
        when_needed.definitions().count(),
        at_once.definitions().count()
    );
    let loaded = |registry: &Registry| format!("{:?} {:?}", registry.models, registry.platforms);
    assert_eq!(loaded(&when_needed), loaded(&at_once));
    assert_eq!(when_needed.placed, at_once.placed);
    for platform in at_once.platforms() {
        let deferred = when_needed.platform(platform.name.as_str()).unwrap();
        for (name, kind) in &platform.types {
            let can_have_secrets = deferred.types[name].can_have_secrets();
            assert!(can_have_secrets || !kind.can_have_secrets(), "{name}");
        }
    }
}

#[test]
fn platforms_have_a_transport_and_may_have_aliases_and_a_mock() {
    let registry = Registry::shipped();
    let rows: Vec<_> = ["cisco", "cisco_ios", "f5", "frr", "junos"]
        .into_iter()
        .map(|name| {
            registry
                .platform_by_alias(name)
                .map(|platform| (platform.name.as_str(), platform.transport, platform.mock))
        })
        .collect();
    assert_eq!(
        rows,
        [
            Some(("cisco_ios", Transport::SshCli, Some(MockKind::Switch))),
            Some(("cisco_ios", Transport::SshCli, Some(MockKind::Switch))),
            Some(("f5_bigip", Transport::Rest, Some(MockKind::LoadBalancer))),
            Some(("frr", Transport::SshCli, None)),
            None,
        ]
    );
}

#[test]
fn shipped_definitions_load_and_pass_their_own_tests_and_checks() {
    let registry = Registry::from_files(&definitions::shipped(), &[])
        .unwrap_or_else(|findings| panic!("{}", render_all(&findings)));
    let failed: Vec<String> = registry
        .test(None)
        .into_iter()
        .filter_map(|result| {
            Some(format!(
                "{}: {}\n{}",
                result.definition, result.name, result.failure?
            ))
        })
        .collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n\n"));
    let findings = registry.check();
    assert!(findings.is_empty(), "\n{}", render_all(&findings));
}

/// `complete` sends the defaults of attributes. Those that files of an earlier version did not know have `since`.
/// `UPDATE_DOCS=1` writes the list, when a version is released.
#[test]
fn new_attributes_have_their_version() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tests/fixtures/attributes.txt"
    );
    let registry = Registry::shipped();
    let attributes = registry.models().flat_map(|model| {
        let attributes = model.attributes.values();
        attributes.map(|one| (format!("{}.{}", model.name, one.name), one.since))
    });
    let attributes: Vec<(String, Option<crate::model::version::Version>)> = attributes.collect();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let old = attributes.iter().filter(|(_, since)| since.is_none());
        let text: String = old.map(|(name, _)| format!("{name}\n")).collect();
        std::fs::write(path, text).expect("the list is written");
    }
    let list = std::fs::read_to_string(path).expect("the list is there");
    let known: BTreeSet<&str> = list.lines().collect();
    let type_of = |name: &str| name.split_once('.').map(|(name, _)| name.to_owned());
    let known_types: BTreeSet<String> = known.iter().filter_map(|name| type_of(name)).collect();
    // No file of an earlier version has a new type.
    let of_known_types = attributes
        .iter()
        .filter(|(name, _)| type_of(name).is_some_and(|name| known_types.contains(&name)));
    let wrong =
        of_known_types.filter_map(
            |(name, since)| match (known.contains(name.as_str()), since) {
                (false, None) => Some(format!("{name}: write `since` with the next version")),
                (true, Some(_)) => Some(format!("{name}: it is not new, remove `since`")),
                _ => None,
            },
        );
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<String>::new());
}
