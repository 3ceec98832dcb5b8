//! Messages of NETCONF: the hello of both sides, requests, and replies.

use serde_json::Value as Json;

use crate::read::field_path::scalar_text;
use crate::read::xml::{NETCONF, Namespaces, XmlError, parse};
use crate::secret::Text;

/// What a server can do, as far as sessions use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Capability {
    /// Chunked framing.
    Base11,
    Candidate,
    ConfirmedCommit,
    /// The list of sessions (RFC 6022).
    Monitoring,
    RollbackOnError,
    Startup,
    Validate,
    WritableRunning,
}

impl Capability {
    /// The beginnings of its URIs.
    fn uris(self) -> &'static [&'static str] {
        match self {
            Capability::Base11 => &["urn:ietf:params:netconf:base:1.1"],
            Capability::Candidate => &["urn:ietf:params:netconf:capability:candidate:1."],
            // A canceled commit is a part of version 1.1.
            Capability::ConfirmedCommit => {
                &["urn:ietf:params:netconf:capability:confirmed-commit:1.1"]
            }
            Capability::Monitoring => &["urn:ietf:params:xml:ns:yang:ietf-netconf-monitoring"],
            Capability::RollbackOnError => {
                &["urn:ietf:params:netconf:capability:rollback-on-error:1."]
            }
            Capability::Startup => &["urn:ietf:params:netconf:capability:startup:1."],
            Capability::Validate => &["urn:ietf:params:netconf:capability:validate:1."],
            Capability::WritableRunning => {
                &["urn:ietf:params:netconf:capability:writable-running:1."]
            }
        }
    }
}

/// The hello of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServerHello {
    capabilities: Vec<String>,
    /// The identifier of the session.
    pub(crate) session_id: String,
}

impl ServerHello {
    /// Reads the first message of a session.
    ///
    /// # Errors
    /// It is not a hello of a NETCONF server.
    pub(crate) fn read(text: &str) -> Result<Self, XmlError> {
        let tree = parse(text, &Namespaces::default())?;
        let hello = tree.get("nc:hello");
        let capabilities = hello.and_then(|hello| hello.get("capabilities")?.get("capability"));
        let Some(capabilities) = capabilities else {
            return Err(XmlError::new("it is not the hello of a NETCONF server"));
        };
        let capabilities = items(capabilities).filter_map(scalar_text);
        let capabilities = capabilities.map(|uri| uri.trim().to_owned()).collect();
        let session_id = hello.and_then(|hello| scalar_text(hello.get("session-id")?));
        Ok(Self {
            capabilities,
            session_id: session_id.unwrap_or_default().trim().to_owned(),
        })
    }

    pub(crate) fn has(&self, capability: Capability) -> bool {
        let mut all = self.capabilities.iter();
        all.any(|uri| capability.uris().iter().any(|own| uri.starts_with(own)))
    }
}

/// The hello of this client.
pub(crate) fn client_hello() -> Text {
    Text::plain(format!(
        "<hello xmlns=\"{NETCONF}\"><capabilities>\
         <capability>urn:ietf:params:netconf:base:1.0</capability>\
         <capability>urn:ietf:params:netconf:base:1.1</capability>\
         </capabilities></hello>"
    ))
}

/// The request for an operation.
pub(crate) fn rpc(id: u64, operation: Text) -> Text {
    let mut message = Text::plain(format!("<rpc xmlns=\"{NETCONF}\" message-id=\"{id}\">"));
    message.append(operation);
    message.push("</rpc>");
    message
}

/// The name of the only element of an operation.
pub(crate) fn operation_name(operation: &str) -> Option<String> {
    let tree = parse(operation, &Namespaces::default()).ok()?;
    let fields = tree.as_object().filter(|fields| fields.len() == 1)?;
    let (name, value) = fields.iter().next()?;
    let local = name.rsplit(['}', ':']).next().unwrap_or(name);
    (!value.is_array()).then(|| local.to_owned())
}

/// Whether an operation reads only: `get`, `get-config` and others that begin with `get-`.
pub(crate) fn is_read(name: &str) -> bool {
    name == "get" || name.starts_with("get-")
}

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) id: Option<String>,
    /// The errors, each in one line.
    pub(crate) errors: Vec<String>,
    /// Errors with the severity `warning`.
    pub(crate) warnings: Vec<String>,
    /// The session that has a lock which was denied, unless it is none of NETCONF.
    pub(crate) lock_holder: Option<String>,
}

