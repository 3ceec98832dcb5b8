//! `switchtender complete-names`: names for the word at the cursor, for the scripts of `completions`.
//!
//! It reads the inventory and the definitions only, runs no command and prints no error.

use std::path::Path;

use clap::Arg;

use switchtender_devices::regular_file;

use crate::cli::exit::{CommandError, Exit, print_document};
use crate::cli::options::inventory_source::DEFAULT_INVENTORY;
use crate::cli::{help, options::definitions};
use crate::inventory::{Inventory, InventoryOptions};

/// Print the names that may stand at the cursor
#[derive(Debug, clap::Args)]
#[command(hide = true)]
pub(crate) struct CompleteNamesArgs {
    /// The words of the command line up to the cursor; the first is the program
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// The names that an argument takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameKind {
    Device,
    Label,
    Type,
    Platform,
}

pub(crate) fn run(args: &CompleteNamesArgs) -> Result<Exit, CommandError> {
    let kind = kind_at_cursor(&help::command(), &args.words);
    let names = kind.map_or_else(Vec::new, |kind| names(kind, &args.words));
    print_document(
        &names
            .iter()
            .map(|name| format!("{name}\n"))
            .collect::<String>(),
    );
    Ok(Exit::SUCCESS)
}

/// The names that the last word may be.
fn kind_at_cursor(command: &clap::Command, words: &[String]) -> Option<NameKind> {
    let (current, before) = words.split_last()?;
    let mut command = command;
    let mut option: Option<&Arg> = None;
    let mut positionals = 0;
    // `graph` takes the name of a device only for desired state and manifests.
    let has_state = before.iter().any(|word| is_state(word));
    for word in before.iter().skip(1) {
        if option.take().is_some() {
            continue;
        }
        if let Some(long) = word.strip_prefix("--") {
            option = find(command, |arg| arg.get_long() == Some(long));
        } else if let Some(short) = word.strip_prefix('-') {
            option = find(command, |arg| {
                short
                    .chars()
                    .last()
                    .is_some_and(|short| arg.get_short() == Some(short))
            });
        } else if let Some(subcommand) = command.find_subcommand(word) {
            command = subcommand;
        } else {
            positionals += 1;
        }
    }
    let arg = match option {
        Some(arg) => arg,
        None if current.starts_with('-') => return None,
        None => {
            let all: Vec<&Arg> = command.get_positionals().collect();
            *all.get(positionals).or(all.last())?
        }
    };
    match arg.get_value_names()?.first()?.as_str() {
        "DEVICE" | "DEVICE|RUN" | "DEVICE|RESOURCE" | "EXPRESSION" => Some(NameKind::Device),
        "CATALOG|DEVICE" if has_state => Some(NameKind::Device),
        "KEY=VALUE" => Some(NameKind::Label),
        "TYPE" | "TYPE|WORD" => Some(NameKind::Type),
        "PLATFORM" => Some(NameKind::Platform),
        // One argument takes a device, a type and a name.
        "NAME" if command.get_name() == "resource" => match positionals {
            0 => Some(NameKind::Device),
            1 => Some(NameKind::Type),
            _ => None,
        },
        _ => None,
    }
}

fn is_state(word: &str) -> bool {
    matches!(word, "--state" | "--manifest")
}

/// The option that has a value.
fn find(command: &clap::Command, is_named: impl Fn(&Arg) -> bool) -> Option<&Arg> {
    let mut options = command.get_arguments();
    options.find(|arg| is_named(arg) && arg.get_action().takes_values())
}

fn names(kind: NameKind, words: &[String]) -> Vec<String> {
    match kind {
        NameKind::Device | NameKind::Label => {
            let Some(inventory) = inventory(words) else {
                return Vec::new();
            };
            let devices = inventory.devices.values();
            let mut names: Vec<String> = match kind {
                NameKind::Label => devices
                    .flat_map(|device| &device.settings.labels)
                    .map(|(key, value)| format!("{key}={}", value.value))
                    .collect(),
                _ => devices.map(|device| device.name.to_string()).collect(),
            };
            names.sort();
            names.dedup();
            names
        }
        NameKind::Type | NameKind::Platform => {
            let directory = value_of(words, &["--definitions"]);
            let Ok(registry) = definitions::load(directory.map(Path::new)) else {
                return Vec::new();
            };
            match kind {
                NameKind::Type => registry.type_names().map(ToString::to_string).collect(),
                _ => registry.platform_names().map(ToString::to_string).collect(),
            }
        }
    }
}

/// The inventory of the command line, without devices of its `[source]`.
fn inventory(words: &[String]) -> Option<Inventory> {
    let path = Path::new(value_of(words, &["-i", "--inventory"]).unwrap_or(DEFAULT_INVENTORY));
    let text = regular_file::read_text(path, regular_file::LARGEST).ok()?;
    let base = path.parent().unwrap_or(Path::new(""));
    Inventory::parse("", &text, base, None, &InventoryOptions::default()).ok()
}

/// The word after an option.
fn value_of<'a>(words: &'a [String], names: &[&str]) -> Option<&'a str> {
    let mut pairs = words.windows(2);
    let found = pairs.find(|pair| names.contains(&pair[0].as_str()))?;
    Some(&found[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_depends_on_the_option_or_the_position() {
        let command = help::command();
        for (line, expected) in [
            ("plan --target ", Some(NameKind::Device)),
            ("plan --quiet -t sw", Some(NameKind::Device)),
            ("apply --state state -l ", Some(NameKind::Label)),
            ("plan --catalog ", None),
            ("plan --", None),
            ("report ", Some(NameKind::Device)),
            ("facts -i lab.toml ", Some(NameKind::Device)),
            ("resource ", Some(NameKind::Device)),
            ("resource sw1 ", Some(NameKind::Type)),
            ("resource sw1 network_vlan ", None),
            ("state show sw1 ", Some(NameKind::Type)),
            ("graph ", None),
            ("graph --state state ", Some(NameKind::Device)),
            ("graph --manifest site.pp --svg s", Some(NameKind::Device)),
            ("graph --state state sw1 ", None),
            ("type ", Some(NameKind::Type)),
            ("validate --platform ", Some(NameKind::Platform)),
            ("", None),
            ("explain ", None),
        ] {
            let line = format!("switchtender {line}");
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(kind_at_cursor(&command, &words), expected, "{line}");
        }
    }
}
