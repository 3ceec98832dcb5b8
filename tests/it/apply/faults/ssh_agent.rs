//! SSH agents that fail: the device is not changed, the agent is named, and other devices are done.

use std::path::Path;

use switchtender_mocks::LoginMethods;
use switchtender_mocks::SwitchOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixListener;

use super::*;

/// The answer to each request of the client (RFC 9987), or none.
const NO_KEYS: &[u8] = &[0, 0, 0, 5, 12, 0, 0, 0, 0];
const FAILURE: &[u8] = &[0, 0, 0, 1, 5];
const TOO_LONG: &[u8] = &[0xff, 0xff, 0xff, 0xff, 12, 0, 0, 0, 0];
const WRONG_TYPE: &[u8] = &[0, 0, 0, 3, 99, 1, 2];
const HALF_KEY: &[u8] = &[0, 0, 0, 9, 12, 0, 0, 0, 1, 0, 0, 0, 200];

/// Answers the requests of each client. `None`: it closes the connection; an empty answer: it does
/// not answer.
fn serve(path: &Path, answer: Option<&'static [u8]>) -> tokio::task::JoinHandle<()> {
    let listener = UnixListener::bind(path).unwrap();
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok((mut client, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let Some(answer) = answer else { continue };
            if client.read(&mut request).await.is_ok() && client.write_all(answer).await.is_ok() {
                open.push(client);
            }
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh_agent_that_fails_is_named_and_changes_nothing() {
    let cases: [(&str, Option<&'static [u8]>, &str); 7] = [
        ("it closes the connection", None, ""),
        ("it does not answer", Some(b""), "no answer within"),
        ("it has no keys", Some(NO_KEYS), "it provides no key"),
        ("it is locked", Some(FAILURE), "it provides no key"),
        ("a length of 4 GiB", Some(TOO_LONG), ""),
        ("another answer", Some(WRONG_TYPE), ""),
        ("half of a key", Some(HALF_KEY), ""),
    ];
    for (case, answer, reason) in cases {
        let mut lab = two(&[]).await;
        lab.add_switch_with(SwitchOptions {
            login: LoginMethods::PublicKey,
            ..switch_options("sw1")
        })
        .await;
        lab.configure("sw1", "agent = true\nconnect_timeout = \"6s\"");
        let agent = serve(&lab.path("agent"), answer);
        let mut command = lab.command(&["apply", "--output", "json", "--detailed-exitcodes"]);
        command.env("SSH_AUTH_SOCK", lab.path("agent"));
        let ran = ProgramOutput::from(command.output().await.unwrap());
        agent.abort();
        ran.assert_no_secrets();
        ran.assert_printable();
        let device = ran.device("sw1");
        assert_eq!(device["status"], "not run", "{case}: {device}");
        let error = device["error"].as_str().unwrap();
        assert!(
            error.contains("cannot use the SSH agent: ") && error.contains(reason),
            "{case}: {error}"
        );
        assert_eq!(lab.log("sw1").received(), Vec::<String>::new(), "{case}");
        the_other_succeeds(&lab, &ran);
    }
}
