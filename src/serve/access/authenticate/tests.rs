//! Tokens, sessions, proxy headers, limits.

use super::super::access_rules::{ApiToken, LocalUser, TrustedProxy};
use super::super::audit_log::AuditFilter;
use super::super::worker_entry::WorkerProof;
use super::*;
use crate::clock;
use crate::history::HistoryOptions;

const LOOPBACK: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const OTHER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

struct TestAccess {
    control: AccessControl,
    path: std::path::PathBuf,
    _dir: tempfile::TempDir,
}

fn access(options: AccessOptions) -> TestAccess {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("access.toml");
    AccessFile::update(&path, |rules| {
        let password = hash_password(&"correct".to_owned().into());
        let user = |role, password| LocalUser {
            role,
            devices: None,
            password,
        };
        rules
            .users
            .insert("alice".to_owned(), user(Role::Apply, Some(password)));
        rules
            .users
            .insert("carol".to_owned(), user(Role::Plan, None));
        let sha256 = TokenText::received("swt_ci").digest();
        let token = ApiToken {
            user: None,
            devices: None,
            role: Role::Plan,
            sha256,
            expires: None,
        };
        rules.tokens.insert("ci".to_owned(), token);
        rules.proxy = Some(TrustedProxy {
            header: Some("X-Remote-User".to_owned()),
            addresses: vec![OTHER],
            default_role: None,
        });
    })
    .unwrap();
    let audit = AuditLog::at(dir.path().join("audit.jsonl"));
    let file = AccessFile::open(path.clone()).unwrap();
    let options_of_store = HistoryOptions::at(dir.path().join("history.db"));
    let sources = AccessSources {
        file,
        audit,
        local_token: None,
        options,
    };
    let history = HistoryStore::open(options_of_store).unwrap();
    let control = AccessControl::new(sources, &history);
    TestAccess {
        control,
        path,
        _dir: dir,
    }
}

impl TestAccess {
    async fn principal(
        &self,
        address: IpAddr,
        bearer: Option<&str>,
        session: Option<&str>,
        user_header: Option<&str>,
    ) -> Result<Option<Principal>, Denied> {
        let values = user_header.map(|value| value.split('|').map(str::to_owned).collect());
        let values: Vec<String> = values.unwrap_or_default();
        let header = |name: &str| match name {
            "X-Remote-User" => values.clone(),
            _ => Vec::new(),
        };
        let origin = RequestOrigin {
            peer: address,
            bearer,
            session,
            header: &header,
        };
        self.control
            .principal(&origin, clock::instant(), clock::timestamp())
            .await
    }

    /// The audit log, newest first.
    fn entries(&self) -> Vec<AuditEntry> {
        let log = &self.control.audit;
        log.newest(&AuditFilter::default(), 10).unwrap()
    }

    async fn login(&self, user: &str, password: &str) -> Result<Login, Denied> {
        self.login_from(LOOPBACK, user, password).await
    }

    async fn login_from(
        &self,
        address: IpAddr,
        user: &str,
        password: &str,
    ) -> Result<Login, Denied> {
        let password = password.to_owned().into();
        let (now, time) = (clock::instant(), clock::timestamp());
        self.control.login(user, password, address, now, time).await
    }
}

fn name_and_role(principal: Result<Option<Principal>, Denied>) -> Option<(String, Role)> {
    principal
        .unwrap()
        .map(|found| (found.name, found.roles.highest()))
}