impl Reply {
    /// Reads a message. `None`: it is not a reply, such as a notification.
    ///
    /// # Errors
    /// It is not XML.
    pub(crate) fn read(text: &str) -> Result<Option<Self>, XmlError> {
        let tree = parse(text, &Namespaces::default())?;
        let Some(reply) = tree.get("nc:rpc-reply") else {
            return Ok(None);
        };
        let mut read = Self {
            id: reply.get("@message-id").and_then(scalar_text),
            errors: Vec::new(),
            warnings: Vec::new(),
            lock_holder: None,
        };
        for error in reply.get("rpc-error").into_iter().flat_map(items) {
            let field = |name: &str| {
                let text = match error.get(name)? {
                    Json::Object(fields) => fields.get("").and_then(scalar_text),
                    other => scalar_text(other),
                };
                let text = text?.split_whitespace().collect::<Vec<_>>().join(" ");
                (!text.is_empty()).then_some(text)
            };
            let mut line = field("error-message")
                .or_else(|| field("error-app-tag"))
                .or_else(|| field("error-tag"))
                .unwrap_or_else(|| "an error without a message".to_owned());
            if let Some(tag) = field("error-tag")
                && !line.contains(&tag)
            {
                line.push_str(&format!(" ({tag})"));
            }
            if let Some(path) = field("error-path") {
                line.push_str(&format!(" at {path}"));
            }
            let info = error.get("error-info");
            let holder = info.and_then(|info| info.get("session-id"));
            if field("error-tag").as_deref() == Some("lock-denied")
                && let Some(session) = holder.and_then(scalar_text)
            {
                // RFC 6241, appendix A: 0 is a client that does not use NETCONF.
                line.push_str(&match session.trim() {
                    "0" => "; a client without NETCONF has the lock".to_owned(),
                    session => format!("; session {session} has the lock"),
                });
                let session = Some(session.trim().to_owned());
                read.lock_holder = session
                    .filter(|session| session != "0")
                    .or(read.lock_holder);
            }
            match field("error-severity").as_deref() {
                Some("warning") => read.warnings.push(line),
                _ => read.errors.push(line),
            }
        }
        Ok(Some(read))
    }
}

/// The elements with one name: an array, or one alone.
fn items(value: &Json) -> impl Iterator<Item = &Json> {
    let many = value.as_array();
    let one = many.is_none().then_some(value);
    many.into_iter().flatten().chain(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_the_capabilities_of_a_server() {
        // The hello of netconfd 2.13, shortened.
        let text = r#"<?xml version="1.0" encoding="UTF-8"?>
<hello xmlns:nc="urn:ietf:params:xml:ns:netconf:base:1.0" xmlns="urn:ietf:params:xml:ns:netconf:base:1.0">
  <capabilities>
    <capability>urn:ietf:params:netconf:base:1.0</capability>
    <capability>urn:ietf:params:netconf:base:1.1</capability>
    <capability>urn:ietf:params:netconf:capability:candidate:1.0</capability>
    <capability>urn:ietf:params:netconf:capability:confirmed-commit:1.1</capability>
    <capability>urn:ietf:params:netconf:capability:with-defaults:1.0?basic-mode=explicit&amp;also-supported=trim</capability>
  </capabilities>
  <session-id>1</session-id>
</hello>"#;
        let hello = ServerHello::read(text).expect("a hello");
        assert!(hello.has(Capability::Base11));
        assert!(hello.has(Capability::Candidate));
        assert!(hello.has(Capability::ConfirmedCommit));
        assert!(!hello.has(Capability::WritableRunning));
        assert_eq!(hello.session_id, "1");
        for other in [
            "<hello/>",
            "<rpc-reply xmlns='urn:ietf:params:xml:ns:netconf:base:1.0'/>",
            "SSH-2.0",
        ] {
            assert!(ServerHello::read(other).is_err(), "{other}");
        }
    }

    #[test]
    fn messages_of_errors_have_text_tag_and_path() {
        // From RFC 6241, section 4.3, with a warning.
        let text = r#"<rpc-reply message-id="101" xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" xmlns:xc="urn:ietf:params:xml:ns:netconf:base:1.0">
 <rpc-error><error-type>application</error-type><error-tag>invalid-value</error-tag><error-severity>error</error-severity>
   <error-path xmlns:t="http://example.com/schema/1.2/config">/t:top/t:interface[t:name="Ethernet0/0"]/t:mtu</error-path>
   <error-message xml:lang="en">MTU value 25000 is not within
     range 256..9192</error-message></rpc-error>
 <rpc-error><error-tag>data-missing</error-tag><error-severity>error</error-severity></rpc-error>
 <rpc-error><error-tag>operation-failed</error-tag><error-severity>warning</error-severity><error-message>slow</error-message></rpc-error>
 <rpc-error><error-tag>lock-denied</error-tag><error-severity>error</error-severity>
   <error-info><session-id>454</session-id></error-info></rpc-error>
 <rpc-error><error-tag>lock-denied</error-tag><error-severity>error</error-severity>
   <error-info><session-id>0</session-id></error-info></rpc-error>
</rpc-reply>"#;
        let expected = Reply {
            id: Some("101".to_owned()),
            errors: vec![
                "MTU value 25000 is not within range 256..9192 (invalid-value) at \
                 /t:top/t:interface[t:name=\"Ethernet0/0\"]/t:mtu"
                    .to_owned(),
                "data-missing".to_owned(),
                "lock-denied; session 454 has the lock".to_owned(),
                "lock-denied; a client without NETCONF has the lock".to_owned(),
            ],
            warnings: vec!["slow (operation-failed)".to_owned()],
            lock_holder: Some("454".to_owned()),
        };
        assert_eq!(Reply::read(text), Ok(Some(expected)));
        let event = "<notification xmlns='urn:ietf:params:xml:ns:netconf:notification:1.0'/>";
        assert_eq!(Reply::read(event), Ok(None));
    }

    #[test]
    fn messages_with_several_operations_have_no_name() {
        let name = |text: &str| operation_name(text);
        assert_eq!(
            name("<get-config><source/></get-config>").as_deref(),
            Some("get-config")
        );
        assert_eq!(
            name("<x:get-system xmlns:x='urn:x'/>").as_deref(),
            Some("get-system")
        );
        for other in [
            "<get/><edit-config/>",
            "<get/><get/>",
            "get",
            "<get></rpc><rpc>",
        ] {
            assert_eq!(name(other), None, "{other}");
        }
    }
}
