//! A run of the store as text: `switchtender report RUN`.

use crate::cli::commands::history::{print_lines, seconds};
use crate::cli::exit::{CommandError, print};
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::difference::difference;
use crate::history::RunId;
use crate::history::runs::{RunDetail, RunResource};
use crate::report::command_lines::CommandLines;
use crate::terminal_text::TerminalText;

const BOLD: &str = "1";
const RED: &str = "31";

/// Prints a run.
///
/// # Errors
/// The store cannot be read, or has no such run.
pub(crate) fn show(
    store: &StoreOption,
    run: RunId,
    output: Output,
    colors: bool,
) -> Result<(), CommandError> {
    let history = store.existing()?;
    let found = history.read(|reader| reader.run_detail(run));
    let found = found.map_err(store_error)?.ok_or_else(|| {
        CommandError::new(format!("the store has no run {run}"))
            .hint("list the runs with `switchtender history`")
    })?;
    match output {
        Output::Json => print_lines(&[found]),
        Output::Human => print(&render(&found, colors)),
    }
    Ok(())
}

fn render(detail: &RunDetail, colors: bool) -> TerminalText {
    let run = &detail.run;
    let mut text = TerminalText::with_colors(colors);
    text.paint(BOLD, &run.device).line(format_args!(
        ": {} ({}), run {}, {}",
        run.status,
        run.kind,
        run.id,
        seconds(run.started.unwrap_or(run.queued))
    ));
    if let Some(error) = &run.error {
        text.paint(RED, format_args!("  error: {error}")).end_line();
    }
    if let Some(hint) = &run.hint {
        text.line(format_args!("  hint: {hint}"));
    }
    for resource in &detail.resources {
        text.line(format_args!(
            "  {}: {}{}",
            resource.resource,
            resource.status,
            position(resource)
        ));
        add_resource(&mut text, resource);
    }
    for log in detail.logs.iter().filter(|log| is_problem(&log.level)) {
        let line = format!("  {}: {}: {}", log.level, log.source, log.message);
        text.line(line);
    }
    let heading = "configuration difference";
    text.append(&difference(
        heading,
        &detail.configuration_difference,
        colors,
    ));
    let counts = run.counts;
    text.line(format_args!(
        "{} resources: {} changed, {} failed, {} skipped, {} pending",
        counts.resources, counts.changed, counts.failed, counts.skipped, counts.pending
    ));
    let phases = detail.phases.iter();
    let phases: Vec<String> = phases
        .map(|(name, seconds)| format!("{name} {seconds:.3} s"))
        .collect();
    if !phases.is_empty() {
        text.line(format_args!("times: {}", phases.join(", ")));
    }
    text
}

/// The events and operations of a resource, each mode once.
pub(crate) fn add_resource(text: &mut TerminalText, resource: &RunResource) {
    if let Some(reason) = &resource.skip_reason {
        text.line(format_args!("    skipped: {reason}"));
    }
    for event in resource
        .events
        .iter()
        .filter(|event| event.status != "audit")
    {
        let message = event.message.as_deref().unwrap_or(&event.name);
        let message = match &event.property {
            Some(property) if !message.starts_with(property.as_str()) => {
                format!("{property}: {message}")
            }
            _ => message.to_owned(),
        };
        match event.status.as_str() {
            "failure" => text.paint(RED, format_args!("    failed: {message}")),
            _ => text.add(format_args!("    {message}")),
        };
        text.end_line();
    }
    let mut commands = CommandLines::default();
    for operation in &resource.operations {
        for line in commands.next(&operation.mode, operation.text.as_deref()) {
            text.line(format_args!("    > {line}"));
        }
        match operation.outcome.as_str() {
            "done" | "planned" => {}
            "not_sent" => {
                text.line("      not sent");
            }
            outcome => {
                text.line(format_args!("      {outcome}"));
            }
        }
        if let Some(message) = &operation.device_message {
            text.block("      | ", message);
        }
    }
}

fn position(resource: &RunResource) -> String {
    match (&resource.file, resource.line) {
        (Some(file), Some(line)) => format!("  ({file}:{line})"),
        (Some(file), None) => format!("  ({file})"),
        (None, _) => String::new(),
    }
}

fn is_problem(level: &str) -> bool {
    ["warning", "err", "alert", "emerg", "crit"].contains(&level)
}
