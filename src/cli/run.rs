//! What `apply` and `plan` share: which devices, which catalogs, which resources.

use std::path::PathBuf;

use clap::ValueEnum;

use super::exit::CommandError;
use crate::inventory;
use crate::route;

/// Which devices and catalogs.
#[derive(Debug, clap::Args)]
pub struct Subject {
    /// The devices and how to reach them
    #[arg(short, long, value_name = "FILE", default_value = "inventory.toml")]
    pub inventory: PathBuf,

    /// A catalog, or a directory that holds <device>.json for each device
    #[arg(short, long, value_name = "FILE|DIR")]
    pub catalog: PathBuf,

    #[command(flatten)]
    pub selection: Selection,

    /// Search this directory for models and drivers before the built-in ones
    #[arg(long, value_name = "DIR")]
    pub definitions: Option<PathBuf>,

    /// Apply a catalog although its name is another device's
    #[arg(long)]
    pub force_name: bool,

    /// What to do with host resources in a device's catalog
    #[arg(long, value_enum, default_value_t = Mixed::Warn)]
    pub mixed: Mixed,
}

/// Which devices of the inventory.
#[derive(Debug, Default, clap::Args)]
pub struct Selection {
    /// Only this device, or devices matching this pattern (repeatable)
    #[arg(short, long, value_name = "NAME|GLOB")]
    pub target: Vec<String>,

    /// Only devices with this label (repeatable; all must match)
    #[arg(short, long, value_name = "KEY=VALUE")]
    pub label: Vec<String>,
}

impl Selection {
    /// The selection as the inventory understands it.
    pub fn parse(&self) -> Result<inventory::Selection, CommandError> {
        let labels = self
            .label
            .iter()
            .map(|label| label.parse::<inventory::LabelSelector>());
        Ok(inventory::Selection {
            targets: self.target.clone(),
            labels: labels
                .collect::<Result<_, _>>()
                .map_err(CommandError::new)?,
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mixed {
    /// Skip them, report them as skipped, and list them once at warning
    Warn,
    /// Stop before connecting
    Refuse,
    /// Skip them without a word, as Puppet does
    Silent,
}

impl From<Mixed> for route::Mixed {
    fn from(mixed: Mixed) -> Self {
        match mixed {
            Mixed::Warn => route::Mixed::Warn,
            Mixed::Refuse => route::Mixed::Refuse,
            Mixed::Silent => route::Mixed::Silent,
        }
    }
}

/// Which resources.
#[derive(Debug, clap::Args)]
pub struct Filter {
    /// Only resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub tags: Vec<String>,

    /// No resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub skip_tags: Vec<String>,

    /// Apply resources whatever their schedule says
    #[arg(long)]
    pub ignore_schedules: bool,
}

/// How the run is carried out.
#[derive(Debug, clap::Args)]
pub struct Manner {
    /// Devices at work at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub concurrency: u16,

    /// Replace every device by a mock of its platform, started for the run
    #[arg(long)]
    pub mock: bool,

    /// Running configurations for the mocks: DIR/<device>.cfg
    #[arg(long, value_name = "DIR", requires = "mock")]
    pub mock_config: Option<PathBuf>,

    /// Where state is kept between runs
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,

    /// Write each device's report to DIR/<device>.json
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,

    /// For people, or one JSON object per line for machines
    #[arg(short, long, value_enum, default_value_t = Output::Human)]
    pub output: Output,

    /// Exit with 2 (changes), 4 (failures), 6 (both), 1 (a device could not run)
    #[arg(long)]
    pub detailed_exitcodes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Output {
    Human,
    Json,
}
