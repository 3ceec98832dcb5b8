//! What the server answers, as recorded (`tests/fixtures/puppetserver/exchanges`).

use std::sync::Mutex;

use rcgen::CertificateSigningRequestParams;
use serde_json::{Value, json};

use super::http::{Answer, Exchange, decode, form};
use super::{State, ca};

pub(super) async fn answer(state: &Mutex<State>, exchange: &Exchange) -> Answer {
    let fault = {
        let mut state = lock(state);
        state
            .faults
            .iter_mut()
            .find(|(path, answers)| exchange.path.starts_with(path.as_str()) && !answers.is_empty())
            .and_then(|(_, answers)| answers.pop_front())
    };
    if let Some(answer) = fault {
        return answer;
    }
    let compiles = exchange.path.starts_with("/puppet/v3/catalog/");
    if compiles {
        let takes = {
            let mut state = lock(state);
            state.compiling += 1;
            state.most_compiling = state.most_compiling.max(state.compiling);
            state.compiling_takes
        };
        tokio::time::sleep(takes).await;
    }
    let mut state = lock(state);
    let answer = state.answer(exchange);
    if compiles {
        state.compiling -= 1;
    }
    answer
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    state
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl State {
    fn answer(&mut self, exchange: &Exchange) -> Answer {
        let segments: Vec<&str> = exchange.path.split('/').skip(1).collect();
        match (exchange.method.as_str(), segments.as_slice()) {
            ("GET", ["status", "v1", "simple", "server"]) => Answer::text(200, "running"),
            ("GET", ["puppet-ca", "v1", "certificate", "ca"]) => {
                Answer::text(200, &self.ca.bundle())
            }
            ("GET", ["puppet-ca", "v1", "certificate_revocation_list", "ca"]) => {
                Answer::text(200, &self.ca.crls())
            }
            ("PUT", ["puppet-ca", "v1", "certificate_request", name]) => {
                self.certificate_request(name, &exchange.text())
            }
            ("GET", ["puppet-ca", "v1", "certificate", name]) => match self.signed.get(*name) {
                Some(certificate) => Answer::text(200, certificate),
                None => Answer::text(404, &format!("Could not find certificate {name}")),
            },
            ("POST", ["puppet-ca", "v1", "certificate_renewal"]) if self.renewal => {
                self.renew(exchange)
            }
            (_, ["puppet", "v3", route, name, ..]) => self.puppet(exchange, route, name),
            _ => forbidden(exchange),
        }
    }

    fn puppet(&mut self, exchange: &Exchange, route: &str, name: &str) -> Answer {
        let Some(client) = exchange.client.clone() else {
            return forbidden(exchange);
        };
        let named = matches!(route, "node" | "catalog" | "facts" | "report");
        if named && client != name {
            return forbidden(exchange);
        }
        let environment = match exchange.parameter("environment") {
            Some(environment) => environment,
            None if route == "catalog" => String::new(),
            None => {
                return error(
                    400,
                    "Bad Request: An environment parameter must be specified",
                );
            }
        };
        let known = route == "catalog" || self.environments.contains(&environment);
        if !known {
            return error(
                404,
                &format!("Not Found: Could not find environment '{environment}'"),
            );
        }
        let path = exchange
            .path
            .splitn(6, '/')
            .nth(5)
            .unwrap_or_default()
            .to_owned();
        match (exchange.method.as_str(), route) {
            ("GET", "node") => {
                let environment = self.environment_of(name).unwrap_or(environment);
                Answer::json(200, &json!({"name": name, "environment": environment}))
            }
            ("PUT", "facts") => match serde_json::from_slice(&exchange.body) {
                _ if !exchange.headers.contains_key("content-type") => {
                    error(415, "Unsupported Media Type: Missing content-type header")
                }
                Ok(facts) => {
                    self.facts.insert(name.to_owned(), facts);
                    Answer::json(200, &json!(0))
                }
                Err(_) => error(400, "Bad Request: The request body is invalid"),
            },
            ("POST", "catalog") => self.catalog(exchange, name, &environment),
            ("PUT", "report") => self.report(exchange, name),
            ("GET", "file_metadatas") => self.listing(exchange, name, &environment),
            ("GET", "file_content") if name == "plugins" => {
                match self.plugins.get(&(environment, path.clone())) {
                    Some(content) => {
                        Answer::new(200, "application/octet-stream", content.as_bytes())
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

    /// The environment that the classifier names now.
    fn environment_of(&mut self, name: &str) -> Option<String> {
        let named = self.classified.get(name)?;
        let turn = self.turns.entry(name.to_owned()).or_default();
        let environment = named[*turn % named.len()].clone();
        *turn += 1;
        Some(environment)
    }

    fn certificate_request(&mut self, name: &str, request: &str) -> Answer {
        let already = |what: &str| {
            Answer::text(
                400,
                &format!("{name} already has a {what} certificate; ignoring certificate request"),
            )
        };
        if self.revoked.contains(name) {
            return already("revoked");
        }
        if self.signed.contains_key(name) {
            return already("signed");
        }
        if self.requests.contains_key(name) {
            return already("requested");
        }
        let Ok(parsed) = CertificateSigningRequestParams::from_pem(request) else {
            return Answer::text(
                500,
                "Internal Server Error: java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0",
            );
        };
        let subject = ca::request_name(&parsed).unwrap_or_default();
        if subject != name {
            return Answer::text(
                400,
                &format!("Instance name \"{subject}\" does not match requested key \"{name}\""),
            );
        }
        self.requests.insert(name.to_owned(), request.to_owned());
        if self.autosign {
            self.sign(name);
        }
        Answer::text(200, "")
    }

    fn renew(&mut self, exchange: &Exchange) -> Answer {
        let renewed = exchange.client.as_ref().and_then(|name| {
            let certificate = self.ca.renew(self.submitted.get(name)?)?;
            self.signed.insert(name.clone(), certificate.clone());
            Some(certificate)
        });
        match renewed {
            Some(certificate) => Answer::text(200, &certificate),
            None => forbidden(exchange),
        }
    }

    fn catalog(&mut self, exchange: &Exchange, name: &str, in_query: &str) -> Answer {
        let Some(accept) = exchange.headers.get("accept") else {
            return error(406, "Not Acceptable: Missing required Accept header");
        };
        if !accept.contains("json") && !accept.contains("*/*") {
            return error(406, "Not Acceptable: No supported formats are acceptable");
        }
        let fields = form(&exchange.text());
        let field = |name: &str| {
            fields
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.as_str())
        };
        let environment = field("environment").unwrap_or(in_query).to_owned();
        // The server decodes the form, and then the value once more.
        if let Some(facts) = field("facts") {
            match serde_json::from_str::<Value>(&decode(facts, true)) {
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

    fn report(&mut self, exchange: &Exchange, name: &str) -> Answer {
        if !exchange.headers.contains_key("content-type") {
            return error(415, "Unsupported Media Type: Missing content-type header");
        }
        match serde_json::from_slice::<Value>(&exchange.body) {
            Ok(report) if report["host"] == name => {
                self.reports.push(report);
                Answer::json(200, &json!(["store"]))
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

    /// The whole mount, whatever path below it was asked for: so does the real one with plugins.
    fn listing(&self, exchange: &Exchange, mount: &str, environment: &str) -> Answer {
        let entry = |path: &str, kind: &str, checksum: &str| {
            json!({
                "path": "/etc/puppetlabs/code/environments/x/modules/netlab/lib",
                "relative_path": path, "links": "follow", "owner": 0, "group": 0, "mode": 420,
                "checksum": {"type": "sha256", "value": checksum},
                "type": kind, "destination": null,
            })
        };
        let mut entries = vec![entry(".", "directory", "{ctime}2026-11-21 08:15:17 +0000")];
        if exchange.parameter("recurse").as_deref() == Some("true") {
            let ignored = exchange.parameters("ignore");
            let files = self.plugins.iter().filter(|((of, path), _)| {
                of == environment && mount == "plugins" && !is_ignored(path, &ignored)
            });
            for ((_, path), content) in files {
                let digest = format!("{{sha256}}{}", sha256(content));
                entries.push(entry(path, "file", &digest));
            }
        }
        Answer::json(200, &Value::Array(entries))
    }
}

/// Whether a part of a path is ignored by name or by `*.ending`.
fn is_ignored(path: &str, patterns: &[String]) -> bool {
    path.split('/').any(|part| {
        patterns
            .iter()
            .any(|pattern| match pattern.strip_prefix('*') {
                Some(ending) => part.ends_with(ending),
                None => part == pattern,
            })
    })
}

fn sha256(content: &str) -> String {
    use sha2::Digest as _;
    let mut text = String::new();
    for byte in sha2::Sha256::digest(content.as_bytes()) {
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn rich(catalog: &Value) -> Answer {
    Answer::new(
        200,
        "application/vnd.puppet.rich+json; charset=utf-8",
        catalog.to_string(),
    )
}

fn error(status: u16, message: &str) -> Answer {
    Answer::json(
        status,
        &json!({"message": message, "issue_kind": "RUNTIME_ERROR"}),
    )
}

fn forbidden(exchange: &Exchange) -> Answer {
    Answer::text(
        403,
        &format!(
            "Forbidden request: {} (method :{}). Please see the server logs for details.",
            exchange.path,
            exchange.method.to_lowercase()
        ),
    )
}
