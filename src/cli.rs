//! The command line.
//!
//! `commands` has one file per command, `options` what several commands have in common, `output` what they
//! print. Errors become exit codes and hints in [`exit`] alone.

// Doc comments of arguments are help texts: `<device>` and `Network_vlan[10]` are no markup there.
#![allow(rustdoc::invalid_html_tags, rustdoc::broken_intra_doc_links)]

pub(crate) mod commands;
mod core_dumps;
pub(crate) mod exit;
mod help;
mod interrupt;
pub(crate) mod options;
pub(crate) mod output;
mod runtime;
mod user_name;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, Parser, Subcommand};

use commands::{
    access, apply, backup, cert, complete_names, completions, coverage, device, doctor, drift,
    driver, explain, facts, fleet, graph, history, import, inventory, man, mock, model, plan,
    report, resource, run_device, schema, serve, state, state_dir, store, types, undo, validate,
};
use exit::{CommandError, Exit};
use options::global::Global;
use switchtender_devices::printable::escape;

use crate::terminal_text::TerminalText;

/// Applies Puppet catalogs to switches and load balancers from a proxy host.
#[derive(Debug, Parser)]
#[command(
    name = "switchtender",
    version,
    propagate_version = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Apply(Box<apply::ApplyArgs>),
    Plan(Box<plan::PlanArgs>),
    Undo(Box<undo::UndoArgs>),
    Validate(validate::ValidateArgs),
    Explain(explain::ExplainArgs),
    Graph(graph::GraphArgs),
    Device(Box<device::DeviceArgs>),
    Cert(cert::CertArgs),
    Access(access::AccessArgs),
    Doctor(doctor::DoctorArgs),
    Facts(facts::FactsArgs),
    Resource(resource::ResourceArgs),
    Report(report::ReportArgs),
    Backup(backup::BackupArgs),
    Coverage(coverage::CoverageArgs),
    Import(Box<import::ImportArgs>),
    State(state::StateArgs),
    StateDir(state_dir::StateDirArgs),
    Serve(serve::ServeArgs),
    Fleet(fleet::FleetArgs),
    Run(run_device::RunDeviceArgs),
    History(history::HistoryArgs),
    Drift(drift::DriftArgs),
    Store(store::StoreArgs),
    Schema(schema::SchemaArgs),
    Inventory(inventory::InventoryArgs),
    Type(types::TypeArgs),
    Driver(driver::DriverArgs),
    Model(model::ModelArgs),
    Mock(mock::MockArgs),
    Completions(completions::CompletionsArgs),
    CompleteNames(complete_names::CompleteNamesArgs),
    Man(man::ManArgs),
}

impl Command {
    fn run(self, global: &Global) -> Result<Exit, CommandError> {
        match self {
            Command::Apply(args) => apply::run(&args, global),
            Command::Plan(args) => plan::run(&args, global),
            Command::Undo(args) => undo::run(&args, global),
            Command::Validate(args) => validate::run(&args, global),
            Command::Explain(args) => explain::run(&args, global),
            Command::Graph(args) => graph::run(&args),
            Command::Device(args) => device::run(&args, global),
            Command::Cert(args) => cert::run(&args),
            Command::Access(args) => access::run(&args, global),
            Command::Doctor(args) => doctor::run(&args),
            Command::Facts(args) => facts::run(&args, global),
            Command::Resource(args) => resource::run(&args, global),
            Command::Report(args) => report::run(&args, global),
            Command::Backup(args) => backup::run(&args, global),
            Command::Coverage(args) => coverage::run(&args, global),
            Command::Import(args) => import::run(&args, global),
            Command::State(args) => state::run(&args),
            Command::StateDir(args) => state_dir::run(&args),
            Command::Serve(args) => serve::run(&args, global),
            Command::Fleet(args) => fleet::run(&args, global),
            Command::Run(args) => run_device::run(&args, global),
            Command::History(args) => history::run(&args, global),
            Command::Drift(args) => drift::run(&args, global),
            Command::Store(args) => store::run(&args),
            Command::Schema(args) => schema::run(&args),
            Command::Inventory(args) => inventory::run(&args, global),
            Command::Type(args) => types::run(&args, global),
            Command::Driver(args) => driver::run(&args, global),
            Command::Model(args) => model::run(&args),
            Command::Mock(args) => mock::run(&args),
            Command::Completions(args) => completions::run(&args),
            Command::CompleteNames(args) => complete_names::run(&args),
            Command::Man(args) => man::run(&args),
        }
    }
}

