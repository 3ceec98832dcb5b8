//! Releases of a fleet: published to PostgreSQL, and applied by a node that has no other files.

use std::fs;

use test_support::lab::Lab;
use test_support::postgresql::PostgreSql;
use test_support::program::ProgramOutput;

use super::process::{self, ServeProcess};

const SETTINGS: &str = "[defaults]\ninterval = \"1s\"\nstate = \"state\"\n";
const STATE: &str = "network_vlan:\n  42:\n    vlan_name: users\n\
                     ntp_auth_key:\n  7:\n    algorithm: md5\n    password: {secret: {env: NTP_KEY}}\n";

/// A lab with a directory to publish, and a node beside it.
async fn lab(database: &str) -> Lab {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.write_inventory();
    fs::create_dir_all(lab.path("net/state/device")).unwrap();
    fs::rename(lab.path("inventory.toml"), lab.path("net/inventory.toml")).unwrap();
    fs::write(lab.path("net/fleet.toml"), SETTINGS).unwrap();
    fs::write(lab.path("net/state/device/sw1.yaml"), STATE).unwrap();
    let node = format!(
        "listen = \"127.0.0.1:0\"\nstate_dir = \"node\"\nstore = \"{database}\"\n\
                       [fleet]\nlease = \"3s\"\n"
    );
    fs::write(lab.path("serve.toml"), node).unwrap();
    lab
}

async fn publish(lab: &Lab, further: &[&str]) -> ProgramOutput {
    process::run(lab, &[&["fleet", "publish", "net"], further].concat()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn release_with_references_is_published_and_applied() {
    let Some(server) = PostgreSql::shared() else {
        return;
    };
    let lab = lab(&server.address(&server.new_database())).await;
    let check = publish(&lab, &["--check"]).await;
    check.assert_code(0);
    assert!(
        check.stdout.ends_with("3 files can be published\n"),
        "{}",
        check.stdout
    );
    let first = publish(&lab, &[]).await;
    first.assert_code(0);
    assert!(
        first.stdout.ends_with("release 1: 3 files\n"),
        "{}",
        first.stdout
    );
    let again = publish(&lab, &[]).await;
    assert!(
        again.stdout.contains("release 1 has this content"),
        "{}",
        again.stdout
    );

    let secret = "ntp-k3y-of-the-node";
    let mut serve = ServeProcess::start(&lab, &[("NTP_KEY", secret)]).await;
    let run = serve.stored("sw1", "changed").await;
    assert!(
        lab.switches["sw1"]
            .vlans()
            .contains(&(42, "users".to_owned(), false))
    );
    fs::write(
        lab.path("net/state/device/sw1.yaml"),
        STATE.replace("users", "guests"),
    )
    .unwrap();
    publish(&lab, &[]).await.assert_code(0);
    serve.line("release 2 is loaded: it has 1 device").await;
    let second = serve.stored("sw1", "changed").await;
    let releases = super::query(&lab, &["fleet", "releases", "--output", "json"]).await;
    assert_eq!(
        releases[0]["nodes"].as_array().unwrap().len(),
        1,
        "{releases:?}"
    );
    assert!(releases[0]["bytes"].as_u64() > Some(100), "{releases:?}");
    assert_eq!(releases[1]["nodes"], serde_json::json!([]), "{releases:?}");
    serve.stop().await;
    assert!(
        lab.switches["sw1"]
            .vlans()
            .contains(&(42, "guests".to_owned(), false))
    );

    let runs = super::history(&lab, &["sw1"]).await;
    let release = |number: i64| {
        let run = runs.iter().find(|run| run["id"] == number).unwrap();
        run["release"].clone()
    };
    assert_eq!([release(run), release(second)], [1, 2]);
    let releases = super::query(&lab, &["fleet", "releases", "--output", "json"]).await;
    assert_eq!(releases[0]["devices"], 1, "{releases:?}");
    for (path, text) in lab.files("node/releases") {
        assert!(!text.contains(secret), "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clear_secrets_are_not_published() {
    let lab = lab("postgresql://nobody@127.0.0.1:1/none").await;
    fs::rename(lab.path("net/fleet.toml"), lab.path("fleet.toml")).unwrap();
    let without = publish(&lab, &["--check"]).await;
    without.assert_code(1);
    let printed = without.text();
    assert!(printed.contains("cannot read net/fleet.toml"), "{printed}");
    assert!(printed.contains("write it with [defaults]"), "{printed}");
    fs::rename(lab.path("fleet.toml"), lab.path("net/fleet.toml")).unwrap();
    let inventory = fs::read_to_string(lab.path("net/inventory.toml")).unwrap();
    let catalog = "{\"resources\": [{\"type\": \"Ntp_auth_key\", \"title\": \"7\",\n\
                   \"parameters\": {\"password\": \"s3cret-text\"}}]}";
    let cases = [
        (
            "inventory.toml",
            format!("{inventory}\n[group.a]\ntoken = \"s3cret-text\"\n"),
            "inventory.toml:",
        ),
        (
            "state/device/sw1.yaml",
            STATE.replace("{secret: {env: NTP_KEY}}", "s3cret-text"),
            "sw1.yaml:7:",
        ),
        (
            "access.toml",
            "[users.a]\nrole = \"view\"\npassword = \"s3cret-text\"\n".to_owned(),
            "access.toml:3:",
        ),
        (
            "fleet.toml",
            format!("listen = \"127.0.0.1:1\"\n{SETTINGS}"),
            "fleet.toml:1:",
        ),
        ("catalogs/sw1.json", catalog.to_owned(), "sw1.json:2:"),
        (
            "inventory.toml",
            format!(
                "{inventory}\n[vault]\naddress = \"https://vault.test\"\ntoken = {{ file = \"vault.token\" }}\n"
            ),
            "`token` of [vault]: net/vault.token is a path of the published directory",
        ),
    ];
    for (path, text, position) in cases {
        let file = lab.path("net").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let before = fs::read(&file).ok();
        fs::write(&file, text).unwrap();
        if path.starts_with("catalogs") {
            let settings = format!("{SETTINGS}[device.\"lb*\"]\ncatalog = \"catalogs\"\n");
            fs::write(lab.path("net/fleet.toml"), settings).unwrap();
        }
        let output = publish(&lab, &["--check"]).await;
        output.assert_code(1);
        let printed = output.text();
        assert!(printed.contains(position), "{path}: {printed}");
        assert!(!printed.contains("s3cret-text"), "{path}: {printed}");
        match before {
            Some(before) => fs::write(&file, before).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
    }
}
