//! The lines of a device with their classes: what is managed, what could be, and what no type reads.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts, Platform, Registry, SurveyedLine};
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
use crate::coverage::strict::Strict;
use crate::desired_state::{Exclusions, SecretValues, StateDevice};
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
pub(crate) enum DeclaredLinesError {
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
    pub(crate) fn classified(self, declared: Option<&DeclaredLines>) -> Vec<CoveredLine> {
        let owners = Owners {
            driver: &self.driver,
            known: RefCell::default(),
        };
        let unmanaged = declared.map(|declared| &declared.policy.unmanaged);
        let classifier = Classifier {
            declared: declared.map(|declared| &declared.resources),
            owner: &|types| owners.of(types),
            is_excluded: &|claim| {
                let attributes = claim.attributes.iter().map(|name| Some(name.as_str()));
                let mut attributes = attributes.chain(claim.attributes.is_empty().then_some(None));
                let title = claim.title.as_deref().unwrap_or_default();
                unmanaged.is_some_and(|unmanaged| {
                    attributes.any(|name| unmanaged.excludes(&claim.type_name, title, name))
                })
            },
            is_excluded_line: &|text| {
                unmanaged.is_some_and(|unmanaged| unmanaged.excludes_line(text))
            },
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

/// What the files of a device say about lines that no resource has.
#[derive(Clone, Debug, Default)]
pub(crate) struct LinePolicy {
    /// Types, attributes and lines that are left to others.
    pub(crate) unmanaged: Exclusions,
    /// The lines that must be managed.
    pub(crate) strict: Option<Strict>,
}

/// What the files of a device declare.
#[derive(Debug, Default)]
pub(crate) struct DeclaredLines {
    pub(crate) resources: DeclaredResources,
    pub(crate) policy: LinePolicy,
}

/// What the files of a device declare. Secrets are not read.
///
/// # Errors
/// The files have no catalog for the device, or an invalid one.
pub(crate) fn declared_lines(
    catalogs: &InventoryCatalogs,
    device: &Device,
    registry: &Registry,
    facts: &Facts,
    platform: &Arc<Platform>,
) -> Result<DeclaredLines, DeclaredLinesError> {
    let (source, policy) = match catalogs {
        InventoryCatalogs::State(directory) => {
            let merged = directory
                .merged(device, registry)
                .map_err(OfflineTextError::from)?;
            let target = StateDevice {
                device,
                facts: Some(facts),
                registry,
            };
            let secrets = SecretValues::placeholders(&merged, &directory.path);
            let made = merged.catalog(&target, &secrets);
            let made = made.map_err(OfflineTextError::from)?;
            let policy = LinePolicy {
                unmanaged: made.unmanaged,
                strict: made.strict,
            };
            (made.source, policy)
        }
        _ => {
            let source = offline_catalog::read(catalogs, device, registry, Some(facts))?;
            (source, LinePolicy::default())
        }
    };
    let catalog = catalog::load(&source, &Loading::default())?;
    Ok(DeclaredLines {
        resources: declared_resources(catalog, registry, platform)?,
        policy,
    })
}

/// What a catalog declares.
///
/// # Errors
/// It is invalid.
pub(crate) fn declared_resources(
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
