//! The coverage of the configuration, before the run changes anything.

use switchtender_devices::driver::Driver;

use super::connect::ReadyDevice;
use super::{DeviceRunError, Running};
use crate::coverage::classification::DeclaredResources;
use crate::coverage::strict::{self, Strict};
use crate::fleet::coverage::{DeclaredLines, SurveyedDevice};
use crate::fleet::inspect::InspectError;
use crate::report::CoverageRecord;

impl ReadyDevice {
    /// Reads the configuration, if the run tells its coverage or refuses lines that are not managed.
    ///
    /// # Errors
    /// The configuration cannot be read, or has a line that a strict run refuses; the session is closed.
    pub(super) async fn with_coverage(
        mut self,
        run: &mut Running<'_>,
    ) -> Result<Self, DeviceRunError> {
        if !run.request.coverage && self.strict(run).is_none() {
            return Ok(self);
        }
        let result = self.check_coverage(run).await;
        if result.is_err() {
            self.device.session.close().await;
        }
        result.map(|()| self)
    }

    /// The lines that must be managed: those of the request, otherwise of the files.
    fn strict(&self, run: &Running<'_>) -> Option<Strict> {
        run.request.strict.or(self.catalog.line_policy.strict)
    }

    async fn check_coverage(&mut self, run: &mut Running<'_>) -> Result<(), DeviceRunError> {
        let driver = Driver::new(&self.catalog.platform, &self.device.facts);
        let facts = self.device.facts.clone();
        let session = self.device.session.as_mut();
        let surveyed = SurveyedDevice::read(session, driver, facts).await;
        let surveyed = surveyed.map_err(|error| match error {
            InspectError::Run(error) => error,
            error => DeviceRunError::Unreadable(Box::new(error)),
        })?;
        let declared = DeclaredLines {
            resources: DeclaredResources::of(&self.catalog.resources),
            policy: self.catalog.line_policy.clone(),
        };
        let lines = surveyed.classified(Some(&declared));
        let strict = self.strict(run);
        let findings = strict.map(|strict| strict::findings(&lines, strict));
        if run.request.coverage {
            run.events.record.coverage = Some(CoverageRecord::new(&lines));
        }
        match findings {
            Some(findings) if !findings.is_empty() => Err(DeviceRunError::Strict { findings }),
            _ => Ok(()),
        }
    }
}
