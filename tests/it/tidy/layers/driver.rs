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
            "json_body",
            "json_fields",
            "key_table",
            "negation",
            "problem",
            "quoting",
            "secret_history",
            "session_use",
            "template_error",
            "transport",
            "unsupported_type",
            "work_count",
        ],
        &["read_rule", "self_test", "standby"],
        &["backup_rules", "document_rule"],
        &["context", "implementation"],
        &["cli", "rest"],
        &["command", "key_tables"],
        &["type_driver"],
        &["platform"],
        &["session_outline"],
        &["driver"],
        &["backup", "configuration", "defaults", "undo"],
        &["side_effects", "test_run"],
        &["registry"],
    ],
    exceptions: &[],
};
