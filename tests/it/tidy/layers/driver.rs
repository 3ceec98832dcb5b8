//! The layers inside `devices/src/driver`.

use super::Layers;

pub(super) const LAYERS: Layers = Layers {
    folder: "devices/src/driver",
    layers: &[
        &[
            "codec",
            "effect",
            "explanation",
            "facts",
            "problem",
            "secret_history",
            "session_use",
            "template_error",
            "transport",
            "unsupported_type",
            "work_count",
        ],
        &["read_rule", "standby"],
        &["context", "key_table", "outline"],
        &["implementation"],
        &["cli", "rest"],
        &["command"],
        &["type_driver"],
        &["platform_type"],
        &["platform"],
        &["registry", "session_outline"],
        &["driver"],
        &["backup", "configuration", "defaults", "undo"],
        &["side_effects"],
        &["self_test"],
    ],
    exceptions: &[
        ("context.rs", "cli"),
        ("context.rs", "rest"),
        ("key_table.rs", "cli"),
        ("key_table.rs", "rest"),
        ("outline.rs", "platform"),
        ("platform.rs", "backup"),
        ("platform.rs", "self_test"),
        ("platform_type.rs", "platform"),
        ("registry.rs", "self_test"),
        ("registry/file.rs", "self_test"),
        ("type_driver.rs", "self_test"),
    ],
};
