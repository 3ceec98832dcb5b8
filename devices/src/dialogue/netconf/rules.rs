//! Rules of a platform's NETCONF sessions, as data.

use std::sync::Arc;
use std::time::Duration;

use crate::dialogue::candidate_rules::spans_run;
use crate::dialogue::session_limits::SessionLimits;
use crate::document::Table;
use crate::read::xml::Namespaces;
use crate::secret_text::SecretText;

/// The port of NETCONF over SSH (RFC 6242).
const PORT: u16 = 830;

/// Rules of a platform's NETCONF sessions.
#[derive(Clone, Debug)]
pub(crate) struct NetconfRules {
    /// Default TCP port.
    pub(crate) port: u16,
    /// Absolute limits.
    pub(crate) limits: SessionLimits,
    /// Where secrets stand in the text of the devices.
    pub(crate) secrets: SecretText,
    /// The namespaces of the platform.
    pub(crate) namespaces: Arc<Namespaces>,
    /// The candidate is validated before its commit, which validates it again.
    pub(crate) check: bool,
    /// The device reverts a commit after this time, unless it is confirmed.
    pub(crate) confirm: Option<Duration>,
    /// Changes of several resources are committed together.
    pub(crate) spans_run: bool,
}

impl NetconfRules {
    /// Reads `[connection]`, `[namespace]` and `[candidate]` from a platform's root table. Mistakes
    /// become findings of the table.
    pub(crate) fn read(root: &Table<'_>) -> Option<Self> {
        let connection = root.required_table("connection")?;
        let namespaces = root.required_table("namespace")?;
        let candidate = root.table("candidate");
        let confirm = candidate.as_ref().and_then(|table| table.get("confirm"));
        let confirm = confirm.and_then(|item| {
            let seconds = item.integer()?;
            let seconds = u32::try_from(seconds).ok().filter(|seconds| *seconds > 0);
            if seconds.is_none() {
                item.error("bad-number", "`confirm` must be 1 second or more");
            }
            seconds
        });
        let check = candidate.as_ref().and_then(|table| table.bool("check"));
        let spans_run = candidate.as_ref().is_some_and(spans_run);
        if let Some(candidate) = &candidate {
            candidate.finish();
        }
        let rules = Self {
            port: connection
                .integer("port")
                .and_then(|port| u16::try_from(port).ok())
                .unwrap_or(PORT),
            limits: SessionLimits::read(&connection),
            secrets: SecretText::new(root.patterns("secrets")),
            namespaces: Arc::new(Namespaces::load(&namespaces)),
            check: check.unwrap_or(false),
            confirm: confirm.map(|seconds| Duration::from_secs(seconds.into())),
            spans_run,
        };
        namespaces.finish();
        connection.finish();
        Some(rules)
    }
}