/// Runs the program with the process's own arguments.
pub fn main() -> ExitCode {
    run(std::env::args_os())
}

fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match parse(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // clap words its own errors, help and version; a usage error exits with 1 ("could not
            // run"), because 2 means "changes" with --detailed-exitcodes. Only for `validate` 1
            // means findings.
            print_usage(&error, &arguments);
            let could_not_run = match arguments.get(1) {
                Some(command) if command == "validate" => 2,
                _ => 1,
            };
            return ExitCode::from(if error.use_stderr() { could_not_run } else { 0 });
        }
    };
    let Cli { global, command } = cli;
    exit::escape_panics();
    exit::warn_closed_output();
    let logs = crate::telemetry::start(match &command {
        // In `device`, the first `-v` is the flag of `puppet device` for --logdest.
        Command::Device(_) => global.verbose.saturating_sub(1),
        _ => global.verbose,
    });
    if let Err(error) = core_dumps::disable() {
        tracing::warn!("cannot disable core dumps: {error}");
    }
    let ended = command.run(&global);
    drop(logs);
    exit::report(ended, global.is_stderr_colored())
}

fn parse(arguments: &[OsString]) -> Result<Cli, clap::Error> {
    let mut arguments = arguments.to_vec();
    let is_plan = arguments.get(1).is_some_and(|command| command == "plan");
    let is_device = arguments.get(1).is_some_and(|command| command == "device");
    let matches = help::command_for(&mut arguments).try_get_matches_from(arguments);
    let matches = matches.map_err(|error| match (is_plan, is_device) {
        (true, _) => with_target_tip(error),
        (_, true) => with_device_tip(error),
        _ => error,
    })?;
    Cli::from_arg_matches(&matches)
}

/// Names the option for devices if one is written as an argument of `plan`.
fn with_target_tip(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::InvalidSubcommand {
        let tip = "name devices with --target DEVICE".to_owned().into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Names the commands for one device if `device` has an argument.
fn with_device_tip(mut error: clap::Error) -> clap::Error {
    let is_option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => argument.starts_with('-'),
        _ => true,
    };
    if error.kind() == ErrorKind::UnknownArgument && !is_option {
        let tip = "`device` runs the devices of device.conf; for one device without an inventory: \
                   switchtender plan --device USER@ADDRESS --platform PLATFORM";
        let tip = vec![tip.to_owned().into()];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tip));
    }
    error
}

/// Prints an error of clap, help or the version. Its text contains arguments, and clap does not escape
/// them: the same error about the escaped arguments is printed.
fn print_usage(error: &clap::Error, arguments: &[OsString]) {
    let escaped = arguments.iter().map(|argument| {
        let text = argument.to_string_lossy();
        OsString::from(escape(&text).into_owned())
    });
    match parse(&escaped.collect::<Vec<_>>()) {
        Err(escaped) => drop(escaped.print()),
        // The escaped argument is valid.
        Ok(_) => exit::eprint_text(&TerminalText::of_line(error.to_string().trim_end())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_definition_is_consistent() {
        help::complete_command().debug_assert();
    }

    /// A longer line of a verbatim text has a second break. Other texts have paragraphs of one line.
    #[test]
    fn descriptions_of_commands_fit_the_width_of_the_help() {
        let mut commands = vec![help::complete_command()];
        while let Some(command) = commands.pop() {
            let text = command.get_long_about().map(ToString::to_string);
            let text = text.unwrap_or_default();
            let verbatim = text.split("\n\n").filter(|text| text.contains('\n'));
            for line in verbatim.flat_map(str::lines) {
                assert!(
                    line.chars().count() <= 100,
                    "{}: {line}",
                    command.get_name()
                );
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
