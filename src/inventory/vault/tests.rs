//! Tests with a small server of the API of Vault and OpenBao.

use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use secrecy::ExposeSecret as _;
use serde_json::{Value as Json, json};
use switchtender_devices::diagnostic::Diagnostic;
use tokio::net::TcpListener;

use super::super::{Inventory, InventoryOptions, Secrets};
use crate::diagnostic::limit;
use crate::diagnostic::terminal::{self, RenderOptions};

/// The token that the server accepts.
const TOKEN: &str = "hvs.token-of-the-test";
const SECRET_ID: &str = "secret-id-of-the-test";

/// A server with the engines `old` (version 1) and `net` (version 2).
struct VaultServer {
    address: String,
    /// Method and path of each request.
    requests: Arc<Mutex<Vec<String>>>,
}

impl VaultServer {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let log = Arc::clone(&requests);
        let answer = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            log.lock().unwrap().push(format!("{method} {uri}"));
            let (status, answer) = answer(uri.path(), &headers, &body);
            std::future::ready((status, answer.to_string()))
        };
        let router = Router::new().fallback(answer);
        #[expect(clippy::disallowed_methods, reason = "a task of a test")]
        tokio::spawn(axum::serve(listener, router).into_future());
        Self { address, requests }
    }
}

fn answer(path: &str, headers: &HeaderMap, body: &[u8]) -> (StatusCode, Json) {
    let errors = |status, text: &str| (status, json!({ "errors": [text] }));
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if path == "/v1/auth/approle/login" {
        let body: Json = serde_json::from_slice(body).unwrap_or_default();
        return if body == json!({"role_id": "switches", "secret_id": SECRET_ID}) {
            (StatusCode::OK, json!({"auth": {"client_token": TOKEN}}))
        } else {
            // A server that repeats what it has got.
            let text = format!("invalid secret id {}", body["secret_id"]);
            errors(StatusCode::BAD_REQUEST, &text)
        };
    }
    if header("x-vault-token") != Some(TOKEN) || header("x-vault-namespace") != Some("lab") {
        let text = format!("permission denied for {:?}", header("x-vault-token"));
        return errors(StatusCode::FORBIDDEN, &text);
    }
    let mounts = "/v1/sys/internal/ui/mounts/";
    if let Some(path) = path.strip_prefix(mounts) {
        let (engine, _) = path.split_once('/').unwrap_or((path, ""));
        let data = match engine {
            "old" => json!({"path": "old/", "type": "kv", "options": null}),
            "net" => json!({"path": "net/", "type": "kv", "options": {"version": "2"}}),
            "pki" => json!({"path": "pki/", "type": "pki", "options": null}),
            _ => {
                return errors(
                    StatusCode::FORBIDDEN,
                    "preflight capability check returned 403",
                );
            }
        };
        return (StatusCode::OK, json!({ "data": data }));
    }
    let secret = json!({"password": "from-vault", "enable": "en-vault", "pin": 1234, "list": []});
    match path {
        "/v1/old/sw1" => (StatusCode::OK, json!({ "data": secret })),
        "/v1/net/data/site%20a/sw1" | "/v1/net/data/sw1" => {
            let metadata = json!({"version": 3});
            (
                StatusCode::OK,
                json!({"data": {"data": secret, "metadata": metadata}}),
            )
        }
        "/v1/net/data/sealed" => errors(StatusCode::SERVICE_UNAVAILABLE, "Vault is sealed"),
        _ => (StatusCode::NOT_FOUND, json!({"errors": []})),
    }
}

fn inventory(directory: &Path, address: &str, login: &str, device: &str) -> Inventory {
    let text = format!(
        "allow_readable = true\n[vault]\naddress = \"{address}\"\nnamespace = \"lab\"\n{login}\n\
         [device.sw1]\nplatform = \"x\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n\
         labels = {{ room = \"site a\" }}\n{device}\n"
    );
    let options = InventoryOptions::default();
    Inventory::parse("i.toml", &text, directory, None, &options)
        .unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// Password and enable password of the device.
async fn read(inventory: &Inventory) -> Result<(String, Option<String>), Vec<Diagnostic>> {
    let secrets = Secrets::of_inventory(inventory);
    let device = &inventory.devices["sw1"];
    let found = inventory
        .resolve(device, &secrets, Path::new("/state"))
        .await?;
    let text = |secret: secrecy::SecretString| secret.expose_secret().to_owned();
    let password = found.password.map(text).expect("a password");
    Ok((password, found.enable_password.map(text)))
}

fn files() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("token"), format!("{TOKEN}\n")).unwrap();
    std::fs::write(directory.path().join("wrong"), "hvs.wrong-token").unwrap();
    std::fs::write(directory.path().join("id"), SECRET_ID).unwrap();
    directory
}

const BY_TOKEN: &str = "token = { file = \"token\" }";

#[tokio::test]
async fn vault_has_secrets_of_both_versions() {
    let (server, files) = (VaultServer::start().await, files());
    let cases = [
        ("old/{name}", "password", "from-vault"),
        ("net/{name}", "password", "from-vault"),
        ("net/{room}/{name}", "password", "from-vault"),
        ("net/{name}", "pin", "1234"),
    ];
    for (path, field, expected) in cases {
        let device = format!("password = {{ vault = \"{path}\", field = \"{field}\" }}");
        let inventory = inventory(files.path(), &server.address, BY_TOKEN, &device);
        let (password, _) = read(&inventory).await.unwrap();
        assert_eq!(password, expected, "{path} {field}");
    }
}

