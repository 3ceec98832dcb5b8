//! Time and memory per resource, from JSON text to finished report, for catalogs of three shapes.
//!
//! `cargo bench --bench transaction` prints a table; each line is the best of several processes that
//! measure one catalog each, so that memory is that of one catalog, and no size finds warm what
//! another does not. `cargo bench --bench transaction -- chain 1000` measures one catalog, once.
//! Seconds are processor time, the system's included: what else the machine does shows less in it.
//! The last column is what writing the report as JSON takes on top.

use std::fmt::Write as _;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use jiff::tz::TimeZone;
use switchtender::catalog::types::Types;
use switchtender::catalog::{self, Level, Loading, Typing};
use switchtender::report::RunRecord;
use switchtender::transaction::{self, Input, Memory, RunEvent, TransactionSettings};
use switchtender_devices::change::{Change, Desired, Instance};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::driver::UnsupportedType;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, Role, Style, TypeModel};
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::{CommitResult, Provider, ProviderError};
use switchtender_devices::value::{Attributes, Name, Value};
use test_support::report::context;

/// As in the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// Processes for each line; the best one counts.
const REPEATS: usize = 5;

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    if let [shape, size] = arguments.as_slice() {
        let shape = Shape::ALL
            .into_iter()
            .find(|candidate| candidate.name() == shape)
            .expect("a shape: flat, chain, nested or dense");
        measure(shape, size.parse().expect("a number of resources"));
        return;
    }
    println!(
        "{:8} {:>9} {:>9} {:>10} {:>12} {:>9} {:>12} {:>12}",
        "shape",
        "resources",
        "edges",
        "seconds",
        "us/resource",
        "peak MB",
        "KB/resource",
        "us to write"
    );
    let myself = std::env::current_exe().expect("a process knows its program");
    for shape in Shape::ALL {
        for size in SIZES {
            if shape == Shape::Dense && size != 100_000 {
                continue;
            }
            let lines = (0..REPEATS).map(|_| {
                let output = Command::new(&myself)
                    .args([shape.name(), &size.to_string()])
                    .output()
                    .expect("the bench can start itself");
                eprint!("{}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).expect("a line is text")
            });
            let best = lines.min_by(|one, other| seconds(one).total_cmp(&seconds(other)));
            print!("{}", best.unwrap_or_default());
        }
    }
}

/// The seconds of a line; what could not be measured is never the best.
fn seconds(line: &str) -> f64 {
    let column = line.split_whitespace().nth(3);
    let seconds = column.and_then(|text| text.parse().ok());
    seconds.unwrap_or(f64::INFINITY)
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// Resources without relationships.
    Flat,
    /// Each requires the one before it.
    Chain,
    /// Classes in classes, with relationships between them and into them.
    Nested,
    /// Five edges for every resource.
    Dense,
}

impl Shape {
    const ALL: [Shape; 4] = [Shape::Flat, Shape::Chain, Shape::Nested, Shape::Dense];

