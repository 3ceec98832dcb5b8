//! A plan in a file. Its digest finds edits.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};
use switchtender_devices::format_version::{FormatVersion, OtherVersion};
use switchtender_devices::regular_file;

use super::StoredPlan;
use crate::store::{StoreError, file, write_file};

/// The largest file in bytes: a plan has all devices of a fleet.
const LARGEST: u64 = 1 << 30;
const VERSION: FormatVersion = FormatVersion {
    number: 1,
    advice: "make a new plan",
};

/// A plan in a file. The digest of the content finds edits.
#[derive(Serialize, Deserialize)]
struct PlanFile<T> {
    version: u32,
    digest: String,
    plan: T,
}

/// A file is no plan, or another one than was written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadPlanError {
    #[error("cannot read {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path} is no plan")]
    NoPlan {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("cannot use {path}")]
    Version {
        path: PathBuf,
        #[source]
        version: OtherVersion,
    },
    #[error("{path} was edited: its content does not have the digest of the plan")]
    Edited { path: PathBuf },
}

impl StoredPlan {
    /// Writes the plan. Only the owner can read the file.
    pub(crate) fn write(&self, path: &Path) -> Result<(), StoreError> {
        let plan = serde_json::to_value(self).expect("a plan is JSON");
        let file = PlanFile {
            version: VERSION.number,
            digest: digest_of(&plan),
            plan,
        };
        let text = serde_json::to_string_pretty(&file).expect("a plan is JSON") + "\n";
        write_file(path, &text)
    }

    /// The digest of the plan.
    pub(crate) fn digest(&self) -> String {
        digest_of(&serde_json::to_value(self).expect("a plan is JSON"))
    }

    /// Reads a plan.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadPlanError> {
        let text =
            regular_file::read_text(path, LARGEST).map_err(|source| LoadPlanError::Read {
                path: path.to_owned(),
                source,
            })?;
        let no_plan = |source| LoadPlanError::NoPlan {
            path: path.to_owned(),
            source,
        };
        let found = file::version_of(&text).map_err(no_plan)?;
        let checked = VERSION.check(found);
        checked.map_err(|version| LoadPlanError::Version {
            path: path.to_owned(),
            version,
        })?;
        let file: PlanFile<Json> = serde_json::from_str(&text).map_err(no_plan)?;
        if file.digest != digest_of(&file.plan) {
            return Err(LoadPlanError::Edited {
                path: path.to_owned(),
            });
        }
        serde_json::from_value(file.plan).map_err(no_plan)
    }
}

fn digest_of(plan: &Json) -> String {
    hex::encode(Sha256::digest(plan.to_string()))
}

#[cfg(test)]
mod tests {
    use super::super::PlanSources;
    use super::super::example::device;
    use super::*;
    use crate::error_chain::chain;

    #[test]
    fn plan_is_read_as_it_was_written_and_edits_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("plan.json");
        let plan = StoredPlan {
            id: "1".to_owned(),
            created: "2026-11-23T18:00:00Z".to_owned(),
            author: "ops@proxy1".to_owned(),
            program: "1.0.0".to_owned(),
            sources: PlanSources::default(),
            devices: [("sw1".to_owned(), device(&[("A[1]", &["vlan 10"])]))].into(),
        };
        plan.write(&path).unwrap();
        assert_eq!(StoredPlan::load(&path).unwrap(), plan);
        let text = std::fs::read_to_string(&path).unwrap();
        for (from, to, expected) in [
            ("vlan 10", "vlan 11", "was edited"),
            ("\"version\": 1", "\"version\": 3", "has version 3"),
            ("{", "", "is no plan"),
        ] {
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
            let error = chain(&StoredPlan::load(&path).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
