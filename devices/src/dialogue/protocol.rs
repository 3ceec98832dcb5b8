//! The protocol of a platform's sessions.

use std::sync::Arc;
use std::time::Duration;

use super::sections::SessionSections;
use super::{
    CliRules, GuaranteeClass, LineTransport, NetconfRules, RestRules, Transport, WriteGuarantee,
};
use crate::diagnostic::Diagnostic;
use crate::document::{Table, read_value};
use crate::read::xml::Namespaces;
use crate::secret_text::SecretText;

/// The protocol of a platform's devices.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// Command line, REST or NETCONF.
    pub(crate) dialect: Dialect,
    /// Commands of the platform's reads, which a read-only session may send.
    pub(crate) reads: Vec<String>,
}

/// The kind of a protocol.
#[derive(Clone, Debug)]
pub(crate) enum Dialect {
    /// A command line over SSH.
    Cli(Arc<CliRules>),
    /// JSON over HTTPS.
    Rest(Arc<RestRules>),
    /// XML over SSH.
    Netconf(Arc<NetconfRules>),
}

impl Protocol {
    /// Reads the protocol from a platform's root table: `transport`, the sections about sessions, and the
    /// commands of `[read.*]`.
    pub fn read(root: &Table<'_>) -> Option<Self> {
        let reads = root.table("read").map_or_else(Vec::new, |table| {
            let entries = table.entries().into_iter();
            entries
                .filter_map(|(_, _, item)| item.table()?.string("command"))
                .collect()
        });
        let dialect = match read_value(SessionSections::transport(root))? {
            Transport::SshCli => Dialect::Cli(Arc::new(CliRules::read(root)?)),
            Transport::Netconf => Dialect::Netconf(Arc::new(NetconfRules::read(root)?)),
            Transport::Rest => Dialect::Rest(Arc::new(RestRules::read(root)?)),
        };
        Some(Self { dialect, reads })
    }

    /// The port of the platform's devices, unless a device has another one.
    pub fn port(&self, transport: LineTransport) -> u16 {
        match &self.dialect {
            Dialect::Cli(rules) => match &rules.http {
                Some(http) if transport == LineTransport::Http => http.rest.port,
                _ => rules.port,
            },
            Dialect::Rest(rules) => rules.port,
            Dialect::Netconf(rules) => rules.port,
        }
    }

    /// Whether the lines of the command line can travel in HTTP requests.
    pub fn has_line_requests(&self) -> bool {
        match &self.dialect {
            Dialect::Cli(rules) => rules.http.is_some(),
            Dialect::Rest(_) | Dialect::Netconf(_) => false,
        }
    }

    /// The limit of a device's run, from its connection.
    pub fn run_limit(&self) -> Duration {
        match &self.dialect {
            Dialect::Cli(rules) => rules.limits.run,
            Dialect::Rest(rules) => rules.limits.run,
            Dialect::Netconf(rules) => rules.limits.run,
        }
    }

    /// What becomes of a late write of a process that no longer may change a device.
    pub fn guarantee(&self, transport: LineTransport) -> WriteGuarantee {
        match &self.dialect {
            Dialect::Cli(_) if transport == LineTransport::Http => {
                WriteGuarantee::of(GuaranteeClass::Timing)
            }
            Dialect::Cli(rules) => {
                let needs = rules.lock.as_ref().map(|lock| lock.needs.clone());
                let class = match (&needs, &rules.sessions) {
                    (Some(None), _) => GuaranteeClass::Locked,
                    (_, Some(_)) => GuaranteeClass::Session,
                    (_, None) => GuaranteeClass::Timing,
                };
                WriteGuarantee {
                    class,
                    locked_with: needs.flatten(),
                }
            }
            Dialect::Rest(rules) => WriteGuarantee::of(match rules.version {
                Some(_) => GuaranteeClass::Locked,
                None => GuaranteeClass::Timing,
            }),
            Dialect::Netconf(_) => WriteGuarantee::of(GuaranteeClass::Locked),
        }
    }

    /// The namespaces of XML.
    pub(crate) fn namespaces(&self) -> Option<&Arc<Namespaces>> {
        match &self.dialect {
            Dialect::Netconf(rules) => Some(&rules.namespaces),
            Dialect::Cli(_) | Dialect::Rest(_) => None,
        }
    }

    /// Prompts that several modes recognize.
    pub(crate) fn ambiguous_prompts(&self) -> Vec<Diagnostic> {
        match &self.dialect {
            Dialect::Cli(rules) => rules.ambiguous_prompts(),
            Dialect::Rest(_) | Dialect::Netconf(_) => Vec::new(),
        }
    }

    /// Where secrets stand in the text of the devices.
    pub(crate) fn secrets(&self) -> &SecretText {
        match &self.dialect {
            Dialect::Cli(rules) => &rules.secrets,
            Dialect::Rest(rules) => &rules.secrets,
            Dialect::Netconf(rules) => &rules.secrets,
        }
    }
}
