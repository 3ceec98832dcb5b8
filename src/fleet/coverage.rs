//! The lines of a device with their classes: what is managed, what could be, and what no type reads.

use std::sync::Arc;

use switchtender_devices::driver::{Claim, Driver, Facts, Platform, Registry, SurveyedLine};
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;
use switchtender_devices::read::State;

use super::catalog_files::InventoryCatalogs;
use super::connector::{DeviceConnector, OpenDevice};
use super::convert_resources;
use super::device_run::DeviceRunError;
use super::inspect::{Answers, InspectError, read_each};
use super::offline_catalog::{self, OfflineTextError};
use crate::catalog::types::Types;
use crate::catalog::{self, LoadError, Loading};
use crate::compat::Deviations;
use crate::coverage::classification::{Classifier, CoveredLine, Declarations};
use crate::inventory::Device;
use crate::validate::Canonical;

/// The lines of a device with the types that read them.
pub(crate) struct SurveyedDevice {
    pub(crate) driver: Driver,
    pub(crate) facts: Facts,
    lines: Vec<SurveyedLine>,
}

/// Why it is not known what files declare for a device.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeclarationsError {
    #[error(transparent)]
    Text(#[from] OfflineTextError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Reads the configuration of a device.
///
/// # Cancellation
/// Must not be dropped midway.
pub(crate) async fn survey(connector: DeviceConnector) -> Result<SurveyedDevice, InspectError> {
    let OpenDevice {
        mut session, facts, ..
    } = connector.open().await.map_err(DeviceRunError::from)?;
    let driver = Driver::new(&connector.platform, &facts);
    let answers = read_each(session.as_mut(), driver.survey_reads()).await;
    session.close().await;
    let Answers {
        reads, mut failed, ..
    } = answers?;
    if let Some((_, (error, _))) = failed.pop() {
        return Err(error);
    }
    let (state, mut errors) = connector.platform.parse_answers(&reads, &State::default());
    if let Some(error) = errors.pop() {
        return Err(error.into());
    }
    let lines = driver.surveyed_lines(&reads, &state);
    Ok(SurveyedDevice {
        driver,
        facts,
        lines,
    })
}

impl SurveyedDevice {
    /// The lines with their classes. `declared`: what the files of the device declare, if there are some.
    pub(crate) fn classified(self, declared: Option<&Declarations>) -> Vec<CoveredLine> {
        let ranks = OwnerRanks::new(&self.driver);
        let classifier = Classifier {
            declared,
            rank: &|name| ranks.of(name),
            is_excluded: &|_: &Claim| false,
        };
        let lines = self.lines.into_iter();
        lines.map(|line| classifier.classify(line)).collect()
    }
}

/// Which of several types owns a line: the one with most settings, as in an export.
struct OwnerRanks(Vec<(TypeName, usize)>);

impl OwnerRanks {
    fn new(driver: &Driver) -> Self {
        let models = driver.platform().type_drivers();
        let models = models.map(|definition| &definition.model);
        let slots = |model: &Arc<TypeModel>| driver.effect_slots(model).len();
        let mut all: Vec<(TypeName, usize)> = models
            .map(|model| (model.name.clone(), slots(model)))
            .collect();
        all.sort_by_key(|(_, slots)| std::cmp::Reverse(*slots));
        Self(all)
    }

    fn of(&self, name: &TypeName) -> usize {
        let position = self.0.iter().position(|(own, _)| own == name);
        position.unwrap_or(self.0.len())
    }
}

/// What the files of a device declare.
///
/// # Errors
/// The files have no catalog for the device, or an invalid one.
pub(crate) fn declarations(
    catalogs: &InventoryCatalogs,
    device: &Device,
    registry: &Registry,
    facts: &Facts,
    platform: &Arc<Platform>,
) -> Result<Declarations, DeclarationsError> {
    let source = offline_catalog::read(catalogs, device, registry, Some(facts))?;
    let catalog = catalog::load(&source, &Loading::default())?;
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let resources = convert_resources::convert(
        catalog,
        platform,
        &types,
        Deviations::default(),
        Canonical::default(),
    )?;
    let resources = resources.nodes.iter();
    let resources = resources.filter_map(|node| node.resource.as_deref());
    Ok(Declarations::new(
        resources.map(|resource| resource.to_desired(false)),
    ))
}
