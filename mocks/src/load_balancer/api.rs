//! The REST interface: a request in, a response out. Independent of sockets and HTTP libraries.

mod actions;
mod bash;
mod transactions;

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::edit::{self, OmittedFields};
use super::files;
use super::message::{ApiRequest, ApiResponse};
use super::path::from_url;
use super::refusal::Refusal;
use super::render::{Links, QueryOptions};
use super::schema::{self, ObjectKind};
use super::session::Sessions;
use super::transaction::Transactions;
use super::tree::{Fields, Tree};

/// A load balancer.
#[derive(Debug)]
pub(super) struct Api {
    /// The running configuration.
    pub tree: Tree,
    /// The saved configuration.
    pub saved: Tree,
    /// Credentials and tokens.
    pub sessions: Sessions,
    synced: u64,
    root_password: String,
    transactions: Transactions,
    transaction_timeout: Duration,
    links: Links,
}

impl Api {
    /// A load balancer with this configuration.
    pub(super) fn new(
        tree: Tree,
        sessions: Sessions,
        version: &str,
        transaction_timeout: Duration,
    ) -> Self {
        Api {
            saved: tree.clone(),
            synced: tree.generation,
            tree,
            sessions,
            root_password: "default".to_owned(),
            transactions: Transactions::default(),
            transaction_timeout,
            links: Links {
                version: version.to_owned(),
            },
        }
    }

    /// Handles an authorized request.
    pub(super) fn handle(&mut self, request: &ApiRequest, now: Instant) -> ApiResponse {
        let path = request.path.trim_end_matches('/');
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let result = match (&parts[..], request.transaction.as_deref()) {
            (["mgmt", "shared", "authz", "tokens", token], _) => {
                self.sessions
                    .token(&request.method, token, &request.body, now)
            }
            (["mgmt", "shared", "echo" | "echo-js"], _) => Ok(json!({"stage": "STARTED"})),
            (["mgmt", "shared", "file-transfer", "uploads", name], _) => {
                files::upload(&mut self.tree, name, &request.body)
            }
            (["mgmt", "shared", "authn", "root"], _) if request.method == "POST" => {
                self.root_password(request)
            }
            (["mgmt", "tm", "transaction", rest @ ..], _) => self.transaction(request, rest, now),
            (["mgmt", "tm", ..], Some(id)) if request.method != "GET" => {
                let links = self.links.clone();
                self.transactions
                    .find(id, now)
                    .and_then(|(id, transaction)| {
                        transaction.queue(id, request.clone(), &links, now)
                    })
            }
            (["mgmt", "tm", rest @ ..], _) => self.single(request, rest),
            _ => Err(Refusal::no_such_uri(&request.path)),
        };
        result.into()
    }

