//! `[source.netbox]` and `[source.nautobot]`: the devices of a service, page by page, over its REST API.
//!
//! The token is sent to the host of `url` only: of the links between pages, their queries are used.

mod objects;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value as Json;
use switchtender_devices::diagnostic::Diagnostic;
use switchtender_devices::document::Table;
use switchtender_devices::http::{
    Authorities, ClientRoute, ClientSettings, ClientSettingsError, HttpClient, HttpError, Method,
    Trust, Url, sends_in_clear,
};
use switchtender_devices::printable;
use switchtender_devices::regular_file;

use super::Secrets;
use super::file_context::FileContext;
use super::secret_source::SecretSource;
use super::setting::TablePosition;
use super::source::{SOURCE_COMMAND, SourceDevices};
use super::table_settings::timeout;
use crate::error_chain::chain;
use crate::words::words;

/// Limit for all requests, unless `timeout` is set.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum length of all pages in bytes.
const LONGEST: usize = 64 << 20;
/// Maximum length of the answer of a refused request in a message, in characters.
const QUOTED: usize = 200;
/// Devices per page.
const PAGE: &str = "500";
/// What a value of a query has as it is.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

words! {
    /// A service with devices.
    ServiceKind {
        NetBox = "netbox",
        Nautobot = "nautobot",
    }
}

impl ServiceKind {
    /// What a list of devices needs besides its filters.
    fn query(self) -> &'static [(&'static str, &'static str)] {
        match self {
            // Its rendering takes most of the time.
            ServiceKind::NetBox => &[("exclude", "config_context")],
            // Without it, a platform is only an identifier.
            ServiceKind::Nautobot => &[("depth", "1")],
        }
    }
}

/// A service of an inventory.
#[derive(Debug)]
pub(super) struct SourceService {
    kind: ServiceKind,
    /// Without a slash at its end.
    url: String,
    token: SecretSource,
    filter: Vec<(String, String)>,
    /// Platforms by their names in the service.
    platforms: BTreeMap<String, String>,
    virtual_machines: bool,
    ca_file: Option<PathBuf>,
    limit: Duration,
    pub(super) position: TablePosition,
}

/// Why the devices cannot be read.
#[derive(Debug, thiserror::Error)]
enum ServiceError {
    #[error("cannot read {path}")]
    CaFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Settings(#[from] ClientSettingsError),
    #[error("{}", .0.root_cause())]
    Http(HttpError),
    #[error("it did not answer all requests within {} s", .0.as_secs())]
    Late(Duration),
    #[error("its pages are longer than {} MiB", LONGEST >> 20)]
    TooLong,
    #[error("it answers with status {status}{detail}")]
    Status { status: u16, detail: String },
    #[error("its answer is no list of devices: {0}")]
    Form(String),
    #[error("its pages do not end")]
    Endless,
}

impl ServiceError {
    fn help(&self) -> &'static str {
        match self {
            ServiceError::Status {
                status: 401 | 403, ..
            } => "check `token`: it must be valid, and may read devices",
            ServiceError::Status { status: 400, .. } => {
                "check `filter`: the service does not know one of its names or values"
            }
            ServiceError::Status {
                status: 300..=399 | 404,
                ..
            } => {
                "check `url`: it is the address of the start page, with https:// if the service has TLS"
            }
            ServiceError::Late(_) => "set a longer `timeout`, or read fewer devices with `filter`",
            _ => "check `url`, and open it with a browser or curl on this host",
        }
    }
}