#[tokio::test]
async fn vault_gets_one_request_for_all_fields_of_a_secret() {
    let (server, files) = (VaultServer::start().await, files());
    let login = "approle = { role_id = \"switches\", secret_id = { file = \"id\" } }";
    let device = "password = { vault = \"net/sw1\", field = \"password\" }\n\
                  enable_password = { vault = \"net/{name}\", field = \"enable\" }";
    let inventory = inventory(files.path(), &server.address, login, device);
    let found = read(&inventory).await.unwrap();
    assert_eq!(
        found,
        ("from-vault".to_owned(), Some("en-vault".to_owned()))
    );
    assert_eq!(
        *server.requests.lock().unwrap(),
        [
            "POST /v1/auth/approle/login",
            "GET /v1/sys/internal/ui/mounts/net/sw1",
            "GET /v1/net/data/sw1",
        ]
    );
}

#[tokio::test]
async fn vault_errors_have_no_secret() {
    let (server, files) = (VaultServer::start().await, files());
    let of = |path: &str| format!("password = {{ vault = \"{path}\", field = \"password\" }}");
    let cases = [
        (
            "token = { file = \"wrong\" }",
            of("net/sw1"),
            "cannot read net/sw1 in Vault: the token may not read it (status 403)",
        ),
        (
            "token = { file = \"none\" }",
            of("net/sw1"),
            "cannot log in to Vault: cannot read DIR/none: No such file or directory (os error 2)",
        ),
        (
            "approle = { role_id = \"others\", secret_id = { file = \"id\" } }",
            of("net/sw1"),
            "cannot read net/sw1 in Vault: the login with AppRole is refused (status 400)",
        ),
        (
            BY_TOKEN,
            of("net/sw9"),
            "cannot read net/sw9 in Vault: there is no such secret",
        ),
        (
            BY_TOKEN,
            of("net"),
            "cannot read net in Vault: the path names an engine, not a secret",
        ),
        (
            BY_TOKEN,
            of("pki/sw1"),
            "cannot read pki/sw1 in Vault: the engine is no key-value engine",
        ),
        (
            BY_TOKEN,
            of("net/sealed"),
            "cannot read net/sealed in Vault: the server is sealed, or is not active (status 503)",
        ),
        (
            BY_TOKEN,
            "password = { vault = \"net/sw1\", field = \"pass\" }".to_owned(),
            "cannot read net/sw1 in Vault: the secret has no field `pass`",
        ),
        (
            BY_TOKEN,
            "password = { vault = \"net/sw1\", field = \"list\" }".to_owned(),
            "cannot read net/sw1 in Vault: the field `list` is not a text",
        ),
    ];
    for (login, device, expected) in cases {
        let inventory = inventory(files.path(), &server.address, login, &device);
        let errors = read(&inventory).await.expect_err(&device);
        let directory = files.path().display().to_string();
        let message = errors[0].message.replace(&directory, "DIR");
        assert_eq!(message, expected);
        let all = format!("{errors:?}");
        for secret in [TOKEN, SECRET_ID, "hvs.wrong-token", "from-vault"] {
            assert!(!all.contains(secret), "{all}");
        }
    }
}

#[tokio::test]
async fn vault_must_have_a_trusted_certificate() {
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let files = files();
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(files.path().join("own.pem"), made.cert.pem()).unwrap();
    std::fs::write(files.path().join("other.pem"), other.cert.pem()).unwrap();
    let key = made.signing_key.serialize_der();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.try_into().unwrap())
        .unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    #[expect(clippy::disallowed_methods, reason = "a task of a test")]
    let server = tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            // Whether the client has accepted the certificate is its business.
            let _ = acceptor.accept(stream).await;
        }
    });
    let device = "password = { vault = \"net/sw1\", field = \"password\" }";
    for (ca, is_trusted) in [("other.pem", false), ("own.pem", true)] {
        let login = format!("{BY_TOKEN}\nca_file = \"{ca}\"");
        let inventory = inventory(files.path(), &address, &login, device);
        let errors = read(&inventory)
            .await
            .expect_err("the server has no answer");
        // With a trusted certificate, the connection ends without an answer.
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert_eq!(!help.contains("`ca_file`"), is_trusted, "{errors:?}");
    }
    server.abort();
}

#[test]
fn vault_settings_are_checked_when_the_inventory_is_loaded() {
    let device = "[device.sw1]\nplatform = \"x\"\naddress = \"192.0.2.1\"\nuser = \"u\"\n";
    let of_vault = "password = { vault = \"net/sw1\", field = \"password\" }\n";
    let cases = [
        (
            format!("{device}{of_vault}"),
            "the table [vault] is missing",
        ),
        (
            format!("[vault]\naddress = \"http://vault.test:8200\"\n{device}"),
            "`vault.address` has no encryption and is not on this host",
        ),
        (
            format!("[vault]\naddress = \"vault.test:8200\"\n{device}"),
            "`vault.address` is not an https URL",
        ),
        (
            format!(
                "[vault]\ntoken = \"hvs.in-clear-text\"\naddress = \"https://v.test\"\n{device}"
            ),
            "`vault.token` must be a reference to a secret outside of Vault",
        ),
        (
            format!("{device}password = {{ vault = \"net/../sys\", field = \"password\" }}\n"),
            "a path of Vault has names and `/` between them, such as `net/sw1`",
        ),
        (
            format!("{device}password = {{ field = \"password\" }}\n"),
            "`field` needs `vault`, the path of the secret",
        ),
    ];
    for (text, expected) in cases {
        let options = InventoryOptions::default();
        let errors = Inventory::parse("i.toml", &text, Path::new(""), None, &options);
        let errors = errors.expect_err(&text);
        assert_eq!(errors[0].message, expected);
        let options = RenderOptions { colors: false };
        let rendered = terminal::render(&limit(errors, 20), options);
        assert!(
            !rendered.as_str().contains("in-clear-text"),
            "{}",
            rendered.as_str()
        );
    }
}
