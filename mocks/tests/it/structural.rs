//! The structural mock as a client sees it.

use switchtender_mocks::{StructuralDevice, StructuralInterface, StructuralOptions};
use switchtender_outline::{
    CommandLine, CommandMode, LineShape, ListForm, ListShape, MoveShape, NegativeForm, RemovalShape,
};

use crate::switch::terminal::{Terminal, connect_to, password_is_accepted};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn shape(block: &[&str], patterns: &[&str]) -> LineShape {
    LineShape {
        block: strings(block),
        patterns: strings(patterns),
        ..LineShape::default()
    }
}

fn mode(name: &str, prompt: &str, transitions: &[(&str, usize)]) -> CommandMode {
    let transitions = transitions.iter();
    CommandMode {
        name: name.to_owned(),
        prompt: prompt.to_owned(),
        transitions: transitions
            .map(|(send, to)| ((*send).to_owned(), *to))
            .collect(),
    }
}

/// A command line with blocks, `undo` and two kinds of value.
fn blocks() -> CommandLine {
    const PORT: &str = r"^ +interface +\S+ *$";
    CommandLine {
        modes: vec![
            mode("user", "<x>", &[("system-view", 1)]),
            mode("system", "[x]", &[("return", 0)]),
            mode("view", "[x-view]", &[("quit", 1), ("return", 0)]),
        ],
        read_mode: 0,
        config_mode: 1,
        sub_mode: Some(2),
        config_command: "display current".to_owned(),
        answers: vec![("screen 0".to_owned(), "done".to_owned())],
        close: strings(&["quit"]),
        refusal: "Error: refused".to_owned(),
        negate: "undo".to_owned(),
        shapes: vec![
            LineShape {
                is_header: true,
                ..shape(&[], &[PORT])
            },
            LineShape {
                is_unique: true,
                ..shape(&[PORT], &[r"^ +mtu +\S+ *$"])
            },
            shape(&[PORT], &[r"^ +vlan +\S+ *$"]),
            LineShape {
                negative: NegativeForm::OnlyPrinted,
                is_unique: true,
                ..shape(&[PORT], &[r"^ +switch *$"])
            },
            LineShape {
                is_unique: true,
                ..shape(&[], &[r"^ +server +(?<n0>\S+)(?: +key +\S+)? *$"])
            },
        ],
        last: Some("^return$".to_owned()),
        ..CommandLine::default()
    }
}

async fn start(
    command_line: CommandLine,
    config: &str,
) -> switchtender_mocks::RunningStructuralDevice {
    start_with(command_line, config, &[]).await
}

async fn start_with(
    command_line: CommandLine,
    config: &str,
    faults: &[&str],
) -> switchtender_mocks::RunningStructuralDevice {
    let options = StructuralOptions {
        name: "x".to_owned(),
        user: "admin".to_owned(),
        password: "admin".to_owned(),
        interface: StructuralInterface::CommandLine {
            structure: Box::new(command_line),
            config: config.to_owned(),
        },
        exchanges_in_memory: 100,
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
    };
    StructuralDevice::start(options, 0).await.unwrap()
}

async fn login(address: std::net::SocketAddr) -> Terminal {
    let mut handle = connect_to(address).await;
    assert!(password_is_accepted(&mut handle, "admin", "admin").await);
    Terminal::open(handle).await
}

#[tokio::test]
async fn structural_mock_joins_blocks_with_one_header() {
    let config = "vlan 1-2\nvlan 2\n name x\nserver s1\nVLAN 2\n mtu 1\n name x\nvlan 1\n";
    let list = ListShape {
        pattern: r"^vlan ([\d,-]+)$".to_owned(),
        form: ListForm::Numbers(None),
    };
    let command_line = CommandLine {
        lists: vec![list],
        ..blocks()
    };
    let device = start(command_line, config).await;
    let joined = "vlan 1\nvlan 2\n name x\n mtu 1\nserver s1\n";
    assert_eq!(device.running_config(), joined);
}

