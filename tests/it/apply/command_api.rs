//! Command lines in HTTP requests: the types of a platform over eAPI and NX-API, against mocks from
//! their documentation.

use std::path::Path;

use serde_json::json;
use switchtender_devices::driver::Registry;
use switchtender_devices::read::Reads;
use switchtender_mocks::{
    CommandApi, CommandApiForm, Fault, RunningCommandApi, StructuralInterface, StructuralOptions,
};
use test_support::catalog::resource;
use test_support::lab::{Lab, PASSWORD};

struct Case {
    platform: &'static str,
    form: CommandApiForm,
    /// The mode in which a request begins.
    mode: &'static str,
    config: &'static str,
    /// A line of the port after the change.
    line: &'static str,
    type_name: &'static str,
    title: &'static str,
    attribute: (&'static str, &'static str),
}

const CASES: [Case; 2] = [
    Case {
        platform: "arista_eos",
        form: CommandApiForm::RunCommands,
        mode: "user",
        config: "hostname leaf1\ninterface Ethernet1\n   description old\nend\n",
        line: "description to the core",
        type_name: "Network_interface",
        title: "Ethernet1",
        attribute: ("description", "to the core"),
    },
    Case {
        platform: "cisco_nxos",
        form: CommandApiForm::CallPerLine,
        mode: "exec",
        config: "version 9.3(5)\nrouter bgp 65000\n  neighbor 192.0.2.1\n    description old\n",
        line: "description to the core",
        type_name: "Cisco_bgp_neighbor",
        title: "65000 default 192.0.2.1",
        attribute: ("description", "to the core"),
    },
];

fn definitions() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/definitions");
    path.display().to_string()
}

async fn start(case: &Case, faults: Vec<Fault>) -> RunningCommandApi {
    let files = switchtender_devices::definitions::from_directory(Path::new(&definitions()))
        .expect("the examples can be read");
    let registry = Registry::load(&files).expect("the examples are valid");
    let platform = registry.platform(case.platform).expect("an example");
    let outline = platform
        .command_line_outline("d1", &Reads::default())
        .expect("a command line");
    let modes = &outline.command_line.modes;
    let mode = modes.iter().position(|mode| mode.name == case.mode);
    let mode = mode.expect("a mode of the platform");
    let options = StructuralOptions {
        name: "d1".to_owned(),
        user: "ops".to_owned(),
        password: PASSWORD.to_owned(),
        interface: StructuralInterface::CommandLine {
            structure: Box::new(outline.command_line),
            config: case.config.to_owned(),
        },
        exchanges_in_memory: 100,
        faults,
    };
    let started = CommandApi::start(options, (case.form, mode), 0).await;
    started.expect("started")
}

fn lab(case: &Case, device: &RunningCommandApi) -> Lab {
    let mut lab = Lab::new();
    let port = device.address().port();
    lab.add_device("d1", case.platform, port, Some(&device.fingerprint()));
    lab.configure("d1", "transport = \"http\"");
    let (name, value) = case.attribute;
    let port = resource(case.type_name, case.title, json!({ name: value }));
    lab.write_resources("d1", &[port]);
    lab
}

#[tokio::test(flavor = "multi_thread")]
async fn the_types_of_a_command_line_work_in_requests() {
    for case in &CASES {
        let device = start(case, Vec::new()).await;
        let lab = lab(case, &device);
        let definitions = definitions();
        let apply = ["apply", "--definitions", &definitions];
        let planned = lab.run(&["plan", "--definitions", &definitions]).await;
        planned.assert_contains(case.line);
        assert!(!device.running_config().contains(case.line));
        let applied = lab.run(&apply).await;
        applied.assert_contains("changed 'old' to 'to the core'");
        assert!(
            device.running_config().contains(case.line),
            "{}",
            device.running_config()
        );
        let again = lab.run(&apply).await;
        again.assert_code(0);
        again.assert_contains("unchanged");
        let undone = lab
            .run(&["undo", "--last", "--yes", "--definitions", &definitions])
            .await;
        assert!(
            device.running_config().contains("description old"),
            "{}",
            undone.text()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_line_has_the_message_of_the_device() {
    for case in &CASES {
        let fault = "refuse=description => % Not allowed here"
            .parse()
            .expect("a fault");
        let device = start(case, vec![fault]).await;
        let lab = lab(case, &device);
        let ran = lab.run(&["apply", "--definitions", &definitions()]).await;
        ran.assert_contains("% Not allowed here");
        assert!(ran.code != Some(0), "{}", ran.text());
        assert!(
            device.running_config().contains("description old"),
            "{}",
            ran.text()
        );
    }
}
