//! Ctrl-C: the resource at hand is finished, the configuration mode left, the state kept.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;

use super::blocked_output::full_pipe;
use test_support::catalog::{resource, vlan};
use test_support::interrupt::{FIRST_NOTICE, SECOND_NOTICE, interrupt, output_after, send};
use test_support::lab::Lab;
use test_support::program::{PLANTED, ProgramOutput};

/// Whether a device has received a line, or a request, with this beginning.
fn has_received(lab: &Lab, name: &str, line: &str) -> bool {
    let received = lab.log(name).received();
    received
        .iter()
        .any(|received_line| received_line.starts_with(line))
}

/// Waits until one of the devices has received a line, or a request, with this beginning.
pub(super) async fn wait_for_line(lab: &Lab, line: &str) {
    let wait = async {
        while !lab.devices.keys().any(|name| has_received(lab, name, line)) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait)
        .await
        .unwrap_or_else(|_| panic!("no device was ever told `{line}`"));
}

/// Starts an apply, interrupts it when the device has received a line, and waits for the end.
///
/// The line is one at which the device remains silent, or answers without end.
async fn interrupted_at(lab: &Lab, line: &str, signal: &str) -> ProgramOutput {
    let child = detailed_apply(lab).spawn().unwrap();
    wait_for_line(lab, line).await;
    send(child.id().unwrap(), signal);
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output())
        .await
        .expect("it ends soon after it was asked to");
    let ran = ProgramOutput::from(output.unwrap());
    ran.assert_no_secrets();
    ran
}

/// Interrupts a command while a fault `busy` defers a line. The device executes the line after the notice.
pub(super) async fn interrupted_while_deferred(
    lab: &Lab,
    mut command: Command,
    signal: &str,
) -> ProgramOutput {
    let mut child = command.spawn().unwrap();
    wait_for_deferred(lab).await;
    let mut notices = BufReader::new(child.stderr.take().unwrap()).lines();
    let printed = interrupt(&child, signal, &mut notices, FIRST_NOTICE).await;
    for switch in lab.switches.values() {
        switch.resume();
    }
    for load_balancer in lab.load_balancers.values() {
        load_balancer.resume();
    }
    let ran = output_after(printed, notices, child).await;
    ran.assert_no_secrets();
    ran
}

/// Waits until one of the devices has deferred a line or a request.
async fn wait_for_deferred(lab: &Lab) {
    let mut waiting = tokio::task::JoinSet::new();
    for switch in lab.switches.values() {
        waiting.spawn(switch.wait_for_deferred());
    }
    for load_balancer in lab.load_balancers.values() {
        waiting.spawn(load_balancer.wait_for_deferred());
    }
    tokio::time::timeout(Duration::from_secs(60), waiting.join_next())
        .await
        .expect("a device defers a command");
}

