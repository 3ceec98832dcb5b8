//! Accepts the drift of a device: the desired state takes what has changed on the device, as a commit on a branch, or as
//! a patch if the directory is in no Git work tree. The files that runs read stay as they are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use serde::Serialize;
use similar::TextDiff;
use switchtender_devices::names::DeviceName;

use super::service::Service;
use crate::error_chain::chain;
use crate::fleet::connector::Connector;
use crate::git::{GitDirectory, GitError};
use crate::history::Requester;
use crate::history::runs::RunFilter;

/// Lines around a difference in a patch.
const CONTEXT: usize = 3;

/// The desired state that is compared with a device.
pub(crate) struct DriftRequest {
    pub(crate) connector: Arc<Connector>,
    pub(crate) device: DeviceName,
    pub(crate) directory: PathBuf,
}

/// The files with what has changed on a device.
#[derive(Default)]
pub(crate) struct DriftFiles {
    /// By path in the directory.
    pub(crate) files: BTreeMap<String, ChangedFile>,
    /// The resources and attributes that the files take.
    pub(crate) accepted: Vec<String>,
    /// Other differences, with the reason.
    pub(crate) left: Vec<String>,
}

/// A file before and after.
pub(crate) struct ChangedFile {
    /// `None`: it is new.
    pub(crate) before: Option<String>,
    pub(crate) after: String,
}

/// Reads a device and makes the files. The command line has the means for it.
pub(crate) type DriftReader = Arc<
    dyn Fn(
            DriftRequest,
        ) -> Pin<Box<dyn Future<Output = Result<DriftFiles, AcceptDriftError>> + Send>>
        + Send
        + Sync,
>;

/// Why a drift is not accepted. Nothing is changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AcceptDriftError {
    #[error("the desired state of {0} is not in YAML files of this process")]
    NoState(String),
    #[error("nothing of {device} is accepted: {reason}")]
    Nothing { device: String, reason: String },
    #[error("{0} has changes that are not committed")]
    Uncommitted(String),
    #[error("cannot read the drift: {0}")]
    Read(String),
    #[error("cannot commit the files")]
    Git(#[from] GitError),
}

impl AcceptDriftError {
    /// What to do next.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        match self {
            AcceptDriftError::Nothing { .. } => Some(
                "run a plan to see the drift of now; `switchtender import DIR DEVICE --take device` overwrites files",
            ),
            AcceptDriftError::Uncommitted(_) => Some("commit them, and try again"),
            AcceptDriftError::Git(GitError::BranchExists(_)) => {
                Some("merge or delete the branch, or run a plan first")
            }
            _ => None,
        }
    }
}

/// A drift that is accepted, for whoever merges it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AcceptedDrift {
    /// The new branch and its commit. `None`: the desired state is in no Git work tree.
    pub(crate) branch: Option<String>,
    pub(crate) commit: Option<String>,
    /// The difference of the files, for `git apply` or `patch -p1` in the directory of the desired state.
    pub(crate) patch: String,
    /// The resources and attributes that the files take from the device.
    pub(crate) accepted: Vec<String>,
    /// Differences that are left, with the reason.
    pub(crate) left: Vec<String>,
}

impl Service {
    /// Sets how files with the drift of a device are made.
    pub(crate) fn use_drift_reader(&self, reader: DriftReader) {
        // It is set once, before the first request.
        let _ = self.inner.drift_reader.set(reader);
    }

    /// Accepts the drift of a device.
    ///
    /// # Errors
    /// Nothing is changed.
    ///
    /// # Cancellation
    /// May be dropped at any time; there is then no branch, or the complete one.
    pub(crate) async fn accept_drift(
        &self,
        device: &str,
        requester: &Requester,
    ) -> Result<AcceptedDrift, AcceptDriftError> {
        let no_state = || AcceptDriftError::NoState(device.to_owned());
        let reader = self.inner.drift_reader.get().ok_or_else(no_state)?;
        let request = self
            .inner
            .fleet()
            .drift_request(device)
            .ok_or_else(no_state)?;
        let directory = request.directory.clone();
        let found = reader(request).await?;
        if found.files.is_empty() {
            let reason = if found.left.is_empty() {
                "the files have what the device has".to_owned()
            } else {
                found.left.join("; ")
            };
            let device = device.to_owned();
            return Err(AcceptDriftError::Nothing { device, reason });
        }
        let mut accepted = AcceptedDrift {
            branch: None,
            commit: None,
            patch: patch(&found.files),
            accepted: found.accepted,
            left: found.left,
        };
        if let Some(work_tree) = GitDirectory::find(&directory) {
            let existing = found.files.iter();
            let existing = existing.filter(|(_, file)| file.before.is_some());
            let paths: Vec<PathBuf> = existing.map(|(path, _)| PathBuf::from(path)).collect();
            if let Some(first) = work_tree.uncommitted(&paths).await?.first() {
                return Err(AcceptDriftError::Uncommitted(first.clone()));
            }
            let run = self.last_run(device).await;
            let message = message(device, &run, requester, &accepted.accepted);
            let branch = branch(device, &run);
            let texts = found.files.into_iter();
            let texts = texts.map(|(path, file)| (path, file.after)).collect();
            let commit = work_tree.commit_on_branch(&branch, &texts, &requester.name, &message);
            accepted.commit = Some(commit.await?);
            accepted.branch = Some(branch);
        }
        Ok(accepted)
    }

