//! The settings of `puppet.conf` as flags, for the commands that use `device.conf`.
//!
//! The flags are built from the table of settings, so that flags, help and parser agree.

use std::collections::BTreeMap;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches};

use crate::agent::puppet_conf::table::{PuppetSetting, SETTINGS, SettingSupport, SettingType};
use crate::agent::puppet_conf::{self, PuppetDirectories, Settings};
use crate::cli::exit::CommandError;

/// The settings on the command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettingFlags {
    supplied: BTreeMap<String, String>,
}

impl SettingFlags {
    /// Settings from flags, `puppet.conf` and defaults.
    pub(crate) fn read(&self) -> Result<Settings, CommandError> {
        // Root uses the system-wide directories of Puppet, other users their own.
        let root = is_root();
        let home = std::env::var_os("HOME");
        let home = PuppetDirectories::find(root, home.as_deref().map(Path::new), Path::exists);
        puppet_conf::read(&self.supplied, &home).map_err(CommandError::findings)
    }

    /// Whether no setting is on the command line.
    pub(crate) fn is_empty(&self) -> bool {
        self.supplied.is_empty()
    }

    pub(crate) fn set(&mut self, name: &str, value: impl Into<String>) {
        self.supplied.insert(name.to_owned(), value.into());
    }
}

/// Whether the effective user is root.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The name of the flag that disables a setting.
fn negated(setting: &PuppetSetting) -> String {
    format!("no-{}", setting.name)
}

/// Whether another flag of switchtender replaces the setting.
fn has_own_flag(setting: &PuppetSetting) -> bool {
    setting.name == "color"
}

/// Settings in the help; `--help-all` and the manual pages contain all.
const COMMON: &[&str] = &[
    "confdir",
    "vardir",
    "deviceconfig",
    "server",
    "environment",
    "noop",
    "tags",
    "waitforcert",
];

/// The heading of the settings in the help.
const HEADING: &str = "Settings of puppet.conf";

/// Shows an argument in the help if it is a setting with an effect.
pub(crate) fn show(arg: Arg) -> Arg {
    let mut settings = SETTINGS.iter();
    let setting = settings.find(|setting| arg.get_id() == setting.name);
    let has_effect = setting.is_some_and(|setting| {
        !matches!(
            setting.support,
            SettingSupport::NoEffect(_) | SettingSupport::Refused(_)
        )
    });
    if has_effect && arg.get_help_heading() == Some(HEADING) {
        arg.hide(false)
    } else {
        arg
    }
}

fn flag(setting: &'static PuppetSetting) -> Arg {
    let arg = Arg::new(setting.name)
        .long(setting.name)
        .visible_aliases(setting.aliases.iter().copied())
        .help_heading(HEADING)
        .help(setting.help)
        .hide(!COMMON.contains(&setting.name));
    let arg = match setting.name {
        "waitforcert" => arg.short('w'),
        _ => arg,
    };
    match setting.value_type {
        SettingType::Boolean => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(PossibleValuesParser::new(["true", "false"]))
            .hide_possible_values(true)
            .value_name("BOOL"),
        other => arg.value_name(match other {
            SettingType::Duration => "TIME",
            SettingType::Integer => "N",
            SettingType::Path => "PATH",
            SettingType::List => "A,B,…",
            _ => "TEXT",
        }),
    }
}

impl clap::Args for SettingFlags {
    fn augment_args(mut command: clap::Command) -> clap::Command {
        for setting in SETTINGS.iter().filter(|setting| !has_own_flag(setting)) {
            command = command.arg(flag(setting));
            if setting.value_type == SettingType::Boolean {
                command = command.arg(
                    Arg::new(negated(setting))
                        .long(negated(setting))
                        .action(ArgAction::SetTrue)
                        .overrides_with(setting.name)
                        .hide(true),
                );
            }
        }
        command.arg(
            Arg::new("help-all")
                .long("help-all")
                .help_heading(HEADING)
                .help("Print help with all settings of puppet.conf")
                .action(ArgAction::SetTrue),
        )
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for SettingFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Self::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for setting in SETTINGS.iter().filter(|setting| !has_own_flag(setting)) {
            if matches.value_source(setting.name) == Some(ValueSource::CommandLine)
                && let Some(value) = matches.get_one::<String>(setting.name)
            {
                self.set(setting.name, value);
            }
            if setting.value_type == SettingType::Boolean && matches.get_flag(&negated(setting)) {
                self.set(setting.name, "false");
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args as _, FromArgMatches as _};

    use super::*;

    fn supplied(arguments: &[&str]) -> Vec<(String, String)> {
        let command = SettingFlags::augment_args(clap::Command::new("device"));
        let matches = command
            .try_get_matches_from(std::iter::once(&"device").chain(arguments))
            .unwrap();
        SettingFlags::from_arg_matches(&matches)
            .unwrap()
            .supplied
            .into_iter()
            .collect()
    }

    #[test]
    fn puppet_settings_are_flags_as_in_puppet_device() {
        let pairs = |expected: &[(&str, &str)]| -> Vec<(String, String)> {
            expected
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        assert_eq!(
            supplied(&[
                "--noop",
                "--server",
                "a.example",
                "--masterport=8141",
                "--tags=a,b"
            ]),
            pairs(&[
                ("noop", "true"),
                ("server", "a.example"),
                ("serverport", "8141"),
                ("tags", "a,b")
            ])
        );
        assert_eq!(
            supplied(&["--no-report", "--usecacheonfailure=false"]),
            pairs(&[("report", "false"), ("usecacheonfailure", "false")])
        );
        assert_eq!(supplied(&[]), []);
    }
}
