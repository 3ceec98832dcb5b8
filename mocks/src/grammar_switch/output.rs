//! Outputs of commands: templates over the state of the device.
//!
//! `mocks/grammars/PLATFORM/show/NAME.txt` is the text, `NAME.json` the form in JSON. A template has
//! `hostname`, `serial`, `model`, `version`, `time`, `arguments`, `sessions` and `config`, the lines of the
//! configuration. A line has `text`, `arguments`, `children`, and `lines`: the lines of its block that
//! are in effect, with defaults. Filters: `config|blocks("interface")` are the lines that begin so,
//! and `line.lines|value("mtu")` is the text behind the words.

use minijinja::{Environment, Value, context};
use serde::Serialize;

use super::command_grammar::CommandGrammar;
use super::config_node::{ConfigNode, begins_with};
use super::device_state::GrammarDevice;
use super::effective_line::BlockScope;
use super::line_session::OutputForm;
use super::printed_config::effective_lines;
use crate::clock;
use crate::terminal_lines::TerminalLines;

/// Why there is no output.
#[derive(Debug)]
pub(super) enum OutputError {
    /// The command has no output in this form.
    NoForm,
    /// The template is wrong.
    Template(String),
}

/// A line in a template.
#[derive(Debug, Serialize)]
struct TemplateLine {
    text: String,
    arguments: Vec<String>,
    lines: Vec<String>,
    children: Vec<TemplateLine>,
    /// The interface in the short form.
    short: String,
}

/// A session in a template.
#[derive(Debug, Serialize)]
struct TemplateSession {
    number: u64,
    user: String,
    /// It prints the output.
    own: bool,
}

fn template_sessions(terminals: &TerminalLines, connection: Option<u64>) -> Vec<TemplateSession> {
    let own = connection.and_then(|connection| terminals.line(connection));
    let sessions = terminals.iter().map(|line| TemplateSession {
        number: line.number,
        user: line.user.clone(),
        own: own == Some(line),
    });
    sessions.collect()
}

/// The output of a template.
///
/// # Errors
/// The command has none in this form, or the template is wrong.
pub(super) fn render(
    device: &GrammarDevice,
    connection: Option<u64>,
    (name, arguments): (&str, &[String]),
    form: OutputForm,
) -> Result<String, OutputError> {
    let extension = match form {
        OutputForm::Text => "txt",
        OutputForm::Json => "json",
    };
    let file = format!("{name}.{extension}");
    let Some(template) = device.grammar.outputs.get(&file) else {
        return Err(OutputError::NoForm);
    };
    let mut environment = Environment::new();
    environment.set_trim_blocks(true);
    environment.set_lstrip_blocks(true);
    environment.add_filter("blocks", blocks);
    environment.add_filter("value", value);
    environment.add_filter("trim_end", |text: String| text.trim_end().to_owned());
    environment.add_filter("left", |text: String, width: usize| {
        format!("{text:<width$}")
    });
    environment.add_filter("right", |text: String, width: usize| {
        format!("{text:>width$}")
    });
    let scope = BlockScope::of_root(&device.grammar, &device.running);
    let settings = &device.grammar.settings;
    let variables = context! {
        hostname => device.hostname(),
        serial => device.serial,
        model => settings.model,
        version => settings.version,
        time => time(),
        arguments,
        config => template_lines(scope),
        revert_seconds => device.remaining().map(|time| time.as_secs()),
        revert_name => device.timed_change.as_ref().map(|change| change.candidate.clone()),
        candidates => device.candidates.keys().collect::<Vec<_>>(),
        sessions => template_sessions(&device.terminals, connection),
    };
    let rendered = environment.render_named_str(&file, template, variables);
    rendered.map_err(|error| OutputError::Template(format!("{error:#}")))
}

/// A text with `{hostname}`, `{version}` and `{time}`.
pub(super) fn with_facts(device: &GrammarDevice, text: &str) -> String {
    text.replace("{hostname}", &device.hostname())
        .replace("{version}", &device.grammar.settings.version)
        .replace("{model}", &device.grammar.settings.model)
        .replace("{time}", &time())
}

/// `Sun Nov 29 15:59:22 2026`.
fn time() -> String {
    let now = jiff::Timestamp::try_from(clock::system_time()).unwrap_or_default();
    now.strftime("%a %b %e %H:%M:%S %Y").to_string()
}

fn template_lines(scope: BlockScope<'_>) -> Vec<TemplateLine> {
    let nodes = scope.block.children.iter().filter(|node| !node.is_negative);
    nodes.map(|node| template_line(scope, node)).collect()
}

fn template_line(scope: BlockScope<'_>, node: &ConfigNode) -> TemplateLine {
    let grammar: &CommandGrammar = scope.grammar;
    let mode = node.row.and_then(|row| grammar.rows[row].enters);
    let (lines, children) = match mode {
        None => (Vec::new(), Vec::new()),
        Some(mode) => {
            let inner = BlockScope {
                block: node,
                mode,
                ..scope
            };
            (effective_lines(inner), template_lines(inner))
        }
    };
    TemplateLine {
        text: node.text.clone(),
        arguments: node.arguments.clone(),
        lines,
        children,
        short: node
            .arguments
            .first()
            .map_or_else(String::new, |name| grammar.short(name)),
    }
}

/// The lines that begin with words.
fn blocks(lines: &Value, start: &str) -> Result<Vec<Value>, minijinja::Error> {
    let mut found = Vec::new();
    for line in lines.try_iter()? {
        let text = line.get_attr("text")?;
        if text.as_str().is_some_and(|text| begins_with(text, start)) {
            found.push(line);
        }
    }
    Ok(found)
}

/// The text behind words, of the first line that begins with them; empty without one.
fn value(lines: Vec<String>, start: &str) -> String {
    let found = lines.iter().find_map(|line| {
        begins_with(line, start).then(|| line[start.len()..].trim_start().to_owned())
    });
    found.unwrap_or_default()
}
