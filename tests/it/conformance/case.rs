//! One recorded case: its input applied through the product's engine, and what came of it in the
//! form of the recordings.

use std::sync::{Arc, Mutex};

use jiff::{Timestamp, Zoned};
use serde_json::{Map, Value as Json, json};
use switchtender::catalog::{self, Level, Loading, Resources, Typing, rich_data};
use switchtender::compat::{Deviation, Deviations};
use switchtender::graph::{self, EdgeKind};
use switchtender::report::{Context, Number, RunRecord};
use switchtender::route::HostResourcePolicy;
use switchtender::transaction::{
    self, Event, Input, LogEntry, Memory, ResourceStatus, RunEvent, TagSelection,
    TransactionSettings,
};
use switchtender_devices::diagnostic::Source;
use switchtender_devices::value::{Attributes, Value};

use test_support::report::context;

use super::provider::{Simulated, encode};
use super::types::TestTypes;
use super::world::{Shared, World};

const DEFAULT_NOW: &str = "2024-03-05T12:30:00Z";

/// Debug messages that are part of the contract.
const DEBUG: [&str; 11] = [
    "Skipping with skip tags",
    "Not tagged with",
    "Not scheduled",
    "Skipping because virtual",
    "Skipping host resources",
    "Skipping device resources",
    "Resource is being skipped",
    "Nothing to manage",
    "Adding auto",
    "Skipping automatic relationship",
    "Transaction canceled",
];

/// Applies all steps of a case with these deviations from Puppet 7; the case decides whether events
/// cross container boundaries. Returns the runs.
pub(crate) fn play(case: &Json, deviations: Deviations) -> Vec<Json> {
    play_steps(case, deviations, true)
}

/// The same with exactly these deviations.
pub(crate) fn play_with_containers(case: &Json, deviations: Deviations) -> Vec<Json> {
    play_steps(case, deviations, false)
}

fn play_steps(case: &Json, deviations: Deviations, own_containers: bool) -> Vec<Json> {
    let world: Shared = Arc::new(Mutex::new(World {
        device: case["state"].as_object().cloned().unwrap_or_default(),
        ..World::default()
    }));
    let mut memory = Memory::default();
    let one = vec![json!({})];
    let steps = case["steps"].as_array().unwrap_or(&one);
    let mut runs = Vec::new();
    for step in steps {
        let deviations = match own_containers {
            true if container_events(case, step) => deviations.with(Deviation::ContainerEvents),
            true => deviations.without(Deviation::ContainerEvents),
            false => deviations,
        };
        runs.push(play_step(case, step, &world, &mut memory, deviations));
    }
    runs
}

fn play_step(
    case: &Json,
    step: &Json,
    world: &Shared,
    memory: &mut Memory,
    deviations: Deviations,
) -> Json {
    let mut options = case["options"].as_object().cloned().unwrap_or_default();
    options.extend(step["options"].as_object().cloned().unwrap_or_default());
    let flag =
        |name: &str, default: bool| options.get(name).and_then(Json::as_bool).unwrap_or(default);
    let text = |name: &str| options.get(name).and_then(Json::as_str).unwrap_or_default();
    {
        let mut world = world.lock().unwrap();
        world.drift(&step["drift"]);
        world.faults = match step.get("faults") {
            Some(faults) => faults.clone(),
            None => case["faults"].clone(),
        };
        world.calls.clear();
        world.done.clear();
        world.stopped = false;
        world.stop_after = options
            .get("stop_after")
            .and_then(Json::as_str)
            .map(str::to_owned);
    }
    let now: Timestamp = step["now"]
        .as_str()
        .or(case["now"].as_str())
        .unwrap_or(DEFAULT_NOW)
        .parse()
        .unwrap();
    let now = now.to_zoned(jiff::tz::TimeZone::UTC);
    let noop = flag("noop", false);
    let settings = TransactionSettings {
        tags: TagSelection::parse(text("tags")),
        skip_tags: TagSelection::parse(text("skip_tags")),
        ignore_schedules: flag("ignoreschedules", false),
        evaltrace: flag("evaltrace", false),
        merge_dependency_warnings: flag("merge_dependency_warnings", false),
        for_device: flag("for_network_device", true),
        host_resources: HostResourcePolicy::Silent,
        deviations,
        ..TransactionSettings::default()
    };
    let catalog = step.get("catalog").unwrap_or(&case["catalog"]);
    let mut seen = Seen {
        report: RunRecord::new(Context {
            time: now.timestamp(),
            noop,
            ..context("device.test", Level::Notice)
        }),
        logs: Vec::new(),
        evaluated: Vec::new(),
        error: None,
        graph: None,
        world: Arc::clone(world),
    };
    apply(
        catalog,
        case,
        world,
        memory,
        noop,
        &settings,
        flag("default_schedules", false),
        flag("graph", false),
        &now,
        &mut seen,
    );
    seen.result(memory)
}

