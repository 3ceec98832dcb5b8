//! The definition of the command line with its help: commands in groups, and the settings of
//! `puppet.conf` on request.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::CommandFactory as _;

use crate::cli::Cli;
use crate::cli::options::puppet_settings;

/// The commands in the order of the help.
const GROUPS: &[(&str, &[&str])] = &[
    ("Configure devices", &["plan", "apply", "undo", "report"]),
    (
        "Run regularly, and query stored runs",
        &[
            "serve", "fleet", "run", "history", "drift", "store", "access",
        ],
    ),
    (
        "Read devices",
        &["facts", "resource", "import", "coverage", "backup"],
    ),
    (
        "Check and describe, without devices",
        &["validate", "explain", "graph", "state", "type", "schema"],
    ),
    ("Puppet", &["device", "cert"]),
    (
        "Set up",
        &["inventory", "doctor", "state-dir", "completions", "man"],
    ),
    ("Develop", &["driver", "model", "mock"]),
];

/// The flag that prints all settings.
const ALL: &str = "--help-all";

/// The definition of the command line.
pub(super) fn command() -> clap::Command {
    let command = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Options:\n{{options}}{{after-help}}",
        groups(&command)
    );
    command.help_template(template)
}

/// The definition with all settings of `puppet.conf` in its help.
pub(super) fn complete_command() -> clap::Command {
    show_settings(command())
}

fn show_settings(command: clap::Command) -> clap::Command {
    command
        .mut_args(puppet_settings::show)
        .mut_subcommands(show_settings)
}

/// The definition for these arguments, which are changed to a request of help if they contain
/// `--help-all`.
pub(super) fn command_for(arguments: &mut [OsString]) -> clap::Command {
    match arguments.iter_mut().find(|argument| *argument == ALL) {
        Some(argument) => {
            *argument = "--help".into();
            complete_command()
        }
        None => command(),
    }
}

/// The commands with their first lines, in groups.
fn groups(command: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text.push_str(heading);
        text.push_str(":\n");
        for name in *names {
            // A build without mocks has no command for them.
            let Some(about) = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about)
            else {
                continue;
            };
            writeln!(text, "  {name:11}  {about}").expect("a string takes all text");
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn help_of(command: &mut clap::Command) -> String {
        command.render_long_help().to_string()
    }

    #[test]
    fn each_command_is_in_one_group_and_fits_into_80_columns() {
        let command = command();
        let grouped = || GROUPS.iter().flat_map(|(_, names)| names.iter().copied());
        for subcommand in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let name = subcommand.get_name();
            assert_eq!(
                grouped().filter(|other| *other == name).count(),
                1,
                "{name}"
            );
        }
        let help = help_of(&mut command.clone());
        let commands = help.lines().take_while(|line| *line != "Options:");
        for line in commands.filter(|line| line.starts_with("  ")) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn each_help_has_an_example() {
        let mut open = vec![command()];
        let mut without = Vec::new();
        while let Some(command) = open.pop() {
            for mut subcommand in command.get_subcommands().cloned() {
                let help = help_of(&mut subcommand);
                let is_own = !subcommand.is_hide_set() && subcommand.get_name() != "help";
                if is_own && !help.contains("Example") {
                    without.push(format!("{} {}", command.get_name(), subcommand.get_name()));
                }
                open.push(subcommand);
            }
        }
        assert!(without.is_empty(), "{without:#?}");
    }

    #[test]
    fn options_for_manifests_have_a_heading_of_their_own() {
        for name in ["plan", "apply", "validate", "graph"] {
            let mut command = command();
            let command = command.find_subcommand_mut(name).expect("it exists");
            let heading = Some("Manifests");
            let options = command.get_arguments();
            let options = options.filter(|one| one.get_help_heading() == heading);
            let mut names: Vec<&str> = options.filter_map(clap::Arg::get_long).collect();
            names.sort_unstable();
            let expected = ["hiera-config", "manifest", "modulepath", "puppet"];
            assert_eq!(names, expected, "{name}");
        }
    }

    #[test]
    fn settings_of_puppet_conf_are_in_the_complete_help_only() {
        let words = ["switchtender", "device", ALL].map(OsString::from);
        let of = |mut arguments: Vec<OsString>| {
            let mut command = command_for(&mut arguments);
            let device = command.find_subcommand_mut("device").expect("it exists");
            help_of(device)
        };
        let (long, all) = (of(words[..2].to_vec()), of(words.to_vec()));
        for setting in ["--splay", "--hostcert_renewal_interval"] {
            assert!(!long.contains(setting), "{setting}");
            assert!(all.contains(setting), "{setting}");
        }
        assert!(long.contains("--server <TEXT>"), "{long}");
        assert!(long.contains(ALL), "{long}");
    }
}