/// An apply with detailed exit codes, JSON output and a directory of reports.
fn detailed_apply(lab: &Lab) -> Command {
    let detailed = ["apply", "--output", "json", "--detailed-exitcodes"];
    let mut command = lab.command(&detailed);
    command.args(["--report", "reports"]);
    command
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_completes_the_resource_and_closes_the_session() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &["busy=^vlan 105"]).await;
        let desired: Vec<_> = (100..200).map(|number| vlan(number, "made")).collect();
        lab.write_resources("sw1", &desired);
        // The tests may have been started by `nohup`.
        let not_ignoring = ["env", "--default-signal=HUP"];
        let command = started_by(&not_ignoring, &detailed_apply(&lab));
        let ran = interrupted_while_deferred(&lab, command, signal).await;
        ran.assert_code(1);

        let lines = lab.log("sw1").configuration_lines();
        assert!(lines.len() < 200, "{signal}: it was not stopped");
        let received = lab.log("sw1").received();
        let left = received.iter().rposition(|line| line == "end");
        let last = received
            .iter()
            .rposition(|line| line == lines.last().unwrap());
        assert!(left > last, "{signal}: {received:?}");
        assert_eq!(received.last().unwrap(), "exit", "{signal}");

        // The events tell of exactly what the device has; the one at hand, which is of two lines,
        // was finished.
        let vlans = lab.switches["sw1"].vlans();
        let made: Vec<u16> = vlans
            .iter()
            .filter(|row| row.1 == "made")
            .map(|row| row.0)
            .collect();
        let events = ran.events("sw1");
        let succeeded: Vec<u16> = events
            .iter()
            .filter_map(|event| event.split_once("]/ensure: success: "))
            .map(|(reference, _)| reference["Network_vlan[".len()..].parse().unwrap())
            .collect();
        assert_eq!(succeeded, made, "{signal}: {events:?}");
        assert_eq!(events.len(), made.len(), "{signal}: {events:?}");
        // The deferred line is logged when it arrives and when it is executed.
        assert_eq!(lines.len(), 2 * made.len() + 1, "{signal}: {lines:?}");
        assert!(made.contains(&105), "{signal}: {made:?}");
        let skipped = ran.resource("sw1", "Network_vlan[199]");
        assert_eq!(skipped["skipped"], true, "{signal}");
        assert_eq!(ran.device("sw1")["counts"]["skipped"], 100 - made.len());
        let [(_, report)] = &lab.files("reports")[..] else {
            panic!("{signal}: one report for one device");
        };
        let report: serde_json::Value = serde_json::from_str(report).unwrap();
        let statuses = report["resource_statuses"].as_object().unwrap();
        let skipped = statuses.iter().filter(|(reference, status)| {
            reference.starts_with("Network_vlan[") && status["skipped"] == true
        });
        assert_eq!(skipped.count(), 100 - made.len(), "{signal}");
        assert!(
            lab.files("state")
                .iter()
                .any(|(path, _)| path.ends_with("memory.json"))
        );
        for (_, text) in lab.files("state") {
            assert!(!text.contains(PLANTED));
        }

        // The next run does the rest.
        let already_changed = made.len();
        let ran = lab.apply().await;
        ran.assert_code(2);
        assert_eq!(
            ran.device("sw1")["counts"]["changed"],
            100 - already_changed
        );
    }
}