/// The option of the recordings, which is one of the deviations.
fn container_events(case: &Json, step: &Json) -> bool {
    let option = |of: &Json| of["options"]["container_events"].as_bool();
    option(step).or(option(case)).unwrap_or(false)
}

#[allow(clippy::too_many_arguments)]
fn apply(
    catalog: &Json,
    case: &Json,
    world: &Shared,
    memory: &mut Memory,
    noop: bool,
    settings: &TransactionSettings,
    default_schedules: bool,
    graph: bool,
    now: &Zoned,
    seen: &mut Seen,
) {
    let types = TestTypes::new(world);
    let mut provider = Simulated::new(world);
    let facts: Attributes = case["facts"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), rich_data::read(value).unwrap()))
        .collect();
    let source = Source::new("catalog.json", catalog.to_string());
    let loaded = catalog::load(&source, &Loading { facts }).and_then(|catalog| {
        catalog::convert(
            catalog,
            &Typing {
                types: &types,
                canonicalize: &|_, attributes| Ok(attributes),
                default_schedules,
                deviations: settings.deviations,
            },
        )
    });
    let resources = match loaded {
        Ok(resources) => resources,
        Err(error) => {
            transaction::refused(&error, now.timestamp(), seen);
            return;
        }
    };
    if graph {
        seen.graph = Some(edges(&resources));
    }
    let stop = {
        let world = Arc::clone(world);
        move || world.lock().unwrap().stopped
    };
    let clock = || now.timestamp();
    let run = transaction::run(Input {
        resources,
        types: &types,
        noop,
        settings,
        clock: &clock,
        zone: now.time_zone().clone(),
        memory,
        provider: &mut provider,
        sink: seen,
        stop: &stop,
    });
    // The error has been seen as an event.
    let _ = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(run);
}

/// The edges of the graph, sorted, as the recordings show them.
fn edges(resources: &Resources) -> Json {
    let graph = graph::build(resources).graph;
    let drawn = graph::dot::expanded(&graph, resources);
    let mut drawn: Vec<&str> = drawn
        .lines()
        .filter(|line| line.contains("\" -> \""))
        .collect();
    let mut edges: Vec<[Json; 4]> = Vec::new();
    for id in graph.ids() {
        for (target, counts) in graph.edges.outgoing(id) {
            let ends = [id, target].map(|id| json!(graph.vertex(id).graph_name(resources)));
            for kind in counts.kinds() {
                let [source, target] = ends.clone();
                let (event, callback) = match kind {
                    EdgeKind::Order => (Json::Null, Json::Null),
                    EdgeKind::Automatic => (json!("NONE"), Json::Null),
                    EdgeKind::Refresh => (json!("ALL_EVENTS"), json!("refresh")),
                };
                edges.push([source, target, event, callback]);
            }
        }
    }
    // What is drawn is what was recorded.
    let escaped = |name: &Json| name.as_str().unwrap_or_default().replace('"', "\\\"");
    let line =
        |[from, to, ..]: &[Json; 4]| format!("    \"{}\" -> \"{}\" [", escaped(from), escaped(to));
    let mut lines: Vec<String> = edges.iter().map(line).collect();
    lines.sort();
    drawn.sort_unstable();
    assert_eq!(drawn, lines);
    edges.sort_by_key(|edge| {
        edge.clone()
            .map(|part| part.as_str().unwrap_or_default().to_owned())
    });
    json!(edges)
}