#[tokio::test]
async fn structural_mock_keeps_blocks_and_lines() {
    let config = "sysname x\ninterface a\n mtu 1500\n vlan 1\nserver s1\nreturn\n";
    let device = start(blocks(), config).await;
    let mut terminal = login(device.address()).await;
    terminal.until("<x>").await;
    for (line, prompt) in [
        ("screen 0", "done\r\n<x>"),
        ("mtu 1", "Error: refused\r\n<x>"),
        ("system-view", "\r\n[x]"),
        ("server s1 key k", "\r\n[x]"),
        ("server s2", "\r\n[x]"),
        ("interface a", "\r\n[x-view]"),
        ("mtu 9000", "\r\n[x-view]"),
        ("vlan 2", "\r\n[x-view]"),
        ("undo switch", "\r\n[x-view]"),
        ("quit", "\r\n[x]"),
        ("interface b", "\r\n[x-view]"),
        ("undo switch", "\r\n[x-view]"),
        ("switch", "\r\n[x-view]"),
        ("unknown words", "\r\n[x-view]"),
        ("return", "\r\n<x>"),
    ] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        let expected = prompt.trim_start_matches("\r\n");
        assert_eq!(terminal.until(expected).await, expected, "{line}");
    }
    let expected = "sysname x\ninterface a\n mtu 9000\n vlan 1\n vlan 2\n undo switch\ninterface b\n unknown words\n\
                    server s1 key k\nserver s2\nreturn\n";
    assert_eq!(device.running_config(), expected);
    terminal.write("display current\r").await;
    let printed = terminal.until("<x>").await;
    assert_eq!(
        printed,
        format!("display current\r\n{}<x>", expected.replace('\n', "\r\n"))
    );
    terminal
        .write("system-view\rundo interface a\rundo server s1\rreturn\rquit\r")
        .await;
    terminal.until_end().await;
    assert_eq!(
        device.running_config(),
        "sysname x\ninterface b\n unknown words\nserver s2\nreturn\n"
    );
}

#[tokio::test]
async fn structural_mock_keeps_lines_that_begin_with_a_word() {
    let command_line = CommandLine {
        modes: vec![
            mode("operation", "x> ", &[("configure", 1)]),
            mode("configuration", "x# ", &[("commit; exit", 0)]),
        ],
        config_mode: 1,
        refusal: "Invalid command".to_owned(),
        negate: "delete".to_owned(),
        negate_replaces: Some("set".to_owned()),
        shapes: vec![LineShape {
            is_unique: true,
            ..shape(&[], &[r"^ +set +port +(?<n0>\S+) +mtu +\S+ *$"])
        }],
        ..CommandLine::default()
    };
    let device = start(command_line, "set port a mtu 1500\nset port b mtu 1500\n").await;
    let mut terminal = login(device.address()).await;
    terminal.until("x> ").await;
    for (line, prompt) in [
        ("configure", "x# "),
        ("set port a mtu 9000", "x# "),
        ("set port a name n", "x# "),
        ("delete port b", "x# "),
        ("port c", "Invalid command\r\nx# "),
        ("commit; exit", "x> "),
    ] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        assert_eq!(terminal.until(prompt).await, prompt, "{line}");
    }
    assert_eq!(
        device.running_config(),
        "set port a mtu 9000\nset port a name n\n"
    );
}

