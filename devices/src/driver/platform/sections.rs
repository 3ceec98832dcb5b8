//! The keys of `platform.toml` besides those of sessions.

use super::MockKind;
use crate::document::{Named, keys, sections, word_values};
use crate::driver::backup_rules::BackupKeys;
use crate::driver::codec::CodecKeys;
use crate::driver::coverage_rules::CoverageKeys;
use crate::driver::document_rule::DocumentKeys;
use crate::driver::facts::{FactKeys, IdentityKeys};
use crate::driver::inactive::InactiveRule;
use crate::driver::manager_rule::ManagerRule;
use crate::driver::negation::OneWord;
use crate::driver::new_block::NewBlockRule;
use crate::driver::parameter::ParameterKeys;
use crate::driver::quoting::QuoteKeys;
use crate::driver::read_rule::ReadKeys;
use crate::driver::saved_rule::SavedRule;
use crate::driver::self_test::platform_test::PlatformTestKeys;
use crate::driver::session_use::SessionUseKeys;
use crate::driver::standby::StandbyRule;
use crate::read::rows::RowsRule;

sections! {
    /// The keys of all platforms.
    pub(in crate::driver) struct PlatformSections {
        /// Version of the format, 1.
        schema (required): i64,
        /// Name of the platform, equal to the directory.
        platform (required): String,
        /// Description of the platform.
        doc: String,
        /// `shipped`, or the platform whose keys this file changes.
        extends: String,
        /// The reads of the platform.
        read: Named<ReadKeys>,
        /// Documents that the device accepts only as a whole.
        write: Named<DocumentKeys>,
        /// The facts of devices.
        fact: Named<FactKeys>,
        /// The serial numbers by which a device is recognized.
        identity: IdentityKeys,
        /// Value formats of the platform.
        codec: Named<CodecKeys>,
        /// Names of positions in the order of changes.
        rank: Named<i64>,
        /// Quotation marks of the command line.
        quote: QuoteKeys,
        /// How the configuration shows what a session uses.
        session_use: SessionUseKeys,
        /// How a device shows that it is the standby unit of a pair.
        standby: StandbyRule,
        /// How a device shows its saved configuration.
        saved: SavedRule,
        /// What a backup leaves out.
        backup: BackupKeys,
        /// What the device writes into its configuration by itself.
        coverage: CoverageKeys,
        /// Values of each device, `{device.x}` in the texts of the definitions.
        parameter: Named<ParameterKeys>,
        /// Tests of the platform.
        test: Vec<PlatformTestKeys>,
    }
}

keys! {
    /// The values at the top of `platform.toml`.
    pub(in crate::driver) struct PlatformKeys {
        /// Names and values of the device, for checks that need an example.
        examples: Vec<String>,
        /// Characters that no line may contain.
        refused_characters: String = String::new(),
        /// First word of lines that remove.
        negate: Option<OneWord>,
        /// First word of all other lines, which `negate` replaces.
        negate_replaces: Option<OneWord>,
        /// Longest input line in bytes.
        line_limit: usize = 254,
    }
}

sections! {
    /// What stands for a platform itself, and is not taken from one that it extends.
    pub(in crate::driver) struct IdentitySections {
        /// Other names of the platform.
        aliases: Vec<String>,
        /// Mock device for `--mock`.
        mock: MockKind,
    }
}

sections! {
    /// The keys of some transports.
    pub(in crate::driver) struct TransportSections {
        /// The list of objects in an answer, unless a type has another.
        rows: RowsRule,
        /// Objects that another object of the device makes and changes.
        manager: ManagerRule,
        /// How the configuration marks parts that the device does not use.
        inactive: InactiveRule,
        /// Blocks that need a line when they are created.
        new_block: Named<NewBlockRule>,
    }
}

word_values!(MockKind {
    "switch" => MockKind::Switch,
    "grammar" => MockKind::Grammar,
    "load-balancer" => MockKind::LoadBalancer,
});
