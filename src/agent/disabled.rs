//! The switch that keeps a device from being run, with a reason: the peer's
//! `agent_disabled.lock`, one per device.

use std::path::PathBuf;

use serde_json::json;

use super::layout::{self, FileError, Layout, Readers};

fn file(layout: &Layout) -> PathBuf {
    layout.var.join("state").join("agent_disabled.lock")
}

/// Why the device is disabled, if it is.
pub fn reason(layout: &Layout) -> Result<Option<String>, FileError> {
    let Some(text) = layout::read(&file(layout))? else {
        return Ok(None);
    };
    let message = serde_json::from_str::<serde_json::Value>(&text)
        .ok()
        .and_then(|value| Some(value.get("disabled_message")?.as_str()?.to_owned()));
    // A file that says nothing still disables.
    Ok(Some(
        message.unwrap_or_else(|| "reason not specified".to_owned()),
    ))
}

pub fn disable(layout: &Layout, reason: &str) -> Result<(), FileError> {
    let text = json!({ "disabled_message": reason }).to_string();
    layout::write(&file(layout), &text, Readers::Everyone)
}

/// Enables the device again; whether it was disabled.
pub fn enable(layout: &Layout) -> Result<bool, FileError> {
    layout::remove(&file(layout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disabled_device_says_why_until_it_is_enabled() {
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout {
            certname: "sw1".to_owned(),
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
