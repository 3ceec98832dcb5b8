//! The tables of keys in `docs/definitions.md`.

use super::{cli, rest};

/// The generated tables of `docs/definitions.md`, by name.
pub fn key_tables() -> [(&'static str, String); 4] {
    [
        (
            "keys of instances",
            cli::load::instance_keys::InstanceKeys::KEYS.markdown(),
        ),
        (
            "keys and positions",
            cli::load::attribute_keys::AttributeKeys::KEYS.markdown(),
        ),
        (
            "keys of objects",
            rest::load::instance_keys::TABLE.markdown(),
        ),
        (
            "keys and locations",
            rest::load::attribute_keys::TABLE.markdown(),
        ),
    ]
}