/// The same over HTTPS, where each of these resources takes two requests, one after the other.
#[tokio::test(flavor = "multi_thread")]
async fn interrupt_completes_the_resource_on_a_load_balancer() {
    const POOLS: usize = 40;
    let pools = |desired: serde_json::Value| {
        let node = json!({"ensure": "present", "address": "198.51.100.11"});
        let mut all = vec![resource("F5_node", "/Common/web1", node)];
        all.extend((0..POOLS).map(|number| {
            let name = format!("/Common/p{number:02}");
            resource("F5_pool", &name, desired.clone())
        }));
        all
    };
    let mut lab = Lab::new();
    lab.add_load_balancer("lb1", &["busy=^PATCH /mgmt/tm/ltm/pool/~Common~p05$"])
        .await;
    lab.write_resources("lb1", &pools(json!({"ensure": "present"})));
    lab.apply().await.assert_code(2);
    lab.load_balancers["lb1"].log().clear();

    let members = json!([{"name": "/Common/web1", "port": 80}]);
    let desired = json!({"ensure": "present", "allow_nat": false, "members": members});
    lab.write_resources("lb1", &pools(desired));
    let pool = |number: usize| format!("/mgmt/tm/ltm/pool/~Common~p{number:02}");
    let ran = interrupted_while_deferred(&lab, detailed_apply(&lab), "-INT").await;
    ran.assert_code(1);

    // Whatever was begun has both of its requests, the last one, too; then comes the way out.
    let writes = lab.log("lb1").writes();
    let changed = writes.len() / 2;
    assert!((6..POOLS).contains(&changed), "{writes:?}");
    let expected: Vec<String> = (0..changed)
        .flat_map(|number| {
            [
                format!("PATCH {} {{\"allowNat\":\"no\"}}", pool(number)),
                format!(
                    "POST {}/members {{\"name\":\"/Common/web1:80\"}}",
                    pool(number)
                ),
            ]
        })
        .collect();
    assert_eq!(writes, expected);
    let received = lab.log("lb1").received();
    let last = received.last().unwrap();
    assert!(
        last.starts_with("DELETE /mgmt/shared/authz/tokens/"),
        "{last}"
    );

    // Events and report agree with it.
    let events = ran.events("lb1");
    let succeeded = events.iter().filter(|event| event.contains(": success: "));
    assert_eq!(succeeded.count(), 2 * changed, "{events:?}");
    assert_eq!(events.len(), 2 * changed, "{events:?}");
    assert_eq!(ran.device("lb1")["counts"]["skipped"], POOLS - changed);
    let [(_, report)] = &lab.files("reports")[..] else {
        panic!("one report for one device");
    };
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    let statuses = report["resource_statuses"].as_object().unwrap();
    let number = |key: &str| {
        let pools = statuses
            .iter()
            .filter(|(reference, status)| reference.starts_with("F5_pool[") && status[key] == true);
        pools.count()
    };
    assert_eq!(
        (number("changed"), number("skipped")),
        (changed, POOLS - changed)
    );

    // The next run does the rest.
    let ran = lab.apply().await;
    ran.assert_code(2);
    assert_eq!(ran.device("lb1")["counts"]["changed"], POOLS - changed);
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_reports_devices_that_have_not_started() {
    let mut lab = Lab::new();
    let desired: Vec<_> = (100..200).map(|number| vlan(number, "made")).collect();
    for name in ["sw1", "sw2"] {
        lab.add_switch(name, &["busy=^vlan 102"]).await;
        lab.write_resources(name, &desired);
    }
    // One at a time, in any order.
    lab.defaults = format!("[limits]\nconcurrency = 1\n{}", lab.defaults);
    let ran = interrupted_while_deferred(&lab, detailed_apply(&lab), "-INT").await;
    ran.assert_code(1);
    let waiting: Vec<&String> = lab
        .switches
        .keys()
        .filter(|name| lab.log(name).connections() == 0)
        .collect();
    assert_eq!(waiting.len(), 1);
    assert_eq!(ran.device(waiting[0])["status"], "not run");
}

/// A device that stops answering at this line or request, and the resource that contains it.
async fn silent_device(stall_at: &str, more_faults: &[&str]) -> (Lab, &'static str) {
    let mut lab = Lab::new();
    let stall = format!("stall-after=^{stall_at}");
    let faults: Vec<&str> = [&[stall.as_str()], more_faults].concat();
    let reference = if stall_at.starts_with("POST ") {
        lab.add_load_balancer("lb1", &faults).await;
        let node = json!({"ensure": "present", "address": "198.51.100.11"});
        lab.write_resources("lb1", &[resource("F5_node", "/Common/web1", node)]);
        "F5_node[/Common/web1]"
    } else {
        lab.add_switch("sw1", &faults).await;
        lab.write_resources("sw1", &[vlan(100, "made"), vlan(200, "made")]);
        "Network_vlan[100]"
    };
    let limits = "[defaults]\ncommand_timeout = \"10m\"\ncommand_limit = \"10m\"";
    lab.defaults = lab.defaults.replacen("[defaults]", limits, 1);
    (lab, reference)
}

/// A second interrupt ends the wait for a silent device. The report has what the device has.
#[tokio::test(flavor = "multi_thread")]
async fn interrupt_twice_reports_what_a_last_read_finds() {
    for stall_at in ["name made", "POST /mgmt/tm/ltm/node"] {
        let (lab, reference) = silent_device(stall_at, &[]).await;
        let mut command = lab.command(&["apply", "--output", "json", "--report", "reports"]);
        let mut child = command.spawn().unwrap();
        wait_for_line(&lab, stall_at).await;
        let mut notices = BufReader::new(child.stderr.take().unwrap()).lines();
        interrupt(&child, "-INT", &mut notices, FIRST_NOTICE).await;
        interrupt(&child, "-INT", &mut notices, SECOND_NOTICE).await;
        let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output());
        let ran = ProgramOutput::from(output.await.expect("it ends").unwrap());
        ran.assert_code(1);

        let device = lab.devices.keys().next().unwrap();
        let event = &ran.resource(device, reference)["events"][0];
        assert_eq!(event["status"], "failure", "{event}");
        let message = event["message"].as_str().unwrap();
        assert!(
            message.contains("read again: the value is unknown, not present yet"),
            "{message}"
        );
        let [(_, report)] = &lab.files("reports")[..] else {
            panic!("one report for one device");
        };
        let report: serde_json::Value = serde_json::from_str(report).unwrap();
        assert_eq!(report["resource_statuses"][reference]["failed"], true);
        if let Some(switch) = lab.switches.get(device) {
            let vlans = switch.vlans();
            assert!(!vlans.iter().any(|row| row.1 == "made"), "{vlans:?}");
            assert_eq!(ran.resource(device, "Network_vlan[200]")["skipped"], true);
        }
        lab.apply().await.assert_code(2);
    }
}

