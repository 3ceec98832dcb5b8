//! Parses `device.conf`: sections with `type`, `url` and an optional `debug`.

use std::ops::Range;
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};
use switchtender_devices::diagnostic::{Diagnostic, Source, nearest};
use switchtender_devices::names::{Certname, DeviceName};
use switchtender_devices::secret::MASK;
use switchtender_devices::secret_url;

use super::hocon::{Mark, Redacted};

const KEYS: [&str; 3] = ["type", "url", "debug"];

/// A section: one device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSection {
    /// The section's name.
    pub(crate) name: DeviceName,
    /// The section's name, too.
    pub(crate) certname: Certname,
    pub(crate) kind: String,
    pub(crate) debug: bool,
    /// Position of the section header.
    pub(crate) head: Mark,
    pub(crate) url: Mark,
    url_text: SecretString,
}

impl DeviceSection {
    /// The URL, including secrets.
    pub(super) fn url_text(&self) -> &str {
        self.url_text.expose_secret()
    }

    /// The URL without secrets.
    pub(crate) fn redacted_url(&self) -> String {
        secret_url::redact(self.url_text())
    }
}

/// A section during parsing. Ranges are in the original text.
struct Section<'a> {
    name: &'a str,
    head: Range<usize>,
    kind: Option<(&'a str, Range<usize>)>,
    url: Option<(&'a str, Range<usize>)>,
    debug: bool,
}

/// An error at a range of the original text, with an optional second position.
struct ConfError {
    code: &'static str,
    message: String,
    span: Range<usize>,
    note: Option<(Range<usize>, &'static str)>,
    help: Option<String>,
}

/// Reads the text of a `device.conf`.
///
/// # Errors
/// All errors with their lines. Possible secrets are masked.
pub(crate) fn parse(name: &str, text: &str) -> Result<Vec<DeviceSection>, Vec<Diagnostic>> {
    let mut reader = DeviceConfParser::default();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        reader.line(line, at);
        at += line.len();
    }
    let (sections, errors, secrets) = reader.finish();
    let redacted = Redacted::new(name, text, &secrets);
    if !errors.is_empty() {
        return Err(errors
            .into_iter()
            .map(|error| diagnostic(error, &redacted))
            .collect());
    }
    let mark = |span: &Range<usize>| Mark {
        source: Arc::clone(&redacted.source),
        span: redacted.span(span),
    };
    Ok(sections
        .into_iter()
        .map(|section| {
            let (url, url_span) = section.url.expect("checked at the end of the section");
            let (kind, _) = section.kind.expect("checked at the end of the section");
            DeviceSection {
                name: DeviceName::parse(section.name).expect("checked at its header"),
                certname: Certname::parse(section.name).expect("stricter than a certname"),
                kind: kind.to_owned(),
                debug: section.debug,
                head: mark(&section.head),
                url: mark(&url_span),
                url_text: url.to_owned().into(),
            }
        })
        .collect())
}

/// Two files of a directory with the same section.
pub(super) fn duplicate(first: &DeviceSection, second: &DeviceSection) -> Diagnostic {
    Diagnostic::error(
        "device-conf-duplicate",
        format!("device {} is defined twice", second.name),
    )
    .at(
        &second.head.source,
        second.head.span.clone(),
        "second definition",
    )
    .at(
        &first.head.source,
        first.head.span.clone(),
        "first definition",
    )
}

fn diagnostic(error: ConfError, redacted: &Redacted) -> Diagnostic {
    let source: &Arc<Source> = &redacted.source;
    let mut found =
        Diagnostic::error(error.code, error.message).at(source, redacted.span(&error.span), "");
    if let Some((span, text)) = error.note {
        found = found.at(source, redacted.span(&span), text);
    }
    found.help = error.help;
    found
}

#[derive(Default)]
struct DeviceConfParser<'a> {
    sections: Vec<Section<'a>>,
    errors: Vec<ConfError>,
    secrets: Vec<Range<usize>>,
}

