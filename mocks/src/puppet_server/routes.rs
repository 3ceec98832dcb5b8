//! Routes and responses of the server, as recorded (`tests/fixtures/puppetserver/exchanges`).

use std::sync::{Arc, Mutex};

use rcgen::CertificateSigningRequestParams;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::http::{ReceivedRequest, ServerResponse, decode_form_value, form};
use super::{ServerState, ca};
use crate::control::lock;

pub(super) async fn respond(
    state: &Mutex<ServerState>,
    request: &ReceivedRequest,
) -> ServerResponse {
    let injected = {
        let mut state = lock(state);
        state
            .injected_responses
            .iter_mut()
            .find(|(path, responses)| {
                request.path.starts_with(path.as_str()) && !responses.is_empty()
            })
            .and_then(|(_, responses)| responses.pop_front())
    };
    if let Some(response) = injected {
        return response;
    }
    let compiles = request.path.starts_with("/puppet/v3/catalog/");
    if compiles {
        let time = {
            let mut state = lock(state);
            state.compiling += 1;
            state.max_compiling = state.max_compiling.max(state.compiling);
            state.compile_started.notify_waiters();
            state.compile_time
        };
        tokio::time::sleep(time).await;
        wait_at_barrier(state).await;
    }
    let (response, holds_reports) = {
        let mut state = lock(state);
        let response = state.respond(request);
        state.compiling -= usize::from(compiles);
        (response, state.holds_reports)
    };
    if holds_reports && request.path.starts_with("/puppet/v3/report/") {
        lock(state).report_held.notify_one();
        std::future::pending::<()>().await;
    }
    response
}

/// Waits until enough catalogs are compiled at the same time.
async fn wait_at_barrier(state: &Mutex<ServerState>) {
    let started = Arc::clone(&lock(state).compile_started);
    loop {
        let next = started.notified();
        {
            let state = lock(state);
            if state.max_compiling >= state.compile_together {
                return;
            }
        }
        next.await;
    }
}

impl ServerState {
    fn respond(&mut self, request: &ReceivedRequest) -> ServerResponse {
        let segments: Vec<&str> = request.path.split('/').skip(1).collect();
        match (request.method.as_str(), segments.as_slice()) {
            ("GET", ["status", "v1", "simple", "server"]) => ServerResponse::text(200, "running"),
            ("GET", ["puppet-ca", "v1", "certificate", "ca"]) => {
                ServerResponse::text(200, &self.ca.bundle())
            }
            ("GET", ["puppet-ca", "v1", "certificate_revocation_list", "ca"]) => {
                ServerResponse::text(200, &self.ca.crls())
            }
            ("PUT", ["puppet-ca", "v1", "certificate_request", name]) => {
                self.certificate_request(name, &request.text())
            }
            ("GET", ["puppet-ca", "v1", "certificate", name]) => match self.certificates.get(*name)
            {
                Some(certificate) => ServerResponse::text(200, certificate),
                None => ServerResponse::text(404, &format!("Could not find certificate {name}")),
            },
            ("POST", ["puppet-ca", "v1", "certificate_renewal"]) if self.renewal => {
                self.renew(request)
            }
            (_, ["puppet", "v3", route, name, ..]) => self.puppet(request, route, name),
            _ => forbidden(request),
        }
    }

