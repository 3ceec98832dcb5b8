//! Disables a device, with a reason: Puppet's `agent_disabled.lock`, one per device.

use std::path::PathBuf;

use serde_json::json;

use super::layout::Layout;
use crate::agent::device_file::{self, FileError, FileMode};

fn file(layout: &Layout) -> PathBuf {
    layout.var.join("state").join("agent_disabled.lock")
}

/// The reason if the device is disabled.
pub(crate) fn reason(layout: &Layout) -> Result<Option<String>, FileError> {
    let Some(text) = device_file::read(&file(layout))? else {
        return Ok(None);
    };
    let message = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|value| Some(value.get("disabled_message")?.as_str()?.to_owned()));
    // An empty file disables, too.
    Ok(Some(
        message.unwrap_or_else(|| "reason not specified".to_owned()),
    ))
}

pub(crate) fn disable(layout: &Layout, reason: &str) -> Result<(), FileError> {
    let text = json!({ "disabled_message": reason }).to_string();
    device_file::write(&file(layout), &text, FileMode::WorldReadable)
}

/// Enables the device; returns whether it was disabled.
pub(crate) fn enable(layout: &Layout) -> Result<bool, FileError> {
    device_file::remove(&file(layout))
}

#[cfg(test)]
mod tests {
    use switchtender_devices::names::Certname;

    use super::*;

    #[test]
    fn disable_stores_a_reason_until_enable() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout {
            certname: Certname::parse("sw1").unwrap(),
            ssl: dir.path().join("ssl"),
            var: dir.path().join("var"),
        };
        assert_eq!(reason(&layout).unwrap(), None);
        disable(&layout, "moving racks").unwrap();
        assert_eq!(reason(&layout).unwrap().as_deref(), Some("moving racks"));
        std::fs::write(file(&layout), "").unwrap();
        assert_eq!(
            reason(&layout).unwrap().as_deref(),
            Some("reason not specified")
        );
        assert!(enable(&layout).unwrap());
        assert!(!enable(&layout).unwrap());
    }
}
