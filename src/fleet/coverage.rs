//! The lines of a device with their classes: what is managed, what could be, and what no type reads.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use switchtender_devices::driver::{Claim, Driver, Facts, Platform, Registry, SurveyedLine};
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::TypeName;
use switchtender_devices::read::{CONFIG, ReadError, Reads};
use switchtender_devices::session::Session;

use super::catalog_files::InventoryCatalogs;
use super::connector::{DeviceConnector, OpenDevice};
use super::convert_resources;
use super::device_run::DeviceRunError;
use super::inspect::{Answers, InspectError, read_each};
use super::offline_catalog::{self, OfflineTextError};
use crate::catalog::types::Types;
use crate::catalog::{self, Catalog, LoadError, Loading, Resources};
use crate::compat::Deviations;
use crate::coverage::classification::{Classifier, CoveredLine, DeclaredResources};
use crate::inventory::Device;
use crate::validate::Canonical;

/// The lines of a device with the types that read them.
pub(crate) struct SurveyedDevice {
    pub(crate) driver: Driver,
    pub(crate) facts: Facts,
    lines: Vec<SurveyedLine>,
    /// Why some objects are unknown.
    pub(crate) not_read: Vec<InspectError>,
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
    let surveyed = SurveyedDevice::read(session.as_mut(), driver, facts).await;
    session.close().await;
    surveyed
}

impl SurveyedDevice {
    /// Reads the configuration in a session.
    ///
    /// # Cancellation
    /// Must not be dropped midway.
    pub(crate) async fn read(
        session: &mut dyn Session,
        driver: Driver,
        facts: Facts,
    ) -> Result<Self, InspectError> {
        let Answers {
            mut reads,
            mut failed,
            unknown,
        } = read_each(session, driver.survey_reads()).await?;
        if let Some((error, _)) = failed.swap_remove(CONFIG) {
            return Err(error);
        }
        reads.extend(unknown.into_iter().map(|name| (name, String::new())));
        let not_read = failed.into_values().map(|(error, _)| error);
        Ok(Self {
            not_read: not_read.collect(),
            ..Self::of(driver, facts, &reads)?
        })
    }

    /// The configuration in these answers.
    ///
    /// # Errors
    /// An answer is invalid.
    pub(crate) fn of(driver: Driver, facts: Facts, reads: &Reads) -> Result<Self, ReadError> {
        let state = driver.platform().parse(reads)?;
        let lines = driver.surveyed_lines(reads, &state);
        Ok(Self {
            driver,
            facts,
            lines,
            not_read: Vec::new(),
        })
    }

    /// The lines with their classes. `declared`: what the files of the device declare, if there are some.
    pub(crate) fn classified(self, declared: Option<&DeclaredResources>) -> Vec<CoveredLine> {
        let owners = Owners {
            driver: &self.driver,
            known: RefCell::default(),
        };
        let classifier = Classifier {
            declared,
            owner: &|types| owners.of(types),
            is_excluded: &|_: &Claim| false,
        };
        let lines = self.lines.into_iter();
        lines.map(|line| classifier.classify(line)).collect()
    }
}

/// Which of several types owns a line, as in an export.
struct Owners<'a> {
    driver: &'a Driver,
    known: RefCell<HashMap<Vec<TypeName>, usize>>,
}

impl Owners<'_> {
    fn of(&self, types: &[&TypeName]) -> usize {
        let names: Vec<TypeName> = types.iter().map(|name| (*name).clone()).collect();
        let mut known = self.known.borrow_mut();
        *known.entry(names).or_insert_with(|| {
            let platform = self.driver.platform();
            let models = types.iter().filter_map(|name| platform.type_driver(name));
            let models: Vec<&TypeModel> = models.map(|definition| &*definition.model).collect();
            self.driver.owner(&models)
        })
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
) -> Result<DeclaredResources, DeclarationsError> {
    let source = offline_catalog::read(catalogs, device, registry, Some(facts))?;
    let catalog = catalog::load(&source, &Loading::default())?;
    Ok(declarations_of(catalog, registry, platform)?)
}

/// What a catalog declares.
///
/// # Errors
/// It is invalid.
pub(crate) fn declarations_of(
    catalog: Catalog,
    registry: &Registry,
    platform: &Arc<Platform>,
) -> Result<DeclaredResources, LoadError> {
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let (deviations, canonical) = (Deviations::default(), Canonical::default());
    let resources = convert_resources::convert(catalog, platform, &types, deviations, canonical)?;
    Ok(DeclaredResources::of(&resources))
}

impl DeclaredResources {
    /// What the resources of a run declare.
    pub(super) fn of(resources: &Resources) -> Self {
        let nodes = resources.nodes.iter();
        let resources = nodes.filter_map(|node| node.resource.as_deref());
        Self::new(resources.map(|resource| resource.to_desired(false)))
    }
}