/// What an observer sees of a run.
struct Seen {
    report: RunRecord,
    logs: Vec<Json>,
    evaluated: Vec<String>,
    error: Option<String>,
    graph: Option<Json>,
    world: Shared,
}

impl transaction::Sink for Seen {
    fn emit(&mut self, event: RunEvent) {
        self.report.fold(&event);
        match event {
            RunEvent::Log(entry) => self.logs.extend(log(&entry)),
            RunEvent::Evaluating { reference, .. } => self.evaluated.push(reference.to_string()),
            RunEvent::Resource(status) => {
                let mut world = self.world.lock().unwrap();
                let reference = status.reference.to_string();
                // As the recorder, which asks for the stop when a resource was evaluated: one that
                // no provider takes never is.
                let evaluated = self.evaluated.contains(&reference);
                if evaluated && world.stop_after.as_ref() == Some(&reference) {
                    world.stopped = true;
                }
                world.done.insert(reference);
            }
            RunEvent::Finished { error, .. } => self.error = error,
            _ => {}
        }
    }
}

impl Seen {
    fn result(&self, memory: &Memory) -> Json {
        let world = self.world.lock().unwrap();
        let resources: Map<String, Json> = self
            .report
            .statuses()
            .iter()
            .map(|status| (status.reference.to_string(), resource(status)))
            .collect();
        let mut result = json!({
            "error": self.error,
            "evaluated": self.evaluated,
            "resources": resources,
            "logs": self.logs,
            "calls": world.calls,
            "final_state": world.device,
            "report": self.report_json(),
            "persisted": persisted(memory),
        });
        if let Some(graph) = &self.graph {
            result["graph"] = graph.clone();
        }
        result
    }

    fn report_json(&self) -> Json {
        let report = self.report.to_json();
        let metrics: Map<String, Json> = self
            .report
            .metrics()
            .into_iter()
            .filter(|metric| metric.name != "time")
            .map(|metric| {
                let values: Map<String, Json> = metric
                    .values
                    .iter()
                    .map(|(name, value)| match value {
                        Number::Count(count) => (name.clone(), json!(count)),
                        Number::Seconds(seconds) => (name.clone(), json!(seconds)),
                    })
                    .collect();
                (metric.name.to_owned(), values.into())
            })
            .collect();
        let mut out = Map::new();
        for field in [
            "status",
            "noop",
            "noop_pending",
            "corrective_change",
            "transaction_completed",
            "configuration_version",
            "code_id",
            "catalog_uuid",
            "report_format",
        ] {
            let value = report.get(field).cloned().unwrap_or(Json::Null);
            out.insert(field.to_owned(), value);
        }
        out.insert(
            "resources_failed_to_generate".to_owned(),
            json!(self.report.has_failed_to_generate()),
        );
        out.insert("exit_status".to_owned(), json!(self.report.exit_bits()));
        out.insert("metrics".to_owned(), metrics.into());
        out.into()
    }
}

fn log(entry: &LogEntry) -> Option<Json> {
    if entry.level == Level::Debug {
        let is_compared = DEBUG.iter().any(|start| entry.message.starts_with(start))
            || (entry.message.starts_with("The container ")
                && entry.message.contains(" will propagate"));
        if !is_compared {
            return None;
        }
    }
    let message = entry
        .message
        .replace("Evaluated in 0.00 seconds", "Evaluated in N seconds");
    Some(json!([entry.level.to_string(), entry.source, message]))
}

