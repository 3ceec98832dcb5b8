//! `[refresh]`: the request that a refresh sends, such as the restart of a service.

use serde_json::Value as Json;

use super::definition::RestDefinition;
use super::template::{TextTemplate, UnfilledHole};
use super::toml::{required_template, templates};
use super::writer::error;
use crate::diagnostic::suggest;
use crate::document::Table;
use crate::driver::implementation::RenderError;
use crate::driver::json_body::Body;
use crate::model::TypeModel;
use crate::operation::{Action, Method, Operation, Precondition, Request};
use crate::read::field_path::FieldPath;
use crate::value::{Attributes, Name, Value};

/// The request of a refresh.
#[derive(Clone, Debug)]
pub(crate) struct RefreshRequest {
    pub(super) path: TextTemplate,
    body: Vec<(FieldPath, TextTemplate)>,
}

impl RefreshRequest {
    pub(crate) fn load(table: &Table<'_>, model: &TypeModel) -> Option<Self> {
        let path = required_template(table, "path");
        for hole in path.iter().flat_map(TextTemplate::unencoded_holes) {
            let message =
                format!("`{{{hole}}}` in `path` is not encoded; use `{{{hole}|percent}}`");
            table
                .findings
                .error("template", table.span.clone(), message);
        }
        let body = templates(table, "body");
        table.finish();
        let templates = body.iter().map(|(_, template)| template);
        for template in path.iter().chain(templates) {
            check_names(template, model, table);
        }
        Some(Self { path: path?, body })
    }

    /// The operations, given the attributes of the resource. The request is never repeated.
    pub(crate) fn operations(
        &self,
        definition: &RestDefinition,
        attributes: &Attributes,
    ) -> Result<Vec<Operation>, RenderError> {
        let fill = |template: &TextTemplate| {
            let text = template.fill(|name| attributes.get(name).and_then(Value::scalar_text));
            text.map_err(|UnfilledHole(name)| {
                error(&name, &format!("has no value; `{template}` requires it"))
            })
        };
        let mut body = Body::object();
        for (field, template) in &self.body {
            body.put(field, Json::from(fill(template)?).into());
        }
        let request = Request {
            method: Method::Post,
            path: definition.checked_path(fill(&self.path)?)?,
            body: (!body.is_empty()).then(|| body.to_text()),
            abridged: None,
            is_file: false,
            idempotent: false,
            precondition: Precondition::None,
        };
        Ok(vec![Operation {
            attributes: Vec::new(),
            action: Action::Request(request),
        }])
    }
}

/// For `driver explain`.
impl std::fmt::Display for RefreshRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", Method::Post, self.path)?;
        let fields = self.body.iter();
        let fields: Vec<_> = fields
            .map(|(field, text)| format!("\"{field}\": \"{text}\""))
            .collect();
        if fields.is_empty() {
            Ok(())
        } else {
            write!(f, " {{{}}}", fields.join(", "))
        }
    }
}

/// Every placeholder must be an attribute of the model without secrets.
fn check_names(template: &TextTemplate, model: &TypeModel, table: &Table<'_>) {
    for name in template.holes() {
        if let Some(attribute) = model.attributes.get(name) {
            if attribute.sensitive {
                let message = format!("`{template}` sends the secret `{name}`");
                table.findings.error("secret", table.span.clone(), message);
            }
            continue;
        }
        let names = model.attributes.keys().map(Name::as_str);
        let help = suggest(name, names, "declare it in the model first");
        table.findings.error_with_help(
            "unknown-attribute",
            table.span.clone(),
            format!(
                "`{template}` uses `{name}`, which is not an attribute of {}",
                model.name
            ),
            help,
        );
    }
}
