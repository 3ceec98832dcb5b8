//! Arguments of a rollout, and its batches.

use std::collections::HashMap;
use std::time::Duration;

use indexmap::IndexMap;
use switchtender_devices::names::DeviceName;

use crate::cli::commands::run::PreparedRun;
use crate::cli::exit::{CommandError, eprint_notice};
use crate::cli::options::duration_argument;
use crate::fleet::rollout::Rollout;
use crate::fleet::rollout::batches::{Share, batches};
use crate::fleet::rollout::check::RolloutCheck;
use crate::inventory::{Selectable, range};
use crate::store::rollout_log::{RolloutLog, RolloutLogError, RolloutPlan};

/// The batches of a run, and what stops it.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RolloutArgs {
    /// Run the devices in batches of these sizes, the last one repeated: 1,10%,100%
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',', value_parser = batch_size, conflicts_with_all = ["noop", "resume"], help_heading = "Rollout")]
    batch: Vec<Share>,

    /// Count values of this label instead of devices: devices with one value are in one batch
    #[arg(long, value_name = "KEY", requires = "batch", help_heading = "Rollout")]
    batch_label: Option<String>,

    /// Start no device after more than N failures [default: no limit; 0 with --batch]
    #[arg(long, value_name = "N|N%", help_heading = "Rollout")]
    max_failures: Option<Share>,

    /// Run this shell command after each batch, and stop if it fails
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with = "noop",
        help_heading = "Rollout"
    )]
    check: Option<String>,

    /// Time limit of the check
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration_argument::parse, help_heading = "Rollout")]
    check_timeout: Duration,

    /// Continue a rollout with the devices that did not succeed
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with = "noop",
        help_heading = "Rollout"
    )]
    resume: Option<String>,
}

/// A batch has one device or more.
fn batch_size(text: &str) -> Result<Share, String> {
    match text.parse::<Share>().map_err(|error| error.to_string())? {
        Share::Number(0) | Share::Percent(0) => {
            Err("a batch has a size of 1 or more, or of 1% or more".to_owned())
        }
        size => Ok(size),
    }
}

/// A rollout that can start.
pub(crate) struct PreparedRollout {
    rollout: Rollout,
    /// The plan of a log that does not exist yet.
    new_log: Option<RolloutPlan>,
}

impl RolloutArgs {
    /// The batches of the selected devices. Of a rollout that is resumed, the devices that succeeded are
    /// left out.
    ///
    /// # Errors
    /// The batches contradict the inventory, or the rollout to resume cannot be read.
    pub(crate) fn prepare(
        &self,
        prepared: &mut PreparedRun,
    ) -> Result<PreparedRollout, CommandError> {
        let mut rollout = Rollout {
            after: after(prepared)?,
            max_failures: self.max_failures,
            check: self.check.as_ref().map(|command| RolloutCheck {
                command: command.clone(),
                time_limit: self.check_timeout,
            }),
            ..Rollout::default()
        };
        if let Some(run) = &self.resume {
            self.continue_run(run, &mut rollout, prepared)?;
            return Ok(PreparedRollout {
                rollout,
                new_log: None,
            });
        }
        let sizes = match &self.batch[..] {
            [] => &[Share::Percent(100)],
            sizes => {
                rollout.max_failures.get_or_insert(Share::Number(0));
                sizes
            }
        };
        let units = self.units(prepared)?;
        rollout.batches = batches(&units, &rollout.after, sizes).map_err(|error| {
            CommandError::new(error.to_string())
                .hint("leave out --batch-label, or change `after` in the inventory")
        })?;
        let is_rollout =
            !self.batch.is_empty() || self.max_failures.is_some() || self.check.is_some();
        let new_log = is_rollout.then(|| RolloutPlan {
            batches: rollout
                .batches
                .iter()
                .map(|batch| batch.iter().map(ToString::to_string).collect())
                .collect(),
            max_failures: rollout.max_failures.map(|share| share.to_string()),
            check: self.check.clone(),
        });
        Ok(PreparedRollout { rollout, new_log })
    }

