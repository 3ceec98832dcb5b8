//! Text of the device that was not understood: listed, and protected from changes.

use std::sync::Arc;

use super::DeviceState;
use super::inspection::Inspection;
use crate::change::{Change, Desired};
use crate::model::TypeModel;
use crate::not_understood::NotUnderstood;
use crate::provider::{ProviderError, ProviderErrorKind};

impl DeviceState {
    /// The lines, rows and objects of the types of this run that were not understood before the
    /// first change.
    pub fn not_understood(&self) -> Vec<NotUnderstood> {
        let platform = self.driver.platform();
        let names = platform.type_names();
        let names = names.filter(|name| self.reads.types.contains(*name));
        let definitions = names.filter_map(|name| platform.type_driver(name));
        definitions
            .flat_map(|definition| self.not_understood_of(&definition.model).to_vec())
            .collect()
    }

    /// Refuses a change that would rewrite or remove text that was not understood.
    pub(in crate::provider) fn check_not_understood(
        &self,
        desired: &Desired,
        inspection: &Inspection,
    ) -> Result<(), ProviderError> {
        let has_instance = inspection.current.is_some();
        let is_managed = has_instance
            || !desired.model.is_ensurable()
            || inspection.differs.iter().any(|name| name == "ensure");
        if self.overwrite_unknown {
            return Ok(());
        }
        let unread = self.not_understood_of(&desired.model);
        if unread.is_empty() {
            return Ok(());
        }
        if inspection.differs.is_empty() || !is_managed {
            return self.check_read(desired, inspection);
        }
        let resolved = inspection.resolved.clone();
        let change = Change::new(
            resolved.unwrap_or_else(|| Arc::new(desired.clone())),
            inspection.current.as_deref().cloned(),
            inspection.differs.clone(),
        );
        let mut touched = unread.iter().filter(|text| text.is_touched_by(&change));
        let Some(first) = touched.next() else {
            return self.check_read(desired, inspection);
        };
        let others = match touched.count() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        Err(ProviderError::new(
            ProviderErrorKind::Refused,
            format!(
                "cannot change it: not understood on the device: `{first}`{others}; \
                 `--overwrite-unknown` permits the change"
            ),
        ))
    }

    /// Refuses a resource with a declared attribute that was not read: it is not in sync.
    fn check_read(&self, desired: &Desired, inspection: &Inspection) -> Result<(), ProviderError> {
        let Some((attribute, text)) = self.unread_attribute(desired, inspection) else {
            return Ok(());
        };
        Err(ProviderError::new(
            ProviderErrorKind::Refused,
            format!(
                "cannot compare {attribute}: not understood on the device: `{text}`; \
                 `--overwrite-unknown` permits the change"
            ),
        ))
    }

    /// With `--overwrite-unknown`, an attribute that was not read is set.
    pub(in crate::provider) fn with_unread(
        &self,
        desired: &Desired,
        mut inspection: Inspection,
    ) -> Inspection {
        if self.overwrite_unknown
            && let Some((attribute, _)) = self.unread_attribute(desired, &inspection)
            && attribute != "ensure"
            && !inspection.differs.iter().any(|name| name == attribute)
        {
            inspection.differs.push(attribute.into());
        }
        inspection
    }

    /// A declared attribute whose text on the device was not understood, with the text.
    fn unread_attribute<'d>(
        &self,
        desired: &'d Desired,
        inspection: &Inspection,
    ) -> Option<(&'d str, NotUnderstood)> {
        let current = inspection.current.as_deref();
        let default = |name: &str| self.driver.default_value(&desired.model, name);
        let unread = self.not_understood_of(&desired.model);
        unread.iter().find_map(|text| {
            let attribute = text.hides(desired, current, &default)?;
            self.driver
                .compares(desired, attribute)
                .then(|| (attribute, text.clone()))
        })
    }

    /// The text of a type that was not understood, computed once per answer.
    fn not_understood_of(&self, model: &Arc<TypeModel>) -> Arc<Vec<NotUnderstood>> {
        self.before.derived_from_all(&model.name, || {
            self.driver.not_understood(&[model], &self.before)
        })
    }
}