#[tokio::test]
async fn access_of_tokens_proxy_users_and_others() {
    let access = access(AccessOptions::default());
    assert_eq!(
        name_and_role(access.principal(LOOPBACK, None, None, None).await),
        None
    );
    let token = access.principal(LOOPBACK, Some("swt_ci"), None, None).await;
    assert_eq!(name_and_role(token), Some(("ci".to_owned(), Role::Plan)));
    let unknown = access
        .principal(LOOPBACK, Some("swt_other"), None, None)
        .await;
    assert_eq!(unknown, Err(Denied::UnknownToken));
    let proxy = access.principal(OTHER, None, None, Some("carol")).await;
    assert_eq!(name_and_role(proxy), Some(("carol".to_owned(), Role::Plan)));
    let mapped = "::ffff:192.0.2.1".parse().unwrap();
    let proxy = access.principal(mapped, None, None, Some("carol")).await;
    assert_eq!(name_and_role(proxy), Some(("carol".to_owned(), Role::Plan)));
    // The proxy added its header to that of the client.
    let two = access
        .principal(OTHER, None, None, Some("alice|carol"))
        .await;
    assert!(matches!(two, Err(Denied::TwoUsers { .. })), "{two:?}");
    // Not in the file, and not from the proxy.
    for (address, user) in [(OTHER, "mallory"), (LOOPBACK, "alice")] {
        assert_eq!(
            name_and_role(access.principal(address, None, None, Some(user)).await),
            None
        );
    }
}

#[tokio::test]
async fn token_of_a_user_has_at_most_the_roles_of_the_user() {
    let access = access(AccessOptions::default());
    let token = |role, user: &str| ApiToken {
        user: Some(user.to_owned()),
        devices: None,
        role,
        sha256: TokenText::received(&format!("swt_{user}")).digest(),
        expires: None,
    };
    AccessFile::update(&access.path, |rules| {
        let user = LocalUser {
            role: Role::Apply,
            devices: Some("site = berlin".parse().unwrap()),
            password: None,
        };
        rules.users.insert("bob".to_owned(), user);
        for (role, user) in [
            (Role::Admin, "bob"),
            (Role::Apply, "carol"),
            (Role::View, "alice"),
        ] {
            rules.tokens.insert(format!("t-{user}"), token(role, user));
        }
        rules
            .tokens
            .insert("t-none".to_owned(), token(Role::Apply, "nobody"));
    })
    .unwrap();
    for (user, highest, of_fleet) in [
        ("bob", Role::Apply, None),
        ("carol", Role::Plan, Some(Role::Plan)),
        ("alice", Role::View, Some(Role::View)),
    ] {
        let token = format!("swt_{user}");
        let principal = access.principal(LOOPBACK, Some(&token), None, None).await;
        let roles = principal.unwrap().unwrap().roles;
        assert_eq!(
            (roles.highest(), roles.of_fleet()),
            (highest, of_fleet),
            "{user}"
        );
    }
    let unknown = access
        .principal(LOOPBACK, Some("swt_nobody"), None, None)
        .await;
    assert_eq!(unknown, Err(Denied::UnknownToken));
}

#[tokio::test]
async fn access_by_password_ends_with_logout_and_removal_of_the_user() {
    let access = access(AccessOptions::default());
    for (user, password) in [("alice", "wrong"), ("mallory", "correct"), ("carol", "")] {
        assert_eq!(
            access.login(user, password).await.err(),
            Some(Denied::WrongPassword)
        );
    }
    let login = access.login("alice", "correct").await.ok().unwrap();
    let session = login.session.expose();
    let principal = access
        .principal(LOOPBACK, None, Some(session), None)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        (principal.name.as_str(), principal.roles.highest()),
        ("alice", Role::Apply)
    );
    assert!(!principal.csrf_token.is_empty());
    AccessFile::update(&access.path, |rules| drop(rules.users.remove("alice"))).unwrap();
    assert_eq!(
        access.principal(LOOPBACK, None, Some(session), None).await,
        Ok(None)
    );
    let entries = access.entries();
    let results: Vec<&str> = entries.iter().map(|entry| entry.result.word()).collect();
    assert_eq!(results, ["accepted", "refused", "refused", "refused"]);
}

