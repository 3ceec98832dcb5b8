//! The layers inside `devices/src/driver`, and inside its two largest modules.

use super::Layers;

pub(super) const DRIVER: Layers = Layers {
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

pub(super) const CLI: Layers = Layers {
    folder: "devices/src/driver/cli",
    layers: &[
        &["found", "rewrite", "template"],
        &["block_path"],
        &["rules"],
        &["cli"],
        &[
            "attribute_lines",
            "config_instances",
            "further_lines",
            "line_text",
            "named_lines",
            "order",
            "refresh",
            "rows",
            "whitespace",
        ],
        &[
            "audit",
            "compare",
            "explain",
            "identity",
            "instances",
            "outline",
            "render",
        ],
        &[
            "beginnings",
            "effects",
            "find",
            "global_default",
            "members",
            "predict",
            "problems",
        ],
        &["load", "not_understood", "predicted_rows"],
        &["implementation"],
    ],
    exceptions: &[
        ("rules.rs", "named_lines"),
        ("rules.rs", "order"),
        ("rules.rs", "rows"),
    ],
};

pub(super) const REST: Layers = Layers {
    folder: "devices/src/driver/rest",
    layers: &[
        &["codec", "element_path", "template"],
        &["toml"],
        &["definition"],
        &["canonical", "field", "read_requests"],
        &["lookups"],
        &["objects"],
        &["rest", "writer"],
        &[
            "document", "edit", "effects", "entries", "members", "order", "refresh",
        ],
        &["load", "read", "write"],
        &[
            "element_outline",
            "explain",
            "not_understood",
            "outline",
            "predict",
        ],
        &["implementation"],
        &["audit"],
    ],
    exceptions: &[("definition.rs", "refresh")],
};
