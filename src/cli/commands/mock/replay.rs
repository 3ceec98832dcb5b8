//! `switchtender mock --replay`: devices that answer from recordings.

use std::path::{Path, PathBuf};

use switchtender_devices::driver::Registry;
use switchtender_mocks::ReplayOptions;
use switchtender_mocks::fleet::DeviceOptions;

use crate::cli::exit::{CommandError, Exit, eprint_notice};
use crate::cli::options::unknown_name::unknown_platform;
use crate::error_chain::chain;
use crate::fleet::connector::RECORDING;
use crate::fleet::{replay, saved_files};

/// Devices with recorded answers.
#[derive(Debug, clap::Args)]
pub(super) struct ReplayArgs {
    /// Serve the answers of DIR/<device>.recording, until interrupted. Requests that a recording does
    /// not have are refused and printed
    #[arg(long = "replay", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR", requires = "directory")]
    definitions: Option<PathBuf>,

    /// Port of the first device; the others use the next ports. 0 selects free ports
    #[arg(long, default_value_t = 0, requires = "directory")]
    port: u16,

    /// User name for login
    #[arg(long, default_value = super::DEFAULT_LOGIN, requires = "directory")]
    user: String,

    /// Password for login
    #[arg(long, default_value = super::DEFAULT_LOGIN, requires = "directory")]
    password: String,
}

/// Serves recordings until the command is interrupted.
pub(super) fn run(args: &ReplayArgs) -> Result<Exit, CommandError> {
    let Some(directory) = &args.directory else {
        return Err(CommandError::new("there is nothing to serve").hint("set `--replay DIR`"));
    };
    let registry = crate::cli::options::definitions::load(args.definitions.as_deref())?;
    let failed = |error| {
        CommandError::new(format!("cannot read {}", directory.display())).with_source(error)
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == RECORDING)
        {
            files.push(path);
        }
    }
    if files.is_empty() {
        let text = format!("{} has no recordings", directory.display());
        return Err(CommandError::new(text).hint("record one with `--record DIR`"));
    }
    files.sort();
    let options = files.iter().map(|path| {
        let options = describe(&registry, path)?;
        Ok(DeviceOptions::Replay(ReplayOptions {
            user: args.user.clone(),
            password: args.password.clone(),
            ..options
        }))
    });
    let options = options.collect::<Result<Vec<_>, CommandError>>()?;
    let logins = super::logins(&args.user, &args.password, super::DEFAULT_LOGIN);
    super::serve(options, args.port, &args.user, &logins, None)
}

fn describe(registry: &Registry, path: &Path) -> Result<ReplayOptions, CommandError> {
    let recording =
        saved_files::read_recording(path).map_err(|error| CommandError::new(chain(&error)))?;
    let Some(platform) = registry.platform(&recording.platform) else {
        return Err(unknown_platform(registry, &recording.platform));
    };
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let report = {
        let name = name.to_string();
        move |request: &str| {
            eprint_notice(&format!("{name}: the recording does not have: {request}"));
        }
    };
    let described = replay::describe(&name, platform, &recording, report);
    described.map_err(|error| {
        CommandError::new(format!("cannot replay {}", path.display())).with_source(error)
    })
}
