//! What begins and ends a session: what a mock must accept.

use switchtender_outline::{
    RequestShape, RestSession, TokenCarrier as CarrierShape, TokenLogin as LoginShape,
};

use super::{CarrierKind, RestRules, TokenCarrier, TokenLogin};
use crate::operation::Method;
use crate::operation::outline::{NameEncoding, PathPart, request_shape, with_body};
use crate::read::field_path::FieldPath;

/// The placeholder of the token.
const TOKEN: &str = "{token}";

impl RestRules {
    /// Login, logout and errors.
    pub(crate) fn outline(&self) -> RestSession {
        let message = self.message.first();
        let mut session = RestSession {
            message: message.map(FieldPath::outline).unwrap_or_default(),
            ..RestSession::default()
        };
        if let Some(save) = &self.save {
            let request = request_shape(save.method, &[PathPart::Literal(&save.path)]);
            let body = save.body.as_ref().map(|body| body.reveal());
            session.accepted.push(with_body(request, body.as_deref()));
        }
        if let Some(rules) = &self.token {
            session.token = Some(rules.carrier.outline());
            session.login = rules.login.as_ref().map(TokenLogin::outline);
            session
                .accepted
                .extend(rules.login.iter().filter_map(TokenLogin::logout));
        }
        session
    }
}

impl TokenCarrier {
    fn outline(&self) -> CarrierShape {
        let (name, prefix) = (self.name.clone(), self.prefix.clone());
        match self.kind {
            CarrierKind::Header => CarrierShape::Header(name, prefix),
            CarrierKind::Query => CarrierShape::Parameter(name, prefix),
            CarrierKind::Cookie => CarrierShape::Cookie(name),
        }
    }
}

impl TokenLogin {
    fn outline(&self) -> LoginShape {
        let field = |word: &str| {
            let mut fields = self.body.iter();
            fields
                .find(|(_, value)| value == word)
                .map(|(name, _)| name.outline())
        };
        LoginShape {
            request: request_shape(Method::Post, &[PathPart::Literal(&self.path)]),
            credentials: field("{user}").zip(field("{password}")),
            is_form: self.is_form,
            token: self.token.as_ref().map(FieldPath::outline),
            second: self.csrf.clone(),
        }
    }

    /// The request that logs off.
    fn logout(&self) -> Option<RequestShape> {
        let path = self.logout.as_deref()?;
        let (before, after) = path.split_once(TOKEN).unwrap_or((path, ""));
        let token = PathPart::Name("token", NameEncoding::Segment);
        let mut parts = vec![PathPart::Literal(before)];
        if path.contains(TOKEN) {
            parts.extend([token, PathPart::Literal(after)]);
        }
        Some(request_shape(self.logout_method, &parts))
    }
}