impl SourceService {
    /// Reads the table of a service.
    pub(super) fn read(
        kind: ServiceKind,
        table: &Table<'_>,
        file: &FileContext<'_>,
    ) -> Option<Self> {
        for key in ["url", "token"] {
            if table.get(key).is_none() {
                table.missing(key);
            }
        }
        let url = table.get("url");
        let address = url.as_ref().and_then(|item| {
            let text = item.string()?;
            let problem = match Url::parse(&text) {
                Ok(url) if !matches!(url.scheme(), "http" | "https") => "is not an https URL",
                Ok(url) if sends_in_clear(&url) => "has no encryption and is not on this host",
                Ok(_) => return Some(text.trim_end_matches('/').to_owned()),
                Err(_) => "is not an https URL",
            };
            let help = "write the URL of the start page: \"https://netbox.example.com\"";
            let message = format!("`{}` {problem}", item.path);
            item.findings
                .error_with_help("url", item.span.clone(), message, help);
            None
        });
        let token = table.get("token").and_then(|item| {
            let source = SecretSource::read(&item, file)?;
            if matches!(source, SecretSource::Literal(_)) {
                item.findings.error_with_help(
                    "literal-secret",
                    item.span.clone(),
                    format!("`{}` is in clear text", item.path),
                    "use { env = \"…\" }, { file = \"…\" } or { command = [\"…\"] }",
                );
                return None;
            }
            Some(source)
        });
        let service = (|| {
            Some(Self {
                kind,
                filter: filter(table),
                platforms: texts(table, "platforms"),
                virtual_machines: table.bool("virtual_machines").unwrap_or(false),
                ca_file: table.string("ca_file").map(|path| file.path(&path)),
                limit: table
                    .get("timeout")
                    .and_then(|item| timeout(&item))
                    .unwrap_or(TIMEOUT),
                position: TablePosition {
                    source: table.findings.source.clone(),
                    span: url.as_ref()?.span.clone(),
                },
                url: address?,
                token: token?,
            })
        })();
        if service.is_none() {
            // Their errors are reported, too.
            for key in [
                "filter",
                "platforms",
                "virtual_machines",
                "ca_file",
                "timeout",
            ] {
                let _ = table.get(key);
            }
        }
        table.finish();
        service
    }

    /// The name of its answers in messages.
    pub(super) fn name(&self) -> String {
        format!("answer of {}", self.kind)
    }

    /// Reads all devices, as a list in JSON.
    ///
    /// # Errors
    /// The service does not answer with its devices.
    ///
    /// # Cancellation
    /// May be dropped at any time.
    pub(super) async fn run(&self, secrets: &Secrets) -> Result<Vec<u8>, Diagnostic> {
        let token = secrets.of_source(&self.token).await;
        let token = token.map_err(|error| error.complete(self.position.error("secret", "")))?;
        let read = tokio::time::timeout(self.limit, self.objects(&token)).await;
        let objects = read.unwrap_or(Err(ServiceError::Late(self.limit)));
        let objects = objects.map_err(|error| {
            let message = format!("cannot read devices from {}: {}", self.url, chain(&error));
            let found = self.position.error(SOURCE_COMMAND, message);
            found.help(error.help())
        })?;
        Ok(serde_json::to_vec(&objects).expect("objects are JSON"))
    }

    /// The devices as the text of an inventory.
    ///
    /// # Errors
    /// The objects have another form than those of the service.
    pub(super) fn document(&self, output: &[u8]) -> Result<SourceDevices, Diagnostic> {
        // A text without a source has no devices.
        if output.is_empty() {
            return Ok(SourceDevices::default());
        }
        let objects: Vec<Json> = serde_json::from_slice(output).map_err(|error| {
            let message = format!("the {} is no list: {error}", self.name());
            self.position.error(SOURCE_COMMAND, message)
        })?;
        objects::tables(&objects, &self.platforms, &self.position).map_err(|error| {
            let message = format!("the {} is unusable: {error}", self.name());
            self.position.error(SOURCE_COMMAND, message)
        })
    }

    async fn objects(&self, token: &SecretString) -> Result<Vec<Json>, ServiceError> {
        let client = self.client()?;
        let mut objects = Vec::new();
        let mut length = 0;
        let mut lists = vec!["dcim/devices"];
        if self.virtual_machines {
            lists.push("virtualization/virtual-machines");
        }
        for list in lists {
            let mut seen = BTreeSet::new();
            let mut next = Some(self.query());
            while let Some(query) = next {
                if !seen.insert(query.clone()) {
                    return Err(ServiceError::Endless);
                }
                let url = format!("{}/api/{list}/?{query}", self.url);
                let body = get(&client, &url, token, LONGEST - length).await?;
                length += body.len();
                let page: ResultPage = serde_json::from_slice(&body)
                    .map_err(|error| ServiceError::Form(error.to_string()))?;
                objects.extend(page.results);
                // The host of the link can be that of a proxy.
                let query = |link: String| link.split_once('?').map(|(_, query)| query.to_owned());
                next = page.next.and_then(query);
            }
        }
        Ok(objects)
    }