    /// Handles one request, atomically.
    fn single(&mut self, request: &ApiRequest, parts: &[&str]) -> Result<Value, Refusal> {
        if request.method == "GET" {
            return self.get(parts, &QueryOptions::parse(&request.query), &request.path);
        }
        let mut tree = self.tree.clone();
        let done = self.write(&mut tree, request, parts)?;
        edit::check(
            &tree,
            done.removed
                .as_ref()
                .map(|(kind, path)| (*kind, path.as_str())),
        )?;
        self.tree = tree;
        Ok(match done.content {
            ResponseContent::Nothing => Value::Null,
            ResponseContent::Answer(value) => value,
            ResponseContent::At(parts) => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                self.get(&parts, &QueryOptions::default(), &request.path)?
            }
        })
    }

    fn get(&self, parts: &[&str], view: &QueryOptions, uri: &str) -> Result<Value, Refusal> {
        let path = parts.join("/");
        if let Some(names) = schema::family(&path) {
            return Ok(self.links.family(&path, names));
        }
        if let Some(fields) = self.tree.singletons.get(&path) {
            return Ok(self.links.singleton(&path, fields, view));
        }
        match path.as_str() {
            "sys/ready" => return Ok(self.ready()),
            "sys/license" => {
                let key = self.tree.license.as_str();
                return Ok(self.stats("sys/license", &[("registrationKey", key)]));
            }
            "cm/sync-status" => return Ok(self.sync_status()),
            "cm/failover-status" => {
                return Ok(self.stats(
                    "cm/failover-status",
                    &[("color", "green"), ("status", "ACTIVE")],
                ));
            }
            _ => {}
        }
        let address = object_address(parts).ok_or_else(|| Refusal::no_such_uri(uri))?;
        let kind = address.kind;
        let Some(name) = address.object else {
            return Ok(self.links.objects(&self.tree, kind, view));
        };
        let object = self
            .tree
            .object(&kind.path, &name)
            .ok_or_else(|| Refusal::not_found(&kind.title, &name))?;
        let uri = format!("{}/{}", kind.path, super::path::to_url(&name));
        let Some(collection) = address.collection else {
            return Ok(self.links.object(kind, &uri, object, view));
        };
        let sub = &kind.subs[&collection];
        let uri = format!("{uri}/{collection}");
        let children = object.subs.get(&collection);
        match address.child {
            None => {
                let items = children.into_iter().flat_map(|children| children.values());
                let items = items
                    .map(|child| self.links.child(sub, &uri, child, view))
                    .collect();
                Ok(self.links.collection(sub, &uri, items, view))
            }
            Some(child) => {
                let child = sub.child_name(child);
                let found = children.and_then(|children| children.get(&child));
                let found = found.ok_or_else(|| Refusal::not_found(&sub.title, &child))?;
                Ok(self.links.child(sub, &uri, found, view))
            }
        }
    }

    fn ready(&self) -> Value {
        self.stats(
            "sys/ready",
            &[
                ("configReady", "yes"),
                ("licenseReady", "yes"),
                ("provisionReady", "yes"),
            ],
        )
    }

    fn sync_status(&self) -> Value {
        let pending = self.tree.generation != self.synced;
        let (color, status) = if pending {
            ("yellow", "Changes Pending")
        } else {
            ("green", "In Sync")
        };
        self.stats(
            "cm/sync-status",
            &[
                ("color", color),
                ("mode", "high-availability"),
                ("status", status),
            ],
        )
    }

    /// The nested format of statistics.
    fn stats(&self, path: &str, entries: &[(&str, &str)]) -> Value {
        let last = path.rsplit('/').next().unwrap_or_default();
        let inner: Fields = entries
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!({"description": value})))
            .collect();
        let address = format!("https://localhost/mgmt/tm/{path}/0");
        json!({
            "kind": format!("tm:{}:{last}stats", path.replace('/', ":")),
            "selfLink": self.links.to(path),
            "entries": {address: {"nestedStats": {"entries": inner}}},
        })
    }

    /// Writes to a copy of the tree. The caller checks references, because a transaction is checked at its end.
    fn write(
        &mut self,
        tree: &mut Tree,
        request: &ApiRequest,
        parts: &[&str],
    ) -> Result<WriteResult, Refusal> {
        let path = parts.join("/");
        let method = request.method.as_str();
        if let ("POST", "sys/config") = (method, path.as_str()) {
            return self.save(request);
        }
        if let Some(done) = self.action(tree, request, &path) {
            return done;
        }
        if let ("POST", "util/bash") = (method, path.as_str()) {
            return bash::run(tree, request);
        }
        let body = match (&request.body, method) {
            (Value::Object(fields), _) => fields.clone(),
            (Value::Null, "DELETE") => Fields::new(),
            _ => return Err(Refusal::body("An object is needed.")),
        };
        if tree.singletons.contains_key(&path) {
            return change_singleton(tree, &path, method, &body, parts);
        }
        let address = object_address(parts).ok_or_else(|| Refusal::no_such_uri(&request.path))?;
        let kind = address.kind;
        let missing = if method == "PUT" {
            OmittedFields::Default
        } else {
            OmittedFields::Keep
        };
        let refused = || Refusal::method(method, &request.path);
        match (method, &address.object, &address.collection, &address.child) {
            ("POST", None, None, None) => {
                let made = edit::create(tree, kind, &body)?;
                Ok(WriteResult::at([
                    kind.path.clone(),
                    super::path::to_url(&made),
                ]))
            }
            ("PATCH" | "PUT", Some(name), None, None) => {
                edit::change(tree, kind, name, &body, missing)?;
                Ok(WriteResult::at(parts.iter().map(|part| (*part).to_owned())))
            }
            ("DELETE", Some(name), None, None) => {
                edit::remove(tree, kind, name)?;
                Ok(WriteResult {
                    content: ResponseContent::Nothing,
                    removed: Some((kind, name.clone())),
                })
            }
            ("POST", Some(name), Some(collection), None) => {
                let made = edit::create_child(tree, kind, name, collection, &body)?;
                let head = parts.iter().map(|part| (*part).to_owned());
                Ok(WriteResult::at(head.chain([super::path::to_url(&made)])))
            }
            ("PATCH" | "PUT", Some(name), Some(collection), Some(child)) => {
                edit::change_child(tree, kind, name, (collection, child), &body, missing)?;
                Ok(WriteResult::at(parts.iter().map(|part| (*part).to_owned())))
            }
            ("DELETE", Some(name), Some(collection), Some(child)) => {
                let child = kind.subs[collection].child_name(child.clone());
                edit::remove_child(tree, kind, name, (collection, &child))?;
                Ok(WriteResult {
                    content: ResponseContent::Nothing,
                    removed: None,
                })
            }
            _ => Err(refused()),
        }
    }

    fn save(&mut self, request: &ApiRequest) -> Result<WriteResult, Refusal> {
        match request.body.get("command").and_then(Value::as_str) {
            Some("save") => {
                self.saved = self.tree.clone();
                Ok(WriteResult::answer(
                    json!({"kind": "tm:sys:config:savestate", "command": "save"}),
                ))
            }
            Some("load") => Err(Refusal::configuration("Loading is not possible here.")),
            _ => Err(Refusal::missing("command")),
        }
    }
}

