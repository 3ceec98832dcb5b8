//! Runs the compiler.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use switchtender_devices::driver::Registry;
use switchtender_devices::names::Certname;
use switchtender_devices::regular_file;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::error::ManifestError;
use super::message::{errors, warnings};
use crate::agent::client::facts::Facts;
use crate::bounded_command::{self, BoundedCommandError, CommandLimits};
use crate::catalog;

/// Limit for one compilation.
const LIMIT: Duration = Duration::from_secs(120);

/// How manifests are compiled.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CompilerOptions {
    /// Directories of modules for the compiler, separated by colons
    #[arg(
        long,
        value_name = "DIRS",
        value_delimiter = ':',
        help_heading = "Manifests"
    )]
    modulepath: Vec<PathBuf>,

    /// Hiera configuration for the compiler
    #[arg(long, value_name = "FILE", help_heading = "Manifests")]
    hiera_config: Option<PathBuf>,

    /// Program that compiles manifests, of Puppet or OpenVox
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "puppet",
        help_heading = "Manifests"
    )]
    puppet: PathBuf,
}

/// A compiled manifest.
pub(crate) struct CompiledManifest {
    /// The catalog in JSON.
    pub(crate) text: String,
    /// Warnings of the compiler.
    pub(crate) warnings: Vec<String>,
}

/// Compiles one manifest, or the manifests of a directory, for many devices.
#[derive(Debug)]
pub(crate) struct ManifestCompiler {
    manifest: PathBuf,
    modules: std::ffi::OsString,
    hiera_config: Option<PathBuf>,
    program: PathBuf,
    /// The types, and for each device its settings and facts.
    scratch: TempDir,
    /// A compilation uses one processor.
    permits: Semaphore,
}

impl ManifestCompiler {
    /// The manifest, or the directory of manifests.
    pub(crate) fn manifest(&self) -> &PathBuf {
        &self.manifest
    }

    /// Checks the files, and writes the types of the definitions for the compiler. Types of the site's own
    /// modules come first.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub(crate) fn new(
        manifest: &Path,
        options: &CompilerOptions,
        registry: &Registry,
    ) -> Result<Self, ManifestError> {
        let readable = |path: &Path| {
            // The compiler would wait for a FIFO.
            let checked = if path.is_dir() {
                Ok(())
            } else {
                regular_file::open(path, regular_file::LARGEST).map(drop)
            };
            checked
                .and_then(|()| path.canonicalize())
                .map_err(|source| ManifestError::Unreadable {
                    path: path.to_owned(),
                    source,
                })
        };
        let manifest = readable(manifest)?;
        let hiera_config = options.hiera_config.as_deref().map(readable).transpose()?;
        let mut modules: Vec<PathBuf> = Vec::new();
        for directory in &options.modulepath {
            modules.push(readable(directory)?);
        }
        let scratch = tempfile::tempdir().map_err(ManifestError::Types)?;
        let types = scratch.path().join("modules");
        write_types(registry, &types.join("switchtender")).map_err(ManifestError::Types)?;
        modules.push(types);
        let modules = std::env::join_paths(modules)
            .map_err(|error| ManifestError::Types(io::Error::other(error)))?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            manifest,
            modules,
            hiera_config,
            program: options.puppet.clone(),
            scratch,
            permits: Semaphore::new(processors),
        })
    }

    /// Compiles the catalog of a device.
    ///
    /// # Errors
    /// The compiler cannot run, or the manifest has errors.
    ///
    /// # Cancellation
    /// May be dropped at any time; the compiler is then killed.
    pub(crate) async fn compile(&self, facts: &Facts) -> Result<CompiledManifest, ManifestError> {
        let _permit = self.permits.acquire().await.expect("it is never closed");
        let node = &facts.name;
        let home = self.scratch.path().join("nodes").join(node.as_str());
        write_facts(facts, &home).map_err(ManifestError::Types)?;
        let mut command = tokio::process::Command::new(&self.program);
        command.args(["catalog", "compile", node.as_str()]);
        command.args(["--certname", node.as_str(), "--render-as", "json"]);
        command.args(["--facts_terminus", "yaml", "--node_terminus", "plain"]);
        command.args(["--color", "false", "--log_level", "warning"]);
        for (option, directory) in [
            ("--confdir", "conf"),
            ("--codedir", "code"),
            ("--vardir", "var"),
        ] {
            command.arg(option).arg(home.join(directory));
        }
        command.arg("--manifest").arg(&self.manifest);
        command.arg("--modulepath").arg(&self.modules);
        if let Some(hiera) = &self.hiera_config {
            command.arg("--hiera_config").arg(hiera);
        }
        let limits = CommandLimits {
            time: LIMIT,
            output: catalog::MAX_SIZE,
        };
        let output = match bounded_command::run(&mut command, limits).await {
            Ok(output) => output,
            Err(BoundedCommandError::Late(limit)) => return Err(ManifestError::Late(limit)),
            Err(source) => {
                let program = self.program.clone();
                return Err(ManifestError::Run { program, source });
            }
        };
        let stderr = String::from_utf8_lossy(&output.stderr);
        let findings = errors(&stderr, node);
        if !output.status.success() && !findings.is_empty() {
            return Err(ManifestError::Compilation { findings });
        }
        let text = String::from_utf8_lossy(&output.stdout);
        // Other lines are messages.
        let catalog = text.lines().find(|line| line.starts_with('{'));
        match catalog {
            Some(line) => Ok(CompiledManifest {
                text: line.to_owned(),
                warnings: warnings(&stderr),
            }),
            None => Err(ManifestError::NoCatalog {
                program: self.program.clone(),
            }),
        }
    }

    /// The name of a catalog in messages.
    pub(crate) fn source_name(&self, node: &Certname) -> String {
        format!("catalog of {node} from {}", self.manifest.display())
    }
}

/// Writes the type of each model as a module for Puppet. Returns their number.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write_types(registry: &Registry, module: &Path) -> io::Result<usize> {
    let directory = module.join("lib/puppet/type");
    std::fs::create_dir_all(&directory)?;
    let mut count = 0;
    for model in registry.models() {
        let path = directory.join(format!("{}.rb", model.name));
        std::fs::write(path, model.type_stub())?;
        count += 1;
    }
    Ok(count)
}

/// Writes the facts where the compiler looks for those of a node. JSON is YAML.
fn write_facts(facts: &Facts, home: &Path) -> io::Result<()> {
    let directory = home.join("var/yaml/facts");
    std::fs::create_dir_all(&directory)?;
    std::fs::create_dir_all(home.join("conf"))?;
    let values = json!({"name": facts.name.as_str(), "values": facts.values});
    let text = format!("--- !ruby/object:Puppet::Node::Facts\n{values}\n");
    std::fs::write(directory.join(format!("{}.yaml", facts.name)), text)
}
