//! The same switch over SSH and over HTTPS.

use serde_json::{Value, json};
use switchtender_mocks::{GrammarSwitch, GrammarSwitchOptions, RunningGrammarSwitch};

use crate::load_balancer::client::{answer, client_with};
use crate::switch::terminal::{Terminal, connect_to, password_is_accepted};

async fn start(platform: &str, faults: &[&str]) -> RunningGrammarSwitch {
    let mut options = GrammarSwitchOptions::new(platform, "sw1");
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault"));
    options.faults = faults.collect();
    GrammarSwitch::start(options, 0).await.expect("started")
}

async fn login(switch: &RunningGrammarSwitch) -> Terminal {
    let mut handle = connect_to(switch.address()).await;
    assert!(password_is_accepted(&mut handle, "admin", "admin").await);
    Terminal::open(handle).await
}

async fn request(switch: &RunningGrammarSwitch, path: &str, body: &Value) -> (u16, Value) {
    let url = format!("https://{}{path}", switch.request_address());
    let request = client_with(&switch.ca_pem()).post(url);
    answer(request.basic_auth("admin", Some("admin")).json(body)).await
}

fn call(number: u64, method: &str, line: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": {"cmd": line, "version": 1}, "id": number})
}

#[tokio::test(flavor = "multi_thread")]
async fn terminals_have_prompts_and_pages() {
    let switch = start("cisco_nxos", &[]).await;
    let mut terminal = login(&switch).await;
    terminal.until("sw1# ").await;
    terminal.write("show running-config\r").await;
    terminal.until("--More--").await;
    terminal.write("q").await;
    terminal.until("sw1# ").await;
    terminal.write("terminal length 0\r").await;
    terminal.until("sw1# ").await;
    terminal.write("configure terminal\r").await;
    terminal.until("sw1(config)# ").await;
    terminal.write("hostname sw2\r").await;
    terminal.until("sw2(config)# ").await;
    terminal.write("vpc domain 1\r").await;
    let refused = terminal.until("sw2(config)# ").await;
    assert!(
        refused.contains("\r\n             ^\r\n% Invalid command at '^' marker.\r\n"),
        "{refused:?}"
    );
    terminal.write("copy running-config startup-config\r").await;
    let saved = terminal.until("sw2(config)# ").await;
    assert!(saved.contains("Copy complete."), "{saved:?}");
    assert!(switch.is_saved());
}

#[tokio::test(flavor = "multi_thread")]
async fn faults_refuse_lines() {
    let switch = start("arista_eos", &["refuse=^vlan 10 => % Not allowed"]).await;
    let mut terminal = login(&switch).await;
    for line in ["enable\r", "configure\r", "vlan 10\r"] {
        terminal.write(line).await;
    }
    let output = terminal.until("% Not allowed").await;
    assert!(output.contains("sw1(config)#"), "{output:?}");
    assert!(!switch.running_config().contains("vlan 10"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_have_a_line_each() {
    let switch = start("cisco_nxos", &[]).await;
    let calls = json!([
        call(1, "cli_ascii", "configure terminal"),
        call(2, "cli_ascii", "vlan 10"),
        call(3, "cli_ascii", "name users"),
    ]);
    let (status, answers) = request(&switch, "/ins", &calls).await;
    assert_eq!(status, 200, "{answers}");
    assert!(switch.running_config().contains("vlan 10\n  name users"));

    let (_, answers) = request(&switch, "/ins", &call(1, "cli", "show vlan brief")).await;
    let row = &answers["result"]["body"]["TABLE_vlanbriefxbrief"]["ROW_vlanbriefxbrief"][1];
    assert_eq!(row["vlanshowbr-vlanname"], "users", "{answers}");

    let calls = json!([
        call(1, "cli_ascii", "configure terminal"),
        call(2, "cli_ascii", "vpc domain 1"),
        call(3, "cli_ascii", "vlan 20"),
    ]);
    let (status, answers) = request(&switch, "/ins", &calls).await;
    assert_eq!(status, 500);
    assert_eq!(
        answers[1]["error"]["data"]["msg"], "% Invalid command\n",
        "{answers}"
    );
    assert!(answers[2].is_null(), "{answers}");
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_have_a_list_of_lines() {
    let switch = start("arista_eos", &[]).await;
    let run = |format: &str, lines: &[&str]| {
        json!({
            "jsonrpc": "2.0", "method": "runCmds", "id": "1",
            "params": {"version": 1, "cmds": lines, "format": format},
        })
    };
    let lines = ["enable", "configure", "vlan 10", "name users"];
    let (_, answers) = request(&switch, "/command-api", &run("json", &lines)).await;
    assert_eq!(answers["result"], json!([{}, {}, {}, {}]), "{answers}");

    let body = run("json", &["show version", "show vlan"]);
    let (_, answers) = request(&switch, "/command-api", &body).await;
    assert_eq!(answers["result"][0]["mfgName"], "Arista", "{answers}");
    assert_eq!(answers["result"][1]["vlans"]["10"]["name"], "users");

    let body = run(
        "text",
        &[
            "enable",
            "configure",
            "interface Ethernet1",
            "foo 1",
            "shutdown",
        ],
    );
    let (_, answers) = request(&switch, "/command-api", &body).await;
    assert_eq!(
        answers["error"]["message"], "CLI command 4 of 5 'foo 1' failed: invalid command",
        "{answers}"
    );
    let refused = &answers["error"]["data"][3]["errors"][0];
    assert_eq!(refused, "Invalid input (at token 0: 'foo')");
    assert!(!switch.running_config().contains("shutdown"));
}
