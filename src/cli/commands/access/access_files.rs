//! The file of users, tokens and workers, with the audit log that records its changes.

use std::sync::Arc;

use super::audit::audit_failed;
use crate::cli::exit::{CommandError, eprint_notice};
use crate::clock;
use crate::serve::access::{
    AccessError, AccessFile, AccessPaths, AccessRules, AuditEntry, AuditLog, AuditResult,
};
use crate::serve::release::RELEASE_ACCESS;
use crate::store;

/// The files of a state directory.
pub(super) struct AccessFiles {
    pub(super) paths: AccessPaths,
}

impl AccessFiles {
    pub(super) fn rules(&self) -> Result<Arc<AccessRules>, CommandError> {
        let file = AccessFile::open(self.paths.access_file()).map_err(failed)?;
        Ok(file.rules())
    }

    /// Changes `access.toml`, and records it before.
    pub(super) fn change(
        &self,
        action: &str,
        target: &str,
        change: impl FnOnce(&mut AccessRules),
    ) -> Result<(), CommandError> {
        store::create_dir(self.paths.directory()).map_err(|error| {
            let directory = self.paths.directory().display();
            CommandError::new(format!("cannot create {directory}")).with_source(error)
        })?;
        let entry = AuditEntry {
            time: clock::timestamp(),
            actor: format!("uid {}", rustix::process::getuid().as_raw()),
            method: "command".to_owned(),
            address: "local".to_owned(),
            action: action.to_owned(),
            target: target.to_owned(),
            result: AuditResult::Accepted,
        };
        AuditLog::at(self.paths.audit_log())
            .append_blocking(entry)
            .map_err(audit_failed)?;
        AccessFile::update(&self.paths.access_file(), change).map_err(failed)
    }

    /// Removes an entry of a kind, and returns what `remove` returns. `None` there: no entry has the name.
    pub(super) fn remove<T>(
        &self,
        kind: &str,
        name: &str,
        remove: impl FnOnce(&mut AccessRules) -> Option<T>,
    ) -> Result<T, CommandError> {
        let mut removed = None;
        self.change(&format!("remove-{kind}"), name, |rules| {
            removed = remove(rules);
        })?;
        removed.ok_or_else(|| {
            CommandError::new(format!("unknown {kind} `{name}`"))
                .hint("list users and tokens with `switchtender access list`")
        })
    }

    /// Reports a change, and the file that has it.
    pub(super) fn report_change(&self, what: &str) {
        let file = self.paths.access_file();
        eprint_notice(&format!("{what}: wrote {}", file.display()));
        if self.has_users_of_release() {
            eprint_notice(
                "warning: users and workers of this node come from a release, and the next one replaces the change; other \
                 nodes do not have it: edit access.toml in the published directory, and run `switchtender fleet publish`",
            );
        }
    }

    /// Whether a release of the node has replaced `access.toml`.
    fn has_users_of_release(&self) -> bool {
        let releases = self.paths.directory().with_file_name("releases");
        let mut found = std::fs::read_dir(releases).into_iter().flatten().flatten();
        found.any(|release| release.path().join(RELEASE_ACCESS).is_file())
    }
}

fn failed(error: AccessError) -> CommandError {
    let hint = error.hint();
    CommandError::new("cannot use the users and tokens")
        .with_source(error)
        .optional_hint(hint)
}