    fn client(&self) -> Result<HttpClient, ServiceError> {
        let trust = match &self.ca_file {
            None => Trust::System,
            Some(path) => {
                let pem = regular_file::read_text(path, regular_file::LARGEST);
                let pem = pem.map_err(|source| ServiceError::CaFile {
                    path: path.display().to_string(),
                    source,
                })?;
                Trust::Authorities(Authorities::of_pem(&pem)?)
            }
        };
        let settings = ClientSettings {
            trust,
            route: ClientRoute::ProxyOfEnvironment,
            ..ClientSettings::default()
        };
        Ok(settings.client()?)
    }

    /// The query of the first page.
    fn query(&self) -> String {
        let fixed = self.kind.query().iter();
        let fixed = fixed.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let page = [("limit".to_owned(), PAGE.to_owned())];
        let pairs = self.filter.iter().cloned().chain(fixed).chain(page);
        let pairs = pairs.map(|(name, value)| {
            let encoded = |text: &str| utf8_percent_encode(text, QUERY).to_string();
            format!("{}={}", encoded(&name), encoded(&value))
        });
        pairs.collect::<Vec<_>>().join("&")
    }
}

/// A page of a list.
#[derive(serde::Deserialize)]
struct ResultPage {
    results: Vec<Json>,
    next: Option<String>,
}

async fn get(
    client: &HttpClient,
    url: &str,
    token: &SecretString,
    limit: usize,
) -> Result<Vec<u8>, ServiceError> {
    let token = token.expose_secret();
    // NetBox has tokens of a second form since version 4.5.
    let scheme = if token.starts_with("nbt_") {
        "Bearer"
    } else {
        "Token"
    };
    let request = client
        .request(Method::GET, url)
        .header("accept", "application/json")
        .header("authorization", format!("{scheme} {token}"));
    let answer = client.send(request).await;
    let mut answer = answer.map_err(ServiceError::Http)?;
    let body = answer.receive(limit).await;
    if !answer.is_success() {
        return Err(ServiceError::Status {
            status: answer.status,
            detail: detail(&body.unwrap_or_default()),
        });
    }
    match body {
        Err(HttpError::TooLarge { .. }) => Err(ServiceError::TooLong),
        body => body.map_err(ServiceError::Http),
    }
}

/// The reason in the answer of a refused request.
fn detail(body: &[u8]) -> String {
    let Ok(Json::Object(fields)) = serde_json::from_slice(body) else {
        return String::new();
    };
    let reason = match fields.get("detail") {
        Some(Json::String(text)) => text.clone(),
        _ => Json::Object(fields).to_string(),
    };
    let reason: String = reason.chars().take(QUOTED).collect();
    format!(": {}", printable::escape(&reason))
}

/// Names and values of filters. Several values of one name are alternatives.
fn filter(table: &Table<'_>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let Some(filters) = table.table("filter") else {
        return pairs;
    };
    for (name, _, item) in filters.entries() {
        if ["limit", "offset"].contains(&name.as_str()) {
            item.error(
                "filter",
                format!("`{name}` is no filter: all pages are read"),
            );
        }
        let values = item.strings().unwrap_or_default();
        pairs.extend(values.into_iter().map(|value| (name.clone(), value)));
    }
    pairs
}

fn texts(table: &Table<'_>, key: &str) -> BTreeMap<String, String> {
    let entries = table.table(key).map(|table| table.entries());
    let entries = entries.unwrap_or_default().into_iter();
    entries
        .filter_map(|(name, _, item)| Some((name, item.string()?)))
        .collect()
}
