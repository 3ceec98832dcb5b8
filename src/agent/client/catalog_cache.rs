//! The cached catalog of a device, and when it is used (`docs/reference/agent-protocol.md`, section 14).

use serde::Deserialize;

use crate::agent::layout::{self, FileError, Layout, Readers};
use crate::store::blocking_io;

/// What must be known of a catalog before anything is made of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Head {
    pub name: String,
    #[serde(default)]
    pub environment: String,
    pub catalog_uuid: Option<String>,
    pub code_id: Option<String>,
}

/// A catalog that cannot be used, whatever it says.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    #[error("the catalog is not usable JSON")]
    NotJson(#[source] serde_json::Error),
    #[error("the catalog is for '{found}', not for '{certname}'; it is not used")]
    WrongName { certname: String, found: String },
}

impl Head {
    /// Reads the head and refuses a catalog of another name.
    pub fn read(text: &str, certname: &str) -> Result<Self, HeadError> {
        let head: Head = serde_json::from_str(text).map_err(HeadError::NotJson)?;
        if head.name != certname {
            return Err(HeadError::WrongName {
                certname: certname.to_owned(),
                found: head.name,
            });
        }
        Ok(head)
    }
}

/// The cached catalog, if there is a usable one.
pub fn load(layout: &Layout) -> Result<Option<(String, Head)>, FileError> {
    let Some(text) = layout::read(&layout.cached_catalog())? else {
        return Ok(None);
    };
    // A damaged cache is as good as none.
    Ok(Head::read(&text, &layout.certname)
        .ok()
        .map(|head| (text, head)))
}

/// Keeps a catalog. It may hold secrets in clear text: it is for owner and group.
pub async fn keep(layout: &Layout, text: &str) -> Result<(), FileError> {
    let (file, text) = (layout.cached_catalog(), text.to_owned());
    blocking_io::run(move || layout::write(&file, &text, Readers::Group)).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catalog_of_another_name_is_never_used() {
        let recorded = include_str!("../../../tests/fixtures/puppetserver/catalogs/sw2.json");
        let head = Head::read(recorded, "sw2.lab.test").unwrap();
        assert_eq!(head.environment, "staging");
        let error = Head::read(recorded, "sw1.lab.test")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "the catalog is for 'sw2.lab.test', not for 'sw1.lab.test'; it is not used"
        );
        assert!(matches!(Head::read("[1", "x"), Err(HeadError::NotJson(_))));
    }

    #[tokio::test]
    async fn a_kept_catalog_is_found_again_and_not_for_everyone() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let layout = Layout {
            certname: "sw1".to_owned(),
            ssl: dir.path().join("ssl"),
            var: dir.path().join("var"),
        };
        assert!(load(&layout).unwrap().is_none());
        keep(&layout, "{\"name\":\"sw1\",\"environment\":\"e\"}")
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