    /// The number of the last run, which has shown the drift.
    async fn last_run(&self, device: &str) -> String {
        let filter = RunFilter {
            device: Some(device.to_owned()),
            limit: 1,
            ..RunFilter::default()
        };
        let found = self.history().query(move |reader| reader.runs(&filter));
        match found.await {
            Ok(runs) => runs
                .first()
                .map_or("none".to_owned(), |run| run.id.to_string()),
            Err(error) => {
                tracing::warn!("cannot read the last run of {device}: {}", chain(&error));
                "unknown".to_owned()
            }
        }
    }
}

/// The name of the branch. `:` and two dots are not allowed in it.
fn branch(device: &str, run: &str) -> String {
    let device = device.replace(':', "-").replace("..", "-");
    format!("switchtender/drift/{device}/run-{run}")
}

fn message(device: &str, run: &str, requester: &Requester, accepted: &[String]) -> String {
    let mut text = format!("Accept the drift of {device}\n\n");
    for one in accepted {
        let _ = writeln!(text, "- {one}");
    }
    let _ = write!(text, "\nDevice: {device}\nRun: {run}\nUser: {requester}\n");
    text
}

/// The difference of the files in the form of Git.
fn patch(files: &BTreeMap<String, ChangedFile>) -> String {
    let mut text = String::new();
    for (path, file) in files {
        let old = match &file.before {
            Some(_) => format!("a/{path}"),
            None => "/dev/null".to_owned(),
        };
        let before = file.before.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(before, &file.after);
        let mut unified = diff.unified_diff();
        let unified = unified
            .context_radius(CONTEXT)
            .header(&old, &format!("b/{path}"));
        if file.before.is_none() {
            let _ = write!(text, "diff --git a/{path} b/{path}\nnew file mode 100644\n");
        }
        let _ = write!(text, "{unified}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::RequesterKind;

    #[test]
    fn patch_is_that_of_git() {
        let file = |before: Option<&str>, after: &str| ChangedFile {
            before: before.map(str::to_owned),
            after: after.to_owned(),
        };
        let files = BTreeMap::from([
            (
                "common.yaml".to_owned(),
                file(Some("a: 1\nb: 2\n"), "a: 1\nb: 3\n"),
            ),
            ("device/sw1.yaml".to_owned(), file(None, "c: 1\n")),
        ]);
        let text = patch(&files);
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("common.yaml"), "a: 1\nb: 2\n").unwrap();
        std::fs::write(dir.path().join("drift.patch"), &text).unwrap();
        let applied = std::process::Command::new("git")
            .current_dir(dir.path())
            .args(["apply", "drift.patch"])
            .output()
            .unwrap();
        assert!(applied.status.success(), "{applied:?}\n{text}");
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("common.yaml"), "a: 1\nb: 3\n");
        assert_eq!(read("device/sw1.yaml"), "c: 1\n");
    }

    #[test]
    fn message_names_run_user_and_resources() {
        let requester = Requester {
            kind: RequesterKind::Page,
            name: "alice".to_owned(),
        };
        let text = message(
            "sw1",
            "12",
            &requester,
            &["Network_vlan[10].vlan_name".to_owned()],
        );
        assert_eq!(
            text,
            "Accept the drift of sw1\n\n- Network_vlan[10].vlan_name\n\nDevice: sw1\nRun: 12\nUser: alice (page)\n"
        );
        assert_eq!(branch("a:b..c", "12"), "switchtender/drift/a-b-c/run-12");
    }
}