/// Lines begin with any verb of a shape, and are removed by their names.
#[tokio::test]
async fn structural_mock_removes_lines_by_their_names() {
    const VLAN: &str =
        r#"^ +(?:create|configure|enable routing) +vlan +(?<n0_0>"[^"]*"|\S+)(?: .*)? *$"#;
    let command_line = CommandLine {
        modes: vec![mode("exec", "x # ", &[])],
        refusal: "Error: refused".to_owned(),
        negate: "unconfigure".to_owned(),
        negate_replaces: Some("configure".to_owned()),
        shapes: vec![
            shape(&[], &[r"^ +create +vlan +(?<n0_0>\S+) *$"]),
            shape(&[], &[r"^ +enable +routing +vlan +(?<n0_0>\S+) *$"]),
        ],
        removals: vec![
            RemovalShape {
                removed_by: r"^ +delete +vlan +(?<n0_0>\S+) *$".to_owned(),
                removed: strings(&[VLAN]),
                ..RemovalShape::default()
            },
            RemovalShape {
                removed_by: r"^ +configure +vlan +(?<n0_0>\S+) +delete +port +(?<n1_1>\S+) *$"
                    .to_owned(),
                removed: strings(&[
                    r"^ +configure +vlan +(?<n0_0>\S+) +add +port +(?<n1_1>\S+) *$",
                ]),
                ..RemovalShape::default()
            },
        ],
        ..CommandLine::default()
    };
    let config =
        "create vlan \"a\"\nconfigure vlan a tag 1\nenable routing vlan a\ncreate vlan ab\n";
    let device = start(command_line, config).await;
    let mut terminal = login(device.address()).await;
    terminal.until("x # ").await;
    for (line, prompt) in [
        ("delete vlan a", "x # "),
        ("create vlan c", "x # "),
        ("enable routing vlan c", "x # "),
        ("enable other vlan c", "Error: refused\r\nx # "),
        ("configure vlan c add port 1", "x # "),
        ("configure vlan c add port 2", "x # "),
        ("configure vlan c delete port 1", "x # "),
        ("configure vlan c tag 3", "x # "),
        ("unconfigure vlan c tag", "x # "),
    ] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        assert_eq!(terminal.until(prompt).await, prompt, "{line}");
    }
    assert_eq!(
        device.running_config(),
        "create vlan ab\ncreate vlan c\nenable routing vlan c\nconfigure vlan c add port 2\n"
    );
}

#[tokio::test]
async fn structural_mock_moves_lines_by_their_names() {
    const TERM: &str = r"^ +set +term +(?<n0_0>\S+)(?: .*)? *$";
    let movement = |word: &str| MoveShape {
        moved: format!(r"^ +insert +term +(?<n0_0>\S+) +{word} +\S+ *$"),
        target: format!(r"^ +insert +term +\S+ +{word} +(?<n0_0>\S+) *$"),
        is_before: word == "before",
        lines: strings(&[TERM]),
        ..MoveShape::default()
    };
    let command_line = CommandLine {
        modes: vec![mode("exec", "x # ", &[])],
        refusal: "Error: refused".to_owned(),
        negate: "delete".to_owned(),
        negate_replaces: Some("set".to_owned()),
        moves: vec![movement("after"), movement("before")],
        ..CommandLine::default()
    };
    let config = "set term a 1\nset term b 1\nset term b 2\nset term c 1\n";
    let device = start(command_line, config).await;
    let mut terminal = login(device.address()).await;
    terminal.until("x # ").await;
    for line in ["insert term a after b", "insert term c before b"] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        assert_eq!(terminal.until("x # ").await, "x # ", "{line}");
    }
    assert_eq!(
        device.running_config(),
        "set term c 1\nset term b 1\nset term b 2\nset term a 1\n"
    );
}

