//! `--settings FILE`, and `switchtender.toml` in the current directory.

use std::io;
use std::path::Path;

use switchtender_devices::regular_file;

use crate::cli::exit::CommandError;
use crate::diagnostic::Source;
use crate::validate::SettingsFile;

/// The settings of a file; without one, those of `switchtender.toml` if it exists.
///
/// # Errors
/// The file cannot be read or is invalid.
pub(crate) fn load(path: Option<&Path>) -> Result<SettingsFile, CommandError> {
    let default = Path::new("switchtender.toml");
    let (path, is_supplied) = path.map_or((default, false), |path| (path, true));
    let text = match regular_file::read_text(path, regular_file::LARGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_supplied => {
            return Ok(SettingsFile::default());
        }
        Err(error) => {
            let message = format!("cannot read settings {}", path.display());
            return Err(CommandError::new(message).with_source(error));
        }
    };
    SettingsFile::load(&Source::new(path.display().to_string(), text))
        .map_err(CommandError::findings)
}
