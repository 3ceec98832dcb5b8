//! `--manifest` of commands that take catalogs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use switchtender_devices::driver::{Facts, Registry};

use crate::agent::client::facts::Facts as AgentFacts;
use crate::cli::exit::CommandError;
use crate::cli::options::offline_state::last_facts;
use crate::error_chain::chain;
use crate::inventory::Device;
use crate::manifest::{CompiledManifest, CompilerOptions, ManifestCompiler, ManifestError};

/// The manifest and its compiler.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct ManifestArgs {
    /// Manifest, or directory of manifests, to compile for each device with an installed Puppet or OpenVox
    #[arg(long, value_name = "FILE|DIR", help_heading = "Manifests")]
    manifest: Option<PathBuf>,

    #[command(flatten)]
    options: CompilerOptions,
}

impl ManifestArgs {
    /// The manifest, or the directory of manifests.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.manifest.as_deref()
    }

    /// Whether there is a manifest.
    pub(crate) fn is_set(&self) -> bool {
        self.manifest.is_some()
    }

    /// The compiler. `None`: `--manifest` is not set.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn compiler(
        &self,
        registry: &Registry,
    ) -> Result<Option<ManifestCompiler>, CommandError> {
        let manifest = self.manifest.as_deref();
        let compiler = manifest.map(|path| compiler(path, &self.options, registry));
        compiler.transpose()
    }
}

/// What to do about errors of a compilation without the facts of the device.
const NO_FACTS: &str = "no facts of the device are known: if the manifest uses facts, save them with \
                        `switchtender facts DEVICE`, and pass them with --facts";

/// The catalog of a device for a command that contacts no device. Without `facts`, the compiler has those
/// of the last run.
pub(crate) fn offline_catalog(
    compiler: &ManifestCompiler,
    device: &Device,
    facts: Option<&Facts>,
    state_dir: Option<&Path>,
) -> Result<CompiledManifest, CommandError> {
    let last = match facts {
        Some(_) => None,
        None => last_facts(state_dir, device)
            .map_err(|error| CommandError::new("cannot read the facts").with_source(error))?,
    };
    let known = facts.or(last.as_ref());
    let has_facts = known.is_some();
    let facts = known.cloned().unwrap_or_default();
    let facts = AgentFacts::of_driver(&device.certname, &facts, false, Duration::ZERO);
    crate::cli::runtime::block_on(async {
        compiler
            .compile(&facts)
            .await
            .map_err(|failed| error(&failed))
            .map_err(|mut failed| {
                for found in failed.findings.iter_mut().filter(|_| !has_facts) {
                    found.help.get_or_insert_with(|| NO_FACTS.to_owned());
                }
                failed
            })
    })
}

/// The compiler of a manifest.
pub(crate) fn compiler(
    manifest: &Path,
    options: &CompilerOptions,
    registry: &Registry,
) -> Result<ManifestCompiler, CommandError> {
    ManifestCompiler::new(manifest, options, registry).map_err(|failed| error(&failed))
}

/// An error of a manifest as the error of a command.
pub(crate) fn error(error: &ManifestError) -> CommandError {
    CommandError {
        findings: error.findings().to_vec(),
        hint: error.hint(),
        ..CommandError::new(chain(error))
    }
}
