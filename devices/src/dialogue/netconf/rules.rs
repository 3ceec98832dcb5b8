//! Rules of a platform's NETCONF sessions, as data.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use crate::dialogue::candidate_rules::CandidateScope;
use crate::dialogue::sections::{NetconfSections, secret_texts};
use crate::dialogue::session_limits::{LimitKeys, SessionLimits};
use crate::document::{Table, keys, read_value};
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

keys! {
    /// Connection of NETCONF.
    pub(crate) struct NetconfConnectionKeys {
        /// Default TCP port.
        port: u16 = PORT,
        /// Absolute limits.
        limits: Option<LimitKeys>,
    }
}

keys! {
    /// How changes take effect when they are committed.
    pub(crate) struct NetconfCandidateKeys {
        /// The candidate is validated before its commit.
        check: bool,
        /// A commit that is reverted unless it is confirmed; for NETCONF its seconds.
        confirm: Option<NonZeroU32>,
        /// `resource` (default), or `run`: resources of a run are committed together.
        scope: CandidateScope = CandidateScope::Resource,
    }
}

impl NetconfRules {
    /// Reads `[connection]`, `[namespace]` and `[candidate]` from a platform's root table. Mistakes
    /// become findings of the table.
    pub(crate) fn read(root: &Table<'_>) -> Option<Self> {
        let secrets = secret_texts(root);
        let connection = read_value::<NetconfConnectionKeys>(NetconfSections::connection(root));
        let namespaces = NetconfSections::namespace(root).and_then(|item| item.table());
        let namespaces = namespaces.map(|table| Namespaces::load(&table));
        let candidate = read_value::<NetconfCandidateKeys>(NetconfSections::candidate(root));
        let confirm = candidate.as_ref().and_then(|keys| keys.confirm);
        let connection = connection?;
        Some(Self {
            port: connection.port,
            limits: connection.limits.into(),
            secrets,
            namespaces: Arc::new(namespaces?),
            check: candidate.as_ref().is_some_and(|keys| keys.check),
            confirm: confirm.map(|seconds| Duration::from_secs(seconds.get().into())),
            spans_run: candidate.is_some_and(|keys| keys.scope == CandidateScope::Run),
        })
    }
}
