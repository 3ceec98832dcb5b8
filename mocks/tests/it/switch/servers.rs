//! Servers that authenticate: RADIUS, TACACS+, their keys and groups.

use switchtender_mocks::SwitchOptions;
use switchtender_mocks::cli_switch::RunningSwitch;

use super::terminal::{OLD, Terminal, XE, start};

/// A switch with a configuration, and a terminal in its global configuration.
async fn switch(model: &str, config: &str) -> (RunningSwitch, Terminal) {
    let switch = start(SwitchOptions {
        model: Some(model.to_owned()),
        config: Some(config.to_owned()),
        start_privileged: true,
        ..SwitchOptions::default()
    })
    .await;
    assert_eq!(switch.unknown_lines(), Vec::<String>::new());
    let mut terminal = Terminal::login(&switch).await;
    terminal.command("configure terminal").await;
    (switch, terminal)
}

/// A model, what it begins with, lines that are typed, and the lines about servers that its
/// configuration has then.
type Case = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const NORMALIZED: &[Case] = &[
    // The ports of a RADIUS server are printed whether they were typed or not; its defaults are not.
    (
        XE,
        "",
        &[
            "radius server rad1",
            "address ipv4 192.0.2.1",
            "retransmit 2",
            "radius server rad2",
            "address ipv6 2001:db8::1 auth-port 1812 acct-port 1813",
            "radius server rad3",
            "address ipv4 radius.example.net acct-port 1813",
            "timeout 10",
            "no address",
            "radius-server timeout 5",
            "radius-server retransmit 3",
        ],
        &[
            "radius server rad1",
            " address ipv4 192.0.2.1 auth-port 1645 acct-port 1646",
            " retransmit 2",
            "radius server rad2",
            " address ipv6 2001:DB8::1 auth-port 1812 acct-port 1813",
            "radius server rad3",
            " timeout 10",
        ],
    ),
    // A TACACS+ server has one address, and only the one that is named goes.
    (
        XE,
        "",
        &[
            "tacacs server tac1",
            "address ipv4 192.0.2.1",
            "address ipv6 2001:db8::1",
            "no address ipv6 2001:db8::2",
            "port 4949",
            "single-connection",
            "timeout 10",
            "no timeout",
            "tacacs server tac2",
            "address ipv4 192.0.2.2",
            "no address ipv4 192.0.2.2",
            "tacacs-server timeout 10",
            "tacacs-server directed-request",
            "ip tacacs source-interface vl 1",
            "no tacacs server tac3",
        ],
        &[
            "ip tacacs source-interface Vlan1",
            "tacacs-server timeout 10",
            "tacacs-server directed-request",
            "tacacs server tac1",
            " address ipv6 2001:DB8::1",
            " port 4949",
            " single-connection",
            "tacacs server tac2",
        ],
    ),
    // A key in clear text is printed without its number, and encrypted once password encryption is on.
    (
        XE,
        "",
        &[
            "radius-server key 0 cisco",
            "tacacs-server key two words",
            "tacacs server tac1",
            "key 0 cisco",
        ],
        &[
            "tacacs-server key two words",
            "tacacs server tac1",
            " key cisco",
            "radius-server key cisco",
        ],
    ),
    (
        XE,
        "",
        &[
            "radius-server key 0 cisco",
            "tacacs server tac1",
            "key cisco",
            "service password-encryption",
            "radius server rad1",
            "key 0 cisco",
            "tacacs-server key 6 AAAA",
        ],
        &[
            "tacacs-server key 6 AAAA",
            "tacacs server tac1",
            " key 7 01100F175804",
            "radius-server key 7 01100F175804",
            "radius server rad1",
            " key 7 01100F175804",
        ],
    ),
    // Its own text is what a switch begins with.
    (
        XE,
        "aaa new-model\naaa group server tacacs+ TAC\n server name tac1\n server 192.0.2.9\n ip vrf forwarding MGMT\n ip tacacs source-interface Vlan1\nip vrf MGMT\ntacacs server tac1\n address ipv4 192.0.2.1\n key 7 094F471A1A0A\n",
        &[
            "aaa group server tacacs+ TAC",
            "no server 192.0.2.9",
            "server name tac2",
        ],
        &[
            "aaa group server tacacs+ TAC",
            " server name tac1",
            " server name tac2",
            " ip vrf forwarding MGMT",
            " ip tacacs source-interface Vlan1",
            "tacacs server tac1",
            " address ipv4 192.0.2.1",
            " key 7 094F471A1A0A",
        ],
    ),
    (
        XE,
        "aaa new-model\naaa group server tacacs+ TAC\n server name tac1\nradius server rad1\n",
        &["no aaa group server tacacs+ TAC", "no radius server rad1"],
        &[],
    ),
];

