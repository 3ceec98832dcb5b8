//! What `switchtender validate` costs, measured on the program itself, against what was promised.
//!
//! `cargo bench --bench validate` prints for each case the seconds (the best of three), the goal,
//! the ratio of the two, and the most memory that was held. Catalogs are written to a temporary
//! directory. One line is `--version`, which reads no definitions; the line with one resource is
//! what every command pays for them.

#![expect(clippy::disallowed_methods, reason = "benches measure durations")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A case: what is checked, how long it may take, how many megabytes it may hold.
struct Case {
    name: &'static str,
    arguments: Vec<String>,
    seconds: f64,
    megabytes: u64,
}

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path_of = |name: &str| directory.path().join(name);
    let many = path_of("many");
    fs::create_dir(&many).expect("a directory");
    for number in 0..1000 {
        write(
            &many.join(format!("sw{number}.json")),
            &catalog(number, 100, ""),
        );
    }
    write(&path_of("one.json"), &catalog(0, 1, ""));
    write(&path_of("large.json"), &catalog(0, 20_000, ""));
    // A finding in every resource: all positions are computed.
    write(
        &path_of("wrong.json"),
        &catalog(0, 20_000, r#","labl":"x""#),
    );
    let huge = File::create(path_of("huge.json")).expect("a file");
    huge.set_len(200 << 20).expect("room for 200 MB of nothing");
    let text = path_of("text.json");
    let long = format!(r#"{{"name":"{}"#, "x".repeat(200 << 20));
    write(&text, &long);
    drop(long);

    let validate = |path: PathBuf| -> Vec<String> {
        let path = path.display().to_string();
        let words = ["validate", &path, "--platform", "cisco_ios", "--limit", "3"];
        words.map(str::to_owned).to_vec()
    };
    let case = |name, arguments, seconds, megabytes| Case {
        name,
        arguments,
        seconds,
        megabytes,
    };
    println!(
        "{:44} {:>9} {:>7} {:>6} {:>8} {:>6}",
        "case", "seconds", "goal", "ratio", "peak MB", "goal"
    );
    let mut missed = 0;
    for case in [
        case("--version", vec!["--version".to_owned()], 0.02, 32),
        case(
            "1 catalog of 1 resource",
            validate(path_of("one.json")),
            0.05,
            64,
        ),
        case("1000 catalogs of 100 resources", validate(many), 2.0, 128),
        case(
            "1 catalog of 20000 resources",
            validate(path_of("large.json")),
            0.3,
            256,
        ),
        case(
            "the same with 20000 findings",
            validate(path_of("wrong.json")),
            0.3,
            512,
        ),
        case("200 MB of zeroes", validate(path_of("huge.json")), 0.3, 256),
        case("200 MB of one text", validate(text), 0.3, 256),
    ] {
        missed += u32::from(!measure(&case));
    }
    println!("{missed} goals missed");
}

/// Whether both goals are met.
fn measure(case: &Case) -> bool {
    let runs: Vec<(Duration, u64)> = (0..3).map(|_| run(&case.arguments)).collect();
    let seconds = runs
        .iter()
        .map(|(took, _)| took.as_secs_f64())
        .fold(f64::INFINITY, f64::min);
    let megabytes = runs.iter().map(|(_, peak)| peak / 1024).max().unwrap_or(0);
    let met = seconds <= case.seconds && megabytes <= case.megabytes;
    println!(
        "{:44} {seconds:>9.3} {:>7} {:>6.2} {megabytes:>8} {:>6}{}",
        case.name,
        case.seconds,
        seconds / case.seconds,
        case.megabytes,
        if met { "" } else { "  missed" }
    );
    met
}

/// How long the program ran, and the most kilobytes that it was seen to hold.
fn run(arguments: &[String]) -> (Duration, u64) {
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_switchtender"))
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut peak = 0;
    while child.try_wait().expect("it can be waited for").is_none() {
        peak = peak.max(peak_kilobytes(&child));
        std::thread::sleep(Duration::from_millis(1));
    }
    (started.elapsed(), peak)
}

/// Peak memory of a process, where the system provides it.
fn peak_kilobytes(child: &Child) -> u64 {
    fs::read_to_string(format!("/proc/{}/status", child.id()))
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or(0)
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("room for the catalogs");
}

/// A switch's catalog: VLANs, ports and trunks by thirds, each in its class.
fn catalog(number: usize, size: usize, more: &str) -> String {
    let mut resources = String::from(
        r#"{"type":"Stage","title":"main","kind":"compilable_type"},{"type":"Class","title":"main","kind":"class"}"#,
    );
    let mut edges = String::from(r#"{"source":"Stage[main]","target":"Class[main]"}"#);
    for at in 0..size {
        let port = format!("GigabitEthernet{}/0/{}", at / 150 + 1, at / 3 % 50 + 1);
        let (kind, title, parameters) = match at % 3 {
            // There are 4094 VLANs and no more; larger catalogs have servers in their place.
            0 if at < 9_000 => {
                let id = at / 3 + 2 - usize::from(at / 3 + 2 > 1001)
                    + 5 * usize::from(at / 3 + 2 > 1001);
                (
                    "Network_vlan",
                    id.to_string(),
                    format!(r#""vlan_name":"vlan{id}","shutdown":false"#),
                )
            }
            0 => {
                let address = format!("10.{}.{}.{}", at >> 16, at >> 8 & 255, at & 255);
                ("Ntp_server", address, r#""ensure":"present""#.to_owned())
            }
            1 => (
                "Network_interface",
                port,
                format!(r#""enable":true,"description":"port {at}""#),
            ),
            _ => (
                "Network_trunk",
                port,
                r#""ensure":"present","mode":"trunk","untagged_vlan":10"#.to_owned(),
            ),
        };
        write!(
            resources,
            r#",{{"type":"{kind}","title":"{title}","tags":["class","main"],"file":"/etc/puppetlabs/code/environments/production/manifests/site.pp","line":{},"exported":false,"kind":"compilable_type","parameters":{{{parameters}{more}}}}}"#,
            at % 1000 + 1
        )
        .expect("text can be written to text");
        write!(
            edges,
            r#",{{"source":"Class[main]","target":"{kind}[{title}]"}}"#
        )
        .expect("text can be written to text");
    }
    format!(
        r#"{{"name":"sw{number}.example.net","version":1,"environment":"production","catalog_format":2,"resources":[{resources}],"edges":[{edges}]}}"#
    )
}
