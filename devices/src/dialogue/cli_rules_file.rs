//! Reads [`CliRules`] from a platform's file.

use std::sync::Arc;

use crate::map::IndexMap;

use super::candidate_rules::{CandidateKeys, CandidateRules};
use super::cli_keys::{
    CliConnectionKeys, CliErrorKeys, ConfirmQuestionKeys, ModeKeys, StepKeys, TransitionKeys,
};
use super::cli_rules::{
    CliRules, ConfirmRule, ErrorRules, MessageClass, Mode, ModeId, ModeTransition, Pager,
    SecretRequest, Step, Window,
};
use super::line_request_rules::LineRequestRules;
use super::protect_rules::ProtectMethods;
use super::sections::{CliSections, secret_texts};
use super::session_limits::SessionLimits;
use super::session_rules::{LockKeys, LockRules, SessionListKeys, SessionRules};
use crate::diagnostic::Source;
use crate::document::{At, Findings, Item, KeyValue, Named, Table, read_value};
use crate::pattern::Pattern;

impl CliRules {
    /// Reads the sections of the dialogue from a platform's root table. Mistakes become findings of
    /// the table; `None` if the rules are unusable.
    pub(crate) fn read(root: &Table<'_>) -> Option<CliRules> {
        let secrets = secret_texts(root);
        let connection = read_value::<CliConnectionKeys>(CliSections::connection(root));
        let table = CliSections::mode(root).and_then(|item| item.table());
        let names = table.as_ref().map(mode_names).unwrap_or_default();
        let modes = table.map(|table| modes(&table, &names)).unwrap_or_default();
        let steps = |item| steps(item, (&names, root.findings));
        let open = steps(CliSections::open(root));
        let close = steps(CliSections::close(root));
        let save = steps(CliSections::save(root));
        let candidate: Option<CandidateKeys> = read_value(CliSections::candidate(root));
        let candidate = candidate.map(CandidateRules::from);
        let protect = CliSections::protect(root);
        let protect = protect.and_then(|item| ProtectMethods::read(&item));
        let sessions = read_value::<SessionListKeys>(CliSections::sessions(root));
        let sessions = sessions.and_then(|keys| SessionRules::new(keys, root.findings));
        let lock = read_value::<LockKeys>(CliSections::lock(root));
        let (errors, confirms) = (errors(root), confirms(root));
        let http_table = CliSections::http(root).and_then(|item| item.table());
        let keys = connection?;
        let limits = SessionLimits::from(keys.limits);
        let http = http_table.as_ref();
        let http = http.and_then(|table| LineRequestRules::read(table, &names, (limits, &secrets)));
        let mode = |name: Option<At<String>>| mode_of(&name?, &names, root.findings);
        let read_mode = mode(Some(keys.read_mode));
        Some(CliRules {
            port: keys.port,
            newline: keys.newline,
            window: Window {
                lines: keys
                    .window
                    .map_or(Window::DEFAULT.lines, |lines| lines.get() as usize),
                ..Window::DEFAULT
            },
            limits,
            noise: keys.noise.into_iter().collect(),
            noise_frame: keys.noise_frame.into_iter().collect(),
            log_message: keys.log_message,
            secrets,
            pager: keys.pager.map(|keys| Pager {
                marker: keys.question,
                key: keys.answer,
            }),
            rename: keys.rename,
            text_entry: keys.text_entry,
            config_mode: mode(keys.config_mode),
            sub_mode: mode(keys.sub_mode),
            direct_sub_modes: keys.direct_sub_modes,
            applies_on_exit: keys.applies_on_exit.into_iter().collect(),
            open,
            close,
            save,
            candidate,
            protect: protect.unwrap_or_default(),
            sessions,
            lock: lock.map(LockRules::from),
            errors,
            confirms,
            http,
            modes,
            read_mode: read_mode?,
        })
    }
}

impl Window {
    /// Enough for most resources, and small enough for input buffers.
    const DEFAULT: Window = Window {
        lines: 40,
        bytes: 4000,
    };
}

/// The modes of a file with their indexes in [`CliRules::modes`].
pub(super) type Names = IndexMap<String, ModeId>;

