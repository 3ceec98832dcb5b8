//! JSON Schema of `inventory.toml`, made from the list of settings.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use switchtender_devices::dialogue::HostnamePattern;
use switchtender_devices::names::{Certname, PlatformName};
use switchtender_devices::provider::driver_provider::ProtectPolicy;
use switchtender_devices::secret_url::SecretUrl;
use switchtender_devices::session::LineTransport;
use switchtender_devices::session::connect_params::{Algorithms, RestLogin};

use super::failure_policy::FailurePolicy;
use super::save_policy::SavePolicy;
use super::secret_source::SecretSource;
use super::standby_policy::StandbyPolicy;
use super::table_settings::{ALGORITHMS, Jump, LINE_TRANSPORTS, LOGINS, TableSettings};
use super::verification::{Fingerprint, HostKey, Tls};

/// The schema of an inventory.
pub(crate) fn schema() -> Json {
    let table = json!({"$ref": "#/$defs/settings"});
    let tables = json!({"type": "object", "additionalProperties": table});
    let limit = |doc: &str| json!({"description": doc, "type": "integer", "minimum": 1});
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Inventory of devices",
        "type": "object",
        "properties": {
            "allow_readable": {
                "description": "Accept secrets in clear text in a file that other users can read.",
                "type": "boolean",
            },
            "label_order": {
                "description": "Keys of labels; desired state of later keys replaces earlier ones.",
                "type": "array", "items": {"type": "string"},
            },
            "limits": {
                "description": "Maximum numbers of devices that run at once.",
                "type": "object", "additionalProperties": false,
                "properties": {
                    "concurrency": limit("Maximum number of devices."),
                    "per_site": limit("Maximum number of devices with the same `site`."),
                    "per_jump": limit("Maximum number of devices behind the same jump host."),
                },
            },
            "source": source(),
            "vault": vault(),
            "defaults": described(&table, "Settings of all devices."),
            "platform": described(&tables, "Settings of the devices of a platform."),
            "group": {
                "description": "Settings of the devices that `devices` names. Names can have ranges: sw[01-20].",
                "type": "object",
                "additionalProperties": {"$ref": "#/$defs/group"},
            },
            "device": described(&tables, "A device, or the devices of a range: sw[001-300]."),
        },
        "additionalProperties": false,
        "$defs": {"settings": settings(), "group": group()},
    })
}

fn described(schema: &Json, doc: &str) -> Json {
    let mut schema = schema.clone();
    schema["description"] = doc.into();
    schema
}

/// The table of [`DeviceSource`](super::source::DeviceSource).
fn source() -> Json {
    let texts = json!({"type": "array", "items": {"type": "string"}});
    let mut command = described(
        &texts,
        "Program and arguments, without a shell. It runs in the directory of the inventory.",
    );
    command["minItems"] = 1.into();
    json!({
        "description": "Where more devices come from: a command, NetBox or Nautobot.",
        "type": "object", "additionalProperties": false,
        "properties": {
            "netbox": service("Devices of NetBox."),
            "nautobot": service("Devices of Nautobot."),
            "command": command,
            "groups": described(&texts, "Groups of Ansible whose hosts are devices; the default is all hosts."),
            "timeout": described(&Duration::schema(), "Limit for the command; the default is `60s`."),
        },
    })
}

/// The table of [`VaultSettings`](super::vault_settings::VaultSettings).
fn vault() -> Json {
    let role_id = described(&SecretSource::schema(), "Role ID.");
    json!({
        "description": "The server of HashiCorp Vault or OpenBao that has secrets.",
        "type": "object", "additionalProperties": false, "required": ["address"],
        "properties": {
            "address": {
                "description": "URL of the server: `https://vault.example.com:8200`. Plain HTTP only to this host.",
                "type": "string",
            },
            "token": described(
                &secret_source(),
                "Token of the requests; the default is the variable `VAULT_TOKEN`.",
            ),
            "approle": {
                "description": "Login with AppRole instead of a token: `role_id`, `secret_id`, and `mount`, if it is not `approle`.",
                "type": "object", "additionalProperties": false, "required": ["role_id", "secret_id"],
                "properties": {
                    "role_id": role_id,
                    "secret_id": described(&secret_source(), "Secret ID."),
                    "mount": {"description": "Path of the login method.", "type": "string"},
                },
            },
            "namespace": {"description": "Namespace of the requests.", "type": "string"},
            "ca_file": {
                "description": "File with CA certificates (PEM); the default is those of the system.",
                "type": "string",
            },
        },
    })
}

