//! Reads [`CliRules`] from a platform's file.

use std::sync::Arc;

use crate::map::IndexMap;

use super::candidate_rules::CandidateRules;
use super::cli_rules::{
    CliRules, ConfirmRule, ErrorRules, MessageClass, Mode, ModeId, ModeTransition, Pager,
    SecretRequest, Step, Window, prompt_line, prompt_prefix,
};
use super::line_request_rules::LineRequestRules;
use super::protect_rules::ProtectMethods;
use super::session_limits::SessionLimits;
use crate::diagnostic::Source;
use crate::document::{Item, Table};
use crate::pattern::Pattern;
use crate::secret_text::SecretText;

impl CliRules {
    /// Reads the sections of the dialogue from a platform's root table. Mistakes become findings of
    /// the table; `None` if the rules are unusable.
    pub(crate) fn read(root: &Table<'_>) -> Option<CliRules> {
        let connection = root.required_table("connection")?;
        let names = mode_names(root);
        let modes = modes(root, &names);
        connection.required("read_mode");
        let read_mode = mode_of(&connection, "read_mode", &names);
        let limits = SessionLimits::read(&connection);
        let secrets = SecretText::new(root.patterns("secrets"));
        let http = root.table("http");
        let rules = CliRules {
            port: connection
                .integer("port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(22),
            newline: connection.string("newline").unwrap_or_else(|| "\r".into()),
            window: Window {
                lines: size(&connection, "window").unwrap_or(Window::DEFAULT.lines),
                ..Window::DEFAULT
            },
            limits,
            noise: connection.patterns("noise").into_iter().collect(),
            noise_frame: connection.patterns("noise_frame").into_iter().collect(),
            log_message: connection.pattern("log_message"),
            secrets: secrets.clone(),
            pager: connection.table("pager").and_then(|table| pager(&table)),
            rename: connection.pattern("rename"),
            text_entry: connection.pattern("text_entry"),
            config_mode: mode_of(&connection, "config_mode", &names),
            sub_mode: mode_of(&connection, "sub_mode", &names),
            direct_sub_modes: connection.bool("direct_sub_modes").unwrap_or(false),
            applies_on_exit: connection.patterns("applies_on_exit").into_iter().collect(),
            open: steps(root, "open", &names),
            close: steps(root, "close", &names),
            save: steps(root, "save", &names),
            candidate: root
                .table("candidate")
                .and_then(|table| CandidateRules::read(&table)),
            protect: root
                .table("protect")
                .map(|table| ProtectMethods::read(&table))
                .unwrap_or_default(),
            errors: errors(root),
            confirms: confirms(root),
            http: http
                .as_ref()
                .and_then(|table| LineRequestRules::read(table, &names, (limits, &secrets))),
            modes,
            read_mode: read_mode?,
        };
        if let (Some(http), Some(_)) = (&http, &rules.candidate) {
            let message = "cannot send the lines of a candidate configuration in requests";
            let help = "remove [http], or [candidate]";
            http.findings
                .error_with_help("http-candidate", http.span.clone(), message, help);
        }
        connection.finish();
        Some(rules)
    }
}

impl Window {
    /// Enough for most resources, and small enough for input buffers.
    const DEFAULT: Window = Window {
        lines: 40,
        bytes: 4000,
    };
}

fn size(table: &Table<'_>, key: &str) -> Option<usize> {
    let item = table.get(key)?;
    let number = item.integer()?;
    let size = usize::try_from(number).ok().filter(|size| *size > 0);
    if size.is_none() {
        item.error("bad-number", format!("`{key}` must be 1 or more"));
    }
    size
}

fn pager(table: &Table<'_>) -> Option<Pager> {
    let marker = table.required_pattern("marker");
    let key = table.string("key").unwrap_or_else(|| " ".into());
    table.finish();
    Some(Pager {
        marker: marker?,
        key,
    })
}

/// The modes of a file with their indexes in [`CliRules::modes`].
pub(super) type Names = IndexMap<String, ModeId>;

fn mode_names(root: &Table<'_>) -> Names {
    let table = root.required_table("mode");
    let entries = table.iter().flat_map(Table::entries);
    entries
        .enumerate()
        .map(|(id, (name, ..))| (name, id))
        .collect()
}

fn modes(root: &Table<'_>, names: &Names) -> Vec<Mode> {
    let Some(table) = root.table("mode") else {
        return Vec::new();
    };
    table
        .entries()
        .into_iter()
        .map(|(name, _, item)| {
            item.table()
                .and_then(|table| mode(name.clone(), &table, names))
                .unwrap_or_else(|| Mode::unreachable(name))
        })
        .collect()
}

impl Mode {
    /// Replaces a mode with errors, so that the other modes keep their indexes.
    fn unreachable(name: String) -> Mode {
        let never = Pattern::new(r"[^\s\S]").expect("a pattern that matches nothing");
        Mode {
            name,
            source: Source::new("", ""),
            span: 0..0,
            prompt: never.clone(),
            prompt_line: never.clone(),
            prompt_prefix: never,
            excludes: Vec::new(),
            transitions: Vec::new(),
        }
    }
}

fn mode(name: String, table: &Table<'_>, names: &Names) -> Option<Mode> {
    let item = table.required("prompt");
    let prompt = item.as_ref().and_then(Item::string);
    let excludes = table.strings("excludes").unwrap_or_default();
    let transitions = table.table("to").map_or_else(Vec::new, |to| {
        to.entries()
            .into_iter()
            .filter_map(|(key, span, item)| {
                let target = names.get(&key).copied();
                if target.is_none() {
                    to.findings
                        .error("unknown-mode", span, format!("unknown mode `{key}`"));
                }
                transition(target?, &item.table()?, names)
            })
            .collect()
    });
    table.finish();
    let (item, prompt) = (item?, prompt?);
    Some(Mode {
        name,
        source: Arc::clone(&item.findings.source),
        span: item.span.clone(),
        prompt: item.compile(&prompt)?,
        prompt_line: item.compile(&prompt_line(&prompt))?,
        prompt_prefix: item.compile(&prompt_prefix(&prompt))?,
        excludes,
        transitions,
    })
}

fn transition(to: ModeId, table: &Table<'_>, names: &Names) -> Option<ModeTransition> {
    let send = table.required_string("send");
    let secret = table.table("secret").and_then(|secret| {
        let request = secret.required_pattern("request");
        let refused = secret.patterns("refused");
        secret.finish();
        Some(SecretRequest {
            request: request?,
            refused,
        })
    });
    let verify = table
        .table("verify")
        .and_then(|verify| step(&verify, names));
    table.finish();
    Some(ModeTransition {
        to,
        send: send?,
        secret,
        verify,
    })
}

pub(super) fn mode_of(table: &Table<'_>, key: &str, names: &Names) -> Option<ModeId> {
    let item = table.get(key)?;
    let name = item.string()?;
    let found = names.get(&name).copied();
    if found.is_none() {
        item.error("unknown-mode", format!("unknown mode `{name}`"));
    }
    found
}

fn steps(root: &Table<'_>, section: &str, names: &Names) -> Vec<Step> {
    let Some(table) = root.table(section) else {
        return Vec::new();
    };
    let steps = table.get("steps").and_then(|item| item.list());
    table.finish();
    steps
        .unwrap_or_default()
        .iter()
        .filter_map(|item| step(&item.table()?, names))
        .collect()
}

fn step(table: &Table<'_>, names: &Names) -> Option<Step> {
    let send = table.required_string("send");
    let modes = table.get("in").map_or_else(Vec::new, |item| {
        item.strings()
            .unwrap_or_default()
            .iter()
            .filter_map(|name| {
                let found = names.get(name).copied();
                if found.is_none() {
                    item.error("unknown-mode", format!("unknown mode `{name}`"));
                }
                found
            })
            .collect()
    });
    let step = Step {
        send: send.unwrap_or_default(),
        modes,
        expect: table.pattern("expect"),
        optional: table.bool("optional").unwrap_or(false),
    };
    table.finish();
    (!step.send.is_empty()).then_some(step)
}

/// The classes in order of precedence: `ignore` comes first.
const CLASSES: [(&str, MessageClass); 6] = [
    ("ignore", MessageClass::Ignore),
    ("warning", MessageClass::Warning),
    ("fatal", MessageClass::Fatal),
    ("authorization", MessageClass::Authorization),
    ("command", MessageClass::Command),
    ("unclear", MessageClass::Unclear),
];

impl MessageClass {
    /// The key of `[error]`.
    pub(crate) fn name(self) -> &'static str {
        let row = CLASSES.iter().find(|(_, class)| *class == self);
        row.map_or("", |(key, _)| key)
    }
}

