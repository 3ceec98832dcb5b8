//! `resource --output yaml`: a device as a short file of desired state.

use std::fmt::Write as _;
use std::sync::Arc;

use switchtender_devices::model::TypeModel;
use switchtender_devices::printable::escape;

use super::format::{RenderedDevice, secrets_notice};
use crate::desired_state::writer::StateWriter;
use crate::fleet::declared_device::{DeclaredDevice, DeclaredSecrets};
use crate::fleet::inspect::Inspection;

/// The file, and below it as comments what it cannot have.
pub(super) fn render(
    inspection: Inspection,
    show_secrets: bool,
    name: Option<&str>,
) -> RenderedDevice {
    let secrets = if show_secrets {
        DeclaredSecrets::Included
    } else {
        DeclaredSecrets::LeftOut
    };
    let types = inspection.types.iter();
    let models: Vec<Arc<TypeModel>> = types.map(|found| Arc::clone(&found.model)).collect();
    let mut device = DeclaredDevice::new(inspection, secrets);
    if let Some(name) = name {
        device.select(name);
    }
    let is_empty = device.state.types.is_empty()
        && device.left_out.is_empty()
        && device.not_understood.is_empty();
    let hidden = device.needing_secrets;
    let notice = secrets_notice(device.without_secrets + hidden, hidden);
    let mut comments = String::new();
    for one in &device.left_out {
        let title = escape(&one.title);
        let _ = writeln!(
            comments,
            "# {} {title}: {}",
            one.type_name,
            escape(&one.reason)
        );
    }
    for text in &device.not_understood {
        let _ = writeln!(comments, "# not understood: {}", escape(&text.to_string()));
    }
    let file = if device.state.types.is_empty() {
        String::new()
    } else {
        let mut file = device.file();
        if models.len() == 1 {
            // One type is a part of a file, which says itself what it completes.
            file.complete = None;
            file.unmanaged.clear();
        }
        StateWriter::new(&models).text(&file)
    };
    RenderedDevice {
        text: file + &comments,
        notice,
        is_empty,
    }
}
