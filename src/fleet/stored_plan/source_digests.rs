//! Digests of what plans are made from: definitions and catalogs.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};
use switchtender_devices::definitions::{DefinitionFile, shipped_texts};

/// The digest of models and drivers, the built-in ones and own ones.
pub(crate) fn definitions_digest(own: &[DefinitionFile]) -> String {
    let mut files: BTreeMap<&str, &str> = shipped_texts().iter().copied().collect();
    for file in own {
        files.insert(&file.path, &file.source.text);
    }
    let mut digest = Sha256::new();
    for (path, text) in files {
        digest.update(format!("{path} {}\n{text}\n", text.len()));
    }
    hex::encode(digest.finalize())
}

/// The digest of the resources and relations of a catalog. Times of its compilation and positions in its
/// sources are not in it.
pub(crate) fn catalog_digest(text: &str) -> String {
    let mut catalog: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let resources = catalog["resources"].as_array_mut().into_iter().flatten();
    for resource in resources.filter_map(serde_json::Value::as_object_mut) {
        resource.retain(|name, _| !matches!(name.as_str(), "file" | "line"));
    }
    let parts = ["resources", "edges"].map(|name| catalog[name].to_string());
    hex::encode(Sha256::digest(parts.join("\n")))
}
