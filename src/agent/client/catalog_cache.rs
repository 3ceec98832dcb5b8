//! The cached catalog of a device (`docs/reference/agent-protocol.md`, section 14).

use serde::Deserialize;
use switchtender_devices::names::Certname;

use crate::agent::device_file::{self, FileError, FileMode};
use crate::agent::layout::Layout;
use crate::store::blocking_io;

/// The fields of a catalog that the agent reads.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CatalogHeader {
    pub(crate) name: String,
    #[serde(default)]
    pub environment: String,
    pub(crate) catalog_uuid: Option<String>,
    pub(crate) code_id: Option<String>,
}

/// A catalog with an unusable header.
#[derive(Debug, thiserror::Error)]
pub enum CatalogHeaderError {
    #[error("invalid catalog")]
    NotJson(#[source] serde_json::Error),
    #[error("the catalog is for '{found}', not for '{certname}'")]
    WrongName { certname: Certname, found: String },
}

impl CatalogHeader {
    /// Reads the header; a catalog with another certname is an error.
    pub(crate) fn read(text: &str, certname: &Certname) -> Result<Self, CatalogHeaderError> {
        let head: CatalogHeader =
            serde_json::from_str(text).map_err(CatalogHeaderError::NotJson)?;
        if head.name != certname.as_str() {
            return Err(CatalogHeaderError::WrongName {
                certname: certname.clone(),
                found: head.name,
            });
        }
        Ok(head)
    }
}

/// The cached catalog, if it is valid.
pub(crate) fn load(layout: &Layout) -> Result<Option<(String, CatalogHeader)>, FileError> {
    let Some(text) = device_file::read(&layout.cached_catalog())? else {
        return Ok(None);
    };
    // A damaged cache counts as none.
    Ok(CatalogHeader::read(&text, &layout.certname)
        .ok()
        .map(|head| (text, head)))
}

/// Stores a catalog, readable by owner and group: it can contain secrets in clear text.
pub(crate) async fn store(layout: &Layout, text: &str) -> Result<(), FileError> {
    let (file, text) = (layout.cached_catalog(), text.to_owned());
    blocking_io::run(move || device_file::write(&file, &text, FileMode::GroupReadable)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_rejects_a_catalog_of_another_certname() {
        let read = |text, name| CatalogHeader::read(text, &Certname::parse(name).unwrap());
        let recorded = include_str!("../../../tests/fixtures/puppetserver/catalogs/sw2.json");
        let head = read(recorded, "sw2.lab.test").unwrap();
        assert_eq!(head.environment, "staging");
        let error = read(recorded, "sw1.lab.test").unwrap_err().to_string();
        assert_eq!(
            error,
            "the catalog is for 'sw2.lab.test', not for 'sw1.lab.test'"
        );
        assert!(matches!(
            read("[1", "x"),
            Err(CatalogHeaderError::NotJson(_))
        ));
    }

    #[tokio::test]
    async fn store_writes_a_catalog_that_others_cannot_read() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout {
            certname: Certname::parse("sw1").unwrap(),
            ssl: dir.path().join("ssl"),
            var: dir.path().join("var"),
        };
        assert!(load(&layout).unwrap().is_none());
        store(&layout, "{\"name\":\"sw1\",\"environment\":\"e\"}")
            .await
            .unwrap();
        assert_eq!(load(&layout).unwrap().unwrap().1.environment, "e");
        let mode = layout
            .cached_catalog()
            .metadata()
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o640);
        std::fs::write(layout.cached_catalog(), "{").unwrap();
        assert!(load(&layout).unwrap().is_none());
    }
}
