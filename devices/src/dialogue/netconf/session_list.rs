//! The sessions of a server (RFC 6022, section 2.1.5).

use serde_json::Value as Json;

use crate::dialogue::session_rules::ListedSession;
use crate::read::field_path::scalar_text;
use crate::read::xml::{Namespaces, parse};

/// Requests the sessions of a server.
pub(crate) const LIST_SESSIONS: &str = "<get><filter type=\"subtree\"><netconf-state \
    xmlns=\"urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring\"><sessions/></netconf-state></filter></get>";

/// The sessions in a reply. The mark of a session is the time of its login.
pub(crate) fn listed_sessions(reply: &str) -> Vec<ListedSession> {
    let mut found = Vec::new();
    if let Ok(tree) = parse(reply, &Namespaces::default()) {
        collect(&tree, &mut found);
    }
    found
}

/// Adds the sessions below an element.
fn collect(element: &Json, found: &mut Vec<ListedSession>) {
    let field = |name: &str| {
        let fields = element.as_object()?.iter();
        let mut named = fields.filter(|(key, _)| local_name(key) == name);
        let text = scalar_text(named.next()?.1)?;
        Some(text.trim().to_owned())
    };
    if let (Some(id), Some(user)) = (field("session-id"), field("username")) {
        found.push(ListedSession {
            id,
            user,
            mark: field("login-time").unwrap_or_default(),
        });
        return;
    }
    match element {
        Json::Object(fields) => fields.values().for_each(|field| collect(field, found)),
        Json::Array(items) => items.iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

fn local_name(key: &str) -> &str {
    key.rsplit(['}', ':']).next().unwrap_or(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_list_has_user_and_login_of_each_session() {
        // From RFC 6022, section 4.1, shortened.
        let session = |id: u32, user: &str, login: &str| {
            format!(
                "<session><session-id>{id}</session-id><transport>netconf-ssh</transport><username>{user}</username>\
                 <source-host>192.0.2.1</source-host><login-time>{login}</login-time></session>"
            )
        };
        let reply = |sessions: &str| {
            format!(
                "<rpc-reply message-id=\"101\" xmlns=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><data>\
                 <netconf-state xmlns=\"urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring\"><sessions>{sessions}\
                 </sessions></netconf-state></data></rpc-reply>"
            )
        };
        let (one, two) = (session(4, "ops", "t1"), session(7, "mary", "t2"));
        let found = listed_sessions(&reply(&(one.clone() + &two)));
        let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["session 4 of ops (t1)", "session 7 of mary (t2)"]);
        assert_eq!(listed_sessions(&reply(&one)).len(), 1);
        assert_eq!(listed_sessions(&reply("")), []);
        assert_eq!(listed_sessions("no XML"), []);
    }
}