#[tokio::test]
async fn server_lines_are_normalized_like_the_device() {
    for (model, config, typed, expected) in NORMALIZED {
        let (switch, mut terminal) = switch(model, config).await;
        for line in *typed {
            assert_eq!(terminal.command(line).await, "", "{line}");
        }
        let config = switch.running_config();
        let mut inside = false;
        let about = config.lines().filter(|line| {
            let is_about = ["tacacs", "radius", "aaa group"]
                .iter()
                .any(|word| line.contains(word));
            if !line.starts_with(' ') {
                inside = is_about;
            }
            inside
        });
        assert_eq!(about.collect::<Vec<_>>(), *expected, "{typed:#?}");
        switch.stop().await;
    }
}

/// A model, what it begins with, lines typed before, a line that is refused, and the beginning of
/// the refusal, without the caret.
type Refused = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const REFUSED: &[Refused] = &[
    (XE, "", &[], "radius-server timeout 0", INVALID),
    (XE, "", &[], "radius-server retransmit 101", INVALID),
    (XE, "", &[], "tacacs-server retransmit 3", INVALID),
    (XE, "", &[], "tacacs-server key 7 plain", ENCRYPTED),
    (XE, "", &[], "radius-server key 7", "% Incomplete command."),
    (
        XE,
        "",
        &["radius server r"],
        "address ipv4 2001:db8::1",
        INVALID,
    ),
    (
        XE,
        "",
        &["radius server r"],
        "address ipv4 192.0.2.300",
        INVALID,
    ),
    (
        XE,
        "",
        &["radius server r"],
        "address radius.example.net",
        INVALID,
    ),
    (XE, "", &["radius server r"], "single-connection", INVALID),
    (
        XE,
        "",
        &["tacacs server t"],
        "address ipv6 192.0.2.1",
        INVALID,
    ),
    (
        XE,
        "",
        &["tacacs server t"],
        "address ipv4 192.0.2.1 port 49",
        INVALID,
    ),
    (
        XE,
        "",
        &["tacacs server t"],
        "no address",
        "% Incomplete command.",
    ),
    (XE, "", &["tacacs server t"], "key 7 0G4F", ENCRYPTED),
    (XE, "", &["tacacs server t"], "retransmit 3", INVALID),
    // Groups exist only in the new model.
    (XE, "", &[], "aaa group server tacacs+ G", INVALID),
    (
        XE,
        "aaa new-model\n",
        &["aaa group server tacacs+ G"],
        "server name",
        "% Incomplete command.",
    ),
    // An image of release 12 accepts servers only by their address.
    (OLD, "", &[], "tacacs server t", INVALID),
    (OLD, "", &[], "radius server r", INVALID),
    (
        OLD,
        "aaa new-model\n",
        &["aaa group server tacacs+ G"],
        "ip vrf forwarding MGMT",
        INVALID,
    ),
];

const INVALID: &str = "% Invalid input detected at '^' marker.";
const ENCRYPTED: &str = "% Invalid encrypted password";

#[tokio::test]
async fn server_lines_unknown_to_the_device_are_refused() {
    for (model, config, before, line, expected) in REFUSED {
        let (switch, mut terminal) = switch(model, config).await;
        for line in *before {
            assert_eq!(terminal.command(line).await, "", "{line}");
        }
        let untouched = switch.running_config();
        let answer = terminal.command(line).await;
        let error_line = answer.lines().find(|line| line.starts_with('%'));
        assert_eq!(
            error_line,
            Some(*expected),
            "{before:?} then {line:?} on {model}"
        );
        assert_eq!(switch.running_config(), untouched, "{line}");
        switch.stop().await;
    }
}