/// One signal ends the wait for a device that answers without end, 10 s later.
#[tokio::test(flavor = "multi_thread")]
async fn interrupt_ends_an_answer_without_end() {
    let interrupted = async |fault: &str, change: &str, signal: &str| {
        let mut lab = Lab::new();
        let fault = format!("{fault}=^{change}");
        if change.starts_with("POST ") {
            lab.add_load_balancer("lb1", &[&fault]).await;
            let node = json!({"ensure": "present", "address": "198.51.100.11"});
            lab.write_resources("lb1", &[resource("F5_node", "/Common/web1", node)]);
        } else {
            lab.add_switch("sw1", &[&fault]).await;
            lab.write_resources("sw1", &[vlan(100, "made")]);
        }
        let ran = interrupted_at(&lab, change, signal).await;
        ran.assert_code(1);
        ran.assert_contains(FIRST_NOTICE);
        let device = lab.devices.keys().next().unwrap();
        let (reference, is_there) = match lab.switches.get(device) {
            Some(switch) => {
                let is_there = switch.vlans().iter().any(|row| row.1 == "made");
                ("Network_vlan[100]", is_there)
            }
            None => ("F5_node[/Common/web1]", true),
        };
        let event = &ran.resource(device, reference)["events"][0];
        let expected = if is_there { "success" } else { "failure" };
        assert_eq!(event["status"], expected, "{fault}: {event}");
        let [(_, report)] = &lab.files("reports")[..] else {
            panic!("{fault}: one report for one device");
        };
        assert!(report.contains(reference), "{fault}: {report}");
        // The next run finds what the device has, and does the rest.
        let left = if is_there { 0 } else { 2 };
        lab.apply().await.assert_code(left);
    };
    tokio::join!(
        interrupted("drip-lines", "name made", "-TERM"),
        interrupted("drip-bytes", "name made", "-INT"),
        interrupted("drip-bytes", "POST /mgmt/tm/ltm/node", "-TERM"),
    );
}

