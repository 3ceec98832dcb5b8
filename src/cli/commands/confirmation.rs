//! The question of `apply` before it changes many devices.

use std::io::{self, BufRead as _, IsTerminal as _};
use std::sync::Arc;

use crate::cli::commands::run::PreparedRun;
use crate::cli::exit::{CommandError, eprint_notice, eprint_prompt};
use crate::cli::options::global::Global;
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::run_arguments::RunArgs;
use crate::cli::options::view_arguments::ViewArgs;
use crate::cli::options::view_arguments::ViewFilter;
use crate::fleet::run_request::RunRequest;

/// Up to this number of devices, nothing is asked.
const FEW: usize = 10;

/// Whether the user is asked: about many devices, on a terminal that shows text.
pub(crate) fn is_due(devices: usize, output: RunOutput) -> bool {
    devices > FEW && can_ask(output)
}

/// Whether there is a terminal that shows text.
pub(crate) fn can_ask(output: RunOutput) -> bool {
    let is_terminal =
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    output == RunOutput::Human && is_terminal
}

/// Plans the run, shows the totals and asks, unless nothing would change. Every answer other than yes is a no.
///
/// # Errors
/// The answer cannot be read.
pub(crate) async fn confirm(
    prepared: &PreparedRun,
    request: &Arc<RunRequest>,
    arguments: &RunArgs,
    global: &Global,
) -> Result<bool, CommandError> {
    let arguments = RunArgs {
        view: ViewArgs::of(ViewFilter::summary()),
        ..arguments.clone()
    };
    let at_once = prepared.at_once();
    let planned = prepared
        .execute(request, &at_once, &arguments, None, global)
        .await
        .devices;
    if request.stop.is_cancelled() {
        return Ok(false);
    }
    let counts = || planned.iter().filter_map(|device| device.counts());
    let changes: usize = counts().map(|counts| counts.to_change).sum();
    let removals: usize = counts().map(|counts| counts.to_remove).sum();
    if changes == 0 {
        return Ok(true);
    }
    let devices = counts().filter(|counts| counts.to_change > 0).count();
    let question = format!(
        "Apply {changes} changes, {removals} of them removals, to {devices} devices? [y/N] "
    );
    ask(&question, request).await
}

/// Asks a question. Every answer other than yes is a no.
///
/// # Errors
/// The answer cannot be read.
pub(crate) async fn ask(question: &str, request: &RunRequest) -> Result<bool, CommandError> {
    eprint_prompt(question);
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    let answer = tokio::select! {
        biased;
        () = request.stop.cancelled() => return Ok(false),
        answer = answer => answer.expect("reading does not panic"),
    };
    let answer =
        answer.map_err(|error| CommandError::new("cannot read the answer").with_source(error))?;
    let is_yes = matches!(answer.trim().to_lowercase().as_str(), "y" | "yes");
    if !is_yes {
        eprint_notice("nothing was changed; --yes applies without the question");
    }
    Ok(is_yes)
}