fn errors(root: &Table<'_>) -> ErrorRules {
    let Some(table) = root.table("error") else {
        return ErrorRules::default();
    };
    let (classes, all): (Vec<MessageClass>, Vec<Pattern>) = CLASSES
        .iter()
        .flat_map(|(key, class)| {
            table
                .patterns(key)
                .into_iter()
                .map(|pattern| (*class, pattern))
        })
        .unzip();
    table.finish();
    ErrorRules {
        patterns: all.into_iter().collect(),
        classes,
    }
}

fn confirms(root: &Table<'_>) -> Vec<ConfirmRule> {
    let Some(table) = root.table("confirm") else {
        return Vec::new();
    };
    table
        .entries()
        .into_iter()
        .filter_map(|(_, _, item)| {
            let table = item.table()?;
            table.required("question");
            let confirm = ConfirmRule {
                question: table.patterns("question"),
                answer: table.string("answer"),
                only_after: table.patterns("only_after"),
                refuse: table.string("refuse").unwrap_or_else(|| "\u{3}".into()),
                anywhere: table.bool("anywhere").unwrap_or(false),
            };
            table.finish();
            Some(confirm)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Findings, read};

    fn load(text: &str) -> (Option<CliRules>, Vec<String>) {
        let source = Source::new("platform.toml", text);
        let findings = Findings::new(&source);
        let rules = read(&findings, |root| {
            let rules = CliRules::read(root);
            root.finish();
            rules
        });
        let messages = findings
            .into_list()
            .into_iter()
            .map(|found| found.message)
            .collect();
        (rules, messages)
    }

    const SMALL: &str = r#"
[connection]
read_mode = "exec"
config_mode = "config"

[mode.exec]
prompt = '(?<name>\w+)#'
to.config = { send = "configure terminal" }

[mode.config]
prompt = '(?<name>\w+)\(config\)#'
to.exec = { send = "end" }
"#;

    #[test]
    fn cli_rules_file_has_modes_and_transitions() {
        let (rules, messages) = load(SMALL);
        assert_eq!(messages, [""; 0]);
        let rules = rules.expect("read");
        assert_eq!(rules.prompt("core1# ", None), Some((0, "core1".into())));
        assert_eq!(
            rules.prompt("core1(config)#", None),
            Some((1, "core1".into()))
        );
        assert_eq!(rules.prompt("core1(config)#x", None), None);
        let path = rules.transition_path(0, 1).expect("a path");
        assert_eq!(path[0].send, "configure terminal");
        assert!(
            rules
                .transition_path(0, 0)
                .expect("an empty path")
                .is_empty()
        );
    }

    #[test]
    fn cli_rules_file_reports_errors_with_their_position() {
        let cases = [
            (
                SMALL.replace("config_mode", "confg_mode"),
                "unknown key `confg_mode` in [connection]",
            ),
            (
                SMALL.replace("read_mode = \"exec\"", "read_mode = \"exce\""),
                "unknown mode `exce`",
            ),
            (
                SMALL.replace(r"(?<name>\w+)#", r"(?<name>\w+#"),
                "`mode.exec.prompt` is not a valid pattern: unclosed group",
            ),
            (SMALL.replace("to.exec", "to.user"), "unknown mode `user`"),
            (
                format!("{SMALL}[error]\ncomand = 'x'\n"),
                "unknown key `comand` in [error]",
            ),
            (
                format!("{SMALL}[confirm.x]\nanswer = ''\n"),
                "key `question` is missing in [confirm.x]",
            ),
        ];
        for (text, expected) in cases {
            let (_, messages) = load(&text);
            assert_eq!(messages, [expected], "for {text}");
        }
    }
}