/// The table of [`SourceService`](super::source_service::SourceService).
fn service(doc: &str) -> Json {
    let texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let lists = json!({
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    });
    json!({
        "description": doc,
        "type": "object", "additionalProperties": false, "required": ["url", "token"],
        "properties": {
            "url": {"description": "URL of the service, `https://netbox.example.com`.", "type": "string"},
            "token": described(&secret_source(), "Token of its API."),
            "filter": described(&lists, "Filters of its list of devices: `{ status = \"active\", tag = \"network\" }`."),
            "platforms": described(&texts, "Names of platforms there, each with the platform here. Names and aliases of platforms need no entry."),
            "virtual_machines": {"description": "Read virtual machines, too; the default is `false`.", "type": "boolean"},
            "ca_file": {"description": "File with CA certificates (PEM); the default is those of the system.", "type": "string"},
            "timeout": described(&Duration::schema(), "Limit for all requests; the default is `60s`."),
        },
    })
}

fn settings() -> Json {
    let settings = TableSettings::schemas().into_iter();
    let mut properties: Map<String, Json> = settings
        .map(|(name, doc, mut schema)| {
            if !doc.is_empty() {
                schema["description"] = doc.into();
            }
            (name.to_owned(), schema)
        })
        .collect();
    let labels = json!({
        "description": "Labels for selection and for desired state: `{ role = \"access\" }`.",
        "type": "object", "additionalProperties": {"type": "string"},
    });
    properties.insert("labels".to_owned(), labels);
    let options = json!({
        "description": "Options of the platform, such as `network_trunk.manage_vlan_lists`.",
        "type": "object",
    });
    properties.insert("options".to_owned(), options);
    let parameters = json!({
        "description": "Parameters of the platform, such as `vsys`.",
        "type": "object", "additionalProperties": {"type": "string"},
    });
    properties.insert("parameters".to_owned(), parameters);
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn group() -> Json {
    let mut group = settings();
    group["properties"]["devices"] = json!({
        "description": "Names of devices, or ranges.",
        "type": "array", "items": {"type": "string"},
    });
    group["required"] = json!(["devices"]);
    group
}

/// The schema of a secret's source.
pub(crate) fn secret_source() -> Json {
    json!({
        "type": "object", "additionalProperties": false,
        "oneOf": [
            {"required": ["env"]}, {"required": ["file"]}, {"required": ["command"]},
            {"required": ["credential"]}, {"required": ["vault", "field"]},
        ],
        "properties": {
            "env": {"description": "Variable of the environment.", "type": "string"},
            "file": {"description": "File with the secret, without its last line end.", "type": "string"},
            "credential": {"description": "Name of a credential of systemd.", "type": "string"},
            "vault": {"description": "Path of a secret in Vault, as for `vault kv get`.", "type": "string"},
            "field": {"description": "Field of the secret in Vault.", "type": "string"},
            "command": {
                "description": "Program and arguments, without a shell, whose output is the secret.",
                "type": "array", "items": {"type": "string"}, "minItems": 1,
            },
        },
    })
}

/// A setting with a schema of its values.
pub(super) trait SettingSchema {
    fn schema() -> Json;
}

fn words<T>(words: &[(&str, T)]) -> Json {
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    json!({"enum": words})
}

macro_rules! schemas {
    ($($kind:ty => $schema:expr;)+) => {
        $(impl SettingSchema for $kind {
            fn schema() -> Json {
                $schema
            }
        })+
    };
}

schemas! {
    String => json!({"type": "string"});
    PlatformName => json!({"type": "string"});
    Certname => json!({"type": "string"});
    PathBuf => json!({"type": "string"});
    HostnamePattern => json!({"type": "string", "format": "regex", "minLength": 1});
    SecretUrl => json!({"type": "string"});
    Fingerprint => json!({"type": "string"});
    Vec<String> => json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    Vec<PathBuf> => json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]});
    u16 => json!({"type": "integer", "minimum": 1, "maximum": 65535});
    u8 => json!({"type": "integer", "minimum": 0, "maximum": 100});
    usize => json!({"type": "integer", "minimum": 0});
    bool => json!({"type": "boolean"});
    Duration => json!({"type": "string", "pattern": "^[0-9.]+ *[a-z]+"});
    SecretSource => json!({"anyOf": [{"type": "string"}, secret_source()]});
    HostKey => words(&HostKey::WORDS);
    Tls => words(&Tls::WORDS);
    Algorithms => words(ALGORITHMS);
    LineTransport => words(LINE_TRANSPORTS);
    RestLogin => words(LOGINS);
    SavePolicy => words(&SavePolicy::WORDS);
    ProtectPolicy => words(&ProtectPolicy::WORDS);
    FailurePolicy => words(&FailurePolicy::WORDS);
    StandbyPolicy => words(&StandbyPolicy::WORDS);
    Jump => json!({"anyOf": [{"const": false}, {"type": "string"}, {"allOf": [{"$ref": "#/$defs/settings"}, {"required": ["address", "user"]}]}]});
}
