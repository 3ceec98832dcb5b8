//! The endpoints of a Puppet Server for device runs (`docs/reference/agent-protocol.md`, section 9).

use serde::Deserialize;
use serde_json::value::RawValue;
use switchtender_devices::names::Certname;

use super::catalog_cache::{CatalogHeader, CatalogHeaderError};
use super::facts::Facts;
use crate::agent::http::{self, Client, Request, RequestError, Response, target};
use crate::agent::puppet_conf::Server;
use crate::agent::run::RunError;
use crate::catalog;
use crate::error_chain::chain;

/// For catalogs: rich JSON has deferred values and types.
const RICH: &str = "application/vnd.puppet.rich+json, application/json";
const JSON: &str = "application/json";
/// Supported checksums; the server uses the first one that it supports.
const CHECKSUMS: &str = "sha256.sha384.sha512.sha224.md5";

/// A server with the identity of a device.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    /// HTTP client with the certificate of the device.
    pub client: &'a Client,
    /// Host and port that receive the requests.
    pub server: &'a Server,
    /// Certname of the device, part of the request paths.
    pub certname: &'a Certname,
    /// The same in node request, catalog and report.
    pub transaction_uuid: &'a str,
}

/// An entry of a plugin list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMetadata {
    /// Relative path in the mount.
    pub(crate) path: String,
    /// `{sha256}…`
    pub(crate) checksum: String,
}

#[derive(Deserialize)]
struct WireMetadata {
    relative_path: Option<String>,
    checksum: WireChecksum,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
struct WireChecksum {
    value: String,
}

#[derive(Deserialize)]
struct WireNode {
    environment: Option<String>,
}

/// Requests the status of a server; an error means that it is down.
pub(crate) async fn status(client: &Client, server: &Server) -> Result<(), RequestError> {
    let get = |name: &str| Request::get(format!("/status/v1/simple/{name}"), "text/plain");
    let mut answer = client.send(server, &get("server")).await?;
    if answer.status == 404 {
        answer = client.send(server, &get("master")).await?;
    }
    answer.expect_success().map(drop)
}

impl Endpoint<'_> {
    /// Requests the node; returns its environment.
    pub async fn node(
        &self,
        environment: &str,
        configured: &str,
    ) -> Result<Option<String>, RequestError> {
        let query = target::encode_pairs(&[
            ("environment", environment),
            ("configured_environment", configured),
            ("transaction_uuid", self.transaction_uuid),
        ]);
        let path = format!("/puppet/v3/node/{}?{query}", target::encode(self.certname));
        let request = Request::get(path, JSON).response_limit(http::NODE_LIMIT);
        let answer = self.success(request).await?;
        let node: WireNode = json(&answer)?;
        Ok(node.environment)
    }

    /// Lists the files in the mount `plugins`; `None`: unknown environment.
    ///
    /// The server always lists the complete mount, even for a path below it.
    pub async fn plugins(
        &self,
        environment: &str,
    ) -> Result<Option<Vec<FileMetadata>>, RequestError> {
        let ignored = [".svn", "CVS", ".git", ".hg"].map(|name| ("ignore", name));
        let mut query = vec![("recurse", "true"), ("max_files", "-1")];
        query.extend(ignored);
        query.extend([
            ("links", "follow"),
            ("checksum_type", "sha256"),
            ("source_permissions", "ignore"),
            ("environment", environment),
        ]);
        let path = format!(
            "/puppet/v3/file_metadatas/plugins?{}",
            target::encode_pairs(&query)
        );
        let request = Request::get(path, JSON).response_limit(http::FILE_METADATA_LIMIT);
        let answer = self.client.send(self.server, &request).await?;
        if answer.status == 404 {
            return Ok(None);
        }
        let listed: Vec<WireMetadata> = json(&answer.expect_success()?)?;
        let files = listed
            .into_iter()
            .filter(|entry| entry.kind == "file")
            .filter_map(|entry| {
                Some(FileMetadata {
                    path: entry.relative_path?,
                    checksum: entry.checksum.value,
                })
            });
        Ok(Some(files.collect()))
    }

    /// Downloads a file.
    pub(crate) async fn content(
        &self,
        mount: &str,
        path: &str,
        environment: &str,
    ) -> Result<Vec<u8>, RequestError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!(
            "/puppet/v3/file_content/{mount}/{}?{query}",
            target::encode_path(path)
        );
        let request =
            Request::get(path, "application/octet-stream").response_limit(http::PLUGIN_FILE_LIMIT);
        Ok(self.success(request).await?.body)
    }

    /// Sends facts without a catalog request.
    pub(crate) async fn facts(&self, facts: &Facts, environment: &str) -> Result<(), RequestError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!("/puppet/v3/facts/{}?{query}", target::encode(self.certname));
        self.success(Request::put(path, JSON, JSON, facts.to_json()))
            .await
            .map(drop)
    }

    /// Requests a catalog; returns its text and its header.
    ///
    /// # Errors
    /// The request fails, or the response is no catalog of this certname.
    pub async fn catalog(
        &self,
        facts: &Facts,
        environment: &str,
        configured: &str,
        limit: std::time::Duration,
    ) -> Result<(String, CatalogHeader), RunError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!(
            "/puppet/v3/catalog/{}?{query}",
            target::encode(self.certname)
        );
        // The server decodes the form and then `facts` again.
        let facts = target::encode(&facts.to_json());
        let form = target::encode_pairs(&[
            ("facts_format", JSON),
            ("facts", &facts),
            ("environment", environment),
            ("configured_environment", configured),
            ("check_environment", "true"),
            ("transaction_uuid", self.transaction_uuid),
            ("job_uuid", ""),
            ("static_catalog", "true"),
            ("checksum_type", CHECKSUMS),
        ]);
        let mut request = Request::post(path, RICH, "application/x-www-form-urlencoded", form)
            .response_limit(catalog::MAX_SIZE);
        request.limit = Some(limit);
        let answer = self.success(request).await.map_err(RunError::Catalog)?;
        let text = String::from_utf8(answer.body.clone())
            .map_err(|_| RunError::Catalog(answer.to_unexpected("the catalog is not UTF-8")))?;
        match CatalogHeader::read(&text, self.certname) {
            Ok(head) => Ok((text, head)),
            Err(error @ CatalogHeaderError::NotJson(_)) => {
                Err(RunError::Catalog(answer.to_unexpected(chain(&error))))
            }
            Err(source) => Err(RunError::WrongName {
                request: answer.request,
                source,
            }),
        }
    }

    /// Sends a report.
    pub async fn report(&self, report: &RawValue, environment: &str) -> Result<(), RequestError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!(
            "/puppet/v3/report/{}?{query}",
            target::encode(self.certname)
        );
        self.success(Request::put(path, JSON, JSON, report.get().to_owned()))
            .await
            .map(drop)
    }

    async fn success(&self, request: Request) -> Result<Response, RequestError> {
        self.client
            .send(self.server, &request)
            .await?
            .expect_success()
    }
}

fn json<T: for<'a> Deserialize<'a>>(answer: &Response) -> Result<T, RequestError> {
    serde_json::from_slice(&answer.body).map_err(|error| answer.to_unexpected(error.to_string()))
}
