//! Webhooks of the process, with an HTTP server on loopback.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use test_support::catalog::vlan;
use test_support::lab::Lab;
use tokio::net::TcpListener;

use super::process::{self, ServeProcess, configure, within_limit};
use super::receiver;

/// Whether a message is signed with a secret.
fn is_signed(head: &str, body: &str, secret: &str) -> bool {
    let header = |name: &str| {
        let found = head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        });
        found.unwrap_or_else(|| panic!("no header {name}: {head}"))
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
    mac.update(format!("{id}.{time}.{body}").as_bytes());
    let signature = STANDARD.encode(mac.finalize().into_bytes());
    header("webhook-signature") == format!("v1,{signature}")
}

#[tokio::test(flavor = "multi_thread")]
async fn changed_secret_of_a_webhook_signs_later_messages() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = server.local_addr().unwrap().port();
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    let write_secret = |secret: &str| {
        let new = lab.path("hook.secret.new");
        std::fs::write(&new, secret).unwrap();
        std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::rename(new, lab.path("hook.secret")).unwrap();
    };
    write_secret("first-secret");
    let settings = format!(
        "[defaults]\ninterval = \"1h\"\ncatalog = \"catalogs\"\n\
         [web.webhook.chat]\nurl = \"http://127.0.0.1:{port}/\"\nsecret_file = \"hook.secret\"\nevents = [\"changed\"]\n"
    );
    configure(&lab, &settings);
    let mut serve = ServeProcess::start(&lab, &[]).await;
    // A run that changes the device, and its message.
    let message = async |name: &str| {
        lab.write_resources("sw1", &[vlan(42, name)]);
        let run = process::run(&lab, &["run", "sw1", "--wait"]).await;
        run.assert_code(0);
        within_limit("a message", async {
            let (stream, _) = server.accept().await.unwrap();
            receiver::answer(stream, "204 No Content").await
        })
        .await
    };
    let (head, body) = message("users").await;
    assert!(is_signed(&head, &body, "first-secret"), "{head}");

    write_secret("second-secret");
    serve.line("the settings are loaded again").await;
    // A message that is sent meanwhile has the earlier signature.
    within_limit("a message with the new signature", async {
        for number in 1.. {
            let (head, body) = message(&format!("users{number}")).await;
            if is_signed(&head, &body, "second-secret") {
                return;
            }
            assert!(is_signed(&head, &body, "first-secret"), "{head}");
        }
    })
    .await;
    serve.stop().await;
}
