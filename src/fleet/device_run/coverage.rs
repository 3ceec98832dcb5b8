//! The coverage of the configuration, before the run changes anything.

use switchtender_devices::driver::Driver;

use super::connect::ReadyDevice;
use super::{DeviceRunError, Running};
use crate::coverage::classification::DeclaredResources;
use crate::coverage::strict;
use crate::fleet::coverage::SurveyedDevice;
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
        let request = run.request;
        if !request.coverage && request.strict.is_none() {
            return Ok(self);
        }
        let result = self.check_coverage(run).await;
        if result.is_err() {
            self.device.session.close().await;
        }
        result.map(|()| self)
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
        let declared = DeclaredResources::of(&self.catalog.resources);
        let lines = surveyed.classified(Some(&declared));
        let findings = run
            .request
            .strict
            .map(|strict| strict::findings(&lines, strict));
        if run.request.coverage {
            run.events.record.coverage = Some(CoverageRecord::new(&lines));
        }
        match findings {
            Some(findings) if !findings.is_empty() => Err(DeviceRunError::Strict { findings }),
            _ => Ok(()),
        }
    }
}
