//! What begins and ends the sessions of a platform: what a mock must accept.

use switchtender_outline::RestSession;

use crate::dialogue::Dialect;
use crate::dialogue::rest_rules::{CarrierKind, RestRules, TokenLogin, TokenRules};
use crate::driver::platform::Platform;
use crate::read::field_path::FieldPath;

/// The sessions of a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionOutline {
    /// A command line.
    CommandLine,
    /// REST.
    Rest(RestSession),
    /// NETCONF.
    Netconf,
}

impl Platform {
    /// What begins and ends the sessions.
    pub fn session_outline(&self) -> SessionOutline {
        match &self.protocol.dialect {
            Dialect::Cli(_) => SessionOutline::CommandLine,
            Dialect::Rest(rules) => SessionOutline::Rest(rest(rules)),
            Dialect::Netconf(_) => SessionOutline::Netconf,
        }
    }
}

fn rest(rules: &RestRules) -> RestSession {
    let mut session = RestSession {
        message: rules
            .message
            .first()
            .map(FieldPath::names)
            .unwrap_or_default(),
        ..RestSession::default()
    };
    if let Some(save) = &rules.save {
        let request = format!("{} {}", save.method, save.path);
        session.accepted.push(request);
    }
    if let Some(TokenRules {
        carrier,
        login: Some(login),
    }) = &rules.token
    {
        session.accepted.extend(logout(login));
        session.login = Some(login.path.clone());
        session.token = login
            .token
            .as_ref()
            .map(FieldPath::names)
            .unwrap_or_default();
        session.cookie = (carrier.kind == CarrierKind::Cookie).then(|| carrier.name.clone());
    }
    session
}

/// The beginning of the request that logs off.
fn logout(login: &TokenLogin) -> Option<String> {
    let path = login.logout.as_deref()?;
    let start = path.split_once('{').map_or(path, |(start, _)| start);
    Some(format!("{} {start}", login.logout_method))
}
