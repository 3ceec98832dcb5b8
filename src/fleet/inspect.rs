//! Reads a device without a catalog: its facts and the instances of types.

use std::path::PathBuf;
use std::sync::Arc;

use indexmap::IndexMap;
use switchtender_devices::change::Instance;
use switchtender_devices::driver::{Driver, Facts, UnsavedRead, UnsupportedType};
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;
use switchtender_devices::not_understood::NotUnderstood;
use switchtender_devices::read::{ReadError, ReadRequest, Reads, State};
use switchtender_devices::session::Session;

use super::connector::{DeviceConnector, OpenDevice};
use super::device_run::DeviceRunError;
use super::runner::TaskError;
use crate::store::StoreError;

/// Why a device could not be read, or its result not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InspectError {
    #[error(transparent)]
    Run(#[from] DeviceRunError),
    /// The platform, or the model of the device, lacks the type.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedType),
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The answers of the device were saved before.
    #[error("the output of `{command}` is not saved")]
    Unsaved { command: String, read: String },
    #[error(transparent)]
    Task(#[from] TaskError),
    #[error(transparent)]
    Write(#[from] StoreError),
    /// An export would replace a file that was edited.
    #[error("{} exists and differs from the device", .0.display())]
    Edited(PathBuf),
}

impl InspectError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            InspectError::Run(error) => error.hint(),
            InspectError::Unsaved { read, .. } => Some(format!(
                "save the output as `{read}` in a file with answers, DEVICE.json"
            )),
            InspectError::Edited(_) => Some(
                "write to another --output-dir and compare, or replace the files with --force"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The facts of a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn facts(connector: &DeviceConnector) -> Result<Facts, DeviceRunError> {
    let OpenDevice {
        mut session, facts, ..
    } = connector.open().await?;
    session.close().await;
    Ok(facts)
}

/// The instances of types on a device.
pub(crate) struct Inspection {
    /// The driver that read them.
    pub(crate) driver: Driver,
    pub(crate) types: Vec<TypeInstances>,
    /// The other types.
    pub(crate) failed: Vec<FailedRead>,
    /// The reads that are not among the saved answers, with the types that are unknown without them.
    pub(crate) unknown: Vec<UnsavedRead>,
    /// Messages for the user about values that are unknown.
    pub(crate) notes: Vec<String>,
    pub(crate) facts: Facts,
    /// The answers that it was made of.
    pub(crate) reads: Reads,
}

#[cfg(test)]
impl Inspection {
    pub(crate) fn of(driver: Driver, types: Vec<TypeInstances>) -> Self {
        Self {
            driver,
            types,
            failed: Vec::new(),
            unknown: Vec::new(),
            notes: Vec::new(),
            facts: Facts::default(),
            reads: Reads::default(),
        }
    }
}

/// The instances of one type on a device.
pub(crate) struct TypeInstances {
    pub(crate) model: Arc<TypeModel>,
    /// In the order of the device.
    pub(crate) instances: Vec<Instance>,
    /// Whether each instance is at its defaults.
    pub(crate) at_defaults: Vec<bool>,
    /// Lines, rows and objects of the type that were not understood and are no instance.
    pub(crate) not_understood: Vec<NotUnderstood>,
}

impl TypeInstances {
    /// The instances of a type in the answers of a device.
    ///
    /// # Errors
    /// An answer is invalid.
    pub(crate) fn read(
        driver: &Driver,
        model: &Arc<TypeModel>,
        state: &State,
    ) -> Result<Self, ReadError> {
        let instances = driver.instances(model, state)?;
        let mut not_understood = driver.not_understood(&[model], state);
        not_understood.retain(|text| !text.is_instance_of_any(&instances));
        Ok(Self {
            model: Arc::clone(model),
            at_defaults: driver.are_at_defaults(model, &instances, state),
            instances,
            not_understood,
        })
    }
}

/// A read that failed, and the types that need it.
pub(crate) struct FailedRead {
    pub(crate) error: InspectError,
    pub(crate) types: Vec<TypeName>,
}

/// The instances of a type on a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn instances(
    connector: &DeviceConnector,
    model: &Arc<TypeModel>,
) -> Result<Inspection, InspectError> {
    // A platform without the type needs no connection.
    Driver::new(&connector.platform, &Facts::default()).supports(model)?;
    let mut inspection = inspect(connector, &[model]).await?;
    if let Some(failed) = inspection.failed.pop() {
        return Err(failed.error);
    }
    inspection.driver.supports(model)?;
    let mut unknown = inspection.unknown.iter();
    if let Some(unsaved) = unknown.find(|read| read.types.contains(&model.name)) {
        return Err(InspectError::Unsaved {
            command: unsaved.request.command.clone(),
            read: unsaved.request.name.clone(),
        });
    }
    Ok(inspection)
}

/// The instances of all types that the device supports.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn all_instances(connector: &DeviceConnector) -> Result<Inspection, InspectError> {
    let types = connector.platform.type_drivers();
    let models: Vec<&Arc<TypeModel>> = types.map(|definition| &definition.model).collect();
    inspect(connector, &models).await
}

/// Reads those of the types that the device supports.
async fn inspect(
    connector: &DeviceConnector,
    models: &[&Arc<TypeModel>],
) -> Result<Inspection, InspectError> {
    let platform = &connector.platform;
    let OpenDevice {
        mut session, facts, ..
    } = connector.open().await.map_err(DeviceRunError::from)?;
    let driver = Driver::new(platform, &facts).with_saved(session.saved_answers());
    let models = models.iter().copied();
    let mut models: Vec<_> = models
        .filter(|model| driver.supports(model).is_ok())
        .collect();
    let unsaved = driver.unsaved_reads(&models);
    let unknown_types: Vec<TypeName> = unsaved.iter().flat_map(|read| read.types.clone()).collect();
    models.retain(|model| !unknown_types.contains(&model.name));
    let mut requests = driver.reads(&models);
    let is_unsaved =
        |request: &ReadRequest| unsaved.iter().any(|read| read.request.name == request.name);
    let empty: Vec<ReadRequest> = requests.extract_if(.., |one| is_unsaved(one)).collect();
    let note = connector.unsaved_note(&facts, &unsaved);
    let answers = read_each(session.as_mut(), requests).await;
    let mut notes = session.close().await;
    notes.extend(note);
    let Answers {
        mut reads,
        mut failed,
        unknown,
    } = answers?;
    reads.extend(
        empty
            .into_iter()
            .map(|request| (request.name, String::new())),
    );
    reads.extend(unknown.into_iter().map(|name| (name, String::new())));
    let (state, errors) = platform.parse_answers(&reads, &State::default());
    for error in errors {
        failed.insert(error.read.clone(), (error.into(), Vec::new()));
    }
    let mut types = Vec::new();
    let mut invalid = Vec::new();
    for model in models {
        let mut requests = driver.reads(&[model]).into_iter();
        if let Some(request) = requests.find(|request| failed.contains_key(&request.name)) {
            failed[&request.name].1.push(model.name.clone());
            continue;
        }
        match TypeInstances::read(&driver, model, &state) {
            Ok(found) => types.push(found),
            Err(error) => invalid.push((error.into(), vec![model.name.clone()])),
        }
    }
    let failed = failed.into_values().chain(invalid);
    reads.retain(|name, _| !unsaved.iter().any(|read| read.request.name == *name));
    Ok(Inspection {
        driver,
        types,
        failed: failed
            .map(|(error, types)| FailedRead { error, types })
            .collect(),
        unknown: unsaved,
        notes,
        facts,
        reads,
    })
}

/// The answers to reads by name, and the errors of the others with the types that need them.
pub(super) struct Answers {
    pub(super) reads: Reads,
    pub(super) failed: IndexMap<String, (InspectError, Vec<TypeName>)>,
    /// The reads that the device does not have: it has no such objects.
    pub(super) unknown: Vec<String>,
}

/// Reads all at once; after a refusal, each read alone.
pub(super) async fn read_each(
    session: &mut dyn Session,
    requests: Vec<ReadRequest>,
) -> Result<Answers, DeviceRunError> {
    let mut answers = Answers {
        reads: Reads::default(),
        failed: IndexMap::new(),
        unknown: Vec::new(),
    };
    match session.read(&requests).await {
        Ok(texts) => {
            let names = requests.into_iter().map(|request| request.name);
            answers.reads = names.zip(texts).collect();
            return Ok(answers);
        }
        Err(error) if !error.is_refusal() => return Err(error.into()),
        Err(_) => {}
    }
    let mut refused = Vec::new();
    for request in requests {
        match session.read(std::slice::from_ref(&request)).await {
            Ok(texts) => answers
                .reads
                .extend(texts.into_iter().map(|text| (request.name.clone(), text))),
            Err(error) if error.is_refusal() => {
                refused.push((request, DeviceRunError::from(error)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    for (request, error) in refused {
        if request.is_unknown_to(&answers.reads) {
            answers.unknown.push(request.name);
        } else {
            let failed = (error.into(), Vec::new());
            answers.failed.insert(request.name, failed);
        }
    }
    Ok(answers)
}
