//! What the templates of a device may use, and what they have used.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, Value};
use tokio::time::Instant;

use super::namespace::TemplateNamespace;
use crate::clock;

/// The limits of templates.
#[derive(Clone, Copy, Debug)]
pub(in crate::desired_state) struct TemplateLimits {
    /// Words and signs of one template.
    pub(in crate::desired_state) tokens: usize,
    /// Instructions of one template.
    pub(in crate::desired_state) steps: u64,
    /// Bytes of one value, which includes the result.
    pub(in crate::desired_state) value: usize,
    /// Bytes of all values that one template makes or prints.
    pub(in crate::desired_state) work: usize,
    /// Levels of lists and maps in one value.
    pub(in crate::desired_state) depth: usize,
    /// For all templates of a device.
    pub(in crate::desired_state) time: Duration,
}

impl Default for TemplateLimits {
    fn default() -> Self {
        Self {
            tokens: 5_000,
            steps: 1_000_000,
            value: 4 << 20,
            work: 64 << 20,
            depth: 32,
            time: Duration::from_secs(10),
        }
    }
}

/// Bytes of a number, and of a list without its items.
const ITEM: usize = 8;

/// What is left of the limits. The number of steps is counted by minijinja.
#[derive(Debug)]
pub(super) struct Budget {
    limits: TemplateLimits,
    end: Instant,
    /// Bytes of further values.
    left: AtomicUsize,
}

impl Budget {
    /// The time begins.
    pub(super) fn new(limits: TemplateLimits) -> Self {
        Self {
            limits,
            end: clock::instant() + limits.time,
            left: AtomicUsize::new(limits.work),
        }
    }

    pub(super) fn limits(&self) -> TemplateLimits {
        self.limits
    }

    /// A template is rendered next.
    pub(super) fn begin_template(&self) {
        self.left.store(self.limits.work, Ordering::Relaxed);
    }

    /// Counts a value that was made or is printed.
    ///
    /// # Errors
    /// It exceeds a limit, or the time is over.
    pub(super) fn charge(&self, value: &Value) -> Result<(), Error> {
        self.charge_bytes(self.measure(value)?)
    }

    /// Counts a value of a size.
    ///
    /// # Errors
    /// As [`Budget::charge`].
    pub(super) fn charge_bytes(&self, size: usize) -> Result<(), Error> {
        if clock::instant() > self.end {
            let most = self.limits.time.as_secs();
            return Err(exceeded(format!(
                "the templates of the device take more than {most} s"
            )));
        }
        self.check_size(size)?;
        let left = self.left.load(Ordering::Relaxed).checked_sub(size);
        let left = left.ok_or_else(|| {
            let most = self.limits.work >> 20;
            exceeded(format!("it makes more than {most} MiB of values"))
        })?;
        self.left.store(left, Ordering::Relaxed);
        Ok(())
    }

    /// # Errors
    /// A value of this size is too large.
    pub(super) fn check_size(&self, size: usize) -> Result<(), Error> {
        if size > self.limits.value {
            Err(self.too_large())
        } else {
            Ok(())
        }
    }

    /// The size of a value in bytes. A part that it has twice counts twice, as it does when it is printed.
    ///
    /// # Errors
    /// It is too large, or nests too deep.
    pub(super) fn measure(&self, value: &Value) -> Result<usize, Error> {
        let mut left = self.limits.value;
        if value.downcast_object_ref::<TemplateNamespace>().is_none() {
            self.measure_part(value, self.limits.depth, &mut left)?;
        }
        Ok(self.limits.value - left)
    }

    fn measure_part(&self, value: &Value, depth: usize, left: &mut usize) -> Result<(), Error> {
        if value.downcast_object_ref::<TemplateNamespace>().is_some() {
            let text = "a namespace cannot be a part of a value";
            return Err(Error::new(ErrorKind::InvalidOperation, text));
        }
        let own = match value.as_str() {
            Some(text) => text.len(),
            None => ITEM,
        };
        *left = left.checked_sub(own).ok_or_else(|| self.too_large())?;
        let kind = value.kind();
        if !matches!(kind, ValueKind::Seq | ValueKind::Iterable | ValueKind::Map) {
            return Ok(());
        }
        if depth == 0 {
            let most = self.limits.depth;
            return Err(exceeded(format!("lists nest deeper than {most} levels")));
        }
        for part in value.try_iter()? {
            self.measure_part(&part, depth - 1, left)?;
            if kind == ValueKind::Map {
                self.measure_part(&value.get_item(&part)?, depth - 1, left)?;
            }
        }
        Ok(())
    }

    fn too_large(&self) -> Error {
        let most = self.limits.value >> 20;
        exceeded(format!("a value is larger than {most} MiB"))
    }
}

/// All limits have the kind of the steps.
fn exceeded(limit: String) -> Error {
    Error::new(ErrorKind::OutOfFuel, limit)
}