    fn puppet(&mut self, request: &ReceivedRequest, route: &str, name: &str) -> ServerResponse {
        let Some(client) = request.client.clone() else {
            return forbidden(request);
        };
        let is_node_route = matches!(route, "node" | "catalog" | "facts" | "report");
        if is_node_route && client != name {
            return forbidden(request);
        }
        let environment = match request.parameter("environment") {
            Some(environment) => environment,
            None if route == "catalog" => String::new(),
            None => {
                return error(
                    400,
                    "Bad Request: An environment parameter must be specified",
                );
            }
        };
        let exists = route == "catalog" || self.environments.contains(&environment);
        if !exists {
            return error(
                404,
                &format!("Not Found: Could not find environment '{environment}'"),
            );
        }
        let path = request
            .path
            .splitn(6, '/')
            .nth(5)
            .unwrap_or_default()
            .to_owned();
        match (request.method.as_str(), route) {
            ("GET", "node") => {
                let environment = self.environment_of(name).unwrap_or(environment);
                ServerResponse::json(200, &json!({"name": name, "environment": environment}))
            }
            ("PUT", "facts") => match serde_json::from_slice(&request.body) {
                _ if !request.headers.contains_key("content-type") => {
                    error(415, "Unsupported Media Type: Missing content-type header")
                }
                Ok(facts) => {
                    self.facts.insert(name.to_owned(), facts);
                    ServerResponse::json(200, &json!(0))
                }
                Err(_) => error(400, "Bad Request: The request body is invalid"),
            },
            ("POST", "catalog") => self.catalog(request, name, &environment),
            ("PUT", "report") => self.report(request, name),
            ("GET", "file_metadatas") => self.listing(request, name, &environment),
            ("GET", "file_content") if name == "plugins" => {
                match self.plugins.get(&(environment, path.clone())) {
                    Some(content) => {
                        ServerResponse::new(200, "application/octet-stream", content.as_bytes())
                    }
                    None => error(
                        404,
                        &format!("Not Found: Could not find file_content plugins/{path}"),
                    ),
                }
            }
            _ => error(404, "Not Found"),
        }
    }

    /// The environment that the classifier returns for this call.
    fn environment_of(&mut self, name: &str) -> Option<String> {
        let environments = self.classifier.get(name)?;
        let calls = self.classifier_calls.entry(name.to_owned()).or_default();
        let environment = environments[*calls % environments.len()].clone();
        *calls += 1;
        Some(environment)
    }

    fn certificate_request(&mut self, name: &str, request: &str) -> ServerResponse {
        let already = |status: &str| {
            ServerResponse::text(
                400,
                &format!("{name} already has a {status} certificate; ignoring certificate request"),
            )
        };
        if self.revoked.contains(name) {
            return already("revoked");
        }
        if self.certificates.contains_key(name) {
            return already("signed");
        }
        if self.certificate_requests.contains_key(name) {
            return already("requested");
        }
        let Ok(parsed) = CertificateSigningRequestParams::from_pem(request) else {
            return ServerResponse::text(
                500,
                "Internal Server Error: java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0",
            );
        };
        let subject = ca::request_name(&parsed).unwrap_or_default();
        if subject != name {
            return ServerResponse::text(
                400,
                &format!("Instance name \"{subject}\" does not match requested key \"{name}\""),
            );
        }
        self.certificate_requests
            .insert(name.to_owned(), request.to_owned());
        if self.autosign {
            self.sign(name);
        }
        ServerResponse::text(200, "")
    }

    fn renew(&mut self, request: &ReceivedRequest) -> ServerResponse {
        let renewed = request.client.as_ref().and_then(|name| {
            let certificate = self.ca.renew(self.signed_requests.get(name)?)?;
            self.certificates.insert(name.clone(), certificate.clone());
            Some(certificate)
        });
        match renewed {
            Some(certificate) => ServerResponse::text(200, &certificate),
            None => forbidden(request),
        }
    }

