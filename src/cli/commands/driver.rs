//! `switchtender driver`: show, draft, validate, test and explain models and drivers.

mod import;
mod new;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use switchtender_devices::definitions::shipped_text;
use switchtender_devices::diagnostic::{Severity, did_you_mean};
use switchtender_devices::driver::{Facts, Parameter, Platform, Registry, TestResult, TypeDriver};
use switchtender_devices::model::AttributeModel;
use switchtender_devices::names::{PlatformName, TypeName};
use switchtender_devices::read::ReadRequest;

use crate::cli::exit::{CommandError, Exit, print, print_document};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::cli::options::unknown_name::{unknown_platform, unknown_type};
use crate::diagnostic::Counts;
use crate::diagnostic::terminal::{self, RenderOptions};
use crate::terminal_text::TerminalText;

/// Show, draft, validate, test and explain models and drivers
///
/// Example: switchtender driver explain cisco_ios network_vlan
#[derive(Debug, clap::Args)]
pub(crate) struct DriverArgs {
    #[command(subcommand)]
    command: DriverCommand,
}

#[derive(Debug, Subcommand)]
enum DriverCommand {
    /// Print a built-in file, as a template for your own
    ///
    /// Example: switchtender driver show cisco_ios network_vlan
    Show {
        /// Platform, such as cisco_ios; without a type, its platform.toml is printed
        platform: PlatformName,
        /// Type, such as network_vlan
        #[arg(value_name = "TYPE")]
        type_name: Option<TypeName>,
        /// Print the model of the type
        #[arg(long, requires = "type_name")]
        model: bool,
    },
    New(new::NewArgs),
    Import(import::DriverImportArgs),
    /// Validate models and drivers: keys, values, templates, missing tests
    ///
    /// Example: switchtender driver validate ./definitions
    Validate {
        /// Directory with models and drivers [default: the built-in ones]
        dir: Option<PathBuf>,
    },
    /// Run the tests in models and drivers
    ///
    /// Example: switchtender driver test ./definitions --type network_vlan
    Test {
        /// Directory with models and drivers; they are tested together with the built-in ones
        dir: Option<PathBuf>,
        /// Test only this type
        #[arg(long = "type", value_name = "TYPE")]
        type_name: Option<TypeName>,
    },
    /// Explain the attributes of a type, and how a driver reads and writes them
    ///
    /// Example: switchtender driver explain cisco_ios network_vlan
    Explain {
        /// Platform, such as cisco_ios
        platform: PlatformName,
        /// Type, such as network_vlan
        #[arg(value_name = "TYPE")]
        type_name: TypeName,
        /// Explain only this attribute
        attribute: Option<String>,
        /// Directory of models and drivers that override the built-in ones
        #[arg(long, value_name = "DIR")]
        definitions: Option<PathBuf>,
    },
}

pub(crate) fn run(args: &DriverArgs, global: &Global) -> Result<Exit, CommandError> {
    match &args.command {
        DriverCommand::Show {
            platform,
            type_name,
            model,
        } => show(platform, type_name.as_deref(), *model),
        DriverCommand::New(args) => new::run(args, global),
        DriverCommand::Import(args) => import::run(args, global),
        DriverCommand::Validate { dir } => {
            let (registry, own) = definitions::load_own(dir.as_deref())?;
            validate(&registry, own, global)
        }
        DriverCommand::Test { dir, type_name } => test(dir.as_deref(), type_name.as_deref()),
        DriverCommand::Explain {
            platform,
            type_name,
            attribute,
            definitions,
        } => {
            let registry = definitions::load(definitions.as_deref())?;
            explain(&registry, platform, type_name, attribute.as_deref())
        }
    }
}

fn show(platform: &str, type_name: Option<&str>, model: bool) -> Result<Exit, CommandError> {
    let registry = Registry::shipped();
    let found = find_platform(&registry, platform)?;
    let path = match type_name {
        None => format!("{platform}/platform.toml"),
        Some(name) => {
            find_definition(&registry, found, name)?;
            let directory = if model { "models" } else { platform };
            format!("{directory}/{name}.toml")
        }
    };
    print_document(shipped_text(&path).expect("loaded from this file"));
    Ok(Exit::SUCCESS)
}

/// Checks the definitions; `own` of their files are the user's.
fn validate(registry: &Registry, own: usize, global: &Global) -> Result<Exit, CommandError> {
    let findings = registry.check();
    let mut text = terminal::render_each(
        &findings,
        RenderOptions {
            colors: global.is_stdout_colored(),
        },
    );
    let files = match own {
        0 => String::new(),
        1 => ", with 1 file of yours".to_owned(),
        many => format!(", with {many} files of yours"),
    };
    text.line(format_args!(
        "{} types on {} platforms{files}: {}",
        registry.models().count(),
        registry.platforms().count(),
        Counts::of(&findings)
    ));
    print(&text);
    let bad = findings
        .iter()
        .any(|found| found.severity == Severity::Error);
    Ok(if bad { Exit::FAILURE } else { Exit::SUCCESS })
}

