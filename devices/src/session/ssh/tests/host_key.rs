//! Host keys and algorithms.

use super::*;

#[tokio::test]
async fn notes_name_a_stored_and_an_unverified_host_key() {
    let server = serve(ServerBehavior::default()).await;
    let directory = tempfile::tempdir().expect("made");
    let mut target = target_of(&server);
    let file = directory.path().join("known_hosts");
    target.ssh.host_key = HostKeyPolicy::TrustOnFirstUse(vec![file]);
    let cases = ["first connection to", ""];
    for expected in cases {
        let session = open(&target, &protocol(), Access::ReadOnly)
            .await
            .expect("opened");
        let notes = session.notes().join(" ");
        assert!(
            notes.contains(expected) && notes.is_empty() == expected.is_empty(),
            "{notes}"
        );
    }
    target.ssh.host_key = HostKeyPolicy::Ignore;
    let session = open(&target, &protocol(), Access::ReadOnly)
        .await
        .expect("opened");
    assert!(session.notes()[0].contains("is not verified"));
}

#[tokio::test]
async fn algorithms_are_negotiated_within_the_set() {
    let cases = [
        (kex::CURVE25519, Algorithms::Modern, true),
        (kex::DH_G14_SHA1, Algorithms::Modern, false),
        (kex::DH_G14_SHA1, Algorithms::Compatible, true),
        (kex::DH_G1_SHA1, Algorithms::Compatible, false),
        (kex::DH_G1_SHA1, Algorithms::Legacy, true),
    ];
    for (name, set, works) in cases {
        let server = serve(ServerBehavior {
            kex: Some(name),
            ..ServerBehavior::default()
        })
        .await;
        let mut target = target_of(&server);
        target.ssh.algorithms = set;
        let result = open(&target, &protocol(), Access::ReadOnly).await;
        match result {
            Ok(session) => {
                assert!(works, "{name:?} {set:?}");
                let fact = ("ssh_kex", name.as_ref().to_owned());
                assert!(session.facts().contains(&fact));
            }
            Err(error) => {
                assert!(!works, "{error}");
                let offered = format!(
                    "cannot agree on a key exchange: the device offers only {}",
                    name.as_ref()
                );
                assert!(error.to_string().contains(&offered), "{error}");
                assert!(
                    error.hint().expect("one").contains("algorithms = "),
                    "{error:?}"
                );
            }
        }
    }
}
