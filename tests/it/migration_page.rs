//! `docs/migrating-from-puppet-device.md` agrees with the program: its tables are generated from the
//! definition of the command line and from the table of settings. `UPDATE_DOCS=1` writes them.

use std::fmt::Write as _;
use std::path::Path;

use clap::CommandFactory as _;
use switchtender::agent::puppet_conf::table::{SETTINGS, SettingSupport};
use switchtender::cli::Cli;

const PAGE: &str = "docs/migrating-from-puppet-device.md";

#[test]
fn migration_page_has_the_tables_of_the_program() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let made = with_table(
        &with_table(&page, "flags", &flags()),
        "settings",
        &settings(),
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert_eq!(
        page, made,
        "run this test with UPDATE_DOCS=1 and look at the difference"
    );
}

/// The flags of `puppet device`, from section 1.1 of the protocol page.
fn peer_flags() -> Vec<(String, String)> {
    let protocol = include_str!("../../docs/reference/agent-protocol.md");
    let section = protocol
        .split("### 1.1 Flags")
        .nth(1)
        .unwrap()
        .split("\n### ")
        .next()
        .unwrap();
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let (flags, effect) = line[1..].split_once('|').unwrap();
            (
                flags.trim().to_owned(),
                effect.trim_end_matches('|').trim().to_owned(),
            )
        })
        .collect()
}

#[test]
fn device_command_accepts_every_flag_of_puppet_device() {
    let flags = peer_flags();
    assert!(flags.len() > 10, "the table was not found");
    let missing: Vec<String> = flags
        .iter()
        .flat_map(|(flags, _)| names(flags))
        .filter(|name| option(name).is_none())
        .collect();
    assert!(missing.is_empty(), "not taken: {missing:?}");
}

/// `--target`, `-t` of a cell such as `` `--target NAME`, `-t` ``.
fn names(cell: &str) -> Vec<String> {
    cell.split(['`', ' ', ','])
        .filter(|word| word.starts_with('-'))
        .map(str::to_owned)
        .collect()
}

/// The help of an option of `switchtender device`, by `--long` or `-s`.
fn option(name: &str) -> Option<String> {
    let mut cli = Cli::command();
    cli.build();
    let device = cli.find_subcommand("device").expect("there is the command");
    let found = device
        .get_arguments()
        .find(|argument| match name.strip_prefix("--") {
            Some(long) => {
                argument.get_long() == Some(long)
                    || argument
                        .get_all_aliases()
                        .is_some_and(|aliases| aliases.contains(&long))
            }
            None => {
                let short = name.chars().nth(1);
                argument.get_short() == short
                    || argument
                        .get_all_short_aliases()
                        .unwrap_or_default()
                        .iter()
                        .any(|alias| Some(*alias) == short)
            }
        })?;
    Some(
        found
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
    )
}

fn flags() -> String {
    let mut table = "| `puppet device` | `switchtender device` |\n|---|---|\n".to_owned();
    for (flags, _) in peer_flags() {
        let described = |name: &String| option(name).unwrap_or_else(|| "not taken".to_owned());
        let names = names(&flags);
        let long: Vec<&String> = names.iter().filter(|name| name.starts_with("--")).collect();
        let help = match long.as_slice() {
            [only] => described(only),
            several => several
                .iter()
                .map(|name| format!("`{name}`: {}", described(name)))
                .collect::<Vec<_>>()
                .join("<br>"),
        };
        let _ = writeln!(table, "| {flags} | {help} |");
    }
    table
}

fn settings() -> String {
    let mut table = "| Setting | Default | |\n|---|---|---|\n".to_owned();
    for setting in SETTINGS {
        let names: Vec<String> = std::iter::once(&setting.name)
            .chain(setting.aliases)
            .map(|name| format!("`{name}`"))
            .collect();
        let described = match setting.support {
            SettingSupport::Same => setting.help.to_owned(),
            SettingSupport::Different(why) => format!("{}. *Different:* {why}", setting.help),
            SettingSupport::NoEffect(why) => format!("Without effect: {why}"),
            SettingSupport::Refused(why) => format!("Refused: {why}"),
        };
        let default = match setting.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        let _ = writeln!(table, "| {} | {default} | {described} |", names.join(", "));
    }
    table
}

fn with_table(page: &str, name: &str, table: &str) -> String {
    let (begin, end) = (
        format!("<!-- {name}: begin -->\n"),
        format!("<!-- {name}: end -->"),
    );
    let (before, rest) = page.split_once(&begin).unwrap();
    let (_, after) = rest.split_once(&end).unwrap();
    format!("{before}{begin}{table}{end}{after}")
}