    fn name(self) -> &'static str {
        match self {
            Shape::Flat => "flat",
            Shape::Chain => "chain",
            Shape::Nested => "nested",
            Shape::Dense => "dense",
        }
    }

    /// The text of a catalog, and how many edges between resources and containers it has.
    fn catalog(self, size: usize) -> (String, usize) {
        let mut resources = String::from(
            r#"{"type":"Stage","title":"main","tags":["stage"],"kind":"compilable_type"},{"type":"Class","title":"main","tags":["class"],"kind":"class"}"#,
        );
        let mut edges = String::from(r#"{"source":"Stage[main]","target":"Class[main]"}"#);
        let mut count = 1;
        let classes = if self == Shape::Nested { size / 20 } else { 0 };
        for class in 0..classes {
            let require = match class {
                0 => String::new(),
                _ => format!(r#","parameters":{{"require":["Class[C{}]"]}}"#, class - 1),
            };
            count += usize::from(class > 0);
            write!(
                resources,
                r#",{{"type":"Class","title":"C{class}","tags":["class","c{class}"],"kind":"class"{require}}}"#
            )
            .unwrap();
            write!(
                edges,
                r#",{{"source":"Stage[main]","target":"Class[C{class}]"}}"#
            )
            .unwrap();
            count += 1;
        }
        for at in 0..size {
            let others: Vec<String> = match self {
                Shape::Flat => Vec::new(),
                Shape::Chain => at.checked_sub(1).into_iter().map(reference).collect(),
                // The neighbor in the class, and the first of the class.
                Shape::Nested if at % 20 > 1 => vec![reference(at - 1), reference(at - at % 20)],
                Shape::Nested => Vec::new(),
                Shape::Dense => [1, 3, 7, 31, 101]
                    .into_iter()
                    .filter_map(|back| at.checked_sub(back))
                    .map(reference)
                    .collect(),
            };
            count += others.len() + 1;
            let require = if others.is_empty() {
                String::new()
            } else {
                format!(r#","require":["{}"]"#, others.join("\",\""))
            };
            write!(
                resources,
                r#",{{"type":"Bench_vlan","title":"{at}","tags":["bench_vlan","{at}","class","main"],"file":"/etc/puppetlabs/code/environments/production/manifests/site.pp","line":{},"exported":false,"kind":"compilable_type","parameters":{{"ensure":"present","label":"vlan number {at}","mtu":1500{require}}}}}"#,
                at % 1000 + 1
            )
            .unwrap();
            let container = match self {
                Shape::Nested => format!("Class[C{}]", (at / 20).min(classes.saturating_sub(1))),
                _ => "Class[main]".to_owned(),
            };
            write!(
                edges,
                r#",{{"source":"{container}","target":"Bench_vlan[{at}]"}}"#
            )
            .unwrap();
        }
        let text = format!(
            r#"{{"name":"bench","version":1,"environment":"production","catalog_format":2,"resources":[{resources}],"edges":[{edges}]}}"#
        );
        (text, count)
    }
}

fn reference(at: usize) -> String {
    format!("Bench_vlan[{at}]")
}

fn measure(shape: Shape, size: usize) {
    let (text, edges) = shape.catalog(size);
    let before = peak_kilobytes();
    let started = processor_time();
    let report = apply(text);
    let took = processor_time() - started;
    assert_eq!(report.changes(), size as u64, "every resource was changed");
    let peak = peak_kilobytes();
    let started = processor_time();
    std::hint::black_box(report.to_raw_json(false));
    let wrote = processor_time() - started;
    println!(
        "{:8} {size:>9} {edges:>9} {:>10.4} {:>12.2} {:>9} {:>12.2} {:>12.2}",
        shape.name(),
        took.as_secs_f64(),
        took.as_secs_f64() * 1e6 / size as f64,
        peak / 1024,
        (peak - before) as f64 / size as f64,
        wrote.as_secs_f64() * 1e6 / size as f64,
    );
}

/// From the text to the finished report.
fn apply(text: String) -> RunRecord {
    let model = Arc::new(model());
    let types = Types::new(|name: &str| (name == "bench_vlan").then(|| Arc::clone(&model)));
    let settings = TransactionSettings::default();
    let source = Source::new("bench.json", text);
    let catalog = catalog::load(&source, &Loading::default()).expect("the catalog is valid");
    // As in a device's run, which holds on to nothing but what it applies.
    drop(source);
    let resources = catalog::convert(
        catalog,
        &Typing {
            types: &types,
            canonicalize: &|_, attributes| Ok(attributes),
            default_schedules: true,
            deviations: settings.deviations,
        },
    )
    .expect("the resources are valid");
    let mut report = RunRecord::new(context("bench", Level::Notice));
    let mut memory = Memory::default();
    let mut provider = Empty;
    let mut sink = |event: RunEvent| report.fold(&event);
    let run = transaction::run(Input {
        resources,
        types: &types,
        noop: false,
        settings: &settings,
        clock: &switchtender::clock::timestamp,
        zone: TimeZone::UTC,
        memory: &mut memory,
        provider: &mut provider,
        sink: &mut sink,
        stop: &|| false,
    });
    tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(run)
        .expect("nothing stops the run");
    report
}

fn model() -> TypeModel {
    let attribute = |name: &str, role| AttributeModel {
        default_word: None,
        name: name.into(),
        doc: String::new(),
        role,
        values: Vec::new(),
        array: None,
        default: None,
        puppet_default: None,
        required: false,
        sensitive: false,
        canon: Vec::new(),
        refers: Vec::new(),
        since: None,
    };
    let attributes: IndexMap<Name, AttributeModel> = [
        ("name", Role::Namevar),
        ("ensure", Role::Property),
        ("label", Role::Property),
        ("mtu", Role::Property),
    ]
    .into_iter()
    .map(|(name, role)| (name.into(), attribute(name, role)))
    .collect();
    TypeModel {
        name: "bench_vlan".into(),
        style: Style::Classic,
        attributes,
        ..TypeModel::default()
    }
}

/// A device that has nothing and takes everything.
struct Empty;

#[async_trait]
impl Provider for Empty {
    fn name(&self) -> &str {
        "empty"
    }

    fn supports(&self, _: &TypeModel) -> Result<(), UnsupportedType> {
        Ok(())
    }

    async fn prefetch(&mut self, _: &Arc<TypeModel>, _: &[&Desired]) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn retrieve(&mut self, _: &Desired, _: &[&str]) -> Result<Attributes, ProviderError> {
        Ok([("ensure".to_owned(), Value::Absent)].into_iter().collect())
    }

    async fn instances(&mut self, _: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        Ok(Vec::new())
    }

    fn preview(&mut self, _: &Change) -> Result<Vec<Operation>, ProviderError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, _: &Change) -> CommitResult {
        CommitResult::default()
    }

    async fn refresh(&mut self, _: &Desired) -> Option<CommitResult> {
        Some(CommitResult::default())
    }
}

/// CPU time of the only thread of this process, where the system provides it.
fn processor_time() -> Duration {
    // Brought up to date when the thread stops running, otherwise every few milliseconds.
    std::thread::sleep(Duration::from_micros(1));
    let nanoseconds = std::fs::read_to_string("/proc/thread-self/schedstat")
        .unwrap_or_default()
        .split_whitespace()
        .next()
        .and_then(|number| number.parse().ok())
        .unwrap_or(0);
    Duration::from_nanos(nanoseconds)
}

/// Peak memory of this process, where the system provides it.
fn peak_kilobytes() -> u64 {
    std::fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.trim().strip_suffix("kB"))
        .and_then(|number| number.trim().parse().ok())
        .unwrap_or(0)
}