/// The device is silent also when it is read for the last time.
#[tokio::test(flavor = "multi_thread")]
async fn interrupt_three_times_exits_at_once() {
    let (lab, _) = silent_device("name made", &[]).await;
    let mut child = lab.command(&["apply"]).spawn().unwrap();
    wait_for_line(&lab, "name made").await;
    let until_the_change = lab.log("sw1").received().len();
    child.kill().await.unwrap();

    let in_last_read = format!("stall-after={until_the_change}");
    for is_blocked in [false, true] {
        let (lab, _) = silent_device("name made", &[&in_last_read]).await;
        let mut command = lab.command(&["apply"]);
        let (_unread, writer) = full_pipe();
        if is_blocked {
            command.stdout(writer);
        }
        let mut child = command.spawn().unwrap();
        wait_for_line(&lab, "name made").await;
        let mut notices = BufReader::new(child.stderr.take().unwrap()).lines();
        interrupt(&child, "-INT", &mut notices, FIRST_NOTICE).await;
        interrupt(&child, "-INT", &mut notices, SECOND_NOTICE).await;
        send(child.id().unwrap(), "-INT");
        let status = tokio::time::timeout(Duration::from_secs(60), child.wait()).await;
        assert_eq!(status.expect("it ends").unwrap().code(), Some(130));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_of_a_plan_reports_an_incomplete_plan() {
    let cases = [
        (
            "busy=^show version",
            "stopped before the catalog was applied",
        ),
        ("busy=^show vlan", "more changes may follow"),
    ];
    for (fault, notice) in cases {
        let mut lab = Lab::new();
        lab.add_switch("sw1", &[fault]).await;
        lab.write_resources("sw1", &[vlan(10, "one")]);
        let ran = interrupted_while_deferred(&lab, lab.command(&["plan"]), "-INT").await;
        ran.assert_code(1);
        ran.assert_contains(notice);
        assert!(!ran.stdout.contains("nothing to change"), "{}", ran.stdout);
    }
}

/// A command that another program starts, with the same directory and environment.
fn started_by(starter: &[&str], command: &Command) -> Command {
    let command = command.as_std();
    let mut started = Command::new(starter[0]);
    started
        .args(&starter[1..])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => started.env(name, value),
            None => started.env_remove(name),
        };
    }
    started
}

/// `nohup` starts programs so that the end of the terminal does not reach them.
#[tokio::test(flavor = "multi_thread")]
async fn interrupt_by_hangup_is_ignored_under_nohup() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &["busy=^vlan 10"]).await;
    lab.write_resources("sw1", &[vlan(10, "one"), vlan(20, "two")]);
    let direct = lab.command(&["apply", "--detailed-exitcodes"]);
    let ignoring = ["sh", "-c", "trap '' HUP; exec \"$0\" \"$@\""];
    let mut command = started_by(&ignoring, &direct);
    let child = command.spawn().unwrap();
    wait_for_deferred(&lab).await;
    send(child.id().unwrap(), "-HUP");
    lab.switches["sw1"].resume();
    let ran = ProgramOutput::from(child.wait_with_output().await.unwrap());
    ran.assert_code(2);
    assert_eq!(ran.stderr, "");
}

/// The plans of finished devices are printed, although another device never answers.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_plan_prints_the_plans_of_finished_devices() {
    let mut lab = Lab::new();
    lab.add_switch("sw1", &[]).await;
    lab.add_switch("sw2", &["stall-after=^show vlan"]).await;
    for name in ["sw1", "sw2"] {
        lab.write_resources(name, &[vlan(10, "one")]);
    }
    let reports = lab.path("reports").display().to_string();
    let child = lab
        .command(&["plan", "--report", &reports])
        .spawn()
        .unwrap();
    let finished = lab.path("reports/sw1.json");
    let wait = async {
        while !finished.exists() || !has_received(&lab, "sw2", "show vlan") {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), wait).await;
    waited.expect("the first device ends and the second is silent");
    send(child.id().unwrap(), "-INT");
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
    let ran = ProgramOutput::from(output.expect("it ends soon after it was asked to").unwrap());
    ran.assert_code(1);
    let plan = "sw1 (cisco_ios)\n  Network_vlan[10]  (/manifests/site.pp:1)\n";
    assert!(ran.stdout.contains(plan), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("2 devices: 1 pending, "),
        "{}",
        ran.stdout
    );
}
