//! The arguments of `apply` and `plan`.

use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use switchtender_devices::provider::driver_provider::ProtectPolicy;

use crate::cli::options::limit_options::LimitArgs;
use crate::cli::options::mock_options::MockOptions;
use crate::cli::options::output_format::RunOutput;
use crate::cli::options::record_options::RecordArgs;
use crate::cli::options::store_options::StoreOption;
use crate::cli::options::view_arguments::ViewArgs;
use crate::compat::Deviations;
use crate::coverage::strict::Strict;
use crate::transaction::{TagSelection, TransactionSettings};

/// The resources of a run.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ResourceFilterArgs {
    /// Apply only resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,

    /// Skip resources with one of these tags
    #[arg(long, value_name = "TAG,…", value_delimiter = ',')]
    pub(crate) skip_tags: Vec<String>,

    /// Ignore the schedules of resources
    #[arg(long, alias = "ignoreschedules")]
    pub(crate) ignore_schedules: bool,

    /// Restore the behavior of an older program where Switchtender deliberately differs
    #[arg(long, value_enum)]
    pub(crate) compat: Option<Compat>,
}

impl ResourceFilterArgs {
    /// The settings of these options; the others have their defaults.
    pub(crate) fn settings(&self) -> TransactionSettings {
        TransactionSettings {
            tags: TagSelection::parse(&self.tags.join(",")),
            skip_tags: TagSelection::parse(&self.skip_tags.join(",")),
            ignore_schedules: self.ignore_schedules,
            deviations: deviations(self.compat),
            ..TransactionSettings::default()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Compat {
    /// Puppet 7, defects included
    Puppet7,
}

/// The execution and output of a run.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// Number of devices that run at once
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,

    #[command(flatten)]
    pub(crate) mock: MockOptions,

    /// State directory; default: $SWITCHTENDER_STATE, else /var/lib/switchtender for root,
    /// ~/.local/state/switchtender for others
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,

    /// Output format
    #[arg(short, long, value_enum, default_value_t = RunOutput::Human)]
    pub(crate) output: RunOutput,

    #[command(flatten)]
    pub(crate) view: ViewArgs,

    /// Write each device's report to DIR/<device>.json
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,

    /// Write the session with each device to DIR/<device>.log, secrets masked
    #[arg(long, value_name = "DIR")]
    pub(crate) transcripts: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) record: RecordArgs,

    /// Write the graphs of each device's run to DIR/<device>/*.dot
    #[arg(long, value_name = "DIR")]
    pub(crate) graph: Option<PathBuf>,

    /// Log the start and the duration of each resource at level info (-v)
    #[arg(long)]
    pub(crate) evaltrace: bool,

    /// Rewrite and remove lines and objects of a device that were not understood
    #[arg(long)]
    pub(crate) overwrite_unknown: bool,

    /// Permit changes that are refused otherwise
    #[arg(long, value_enum, value_name = "CHANGE,…", value_delimiter = ',')]
    pub(crate) allow: Vec<AllowedChange>,

    /// Refuse a device whose configuration has lines that are not managed (`explain unmanaged-line`)
    #[arg(long, value_enum, value_name = "LINES")]
    pub(crate) strict: Option<Strict>,

    #[command(flatten)]
    pub(crate) store: StoreOption,

    #[command(flatten)]
    pub(crate) limits: LimitArgs,

    /// Exit with 2 (changes, or commands in a plan), 4 (failures), 6 (both), 1 (a device could not
    /// run)
    #[arg(long)]
    pub(crate) detailed_exitcodes: bool,
}

/// A change that needs a permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AllowedChange {
    /// Change of what the session to the device uses (`explain own-path`)
    OwnPath,
    /// Removal of all instances of a type by `resources` (`explain undeclared-purge`)
    Purge,
    /// Undo that leaves a difference to the configuration before (`explain incomplete-undo`)
    IncompleteUndo,
}

/// The words of `--protect`.
pub(crate) fn protect_policies() -> impl TypedValueParser<Value = ProtectPolicy> {
    let values = ProtectPolicy::WORDS.map(|(word, policy)| {
        PossibleValue::new(word).help(match policy {
            ProtectPolicy::Off => "Changes stay",
            ProtectPolicy::Auto => "If the device has a timed revert; otherwise with a warning",
            ProtectPolicy::Required => "A device without a timed revert is not changed",
        })
    });
    PossibleValuesParser::new(values).map(|text| {
        let mut words = ProtectPolicy::WORDS.into_iter();
        let (_, policy) = words
            .find(|(word, _)| *word == text)
            .expect("a possible value");
        policy
    })
}

/// The deviations from Puppet 7 that are active.
pub(crate) fn deviations(compat: Option<Compat>) -> Deviations {
    match compat {
        Some(Compat::Puppet7) => Deviations::puppet7(),
        None => Deviations::default(),
    }
}
