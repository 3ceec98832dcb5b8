//! The endpoints of a Puppet Server that a device run uses (`docs/reference/agent-protocol.md`, section 9).

use serde::Deserialize;
use serde_json::Value;

use super::catalog_cache::{Head, HeadError};
use super::facts::Facts;
use crate::agent::http::{Answer, Client, Request, RequestError, target};
use crate::agent::puppet_conf::Server;
use crate::agent::run::RunError;
use crate::error_chain::chain;

/// Catalogs and everything about them: rich JSON keeps deferred values and types.
const RICH: &str = "application/vnd.puppet.rich+json, application/json";
const JSON: &str = "application/json";
/// What the agent can compare; the server takes the first it has.
const CHECKSUMS: &str = "sha256.sha384.sha512.sha224.md5";

/// One server, asked as one device.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    pub client: &'a Client,
    pub server: &'a Server,
    pub certname: &'a str,
    /// Ties node request, catalog and report together.
    pub transaction_uuid: &'a str,
}

/// An entry of a plugin list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMetadata {
    /// Path within the mount.
    pub path: String,
    /// `{sha256}…`
    pub checksum: String,
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

impl Endpoint<'_> {
    /// Whether the server is up: `Err` says why not.
    pub async fn status(&self) -> Result<(), RequestError> {
        let get = |name: &str| Request::get(format!("/status/v1/simple/{name}"), "text/plain");
        let mut answer = self.client.send(self.server, &get("server")).await?;
        if answer.status == 404 {
            answer = self.client.send(self.server, &get("master")).await?;
        }
        answer.expect_success().map(drop)
    }

    /// The environment that the server names for the node.
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
        let answer = self.success(Request::get(path, JSON)).await?;
        let node: WireNode = json(&answer)?;
        Ok(node.environment)
    }

    /// The files of all modules of an environment in the mount `plugins`, without its Ruby code;
    /// `None`: there is no such environment.
    ///
    /// The server lists the whole mount whatever path below it is asked for.
    pub async fn plugins(
        &self,
        environment: &str,
    ) -> Result<Option<Vec<FileMetadata>>, RequestError> {
        let ignored = [".svn", "CVS", ".git", ".hg", "*.rb"].map(|name| ("ignore", name));
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
        let answer = self
            .client
            .send(self.server, &Request::get(path, JSON))
            .await?;
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

    /// The content of a file.
    pub async fn content(
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
        let answer = self
            .success(Request::get(path, "application/octet-stream"))
            .await?;
        Ok(answer.body)
    }

    /// Sends facts outside of a catalog request.
    pub async fn facts(&self, facts: &Facts, environment: &str) -> Result<(), RequestError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!("/puppet/v3/facts/{}?{query}", target::encode(self.certname));
        self.success(Request::put(path, JSON, JSON, facts.to_json()))
            .await
            .map(drop)
    }

    /// Asks for a catalog: the text as it came, and its head.
    ///
    /// # Errors
    /// The server has none, or what came is none, or is another node's.
    pub async fn catalog(
        &self,
        facts: &Facts,
        environment: &str,
        configured: &str,
        limit: std::time::Duration,
    ) -> Result<(String, Head), RunError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!(
            "/puppet/v3/catalog/{}?{query}",
            target::encode(self.certname)
        );
        // The server decodes the form, and then the value of `facts` once more.
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
        let mut request = Request::post(path, RICH, "application/x-www-form-urlencoded", form);
        request.limit = Some(limit);
        let answer = self.success(request).await.map_err(RunError::Catalog)?;
        let text = String::from_utf8(answer.body.clone())
            .map_err(|_| RunError::Catalog(answer.unexpected("a catalog that is not UTF-8")))?;
        match Head::read(&text, self.certname) {
            Ok(head) => Ok((text, head)),
            Err(error @ HeadError::NotJson(_)) => {
                Err(RunError::Catalog(answer.unexpected(chain(&error))))
            }
            Err(source) => Err(RunError::WrongName {
                request: answer.request,
                source,
            }),
        }
    }

    /// Sends a report.
    pub async fn report(&self, report: &Value, environment: &str) -> Result<(), RequestError> {
        let query = target::encode_pairs(&[("environment", environment)]);
        let path = format!(
            "/puppet/v3/report/{}?{query}",
            target::encode(self.certname)
        );
        self.success(Request::put(path, JSON, JSON, report.to_string()))
            .await
            .map(drop)
    }

    async fn success(&self, request: Request) -> Result<Answer, RequestError> {
        self.client
            .send(self.server, &request)
            .await?
            .expect_success()
    }
}

fn json<T: for<'a> Deserialize<'a>>(answer: &Answer) -> Result<T, RequestError> {
    serde_json::from_slice(&answer.body).map_err(|error| answer.unexpected(error.to_string()))
}