    /// What batches count: devices, or all devices with one value of a label.
    fn units(&self, prepared: &PreparedRun) -> Result<Vec<Vec<DeviceName>>, CommandError> {
        let Some(label) = &self.batch_label else {
            let names = prepared.names().iter();
            return Ok(names.map(|name| vec![name.clone()]).collect());
        };
        let inventory = &prepared.fleet.connector.inventory;
        let mut units: IndexMap<&str, Vec<DeviceName>> = IndexMap::new();
        for name in prepared.names() {
            let Some(value) = Selectable::label(&inventory.devices[name], label) else {
                return Err(CommandError::new(format!("{name} has no label `{label}`"))
                    .hint("set the label in the inventory, or select other devices"));
            };
            units.entry(value).or_default().push(name.clone());
        }
        Ok(units.into_values().collect())
    }

    /// Takes the batches of an earlier run.
    fn continue_run(
        &self,
        run: &str,
        rollout: &mut Rollout,
        prepared: &mut PreparedRun,
    ) -> Result<(), CommandError> {
        let store = &prepared.fleet.connector.store;
        let (log, plan) = RolloutLog::resume(store, run).map_err(log_error)?;
        let names: HashMap<&str, &DeviceName> = prepared
            .names()
            .iter()
            .map(|name| (name.as_str(), name))
            .collect();
        let mut left_out = Vec::new();
        for batch in &plan.batches {
            let mut devices = Vec::new();
            for name in batch {
                match names.get(name.as_str()) {
                    Some(name) => devices.push((*name).clone()),
                    None => left_out.push(name.as_str()),
                }
            }
            if !devices.is_empty() {
                rollout.batches.push(devices);
            }
        }
        if !left_out.is_empty() {
            eprint_notice(&format!(
                "not selected, and left out of the rollout: {}",
                range::of_names(left_out).join(", ")
            ));
        }
        if rollout.max_failures.is_none() {
            let recorded = plan.max_failures.as_deref().map(str::parse);
            rollout.max_failures = recorded.transpose().map_err(|error| {
                CommandError::new(format!("cannot resume {run}")).with_source(error)
            })?;
        }
        if rollout.check.is_none() {
            rollout.check = plan.check.map(|command| RolloutCheck {
                command,
                time_limit: self.check_timeout,
            });
        }
        rollout.log = Some(log);
        prepared.retain(rollout.batches.iter().flatten().map(DeviceName::as_str));
        Ok(())
    }
}

impl PreparedRollout {
    /// Creates the log of a new rollout with the name of its run.
    ///
    /// # Errors
    /// The log cannot be created.
    pub(crate) fn start(self, prepared: &PreparedRun, run: &str) -> Result<Rollout, CommandError> {
        let Self {
            mut rollout,
            new_log,
        } = self;
        if let Some(plan) = new_log {
            let store = &prepared.fleet.connector.store;
            rollout.log = Some(RolloutLog::create(store, run, &plan).map_err(log_error)?);
        }
        Ok(rollout)
    }
}

/// The error of a rollout that stopped, with the option that continues it.
pub(crate) fn stopped(cause: &str, rollout: &Rollout, prepared: &PreparedRun) -> CommandError {
    let error = CommandError::new(format!("the rollout stopped: {cause}"));
    match &rollout.log {
        Some(log) if !prepared.is_forgotten() => error.hint(format!(
            "correct the cause, then run the same command with --resume {} instead of --batch",
            log.run()
        )),
        _ => error,
    }
}

fn log_error(error: RolloutLogError) -> CommandError {
    let is_unknown = matches!(error, RolloutLogError::Unknown { .. });
    let error = CommandError::new("cannot use the log of the rollout").with_source(error);
    if is_unknown {
        error.hint("use the name that the rollout printed when it stopped")
    } else {
        error
    }
}

/// The devices before each device that is selected.
fn after(prepared: &PreparedRun) -> Result<HashMap<DeviceName, Vec<DeviceName>>, CommandError> {
    let devices = &prepared.fleet.connector.inventory.devices;
    let mut all = HashMap::new();
    for name in prepared.names() {
        if let Some(after) = &devices[name].settings.after {
            let names = after.value.iter().map(|name| DeviceName::parse(name));
            let names: Result<Vec<_>, _> = names.collect();
            let names = names.map_err(|error| CommandError::new(error.to_string()))?;
            all.insert(name.clone(), names);
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_size_is_one_or_more() {
        for (text, is_valid) in [("1", true), ("10%", true), ("0", false), ("0%", false)] {
            assert_eq!(batch_size(text).is_ok(), is_valid, "{text}");
        }
    }
}