fn resource(status: &ResourceStatus) -> Json {
    let mut tags: Vec<&str> = status.tags.iter().map(|tag| &**tag).collect();
    tags.sort_unstable();
    let path: Vec<&str> = status.containment_path.iter().map(|step| &**step).collect();
    let failed_dependencies: Vec<String> = status
        .failed_dependencies
        .iter()
        .map(ToString::to_string)
        .collect();
    let all = json!({
        "skipped": status.is_skipped(),
        "failed": status.failed,
        "failed_to_restart": status.failed_to_restart,
        "restarted": status.restarted,
        "changed": status.changed,
        "out_of_sync": status.out_of_sync,
        "corrective_change": status.corrective_change,
        "change_count": status.change_count,
        "out_of_sync_count": status.out_of_sync_count,
        "file": status.file.as_deref(),
        "line": status.line,
        "containment_path": path,
        "tags": tags,
        "failed_dependencies": failed_dependencies,
        "events": status.events.iter().map(event).collect::<Vec<_>>(),
    });
    let Json::Object(mut all) = all else {
        unreachable!("made above")
    };
    all.retain(|_, value| {
        !(value.is_null() || *value == json!(false) || *value == json!(0) || *value == json!([]))
    });
    all.into()
}

fn event(event: &Event) -> Json {
    let mut out = Map::new();
    let mut put = |name: &str, value: Option<Json>| {
        if let Some(value) = value.filter(|value| !value.is_null()) {
            out.insert(name.to_owned(), value);
        }
    };
    let plain = |value: &Option<Value>| value.as_ref().map(rich_data::write_plain);
    put("name", Some(json!(event.name)));
    put("property", event.property.as_ref().map(|name| json!(name)));
    put("previous_value", plain(&event.previous_value));
    put("desired_value", plain(&event.desired_value));
    put("historical_value", plain(&event.historical_value));
    put("status", Some(json!(event.status)));
    put("message", event.message.as_ref().map(|text| json!(text)));
    put("audited", event.audited.then(|| json!(true)));
    put(
        "redacted",
        (event.redacted == Some(true)).then(|| json!(true)),
    );
    put(
        "corrective_change",
        event.corrective_change.then(|| json!(true)),
    );
    out.into()
}

fn persisted(memory: &Memory) -> Json {
    let plain = |value: &Value| match value {
        Value::Absent => json!("absent"),
        other => stored(other),
    };
    let history: Map<String, Json> = memory
        .iter()
        .filter(|(_, remembered)| !remembered.history.is_empty())
        .map(|(reference, remembered)| {
            let values: Map<String, Json> = remembered
                .history
                .iter()
                .map(|(name, value)| (name.to_owned(), plain(&value.0)))
                .collect();
            (reference.to_owned(), values.into())
        })
        .collect();
    let state: Map<String, Json> = memory
        .iter()
        .filter_map(|(reference, remembered)| Some((reference, remembered.state.as_ref()?)))
        .map(|(reference, state)| {
            let mut entry: Map<String, Json> = state
                .audited
                .iter()
                .map(|(name, value)| (name.clone(), plain(&value.0)))
                .collect();
            let times = [("checked", state.checked), ("synced", state.synced)];
            for (name, time) in times {
                if let Some(time) = time {
                    entry.insert(name.to_owned(), json!(time.to_string()));
                }
            }
            (reference.to_owned(), entry.into())
        })
        .collect();
    json!({"system_values": history, "state": state})
}

/// Stored values as the recordings show them: names as texts, absent too.
fn stored(value: &Value) -> Json {
    match value {
        Value::Absent => json!("absent"),
        Value::List(items) => items.iter().map(stored).collect(),
        Value::Typed(typed) if typed.kind == "Regexp" => json!(format!("(?-mix:{})", typed.text)),
        other => encode(other),
    }
}
