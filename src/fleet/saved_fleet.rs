//! A file or a folder of saved configurations as devices: flat folders, nested groups, and the folders of
//! Oxidized and RANCID. Nothing connects.
//!
//! [`folder`] finds the files, [`device_list`] reads `router.db`. A device has the name of its file, otherwise its
//! host name. What is no configuration is skipped with the reason.

mod device_list;
mod folder;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchtender_devices::driver::{Platform, Registry};
use switchtender_devices::names::DeviceName;
use switchtender_devices::read::{CONFIG, Reads};
use switchtender_devices::session::saved::SavedAnswers;

use self::folder::FoundFile;
use super::connector::DeviceConnector;
use super::saved_files::{self, SavedFileError, device_stem, is_named_as_saved};

/// The devices of a file or folder, by name.
pub(crate) struct SavedFleet {
    pub(crate) devices: Vec<SavedDevice>,
    /// Files that are no configuration.
    pub(crate) skipped: Vec<SkippedFile>,
}

/// A device whose answers are saved.
pub(crate) struct SavedDevice {
    pub(crate) name: DeviceName,
    pub(crate) platform: Arc<Platform>,
    pub(crate) file: PathBuf,
    /// The folders between the top and the file: a group of Oxidized or RANCID.
    pub(crate) group: Option<String>,
    /// Where the device is reached, if the file is named by it.
    pub(crate) address: Option<String>,
    pub(crate) connector: DeviceConnector,
}

/// A file that is no device.
pub(crate) struct SkippedFile {
    pub(crate) path: PathBuf,
    /// Why: `it is not a configuration of cisco_ios`.
    pub(crate) reason: String,
}

/// Why a file or folder cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SavedFleetError {
    #[error(transparent)]
    File(#[from] SavedFileError),
    #[error("the platform of {} is unknown", .0.display())]
    Platform(PathBuf),
    #[error("{} has no configurations", .0.display())]
    Empty(PathBuf),
    #[error("{}: the name of the device is unknown", .0.display())]
    Name(PathBuf),
    #[error("two files are of the device {name}: {} and {}", first.display(), second.display())]
    Twice {
        name: DeviceName,
        first: PathBuf,
        second: PathBuf,
    },
}

impl SavedFleetError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        Some(
            match self {
                SavedFleetError::File(error) => return error.hint(),
                SavedFleetError::Platform(_) => "name it with --platform, or in router.db",
                SavedFleetError::Empty(_) => {
                    "save the running configuration of each device as DEVICE.cfg"
                }
                SavedFleetError::Name(_) => "name the file DEVICE.cfg",
                SavedFleetError::Twice { .. } => "remove or rename one of them",
            }
            .to_owned(),
        )
    }
}

/// Opens a file, or all of a folder. `platform` is that of devices which the folder does not tell.
///
/// # Errors
/// A file cannot be read, or the name or the platform of a device is unknown.
pub(crate) fn open(
    path: &Path,
    registry: &Registry,
    platform: Option<&Arc<Platform>>,
) -> Result<SavedFleet, SavedFleetError> {
    let is_folder = path.is_dir();
    let files = if is_folder {
        folder::files(path)?
    } else {
        vec![FoundFile::alone(path)]
    };
    let mut devices: BTreeMap<DeviceName, SavedDevice> = BTreeMap::new();
    let mut skipped = Vec::new();
    for file in files {
        let reads = match saved_files::read_with_neighbor(&file.path) {
            Ok(reads) => reads,
            Err(error) if is_folder && !is_named_as_saved(&file.path) => {
                let reason = error.reason();
                skipped.push(SkippedFile {
                    path: file.path,
                    reason,
                });
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let listed = match file.platform_word(&reads) {
            Some(word) => match registry.platform_by_alias(&word) {
                Some(listed) => Some(listed),
                None if platform.is_some() => None,
                None => {
                    let reason = format!("there are no definitions for its type `{word}`");
                    skipped.push(SkippedFile {
                        path: file.path,
                        reason,
                    });
                    continue;
                }
            },
            None => None,
        };
        let Some(platform) = listed.or(platform) else {
            return Err(SavedFleetError::Platform(file.path));
        };
        if is_folder && !is_named_as_saved(&file.path) && !is_configuration(platform, &reads) {
            let reason = format!("it does not look like a configuration of {}", platform.name);
            skipped.push(SkippedFile {
                path: file.path,
                reason,
            });
            continue;
        }
        let device = SavedDevice::new(file, platform, reads)?;
        if let Some(other) = devices.get(&device.name) {
            return Err(SavedFleetError::Twice {
                name: device.name,
                first: other.file.clone(),
                second: device.file,
            });
        }
        devices.insert(device.name.clone(), device);
    }
    if devices.is_empty() {
        return Err(SavedFleetError::Empty(path.to_owned()));
    }
    Ok(SavedFleet {
        devices: devices.into_values().collect(),
        skipped,
    })
}

/// Whether a file has the lines that each configuration of the platform has.
fn is_configuration(platform: &Platform, reads: &Reads) -> bool {
    let text = reads.get(CONFIG);
    text.is_some_and(|text| platform.is_answer_like(CONFIG, text))
}

impl SavedDevice {
    fn new(
        file: FoundFile,
        platform: &Arc<Platform>,
        reads: Reads,
    ) -> Result<Self, SavedFleetError> {
        let stem = device_stem(&file.path);
        let address = stem.parse::<IpAddr>().ok().map(|_| stem.clone());
        let of_stem = DeviceName::parse(&stem).ok();
        let of_file = of_stem.clone().filter(|_| !folder::is_generic(&stem));
        let hostname = || {
            let facts = platform.facts(&reads);
            DeviceName::parse(facts.get("hostname")?).ok()
        };
        let name = if address.is_some() {
            hostname().or(of_file)
        } else {
            // The name of a single file is a name, even `config`.
            let of_stem = of_stem.filter(|_| file.is_alone);
            of_file.or_else(hostname).or(of_stem)
        };
        let Some(name) = name else {
            return Err(SavedFleetError::Name(file.path));
        };
        let answers = SavedAnswers {
            device: file.path.display().to_string(),
            reads,
        };
        Ok(Self {
            name,
            platform: Arc::clone(platform),
            connector: DeviceConnector::saved(answers, Arc::clone(platform), []),
            file: file.path,
            group: file.group,
            address,
        })
    }
}