    fn catalog(&mut self, request: &ReceivedRequest, name: &str, in_query: &str) -> ServerResponse {
        let Some(accept) = request.headers.get("accept") else {
            return error(406, "Not Acceptable: Missing required Accept header");
        };
        if !accept.contains("json") && !accept.contains("*/*") {
            return error(406, "Not Acceptable: No supported formats are acceptable");
        }
        let fields = form(&request.text());
        let field = |name: &str| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let environment = field("environment").unwrap_or(in_query).to_owned();
        // The server decodes the form, and then the value once more.
        if let Some(facts) = field("facts") {
            match serde_json::from_str::<Value>(&decode_form_value(facts)) {
                Ok(facts) if facts["name"] == name => {
                    self.facts.insert(name.to_owned(), facts);
                }
                _ => return error(500, "Server Error: Facts and catalog name do not match"),
            }
        }
        let configured = match self.environment_of(name) {
            Some(environment) => environment,
            None if self.environments.contains(&environment) => environment.clone(),
            None => "production".to_owned(),
        };
        if field("check_environment") == Some("true") && configured != environment {
            return rich(&json!({
                "tags": [], "name": name, "version": null, "code_id": null,
                "catalog_uuid": "f60e5a29-ee26-4276-a0c3-39eeb8a34fb1", "catalog_format": 2,
                "environment": configured, "resources": [], "edges": [], "classes": [],
            }));
        }
        let found = self
            .catalogs
            .get(&(name.to_owned(), configured.clone()))
            .or_else(|| self.catalogs.get(&(name.to_owned(), "*".to_owned())));
        match found {
            Some(catalog) => {
                let mut catalog = catalog.clone();
                catalog["environment"] = json!(configured);
                rich(&catalog)
            }
            None => rich(&json!({
                "tags": ["settings"], "name": name, "version": 1_795_249_288, "code_id": null,
                "catalog_uuid": "bc758345-b1ce-44af-bfcd-29081f790895", "catalog_format": 2,
                "environment": configured, "resources": [], "edges": [], "classes": ["settings"],
            })),
        }
    }

    fn report(&mut self, request: &ReceivedRequest, name: &str) -> ServerResponse {
        if !request.headers.contains_key("content-type") {
            return error(415, "Unsupported Media Type: Missing content-type header");
        }
        match serde_json::from_slice::<Value>(&request.body) {
            Ok(report) if report["host"] == name => {
                self.reports.push(report);
                ServerResponse::json(200, &json!(["store"]))
            }
            Ok(report) => error(
                400,
                &format!(
                    "Bad Request: Validation failed: instance name '{}' does not match requested key '{name}'",
                    report["host"].as_str().unwrap_or_default()
                ),
            ),
            Err(_) => error(400, "Bad Request: The request body is invalid"),
        }
    }

    /// The complete mount, whichever path below it is requested, as the real server does for plugins.
    fn listing(&self, request: &ReceivedRequest, mount: &str, environment: &str) -> ServerResponse {
        let entry = |path: &str, kind: &str, checksum: &str| {
            json!({
                "path": "/etc/puppetlabs/code/environments/x/modules/netlab/lib",
                "relative_path": path, "links": "follow", "owner": 0, "group": 0, "mode": 420,
                "checksum": {"type": "sha256", "value": checksum},
                "type": kind, "destination": null,
            })
        };
        let mut entries = vec![entry(".", "directory", "{ctime}2026-11-21 08:15:17 +0000")];
        if request.parameter("recurse").as_deref() == Some("true") {
            let ignored = request.parameters("ignore");
            let files = self.plugins.iter().filter(|((of, path), _)| {
                of == environment && mount == "plugins" && !is_ignored(path, &ignored)
            });
            for ((_, path), content) in files {
                let digest = format!("{{sha256}}{}", hex::encode(Sha256::digest(content)));
                entries.push(entry(path, "file", &digest));
            }
        }
        ServerResponse::json(200, &Value::Array(entries))
    }
}

/// Whether a path component is ignored by name or by `*.extension`.
fn is_ignored(path: &str, patterns: &[String]) -> bool {
    path.split('/').any(|part| {
        patterns
            .iter()
            .any(|pattern| match pattern.strip_prefix('*') {
                Some(extension) => part.ends_with(extension),
                None => part == pattern,
            })
    })
}

fn rich(catalog: &Value) -> ServerResponse {
    ServerResponse::new(
        200,
        "application/vnd.puppet.rich+json; charset=utf-8",
        catalog.to_string(),
    )
}

fn error(status: u16, message: &str) -> ServerResponse {
    ServerResponse::json(
        status,
        &json!({"message": message, "issue_kind": "RUNTIME_ERROR"}),
    )
}

fn forbidden(request: &ReceivedRequest) -> ServerResponse {
    ServerResponse::text(
        403,
        &format!(
            "Forbidden request: {} (method :{}). Please see the server logs for details.",
            request.path,
            request.method.to_lowercase()
        ),
    )
}
