//! `[sessions]` and `[lock]` of a command line: how the sessions of a device are listed and ended, and how the
//! device says that somebody else has locked its configuration.

use serde::{Deserialize, Serialize};

use crate::document::{At, Findings, keys, text_with};
use crate::pattern::Pattern;

/// A session as its device lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedSession {
    /// What the command that ends it names.
    pub id: String,
    /// The login.
    pub user: String,
    /// What distinguishes it from a later session with the same `id`: its address, its start, its process.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub mark: String,
}

impl std::fmt::Display for ListedSession {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "session {} of {}", self.id, self.user)?;
        if self.mark.is_empty() {
            Ok(())
        } else {
            write!(f, " ({})", self.mark)
        }
    }
}

/// The sessions in one answer of the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SessionList {
    /// The session that sent the command. `None`: it was not recognized, or not alone.
    pub(crate) own: Option<ListedSession>,
    pub(crate) others: Vec<ListedSession>,
}

/// How the sessions of a device are listed and ended.
#[derive(Clone, Debug)]
pub(crate) struct SessionRules {
    /// Prints the sessions.
    pub(crate) list: String,
    row: Pattern,
    end: String,
}

/// How the device says that somebody else has locked its configuration.
#[derive(Clone, Debug)]
pub(crate) struct LockRules {
    held: Pattern,
    /// What a device needs, so that it locks.
    pub(crate) needs: Option<String>,
}

text_with! {
    /// A line with the name of a session.
    pub(crate) struct EndLine("id");
}

keys! {
    /// How the sessions of a device are listed and ended.
    pub(crate) struct SessionListKeys {
        /// Command that prints the sessions.
        list: String,
        /// Pattern of the row of a session with the groups `id`, `user`, `own` and `mark`.
        ///
        /// The group `own` matches in the row of the session that sent the command. `mark` is what a later
        /// session with the same `id` does not have: the address, the time of the login.
        row: At<Pattern>,
        /// Command that ends a session, with `{id}`.
        end: EndLine,
    }
}

keys! {
    /// The lock of the configuration, which the command to the configuration mode takes.
    pub(crate) struct LockKeys {
        /// Pattern of the refusal while somebody else has the lock, in a line or in the whole output; the group
        /// `holder` is who.
        held: Pattern,
        /// What a device must be configured with to lock, in the words of the device; without it, each locks.
        needs: Option<String>,
    }
}

impl SessionRules {
    pub(super) fn new(keys: SessionListKeys, findings: &Findings) -> Option<Self> {
        for group in ["id", "user", "own"] {
            let mut names = keys.row.value.group_names();
            if !names.any(|name| name == group) {
                let message = format!("`sessions.row` has no group `{group}`");
                let help = format!("add `(?<{group}>…)` to the pattern");
                findings.error_with_help("missing-group", keys.row.span.clone(), message, help);
                return None;
            }
        }
        Some(Self {
            list: keys.list,
            row: keys.row.value,
            end: keys.end.0,
        })
    }

    /// The sessions in the output of [`SessionRules::list`].
    pub(crate) fn read(&self, output: &str) -> SessionList {
        let mut own = Vec::new();
        let mut others = Vec::new();
        for line in output.lines() {
            let Some(found) = self.row.captures(line) else {
                continue;
            };
            let group = |name: &str| {
                let text = found.name(name).map(|group| group.as_str().trim());
                text.unwrap_or_default().to_owned()
            };
            let session = ListedSession {
                id: group("id"),
                user: group("user"),
                mark: group("mark"),
            };
            if group("own").is_empty() {
                others.push(session);
            } else {
                own.push(session);
            }
        }
        let is_alone = own.len() == 1;
        SessionList {
            own: own.pop().filter(|_| is_alone),
            others,
        }
    }

    /// The command that ends a session.
    pub(crate) fn end_line(&self, session: &ListedSession) -> String {
        self.end.replace("{id}", &session.id)
    }
}

impl LockRules {
    /// Who has the lock, by the answer to the command to the configuration mode. `None`: nobody else.
    pub(crate) fn holder(&self, output: &str) -> Option<String> {
        let mut lines = output.lines();
        let in_line = lines.find_map(|line| self.held.captures(line));
        // The holder can be in the line after that of the refusal.
        let found = in_line.or_else(|| self.held.captures(output))?;
        let holder = found.name("holder").or_else(|| found.get(0))?;
        Some(holder.as_str().trim().to_owned())
    }
}

impl From<LockKeys> for LockRules {
    fn from(keys: LockKeys) -> Self {
        Self {
            held: keys.held,
            needs: keys.needs,
        }
    }
}
