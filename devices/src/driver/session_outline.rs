//! What begins and ends the sessions of a platform: what a mock must accept.

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
    Rest(RestOutline),
    /// NETCONF.
    Netconf,
}

/// The sessions of a REST platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestOutline {
    /// Path of the login for a token.
    pub login: Option<String>,
    /// The fields around the token in the answer to the login, outermost first.
    pub token: Vec<String>,
    /// Name of the cookie with the token.
    pub cookie: Option<String>,
    /// The beginnings of the requests that log off or save the configuration: `DELETE /tokens/`.
    pub of_session: Vec<String>,
    /// The fields around the message of an error, outermost first.
    pub message: Vec<String>,
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

fn rest(rules: &RestRules) -> RestOutline {
    let mut outline = RestOutline {
        message: rules
            .message
            .first()
            .map(FieldPath::names)
            .unwrap_or_default(),
        ..RestOutline::default()
    };
    if let Some(save) = &rules.save {
        let request = format!("{} {}", save.method, save.path);
        outline.of_session.push(request);
    }
    if let Some(TokenRules {
        carrier,
        login: Some(login),
    }) = &rules.token
    {
        outline.of_session.extend(logout(login));
        outline.login = Some(login.path.clone());
        outline.token = login
            .token
            .as_ref()
            .map(FieldPath::names)
            .unwrap_or_default();
        outline.cookie = (carrier.kind == CarrierKind::Cookie).then(|| carrier.name.clone());
    }
    outline
}

/// The beginning of the request that logs off.
fn logout(login: &TokenLogin) -> Option<String> {
    let path = login.logout.as_deref()?;
    let start = path.split_once('{').map_or(path, |(start, _)| start);
    Some(format!("{} {start}", login.logout_method))
}
