//! Secrets in files of desired state that are published: none may be in clear text, or in a file beside them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source};
use switchtender_devices::driver::Registry;
use switchtender_devices::secret_text::SecretText;

use super::document;
use super::secret_values::{FORMS, is_secret};
use super::state_directory::{possible_secrets, secret_spans};
use super::yaml_value::{YamlKey, YamlNode, YamlValue};

/// Errors about the secrets of a file: sensitive attributes in clear text, texts with a secret, and sources that are
/// relative paths. A file that is no YAML is an error, too.
pub(crate) fn check(source: &Arc<Source>, registry: &Registry) -> Vec<Diagnostic> {
    let parsed = match document::parse(source) {
        Ok(parsed) => parsed,
        Err(mut finding) => {
            let masked = source.redacted(&possible_secrets(&source.text, registry));
            for label in &mut finding.labels {
                label.source = Arc::clone(&masked);
            }
            return vec![finding];
        }
    };
    let mut spans = secret_spans(&parsed.entries, registry);
    let mut files = Vec::new();
    let mut found = Texts {
        secrets: SecretText::default(),
        spans: Vec::new(),
        files: &mut files,
    };
    found.add_entries(&parsed.entries);
    let of_texts = found.spans;
    let is_new = |span: &Range<usize>| {
        !spans
            .iter()
            .any(|one| one.start <= span.start && span.end <= one.end)
    };
    let of_texts: Vec<Range<usize>> = of_texts.into_iter().filter(is_new).collect();
    spans.extend(of_texts);
    spans.sort_by_key(|span| span.start);
    let masked = source.redacted(&spans);
    let clear = spans.into_iter().map(|span| {
        let text = "a secret is in clear text";
        Diagnostic::error("clear-secret", text.to_owned())
            .at(&masked, span, "")
            .help(FORMS)
    });
    let relative = files.into_iter().map(|span| {
        let text = "the file of a secret has a relative path, and secrets are not published";
        Diagnostic::error("secret-file", text.to_owned())
            .at(&masked, span, "")
            .help("write the path that the file has on each node, such as `/etc/switchtender/secrets/snmp`")
    });
    clear.chain(relative).collect()
}

/// The texts of a file that have secrets, and the sources of secrets that are relative paths.
struct Texts<'a> {
    secrets: SecretText,
    spans: Vec<Range<usize>>,
    files: &'a mut Vec<Range<usize>>,
}

impl Texts<'_> {
    fn add_entries(&mut self, entries: &[(YamlKey, YamlNode)]) {
        for (_, node) in entries {
            self.add(node);
        }
    }

    fn add(&mut self, node: &YamlNode) {
        match &node.value {
            YamlValue::Map(entries) if is_secret(entries) => self.add_source(&entries[0].1),
            YamlValue::Map(entries) => self.add_entries(entries),
            YamlValue::List(items) => items.iter().for_each(|item| self.add(item)),
            YamlValue::Text(text) if self.secrets.finds(text) => self.spans.push(node.span.clone()),
            YamlValue::Text(_) | YamlValue::Plain(_) | YamlValue::Null => {}
        }
    }

    fn add_source(&mut self, source: &YamlNode) {
        let YamlValue::Map(entries) = &source.value else {
            return;
        };
        for (key, node) in entries {
            if let YamlValue::Text(path) = &node.value
                && key.name == "file"
                && Path::new(path).is_relative()
            {
                self.files.push(node.span.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::terminal::{RenderOptions, render_all};

    #[test]
    fn secrets_of_state_are_found_with_their_lines() {
        let text = "\
ntp_auth_key:
  7:
    password: s3cret-1
  8:
    password: {secret: {env: NTP_KEY}}
  9:
    password: {secret: {file: ntp.key}}
  10:
    password: {secret: {file: /etc/switchtender/ntp.key}}
  11:
    password: ~
profiles:
  ntp_auth_key:
    old:
      password: s3cret-2
network_interface:
  Gi1:
    description: 'neighbor 192.0.2.1 password s3cret-3'
  Gi2:
    description: uplink
";
        let source = Source::new("common.yaml", text);
        let found = check(&source, &Registry::shipped());
        let lines = found.iter().map(|one| {
            let label = &one.labels[0];
            (one.code, label.source.position(label.span.start).0)
        });
        assert_eq!(
            lines.collect::<Vec<_>>(),
            [
                ("clear-secret", 3),
                ("clear-secret", 15),
                ("clear-secret", 18),
                ("secret-file", 7)
            ]
        );
        let printed = render_all(&found, RenderOptions::PLAIN);
        assert!(!printed.as_str().contains("s3cret"), "{}", printed.as_str());
    }
}