#[tokio::test]
async fn access_by_a_login_that_the_store_does_not_take_is_recorded_as_failed() {
    let access = access(AccessOptions::default());
    let file = access.path.with_file_name("history.db");
    let file = rusqlite::Connection::open(file).unwrap();
    file.execute_batch("DROP TABLE browser_session").unwrap();
    let denied = access.login("alice", "correct").await.err();
    assert!(matches!(denied, Some(Denied::NoStore(_))), "{denied:?}");
    let entries = access.entries();
    let entries = entries.iter();
    let entries: Vec<_> = entries
        .map(|entry| (&*entry.actor, entry.result.word()))
        .collect();
    assert_eq!(entries, [("alice", "failed"), ("alice", "accepted")]);
}

#[tokio::test]
async fn refused_workers_are_recorded_once_in_a_minute() {
    let access = access(AccessOptions::default());
    let time = clock::timestamp();
    let token = || Ok(WorkerProof::Token("swt_unknown"));
    let certificate = || Ok(WorkerProof::Certificate(vec!["w1.test".to_owned()]));
    for proof in [token(), token(), certificate()] {
        access
            .control
            .worker(proof, LOOPBACK, time)
            .await
            .unwrap_err();
    }
    let other = access.control.worker(certificate(), OTHER, time).await;
    other.unwrap_err();
    let entries = access.entries();
    let entries = entries.iter();
    let entries: Vec<_> = entries
        .map(|one| [&*one.actor, &*one.address, &*one.action, &*one.target])
        .collect();
    let (of_token, of_certificate) = (
        "the token is that of no worker, or has expired",
        "no worker has a certificate for w1.test, or its access has expired",
    );
    assert_eq!(
        entries,
        [
            ["w1.test", "192.0.2.1", "join", of_certificate],
            ["", "127.0.0.1", "join", of_token],
        ]
    );
}

#[tokio::test]
async fn access_of_a_session_ends_with_a_new_password_role_or_entry() {
    let hash = |password: &str| Some(hash_password(&password.to_owned().into()));
    let user = |role, password: &str| LocalUser {
        devices: None,
        role,
        password: hash(password),
    };
    let changes: [fn(&mut AccessRules, LocalUser); 2] = [
        |rules, user| drop(rules.users.insert("alice".to_owned(), user)),
        |rules, user| {
            rules.users.remove("alice");
            rules.users.insert("alice".to_owned(), user);
        },
    ];
    for (change, user) in [
        (changes[0], user(Role::Apply, "other password")),
        // The same password has another hash.
        (changes[1], user(Role::Apply, "correct")),
        (changes[0], user(Role::View, "correct")),
    ] {
        let access = access(AccessOptions::default());
        let login = access.login("alice", "correct").await.ok().unwrap();
        let session = Some(login.session.expose());
        assert!(access.principal(LOOPBACK, None, session, None).await != Ok(None));
        AccessFile::update(&access.path, |rules| change(rules, user)).unwrap();
        assert_eq!(
            access.principal(LOOPBACK, None, session, None).await,
            Ok(None)
        );
    }
}

#[tokio::test]
async fn access_by_a_login_that_cannot_be_recorded_is_refused() {
    let access = access(AccessOptions::default());
    // A directory cannot be written as a file.
    std::fs::create_dir(access.path.with_file_name("audit.jsonl")).unwrap();
    let refused = access.login("alice", "correct").await.err();
    assert_eq!(refused, Some(Denied::NotRecorded));
    let code = access
        .control
        .once
        .new_login_code(clock::timestamp())
        .unwrap();
    let (now, time) = (clock::instant(), clock::timestamp());
    let login = access
        .control
        .login_with_code(code.expose(), LOOPBACK, now, time);
    assert_eq!(login.await.err(), Some(Denied::NotRecorded));
}