impl<'a> DeviceConfParser<'a> {
    fn line(&mut self, line: &'a str, at: usize) {
        let text = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        let span = start..start + text.len();
        if text.is_empty() {
            return;
        }
        if text.starts_with('#') {
            // Comments may contain old entries with passwords.
            if text.contains("://") {
                self.secrets.push(start + 1..span.end);
            }
            return;
        }
        if let Some(name) = text
            .strip_prefix('[')
            .and_then(|text| text.strip_suffix(']'))
        {
            self.section(name, span);
            return;
        }
        let (mut key, mut value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if !KEYS.contains(&key)
            && let Some(sign) = text.find(['=', ':'])
            && sign < key.len()
        {
            (key, value) = text.split_at(sign + 1);
        }
        let value = value.trim();
        let value_span = span.end - value.len()..span.end;
        if !KEYS.contains(&key) {
            // The key can be a misspelled word for a secret.
            self.secrets.push(value_span.clone());
        } else if let Some(secret) = secret_url::secret_range(value) {
            self.secrets
                .push(value_span.start + secret.start..value_span.start + secret.end);
        }
        self.entry(key, value, span, value_span);
    }

    fn section(&mut self, name: &'a str, span: Range<usize>) {
        self.end_section();
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
        if !name.bytes().all(is_allowed) || DeviceName::parse(name).is_err() {
            self.error(
                "device-conf-name",
                format!("invalid device name `{name}`"),
                span.clone(),
            )
            .help = Some("use letters, digits, `_`, `.` and `-`".to_owned());
        }
        let first = self
            .sections
            .iter()
            .find(|section| section.name == name)
            .map(|section| section.head.clone());
        if let Some(first) = first {
            self.error(
                "device-conf-duplicate",
                format!("device {name} is defined twice"),
                span.clone(),
            )
            .note = Some((first, "first definition"));
        }
        self.sections.push(Section {
            name,
            head: span,
            kind: None,
            url: None,
            debug: false,
        });
    }

    fn entry(
        &mut self,
        key: &'a str,
        value: &'a str,
        span: Range<usize>,
        value_span: Range<usize>,
    ) {
        let key_span = span.start..span.start + key.len();
        if self.sections.is_empty() {
            self.error(
                "device-conf-section",
                format!("`{key}` is not in a section"),
                key_span,
            )
            .help = Some(
                "start a section with the device name in brackets: `[switch1.example.com]`"
                    .to_owned(),
            );
            return;
        }
        let section = self.sections.last_mut().expect("there is one");
        let first = match key {
            "type" => section.kind.as_ref(),
            "url" => section.url.as_ref(),
            _ => None,
        };
        if let Some(first) = first.map(|(_, span)| span.clone()) {
            let name = section.name;
            self.error(
                "device-conf-entry",
                format!("`{key}` of {name} is defined twice"),
                key_span,
            )
            .note = Some((first, "first definition"));
            return;
        }
        match (key, value) {
            ("debug", "") => section.debug = true,
            ("type" | "url", "") => {
                self.error(
                    "device-conf-entry",
                    format!("`{key}` has no value"),
                    key_span,
                );
            }
            ("type", _) => section.kind = Some((value, value_span)),
            ("url", _) => section.url = Some((value, value_span)),
            _ => {
                let line = match value {
                    "" => key.to_owned(),
                    value if value.contains("://") => {
                        format!("{key} {}", secret_url::redact(value))
                    }
                    _ => format!("{key} {MASK}"),
                };
                let help = match nearest(key, KEYS) {
                    Some(similar) if similar != key => Some(format!("did you mean `{similar}`?")),
                    _ => Some("known entries: `type NAME`, `url URL`, `debug`".to_owned()),
                };
                self.error(
                    "device-conf-entry",
                    format!("Invalid entry: {line}"),
                    key_span,
                )
                .help = help;
            }
        }
    }

    fn end_section(&mut self) {
        let Some(section) = self.sections.last() else {
            return;
        };
        let (head, name) = (section.head.clone(), section.name);
        let (kind, url) = (section.kind.is_none(), section.url.is_none());
        for (missing, key) in [(kind, "type"), (url, "url")] {
            if missing {
                self.error(
                    "device-conf-missing",
                    format!("device {name} has no `{key}`"),
                    head.clone(),
                );
            }
        }
    }

    fn error(&mut self, code: &'static str, message: String, span: Range<usize>) -> &mut ConfError {
        self.errors.push(ConfError {
            code,
            message,
            span,
            note: None,
            help: None,
        });
        self.errors.last_mut().expect("just pushed")
    }

    fn finish(mut self) -> (Vec<Section<'a>>, Vec<ConfError>, Vec<Range<usize>>) {
        self.end_section();
        self.errors.sort_by_key(|error| error.span.start);
        (self.sections, self.errors, self.secrets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(section: &DeviceSection) -> usize {
        section.head.source.position(section.head.span.start).0
    }

    #[test]
    fn parse_returns_a_device_per_section() {
        let text = "# comment\n\n[switch1.example.com]\ntype cisco_ios\nurl file:///etc/sw1.conf\ndebug\n\n[lb1]\n  type f5\n  url https://admin:s3cret@lb1:8443/\n";
        let entries = parse("device.conf", text).unwrap();
        assert_eq!(entries.len(), 2);
        assert_eq!(
            (
                entries[0].name.as_str(),
                entries[0].kind.as_str(),
                entries[0].debug,
                line(&entries[0])
            ),
            ("switch1.example.com", "cisco_ios", true, 3)
        );
        assert_eq!(line(&entries[1]), 8);
        assert_eq!(entries[1].url_text(), "https://admin:s3cret@lb1:8443/");
        assert_eq!(entries[1].redacted_url(), "https://••••@lb1:8443/");
        assert!(!entries[1].url.source.text.contains("s3cret"));
        assert!(!format!("{entries:?}").contains("s3cret"));
    }

    #[test]
    fn parse_reports_each_error_with_its_line() {
        // Line, message, help.
        type Expected = &'static [(usize, &'static str, &'static str)];
        let cases: [(&str, Expected); 11] = [
            (
                "[a]\ntype x\nulr ssh://u:s3cret@h/\nurl file:///x\n",
                &[(3, "Invalid entry: ulr ssh://••••@h/", "did you mean `url`?")],
            ),
            (
                "\n\ntype x\n[a]\ntype x\nurl file:///x",
                &[(3, "`type` is not in a section", "start a section")],
            ),
            ("[a]\ntype x\n", &[(1, "device a has no `url`", "")]),
            (
                "# c\n[a]\nurl file:///x\n",
                &[(2, "device a has no `type`", "")],
            ),
            (
                "[a]\ntype x\nurl file:///x\n\n[b]\ntype x\nurl file:///x\n[a]\ntype x\nurl file:///x\n",
                &[(8, "device a is defined twice", "")],
            ),
            (
                "[a b]\ntype x\nurl file:///x\n",
                &[(1, "invalid device name `a b`", "use letters")],
            ),
            (
                "[..]\ntype x\nurl file:///x\n",
                &[(1, "invalid device name `..`", "use letters")],
            ),
            (
                "[a]\ntype x\nurl file:///x\nurl file:///y\n",
                &[(4, "`url` of a is defined twice", "")],
            ),
            (
                "[a]\ntype\nurl file:///x\ndebug yes\n",
                &[
                    (1, "device a has no `type`", ""),
                    (2, "`type` has no value", ""),
                    (4, "Invalid entry: debug ••••", "known entries"),
                ],
            ),
            (
                "[a]\ntype x\nurl file:///x\npasword s3cret\npassword=s3cret\n",
                &[
                    (4, "Invalid entry: pasword ••••", "known entries"),
                    (5, "Invalid entry: password= ••••", "known entries"),
                ],
            ),
            (
                "[a]\r\ntype = x\r\nurl file:///x\r\nname y\r\n",
                &[(4, "Invalid entry: name ••••", "known entries")],
            ),
        ];
        for (text, expected) in cases {
            let errors = parse("device.conf", text).expect_err(text);
            assert_eq!(errors.len(), expected.len(), "{text:?}: {errors:?}");
            for (found, (line, message, help)) in errors.iter().zip(expected) {
                let label = &found.labels[0];
                assert_eq!(label.source.position(label.span.start).0, *line, "{text:?}");
                assert_eq!(found.message, *message, "{text:?}");
                assert!(
                    found.help.as_deref().unwrap_or("").starts_with(help),
                    "{:?}",
                    found.help
                );
                assert!(!format!("{found:?}").contains("s3cret"), "{found:?}");
            }
        }
    }

    #[test]
    fn parse_reports_both_lines_of_a_duplicate_section() {
        let text = "[a]\ntype x\nurl file:///x\n[a]\ntype x\nurl file:///x\n";
        let found = &parse("device.conf", text).unwrap_err()[0];
        let lines: Vec<_> = found
            .labels
            .iter()
            .map(|label| label.source.position(label.span.start).0)
            .collect();
        assert_eq!(lines, [4, 1]);
    }

    #[test]
    fn mutations_of_device_conf_do_not_panic() {
        let corpus = [
            "# comment\n[sw1.example.com]\ntype cisco_ios\nurl file:///etc/sw1.conf\ndebug\n\n[lb1]\n  \
             type f5\n  url https://admin:s3cret@lb1:8443/?a=b\n",
            "[a]\r\ntype = f5\r\nurl = 'https://u@[2001:db8::1]:443/'\r\n[b]\ntransport ssh\n\
             url ssh://ops:p%40ss@sw2:22/?enable=s3cret\n",
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        let campaign = switchtender_mutation::Campaign {
            name: "device.conf",
            share: 60,
        };
        campaign.run(&corpus, |bytes| {
            match parse("device.conf", &String::from_utf8_lossy(bytes)) {
                Ok(sections) => {
                    for section in &sections {
                        section.redacted_url();
                    }
                    true
                }
                Err(findings) => {
                    assert!(!findings.is_empty());
                    false
                }
            }
        });
    }
}
