//! The sections of a platform about its sessions, by transport.

use super::candidate_rules::CandidateKeys;
use super::cli_keys::{CliConnectionKeys, CliErrorKeys, ConfirmQuestionKeys, ModeKeys, StepKeys};
use super::line_request_rules::LineRequestKeys;
use super::netconf::rules::{NetconfCandidateKeys, NetconfConnectionKeys};
use super::protect_rules::ProtectKeys;
use super::rest_rules::{
    PageKeys, RequestKeys, RestCandidateKeys, RestConnectionKeys, RestErrorKeys, SaveKeys,
    TaskKeys, UploadTypeKeys, VersionRules,
};
use super::session_rules::{LockKeys, SessionListKeys};
use super::transport::Transport;
use crate::document::{Named, Table, read_value, sections};
use crate::pattern::Pattern;
use crate::secret_text::SecretText;

sections! {
    /// The keys of all sessions.
    pub(crate) struct SessionSections {
        /// `ssh-cli`, `rest` or `netconf`.
        transport (required): Transport,
        /// Patterns of lines with secrets; the first group is masked.
        secrets: Vec<Pattern>,
    }
}

/// Where secrets stand in the text of the devices.
pub(super) fn secret_texts(root: &Table<'_>) -> SecretText {
    let patterns: Option<Vec<Pattern>> = read_value(SessionSections::secrets(root));
    SecretText::new(patterns.unwrap_or_default())
}

sections! {
    /// The sections of a command line.
    pub(crate) struct CliSections {
        /// The connection to devices.
        connection (required): CliConnectionKeys,
        /// The modes of the command line.
        mode (required): Named<ModeKeys>,
        /// Commands after the login.
        open: Vec<StepKeys>,
        /// Commands before the end of the session.
        close: Vec<StepKeys>,
        /// How the configuration is saved.
        save: Vec<StepKeys>,
        /// Changes take effect when they are committed.
        candidate: CandidateKeys,
        /// A timed revert of all changes of a run.
        protect: ProtectKeys,
        /// How the sessions of a device are listed and ended.
        sessions: SessionListKeys,
        /// The lock of the configuration.
        lock: LockKeys,
        /// How errors are recognized.
        error: CliErrorKeys,
        /// Questions of the device.
        confirm: Named<ConfirmQuestionKeys>,
        /// The lines of the command line in HTTP requests.
        http: RequestKeys | LineRequestKeys,
    }
}

sections! {
    /// The sections of a REST interface.
    pub(crate) struct RestSections {
        /// The connection to devices.
        connection (required): RestConnectionKeys | RequestKeys,
        /// How errors are recognized.
        error: RestErrorKeys,
        /// How lists are divided into pages.
        pages: PageKeys,
        /// How files are uploaded.
        upload: UploadTypeKeys,
        /// Requests that the device continues after its answer.
        tasks: TaskKeys,
        /// The number of the configuration that writes name.
        version: VersionRules,
        /// Changes take effect when they are committed.
        candidate: RestCandidateKeys,
        /// How the configuration is saved.
        save: SaveKeys,
    }
}

sections! {
    /// The sections of NETCONF.
    pub(crate) struct NetconfSections {
        /// The connection to devices.
        connection (required): NetconfConnectionKeys,
        /// Prefixes of XML namespaces.
        namespace (required): Named<String>,
        /// Changes take effect when they are committed.
        candidate: NetconfCandidateKeys,
    }
}