struct WriteResult {
    content: ResponseContent,
    removed: Option<(&'static ObjectKind, String)>,
}

enum ResponseContent {
    Nothing,
    Answer(Value),
    At(Vec<String>),
}

impl WriteResult {
    fn at(parts: impl IntoIterator<Item = String>) -> Self {
        let parts = parts
            .into_iter()
            .flat_map(|part| part.split('/').map(str::to_owned).collect::<Vec<_>>());
        WriteResult {
            content: ResponseContent::At(parts.collect()),
            removed: None,
        }
    }

    fn answer(value: Value) -> Self {
        WriteResult {
            content: ResponseContent::Answer(value),
            removed: None,
        }
    }
}

/// A path below `/mgmt/tm`, as kinds and names.
struct ObjectAddress {
    kind: &'static ObjectKind,
    object: Option<String>,
    collection: Option<String>,
    child: Option<String>,
}

fn object_address(parts: &[&str]) -> Option<ObjectAddress> {
    let (kind, rest) = (1..=parts.len()).rev().find_map(|length| {
        let kind = schema::kind(&parts[..length].join("/"))?;
        Some((kind, &parts[length..]))
    })?;
    let name = |part: &&str| from_url(part);
    let collection = rest.get(1).map(|part| (*part).to_owned());
    let is_address = rest.len() <= 3
        && collection
            .as_ref()
            .is_none_or(|name| kind.subs.contains_key(name));
    is_address.then(|| ObjectAddress {
        kind,
        object: rest.first().map(name),
        collection,
        child: rest.get(2).map(name),
    })
}

/// Changes the fields of a singleton.
fn change_singleton(
    tree: &mut Tree,
    path: &str,
    method: &str,
    body: &Fields,
    parts: &[&str],
) -> Result<WriteResult, Refusal> {
    if method != "PATCH" && method != "PUT" {
        return Err(Refusal::method(method, path));
    }
    let properties: &[(&str, bool)] = match path {
        "sys/dns" => &[
            ("description", false),
            ("nameServers", true),
            ("search", true),
            ("numberOfDots", false),
        ],
        "sys/ntp" => &[
            ("description", false),
            ("servers", true),
            ("timezone", false),
        ],
        _ => &[
            ("hostname", false),
            ("guiSetup", false),
            ("description", false),
        ],
    };
    let fields = tree.singletons.entry(path.to_owned()).or_default();
    for (name, value) in body {
        if ["kind", "selfLink"].contains(&name.as_str()) || name.ends_with("Reference") {
            continue;
        }
        let Some((_, is_list)) = properties.iter().find(|(property, _)| property == name) else {
            return Err(Refusal::unknown_property(name));
        };
        match value {
            Value::Array(items) if *is_list && items.is_empty() => {
                fields.remove(name);
            }
            Value::Array(items) if *is_list && items.iter().all(Value::is_string) => {
                fields.insert(name.clone(), value.clone());
            }
            Value::String(text) if *is_list && text == "none" => {
                fields.remove(name);
            }
            Value::String(text) if !is_list && name == "hostname" && !text.contains('.') => {
                return Err(Refusal::configuration(
                    "The host name must be fully qualified.",
                ));
            }
            Value::String(text) if !is_list && text.is_empty() => {
                fields.remove(name);
            }
            Value::String(_) | Value::Number(_) if !is_list => {
                fields.insert(name.clone(), value.clone());
            }
            _ => return Err(Refusal::invalid_value(name, value)),
        }
    }
    tree.generation += 1;
    Ok(WriteResult::at(parts.iter().map(|part| (*part).to_owned())))
}
