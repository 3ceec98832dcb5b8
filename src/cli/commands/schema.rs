//! `switchtender schema`: JSON Schema for editors.

use std::path::PathBuf;

use clap::ValueEnum;

use switchtender_devices::driver::Registry;

use crate::cli::exit::{CommandError, Exit, print_json};
use crate::{desired_state, inventory};

/// Print the JSON Schema of a file format, for editors
///
/// Example: switchtender schema state > state.schema.json
///
/// In a YAML file: # yaml-language-server: $schema=state.schema.json
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaArgs {
    #[arg(value_enum, value_name = "FORMAT")]
    format: SchemaFormat,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SchemaFormat {
    /// YAML files of --state
    State,
    /// inventory.toml
    Inventory,
    /// Definition files of --definitions
    Definitions,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, CommandError> {
    let schema = match args.format {
        SchemaFormat::State => {
            let registry = crate::cli::options::definitions::load(args.definitions.as_deref())?;
            desired_state::schema(&registry)
        }
        SchemaFormat::Inventory => inventory::schema::schema(),
        SchemaFormat::Definitions => Registry::definition_schema(),
    };
    print_json(&format!("{schema:#}\n"));
    Ok(Exit::SUCCESS)
}