fn test(directory: Option<&Path>, only: Option<&str>) -> Result<Exit, CommandError> {
    let (registry, _) = definitions::load_own(directory)?;
    let with_own = directory.is_some();
    if let Some(name) = only
        && registry.model(name).is_none()
    {
        return Err(unknown_type(&registry, name));
    }
    let results = registry.test(only);
    for result in &results {
        if let Some(failure) = &result.failure {
            // A definition of the user can break a test of a built-in one.
            let origin = if with_own && !result.own {
                " (built in)"
            } else {
                ""
            };
            let mut text = TerminalText::of_line(format_args!(
                "{}: {}{origin}",
                result.definition, result.name
            ));
            text.block("", failure).end_line();
            print(&text);
        }
    }
    let (own, shipped): (Vec<_>, Vec<_>) = results.iter().partition(|result| result.own);
    let mut text = TerminalText::new();
    if with_own {
        text.line(format_args!("own: {}", counted(&own)))
            .line(format_args!("built in: {}", counted(&shipped)));
    } else {
        text.line(counted(&shipped));
    }
    print(&text);
    let failed = results.iter().any(|result| result.failure.is_some());
    Ok(if failed { Exit::FAILURE } else { Exit::SUCCESS })
}

fn counted(results: &[&TestResult]) -> String {
    let failed = results.iter().filter(|result| result.failure.is_some());
    let failed = failed.count();
    format!("{} passed, {failed} failed", results.len() - failed)
}

fn explain(
    registry: &Registry,
    platform: &str,
    type_name: &str,
    attribute: Option<&str>,
) -> Result<Exit, CommandError> {
    let found = find_platform(registry, platform)?;
    let definition = find_definition(registry, found, type_name)?;
    let implementation = definition
        .choose(&Facts::default())
        .map_err(|error| CommandError::new(error.to_string()))?;
    let explanation = implementation.explain();
    let model = &definition.model;
    let mut text = TerminalText::of_line(format_args!("{type_name} on {platform}"));
    let meaning = [("meaning", &*model.doc)].into_iter();
    let reads: Vec<String> = explanation
        .reads
        .iter()
        .map(ReadRequest::describe)
        .collect();
    let reads = reads.iter().map(|read| ("read", &**read));
    let instance = explanation
        .instance
        .iter()
        .map(|(word, line)| (&**word, &**line));
    let parameters = found.parameters.iter().map(Parameter::describe);
    let parameters: Vec<String> = parameters.collect();
    let parameters = parameters.iter().map(|one| ("parameter", &**one));
    let rows = meaning.chain(parameters).chain(reads).chain(instance);
    add_aligned(&mut text, rows);
    let mut is_known = attribute.is_none();
    for of in &explanation.attributes {
        if attribute.is_some_and(|name| name != of.name) {
            continue;
        }
        is_known = true;
        text.end_line().line(&of.name);
        let described = model.attributes.get(of.name.as_str());
        let values = described.map(AttributeModel::describe_values);
        let meaning = described.map(|model| ("meaning", &*model.doc));
        let values = values.iter().map(|values| ("values", &**values));
        let read = of.read.iter().map(|line| ("read", &**line));
        let write = of.write.iter().map(|(value, line)| (&**value, &**line));
        let notes = of.all_notes();
        let notes = notes.iter().map(|note| ("note", &**note));
        let model_rows = meaning.into_iter().chain(values);
        add_aligned(&mut text, model_rows.chain(read).chain(write).chain(notes));
    }
    if let Some(name) = attribute
        && !is_known
    {
        let names = explanation
            .attributes
            .iter()
            .map(|attribute| attribute.name.as_str());
        return Err(CommandError {
            hint: did_you_mean(name, names),
            ..CommandError::new(format!("{type_name} has no attribute `{name}`"))
        });
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

fn find_platform<'a>(
    registry: &'a Registry,
    name: &str,
) -> Result<&'a Arc<Platform>, CommandError> {
    let found = registry.platform(name);
    found.ok_or_else(|| unknown_platform(registry, name))
}

fn find_definition<'a>(
    registry: &Registry,
    platform: &'a Platform,
    type_name: &str,
) -> Result<&'a TypeDriver, CommandError> {
    if let Some(definition) = platform.type_driver(type_name) {
        return Ok(definition);
    }
    let with: Vec<_> = registry
        .platforms()
        .filter(|platform| platform.has_type(type_name))
        .map(|platform| platform.name.as_str())
        .collect();
    if with.is_empty() {
        return Err(unknown_type(registry, type_name));
    }
    let text = format!("platform {} does not support {type_name}", platform.name);
    Err(CommandError::new(text).hint(format!("platforms that support it: {}", with.join(", "))))
}

/// Adds rows of two columns.
fn add_aligned<'a>(text: &mut TerminalText, rows: impl Iterator<Item = (&'a str, &'a str)>) {
    let rows: Vec<_> = rows.collect();
    let words = rows.iter().map(|(word, _)| word.chars().count());
    let width = words.max().unwrap_or(0).max(9);
    for (word, line) in rows {
        text.line(format_args!("  {word:width$} {line}"));
    }
}
