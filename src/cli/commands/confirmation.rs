//! The question of `apply` before devices are changed.

use std::io::{self, BufRead as _, IsTerminal as _};

use switchtender_devices::names::DeviceName;

use crate::cli::exit::{CommandError, eprint_notice, eprint_prompt};
use crate::cli::options::output_format::RunOutput;
use crate::cli::output::view::{DeviceSummary, FinishedDevice, ViewSender};
use crate::counted::counted;
use crate::fleet::plan_confirmation::{ConfirmationStep, PlanConfirmation, PlannedRun};
use crate::fleet::rollout::Batch;
use crate::fleet::run_request::RunRequest;
use crate::inventory::Inventory;
use crate::report::RunCounts;

/// Whether there is a terminal that shows text.
pub(crate) fn can_ask(output: RunOutput) -> bool {
    let is_terminal =
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    output == RunOutput::Human && is_terminal
}

/// Shows the plans of a run and asks about each batch.
pub(crate) struct PlanQuestions<'a> {
    pub(crate) confirmation: &'a PlanConfirmation,
    pub(crate) request: &'a RunRequest,
    pub(crate) inventory: &'a Inventory,
    pub(crate) view: ViewSender,
}

/// The answer to a question about plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypedAnswer {
    No,
    Yes,
    /// Also for all later batches.
    All,
}

impl TypedAnswer {
    fn parse(text: &str, has_batches: bool) -> Self {
        match text.trim().to_lowercase().as_str() {
            "y" | "yes" => TypedAnswer::Yes,
            "a" | "all" if has_batches => TypedAnswer::All,
            _ => TypedAnswer::No,
        }
    }
}

impl PlanQuestions<'_> {
    /// Answers for all batches. Never returns: the run decides when it is over.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(crate) async fn ask_all(self) {
        let mut agrees_to_all = false;
        let mut planned = Vec::new();
        loop {
            match self.confirmation.next().await {
                ConfirmationStep::Show(plans) => {
                    for (device, plan) in plans {
                        let finished = self.finished(device, plan);
                        planned.push(DeviceSummary::from(&finished));
                        self.view.finished(finished);
                    }
                }
                ConfirmationStep::Ask(batch) => {
                    let mut devices = std::mem::take(&mut planned);
                    devices.sort_by_key(|planned| self.position(&planned.device));
                    let counts: Vec<RunCounts> =
                        devices.iter().filter_map(DeviceSummary::counts).collect();
                    let count = devices.len();
                    self.view.end_plan(devices).await;
                    let answer = match question(&batch, &counts) {
                        Some(question) if !agrees_to_all => {
                            self.answer(&question, batch.count > 1).await
                        }
                        _ => TypedAnswer::Yes,
                    };
                    self.view.begin_run(count);
                    agrees_to_all |= answer == TypedAnswer::All;
                    self.confirmation.answer(answer != TypedAnswer::No);
                    if answer == TypedAnswer::No {
                        self.request.stop.cancel();
                    }
                }
            }
        }
    }

    /// The position of a device in the inventory.
    fn position(&self, device: &DeviceName) -> Option<usize> {
        self.inventory.devices.get_index_of(device)
    }

    fn finished(&self, device: DeviceName, plan: PlannedRun) -> FinishedDevice {
        let PlannedRun { record, mask, took } = plan;
        FinishedDevice {
            platform: self.inventory.devices[&device].platform.clone(),
            device,
            took,
            record: Some(record),
            result: Ok(()),
            mask,
        }
    }

    async fn answer(&self, question: &str, has_batches: bool) -> TypedAnswer {
        match read_answer(question, self.request).await {
            Ok(Some(text)) => TypedAnswer::parse(&text, has_batches),
            Ok(None) => TypedAnswer::No,
            Err(error) => {
                eprint_notice(&format!("cannot read the answer: {error}"));
                TypedAnswer::No
            }
        }
    }
}

/// The question about the plans of a batch. `None`: they change nothing.
fn question(batch: &Batch, planned: &[RunCounts]) -> Option<String> {
    let sum = |count: fn(&RunCounts) -> usize| planned.iter().map(count).sum::<usize>();
    let changes = sum(|counts| counts.to_change);
    let removals = sum(|counts| counts.to_remove);
    let devices = planned.iter().filter(|counts| counts.to_change > 0).count();
    if changes == 0 {
        return None;
    }
    let removals = match removals {
        0 => String::new(),
        1 => ", 1 of them a removal,".to_owned(),
        count => format!(", {count} of them removals,"),
    };
    let (changes, devices) = (counted(changes, "change"), counted(devices, "device"));
    let (of_batch, answers) = match batch.count {
        1 => (String::new(), "[y/N]"),
        count => (
            format!("batch {} of {count}: ", batch.number),
            "[y/N/a: all batches]",
        ),
    };
    Some(format!(
        "Apply {of_batch}{changes}{removals} to {devices}? {answers} "
    ))
}

/// Asks a question. Every answer other than yes is a no.
///
/// # Errors
/// The answer cannot be read.
pub(crate) async fn ask(question: &str, request: &RunRequest) -> Result<bool, CommandError> {
    let answer = read_answer(question, request).await;
    let answer =
        answer.map_err(|error| CommandError::new("cannot read the answer").with_source(error))?;
    let Some(answer) = answer else {
        return Ok(false);
    };
    let is_yes = TypedAnswer::parse(&answer, false) == TypedAnswer::Yes;
    if !is_yes {
        report_no();
    }
    Ok(is_yes)
}

/// Says that a no was understood.
pub(crate) fn report_no() {
    eprint_notice("nothing was changed; --yes applies without the question");
}

/// Prints a question and reads a line. `None`: the run was stopped.
async fn read_answer(question: &str, request: &RunRequest) -> io::Result<Option<String>> {
    eprint_prompt(question);
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    tokio::select! {
        biased;
        () = request.stop.cancelled() => Ok(None),
        answer = answer => answer.expect("reading does not panic").map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(count: usize) -> Batch {
        Batch {
            number: 1,
            count,
            devices: Vec::new(),
        }
    }

    fn counts(to_change: usize, to_remove: usize) -> RunCounts {
        RunCounts {
            to_change,
            to_remove,
            ..RunCounts::default()
        }
    }

    #[test]
    fn question_has_the_totals() {
        for (batches, planned, expected) in [
            (1, vec![counts(0, 0)], None),
            (
                1,
                vec![counts(1, 0), counts(0, 0)],
                Some("Apply 1 change to 1 device? [y/N] "),
            ),
            (
                3,
                vec![counts(4, 2), counts(1, 0)],
                Some(
                    "Apply batch 1 of 3: 5 changes, 2 of them removals, to 2 devices? [y/N/a: all batches] ",
                ),
            ),
        ] {
            let question = question(&batch(batches), &planned);
            assert_eq!(question.as_deref(), expected);
        }
    }

    #[test]
    fn every_other_answer_is_a_no() {
        for (text, has_batches, expected) in [
            ("y\n", false, TypedAnswer::Yes),
            ("YES\n", true, TypedAnswer::Yes),
            ("a\n", true, TypedAnswer::All),
            ("a\n", false, TypedAnswer::No),
            ("\n", true, TypedAnswer::No),
            ("apply\n", true, TypedAnswer::No),
        ] {
            assert_eq!(TypedAnswer::parse(text, has_batches), expected, "{text:?}");
        }
    }
}
