//! From a server's catalog to resources that may be applied: loaded, checked by the offline rules,
//! typed. Nothing is sent to the device for a catalog that does not come through.

use std::sync::Arc;

use switchtender_devices::driver::{Driver, Facts, Platform, Registry};
use switchtender_devices::value::Value;

use super::attempt::Attempt;
use super::{ServedError, ServedFleet, platform};
use crate::agent::client::catalog_cache::Head;
use crate::agent::client::facts;
use crate::agent::run::{AgentRun, CachedStatus, Obtained, RunError};
use crate::catalog::types::Types;
use crate::catalog::{self, LoadError, Loading, Resources};
use crate::device_conf::{Connection, Entry};
use crate::fleet::admission::{Refused, admit, insists, worth_telling};
use crate::fleet::typed;
use crate::validate::{self, CatalogTarget};

/// A catalog that may be applied.
pub(super) struct Prepared {
    pub obtained: Obtained,
    /// The definitions of the catalog's environment.
    pub registry: Arc<Registry>,
    pub platform: Arc<Platform>,
    pub resources: Resources,
    /// A resource says `noop => false`.
    pub insists: bool,
}

impl ServedFleet {
    /// Gets the catalog, reads it and checks it.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(super) async fn prepare(
        &self,
        agent: &mut AgentRun,
        attempt: &mut Attempt<'_>,
        told: &facts::Facts,
        connection: &Connection,
        entry: &Entry,
    ) -> Result<Prepared, ServedError> {
        let (obtained, registry) = match &self.catalog {
            None => agent.catalog(told, attempt.run_log()).await?,
            Some(text) => {
                let head = Head::read(text, &entry.name).map_err(RunError::Foreign)?;
                let obtained = Obtained {
                    text: text.clone(),
                    head,
                    cached: CachedStatus::NotUsed,
                };
                let definitions = self.proxy.definitions.of(&agent.layout);
                (obtained, definitions.map_err(RunError::from)?)
            }
        };
        let facts = told.values.iter().filter_map(|(name, value)| {
            Some((name.clone(), Value::String(value.as_str()?.to_owned())))
        });
        let source = catalog::source(
            format!("catalog of {}", entry.name),
            obtained.text.clone().into_bytes(),
        )
        .map_err(refused)?;
        let catalog = catalog::load(
            &source,
            &Loading {
                facts: facts.collect(),
            },
        )
        .map_err(refused)?;
        let platform = platform(&registry, connection, entry)?;
        // As before an `apply`: what the device itself says does not count yet, so that the same
        // catalog is admitted by either.
        let options = connection.options.iter();
        let options: Facts = options
            .map(|(name, value)| (format!("option.{name}"), value.clone()))
            .collect();
        let target = CatalogTarget::Device {
            certname: Some(entry.name.clone()),
            driver: Some(Driver::new(&platform, &options)),
            running: None,
        };
        let (findings, known) = validate::for_run(&catalog, &registry, &target, &self.policy);
        let findings =
            admit(findings).map_err(|Refused(findings)| ServedError::Refused(findings))?;
        for (level, text) in findings.iter().filter_map(worth_telling) {
            attempt.run_log().log(level, text);
        }
        let types = Types::new(|name: &str| registry.model(name).cloned());
        let insists = insists(&catalog);
        let resources =
            typed::resources(catalog, &platform, &types, self.settings.deviations, known)
                .map_err(refused)?;
        Ok(Prepared {
            insists,
            obtained,
            registry,
            platform,
            resources,
        })
    }
}

fn refused(error: LoadError) -> ServedError {
    ServedError::Refused(error.diagnostics)
}
