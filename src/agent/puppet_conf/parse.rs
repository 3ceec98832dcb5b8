//! Parses `puppet.conf`: sections of `name = value`.
//!
//! In device runs, `[agent]` takes precedence over `[main]`. Other sections are ignored.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};

/// The values for device runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PuppetConf {
    pub(crate) values: BTreeMap<String, ConfigValue>,
}

/// A value and its position.
#[derive(Clone, Debug)]
pub(crate) struct ConfigValue {
    pub(crate) text: String,
    pub(crate) source: Arc<Source>,
    pub(crate) span: Range<usize>,
}

/// Parses the text of a `puppet.conf`. Aliases are replaced with the names of their settings.
pub(crate) fn parse(name: &str, text: &str) -> Result<PuppetConf, Vec<Diagnostic>> {
    let source = Source::new(name, text).redacted(&possible_secrets(text));
    let mut main = BTreeMap::new();
    let mut agent = BTreeMap::new();
    let mut found = Vec::new();
    let mut section = "main".to_owned();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim();
        let span_of = |part: &str| {
            let offset = start + line.find(part).unwrap_or(0);
            offset..offset + part.len()
        };
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        if let Some(head) = trimmed.strip_prefix('[') {
            match head.strip_suffix(']') {
                Some(head) => section = head.trim().to_owned(),
                None => found.push(
                    Diagnostic::error("puppet-conf-section", "`]` is missing after the section")
                        .at(&source, span_of(trimmed), ""),
                ),
            }
            continue;
        }
        let Some((key, value)) = trimmed.split_once('=') else {
            found.push(
                Diagnostic::error(
                    "puppet-conf-entry",
                    format!("`{}` is not a setting", word(trimmed)),
                )
                .at(&source, span_of(trimmed), "")
                .help("write settings as `name = value`"),
            );
            continue;
        };
        let into = match section.as_str() {
            "main" => &mut main,
            "agent" => &mut agent,
            _ => continue,
        };
        let key = key.trim();
        let name = super::table::find(key).map_or(key, |setting| setting.name);
        into.insert(
            name.to_owned(),
            ConfigValue {
                text: unquoted(value).to_owned(),
                source: Arc::clone(&source),
                span: span_of(trimmed),
            },
        );
    }
    main.extend(agent);
    if found.is_empty() {
        Ok(PuppetConf { values: main })
    } else {
        Err(found)
    }
}

/// The first word of a line.
fn word(line: &str) -> &str {
    let end = line.find(|c: char| c.is_whitespace() || matches!(c, '=' | ':'));
    &line[..end.unwrap_or(line.len())]
}

/// The values of settings that can be secrets: those of unknown names, which can be misspelled, and
/// of HTTP headers.
fn possible_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.trim_end().len();
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        let name = word(line.trim());
        let is_public = super::table::find(name).is_some_and(|setting| !is_secret(setting.name));
        if !is_public && !name.starts_with('[') && start + name.len() < end {
            found.push(start + name.len()..end);
        }
    }
    found
}

/// Whether the value of a setting is a secret.
pub(super) fn is_secret(name: &str) -> bool {
    name == "http_extra_headers"
}

/// The value without quotes, and without owner and mode after a path.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    let value = match value.find(" {") {
        Some(end) if value.ends_with('}') => value[..end].trim_end(),
        _ => value,
    };
    let quoted = |quote: char| {
        value
            .strip_prefix(quote)
            .and_then(|rest| rest.strip_suffix(quote))
    };
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puppet_conf_agent_section_overrides_main() {
        let conf = parse(
            "puppet.conf",
            "[main]\n# server = no\nserver = a\nenvironment=production\nvardir = /v { owner = puppet, mode = 0750 }\n[agent]\nserver = \"b\"\nmasterport = 8141\n[server]\nenvironment = no\n",
        )
        .unwrap();
        let values: Vec<_> = conf
            .values
            .iter()
            .map(|(key, value)| (key.as_str(), value.text.as_str()))
            .collect();
        assert_eq!(
            values,
            [
                ("environment", "production"),
                ("server", "b"),
                ("serverport", "8141"),
                ("vardir", "/v")
            ]
        );
    }

    #[test]
    fn puppet_conf_errors_contain_no_possible_secret() {
        for line in [
            "http_extra_headers = Authorization s3cret",
            "http_extra_header = Authorization:s3cret",
            "http_extra_headers Authorization:s3cret",
            "http_extra_headers:s3cret",
            "pasword s3cret",
        ] {
            let text = format!("[main]\n{line}\nnoop\n");
            let found = parse("puppet.conf", &text).unwrap_err();
            assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
        }
    }

    #[test]
    fn puppet_conf_errors_have_positions() {
        let found = parse("puppet.conf", "[main\nserver = a\n\nnoop\n").unwrap_err();
        let messages: Vec<_> = found
            .iter()
            .map(|found| {
                let label = &found.labels[0];
                (
                    label.source.position(label.span.start).0,
                    found.message.as_str(),
                )
            })
            .collect();
        assert_eq!(
            messages,
            [
                (1, "`]` is missing after the section"),
                (4, "`noop` is not a setting")
            ]
        );
    }
}