#[tokio::test]
async fn structural_mock_keeps_one_line_for_each_element_of_a_list() {
    let command_line = CommandLine {
        lists: vec![
            ListShape {
                pattern: r"^vlan ([\d,-]+)$".to_owned(),
                form: ListForm::Numbers(None),
            },
            ListShape {
                pattern: r"^trunk (\S+)$".to_owned(),
                form: ListForm::Numbers(Some((1, 4))),
            },
            ListShape {
                pattern: "^name-server (.+)$".to_owned(),
                form: ListForm::Words,
            },
        ],
        last: None,
        ..blocks()
    };
    let config = "vlan 1,30-31\n name x\ninterface a\n trunk all\nname-server s1 s2\n";
    let device = start(command_line, config).await;
    let mut terminal = login(device.address()).await;
    terminal.until("<x>").await;
    terminal
        .write("system-view\rundo vlan 30\rundo name-server s1\rinterface a\rundo trunk 2-3\rreturn\rquit\r")
        .await;
    terminal.until_end().await;
    assert_eq!(
        device.running_config(),
        "vlan 1\n name x\nvlan 31\n name x\ninterface a\n trunk 1,4\nname-server s2\n"
    );
}

/// Commands of the session are no lines of the configuration, and the prompt has the host name.
#[tokio::test]
async fn structural_mock_refuses_commands_of_other_modes_and_follows_the_host_name() {
    let command_line = CommandLine {
        hostname: Some((r"(?m)^sysname (\S+)".to_owned(), "x".to_owned())),
        ..blocks()
    };
    let device = start(command_line, "sysname r1\nreturn\n").await;
    let mut terminal = login(device.address()).await;
    terminal.until("<r1>").await;
    for (line, prompt) in [
        ("system-view", "[r1]"),
        ("quit", "Error: refused\r\n[r1]"),
        ("sysname r2", "[r2]"),
        ("return", "<r2>"),
    ] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        assert_eq!(terminal.until(prompt).await, prompt, "{line}");
    }
    assert_eq!(device.running_config(), "sysname r2\nreturn\n");
}

#[tokio::test]
async fn structural_mock_has_faults() {
    let faults = [
        "refuse=^mtu 1 => Error: too small",
        "refuse=^mtu 2",
        "lost-write=^mtu 3",
        "unlisted-answer=^mtu 4 => Low on memory",
        "drop-unanswered=^mtu 5",
    ];
    let device = start_with(blocks(), "interface a\n", &faults).await;
    let mut terminal = login(device.address()).await;
    terminal.until("<x>").await;
    for (line, prompt) in [
        ("system-view", "[x]"),
        ("interface a", "[x-view]"),
        ("mtu 1", "Error: too small\r\n[x-view]"),
        ("mtu 2", "Error: refused\r\n[x-view]"),
        ("mtu 3", "[x-view]"),
    ] {
        terminal.write(&format!("{line}\r")).await;
        terminal.until(&format!("{line}\r\n")).await;
        assert_eq!(terminal.until(prompt).await, prompt, "{line}");
    }
    assert_eq!(device.running_config(), "interface a\n");
    terminal.write("mtu 4\r").await;
    terminal.until("Low on memory\r\n[x-view]").await;
    assert_eq!(device.running_config(), "interface a\n mtu 4\n");
    terminal.write("mtu 5\r").await;
    terminal.until_end().await;
    assert_eq!(device.running_config(), "interface a\n mtu 5\n");
}

#[tokio::test]
async fn structural_mock_is_silent_after_a_fault() {
    let device = start_with(blocks(), "interface a\n", &["stall-after=^screen"]).await;
    let mut terminal = login(device.address()).await;
    terminal.until("<x>").await;
    terminal.write("screen 0\rdisplay current\r").await;
    let mut other = login(device.address()).await;
    other.until("<x>").await;
    other.write("display current\r").await;
    other.until("interface a\r\n<x>").await;
    assert_eq!(device.fired_faults(), 1);
    let error = StructuralDevice::start(
        StructuralOptions {
            name: "x".to_owned(),
            user: "admin".to_owned(),
            password: "admin".to_owned(),
            interface: StructuralInterface::CommandLine {
                structure: Box::new(blocks()),
                config: String::new(),
            },
            exchanges_in_memory: 0,
            faults: vec!["half-body=^x".parse().unwrap()],
        },
        0,
    )
    .await
    .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("does not support the fault `half-body`")
    );
}