#[tokio::test]
async fn access_by_code_is_possible_after_wrong_passwords() {
    let access = access(AccessOptions {
        logins_per_minute: 1,
        ..AccessOptions::default()
    });
    for _ in 0..3 {
        assert!(access.login("alice", "wrong").await.is_err());
    }
    let (now, time) = (clock::instant(), clock::timestamp());
    let login = async |code: &str| {
        let login = access.control.login_with_code(code, LOOPBACK, now, time);
        login.await.map(|login| login.user)
    };
    assert_eq!(login("wrong").await, Err(Denied::WrongCode));
    let guess = login("wrong").await;
    assert!(matches!(guess, Err(Denied::TooMany { .. })), "{guess:?}");
    let code = access.control.once.new_login_code(time).unwrap();
    assert_eq!(login(code.expose()).await.as_deref(), Ok("operator"));
}

#[tokio::test]
async fn access_by_code_is_that_of_the_operator() {
    let access = access(AccessOptions::default());
    let now = clock::instant();
    let code = access
        .control
        .once
        .new_login_code(clock::timestamp())
        .unwrap();
    let login = |code: String| {
        let control = &access.control;
        async move {
            control
                .login_with_code(&code, LOOPBACK, now, clock::timestamp())
                .await
        }
    };
    let first = login(code.expose().to_owned()).await.ok().unwrap();
    assert_eq!(
        login(code.expose().to_owned()).await.err(),
        Some(Denied::WrongCode)
    );
    let session = Some(first.session.expose());
    let found = name_and_role(access.principal(LOOPBACK, None, session, None).await);
    assert_eq!(found, Some(("operator".to_owned(), Role::Admin)));
    let closed = access.control.logout(first.session.expose()).await;
    assert_eq!(closed, Ok(()));
    assert_eq!(
        access.principal(LOOPBACK, None, session, None).await,
        Ok(None)
    );
}

#[tokio::test]
async fn access_is_limited_per_sender() {
    let access = access(AccessOptions {
        requests_per_minute: 3,
        logins_per_minute: 2,
        ..AccessOptions::default()
    });
    for _ in 0..3 {
        assert_eq!(access.principal(LOOPBACK, None, None, None).await, Ok(None));
    }
    let refused = access.principal(LOOPBACK, None, None, None).await;
    assert!(
        matches!(refused, Err(Denied::TooMany { .. })),
        "{refused:?}"
    );
    // A token has permits of its own.
    assert!(
        access
            .principal(LOOPBACK, Some("swt_ci"), None, None)
            .await
            .is_ok()
    );
    for _ in 0..2 {
        assert_eq!(
            access.login("alice", "wrong").await.err(),
            Some(Denied::WrongPassword)
        );
    }
    let refused = access.login("alice", "correct").await.err();
    assert!(
        matches!(refused, Some(Denied::TooMany { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn access_of_a_user_is_not_prevented_by_wrong_passwords_from_elsewhere() {
    let access = access(AccessOptions {
        logins_per_minute: 2,
        ..AccessOptions::default()
    });
    while access.login_from(OTHER, "alice", "wrong").await.err() == Some(Denied::WrongPassword) {}
    let attacker = access.login_from(OTHER, "alice", "correct").await.err();
    assert!(
        matches!(attacker, Some(Denied::TooMany { .. })),
        "{attacker:?}"
    );
    // Right passwords do not count.
    for _ in 0..5 {
        assert!(access.login("alice", "correct").await.is_ok());
    }
    // Others have the same address.
    let other = access.login_from(OTHER, "carol", "wrong").await.err();
    assert_eq!(other, Some(Denied::WrongPassword));
    let long = "x".repeat(60_000);
    assert_eq!(
        access.login(&long, "wrong").await.err(),
        Some(Denied::WrongPassword)
    );
    let entries = access
        .control
        .audit
        .newest(&AuditFilter::default(), 1)
        .unwrap();
    assert!(entries[0].actor.len() <= LONGEST_NAME);
}

#[tokio::test]
async fn access_without_login_is_an_option() {
    let access = access(AccessOptions {
        anonymous: Some(Role::View),
        ..AccessOptions::default()
    });
    let found = name_and_role(access.principal(LOOPBACK, None, None, None).await);
    assert_eq!(found, Some(("anonymous".to_owned(), Role::View)));
}
