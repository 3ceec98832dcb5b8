//! A run of the store as text: `switchtender report RUN`.

use crate::cli::commands::history::{print_lines, seconds};
use crate::cli::exit::{CommandError, print};
use crate::cli::options::output_format::Output;
use crate::cli::options::store_options::{StoreOption, store_error};
use crate::cli::output::view::difference::difference;
use crate::cli::output::view::resource_text;
use crate::history::RunId;
use crate::history::runs::{RunDetail, RunDetailJson};
use crate::terminal_text::{Style, TerminalText};

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
        Output::Json => print_lines(&[RunDetailJson::from(found)]),
        Output::Human => print(&render(&found, colors)),
    }
    Ok(())
}

pub(super) fn render(detail: &RunDetail, colors: bool) -> TerminalText {
    let run = &detail.run;
    let mut text = TerminalText::with_colors(colors);
    text.paint(Style::Bold, &run.device).line(format_args!(
        ": {} ({}), run {}, {}",
        run.status,
        run.kind,
        run.id,
        seconds(run.started.unwrap_or(run.queued))
    ));
    if let Some(error) = &run.error {
        text.paint(Style::Red, format_args!("  error: {error}"))
            .end_line();
    }
    if let Some(hint) = &run.hint {
        let label = if run.error.is_some() { "hint: " } else { "" };
        text.line(format_args!("  {label}{hint}"));
    }
    let Some(record) = &detail.record else {
        return text;
    };
    for status in &record.resources {
        text.line(format_args!(
            "  {}: {}{}",
            status.reference,
            status.result(),
            resource_text::position(status)
        ));
        resource_text::add_parts(&mut text, status);
    }
    resource_text::add_problems(&mut text, record);
    let heading = "configuration difference";
    text.append(&difference(heading, &record.difference, colors));
    text.line(record.counts.text());
    let phases = record.phases().into_iter();
    let phases: Vec<String> = phases
        .map(|(name, seconds)| format!("{name} {seconds:.3} s"))
        .collect();
    if !phases.is_empty() {
        text.line(format_args!("times: {}", phases.join(", ")));
    }
    text
}