fn mode_names(table: &Table<'_>) -> Names {
    let entries = table.entries().into_iter();
    entries
        .enumerate()
        .map(|(id, (name, ..))| (name, id))
        .collect()
}

fn modes(table: &Table<'_>, names: &Names) -> Vec<Mode> {
    let findings = table.findings;
    let modes = table.entries().into_iter().map(|(name, _, item)| {
        let Some(keys) = ModeKeys::read(&item) else {
            return Mode::unreachable(name);
        };
        let transitions = keys.to.into_iter();
        let transitions = transitions.filter_map(|(target, keys)| {
            let target = mode_of(&target, names, findings);
            Some(transition(target?, keys, (names, findings)))
        });
        let prompt = keys.prompt;
        Mode {
            name,
            source: Arc::clone(&item.findings.source),
            span: prompt.span,
            prompt: prompt.value.complete,
            prompt_line: prompt.value.line,
            prompt_prefix: prompt.value.prefix,
            excludes: keys.unless,
            transitions: transitions.collect(),
        }
    });
    modes.collect()
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

fn transition(
    to: ModeId,
    keys: TransitionKeys,
    (names, findings): (&Names, &Findings),
) -> ModeTransition {
    ModeTransition {
        to,
        send: keys.send.0,
        secret: keys.secret.map(|keys| SecretRequest {
            request: keys.question,
            refused: keys.refused,
        }),
        verify: keys.check.map(|keys| step(keys, names, findings)),
    }
}

pub(super) fn mode_of(name: &At<String>, names: &Names, findings: &Findings) -> Option<ModeId> {
    let found = names.get(name.as_str()).copied();
    if found.is_none() {
        let message = format!("unknown mode `{}`", name.value);
        findings.error("unknown-mode", name.span.clone(), message);
    }
    found
}

fn steps(item: Option<Item<'_>>, (names, findings): (&Names, &Findings)) -> Vec<Step> {
    let steps: Option<Vec<StepKeys>> = read_value(item);
    let steps = steps.into_iter().flatten();
    let steps = steps.map(|keys| step(keys, names, findings));
    steps.collect()
}

fn step(keys: StepKeys, names: &Names, findings: &Findings) -> Step {
    let modes = keys.modes.iter();
    let modes = modes.filter_map(|name| mode_of(name, names, findings));
    Step {
        send: keys.send,
        modes: modes.collect(),
        expect: keys.expect,
        optional: keys.optional,
    }
}

impl MessageClass {
    /// The key of `[error]`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            MessageClass::Ignore => "ignore",
            MessageClass::Warning => "warning",
            MessageClass::Fatal => "fatal",
            MessageClass::Authorization => "authorization",
            MessageClass::Command => "command",
            MessageClass::Unclear => "unclear",
        }
    }
}

fn errors(root: &Table<'_>) -> ErrorRules {
    let keys = read_value::<CliErrorKeys>(CliSections::error(root));
    let Some(keys) = keys else {
        return ErrorRules::default();
    };
    // In order of precedence.
    let classes = [
        (MessageClass::Ignore, keys.ignore),
        (MessageClass::Warning, keys.warning),
        (MessageClass::Fatal, keys.fatal),
        (MessageClass::Authorization, keys.authorization),
        (MessageClass::Command, keys.command),
        (MessageClass::Unclear, keys.unclear),
    ];
    let classes = classes.into_iter().flat_map(|(class, patterns)| {
        let patterns = patterns.into_iter();
        patterns.map(move |pattern| (class, pattern))
    });
    let (classes, patterns): (Vec<MessageClass>, Vec<Pattern>) = classes.unzip();
    ErrorRules {
        patterns: patterns.into_iter().collect(),
        classes,
    }
}

fn confirms(root: &Table<'_>) -> Vec<ConfirmRule> {
    let questions = read_value::<Named<ConfirmQuestionKeys>>(CliSections::confirm(root));
    let questions = questions.into_iter().flatten();
    let rules = questions.map(|(_, keys)| ConfirmRule {
        question: keys.question.0,
        answer: keys.answer,
        only_after: keys.only_after,
        refuse: keys.refuse,
        anywhere: keys.anywhere,
    });
    rules.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::read;

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
