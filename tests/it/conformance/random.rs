//! What holds for every catalog: order, quiet second runs, reports that are folds of events.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use switchtender::catalog::{self, Level, Loading, Resources, Typing};
use switchtender::compat::Deviations;
use switchtender::graph;
use switchtender::report::RunRecord;
use switchtender::transaction::{self, Input, Memory, RunEvent, TransactionSettings};
use switchtender_devices::diagnostic::Source;

use test_support::report;

use super::provider::Simulated;
use super::types::TestTypes;
use super::world::{Shared, World};

/// A catalog: resources in classes, with relationships that mostly have one direction.
#[derive(Clone, Debug)]
struct Random {
    /// Per resource: class, kind of type, desired text.
    resources: Vec<(usize, u8, u8)>,
    /// From, to, kind; between resources or (odd indexes) classes.
    relations: Vec<(usize, usize, u8)>,
}

const CLASSES: usize = 4;

fn random() -> impl Strategy<Value = Random> {
    let resources = prop::collection::vec((0..CLASSES, 0..4u8, 0..3u8), 1..25);
    let relations = prop::collection::vec((0..60usize, 0..60usize, 0..4u8), 0..30);
    (resources, relations).prop_map(|(resources, relations)| Random {
        resources,
        relations,
    })
}

impl Random {
    fn reference(&self, at: usize) -> String {
        let (_, kind, _) = self.resources[at];
        let type_name = ["Dev_vlan", "Dev_acl", "Both_thing", "Dev_save"][usize::from(kind)];
        format!("{type_name}[r{at}]")
    }

    fn catalog(&self) -> Json {
        let mut resources = vec![
            json!({"type": "Stage", "title": "main", "kind": "compilable_type", "tags": ["stage"]}),
        ];
        let mut edges = Vec::new();
        for class in 0..CLASSES {
            resources.push(
                json!({"type": "Class", "title": format!("C{class}"), "kind": "class",
                "tags": ["class"], "parameters": {}}),
            );
            edges.push(json!({"source": "Stage[main]", "target": format!("Class[C{class}]")}));
        }
        for (at, (class, kind, text)) in self.resources.iter().enumerate() {
            let parameters = match kind {
                0 => json!({"ensure": "present", "label": format!("text {text}")}),
                1 => {
                    json!({"mode": if *text == 1 { "deny" } else { "permit" }, "rules": ["a", "b"]})
                }
                2 => json!({"value": text}),
                _ => json!({}),
            };
            let reference = self.reference(at);
            let type_name = reference.split_once('[').unwrap().0;
            resources.push(json!({"type": type_name, "title": format!("r{at}"),
                "kind": "compilable_type", "tags": ["x"], "parameters": parameters}));
            edges.push(json!({"source": format!("Class[C{class}]"), "target": reference}));
        }
        for (from, to, kind) in &self.relations {
            let ends = [from, to].map(|end| {
                if end % 5 == 0 {
                    (1 + end % CLASSES, format!("Class[C{}]", end % CLASSES))
                } else {
                    let at = end % self.resources.len();
                    (1 + CLASSES + at, self.reference(at))
                }
            });
            let name = ["require", "subscribe", "before", "notify"][usize::from(*kind)];
            let holder = &mut resources[ends[0].0]["parameters"];
            match holder[name].as_array_mut() {
                Some(list) => list.push(json!(ends[1].1)),
                None => holder[name] = json!([ends[1].1]),
            }
        }
        json!({"name": "device.test", "version": "v1", "catalog_format": 2,
            "resources": resources, "edges": edges})
    }
}

fn typed(catalog: &Json, types: &TestTypes, deviations: Deviations) -> Resources {
    let source = Source::new("random.json", catalog.to_string());
    let catalog = catalog::load(&source, &Loading::default()).unwrap();
    catalog::convert(
        catalog,
        &Typing {
            types,
            canonicalize: &|_, attributes| Ok(attributes),
            default_schedules: false,
            deviations,
        },
    )
    .unwrap()
}

fn run(
    catalog: &Json,
    world: &Shared,
    memory: &mut Memory,
) -> (Vec<RunEvent>, Result<(), transaction::TransactionError>) {
    let types = TestTypes::new(world);
    let settings = TransactionSettings::default();
    let mut events: Vec<RunEvent> = Vec::new();
    let result = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(transaction::run(Input {
            resources: typed(catalog, &types, settings.deviations),
            types: &types,
            noop: false,
            settings: &settings,
            clock: &|| "2024-03-05T12:30:00Z".parse().unwrap(),
            zone: TimeZone::UTC,
            memory,
            provider: &mut Simulated::new(world),
            sink: &mut events,
            stop: &|| false,
        }));
    (events, result)
}

fn fold(events: &[RunEvent]) -> RunRecord {
    let mut report = RunRecord::new(report::context("device.test", Level::Notice));
    for event in events {
        report.fold(event);
    }
    report
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn random_catalogs_are_applied_in_order_and_idempotently(random in random()) {
        let catalog = random.catalog();
        let world: Shared = Arc::new(Mutex::new(World::default()));
        let mut memory = Memory::default();
        let (events, result) = run(&catalog, &world, &mut memory);

        let types = TestTypes::new(&world);
        let resources = typed(&catalog, &types, Deviations::default());
        let graph = graph::build(&resources).graph;
        let cycles = graph::cycle::find(&graph, &resources);
        prop_assert_eq!(result.is_err(), !cycles.is_empty());
        if result.is_err() {
            for cycle in &cycles {
                for walk in graph::cycle::walks(&graph, cycle, 1) {
                    let last = walk.last().unwrap();
                    prop_assert!(walk[..walk.len() - 1].contains(last), "a walk meets itself");
                    for pair in walk.windows(2) {
                        prop_assert!(graph.edges.contains(pair[0], pair[1]));
                    }
                    let links = |id| graph.edges.successors(id);
                    let mut shortest = graph::cycle::shortest(cycle, links).unwrap();
                    let met = walk.iter().position(|id| id == last).unwrap();
                    prop_assert!(shortest.len() < walk[met..].len(), "none is shorter");
                    let members: std::collections::HashSet<_> = shortest.iter().collect();
                    prop_assert_eq!(members.len(), shortest.len(), "nothing is met twice");
                    shortest.push(shortest[0]);
                    for pair in shortest.windows(2) {
                        prop_assert!(links(pair[0]).any(|target| target == pair[1]));
                    }
                }
            }
            return Ok(());
        }

        let order: HashMap<String, usize> = events
            .iter()
            .filter_map(|event| match event {
                RunEvent::Evaluating { reference, number, .. } => Some((reference.to_string(), *number)),
                _ => None,
            })
            .collect();
        // Through markers too: who can be reached from whom comes later.
        for id in graph.ids() {
            let from = graph.vertex(id);
            if from.is_marker() {
                continue;
            }
            let first = order[&from.graph_name(&resources)];
            let mut open = vec![id];
            let mut seen = std::collections::HashSet::new();
            while let Some(at) = open.pop() {
                for target in graph.edges.successors(at) {
                    if seen.insert(target) {
                        open.push(target);
                        let to = graph.vertex(target);
                        if !to.is_marker() {
                            prop_assert!(first < order[&to.graph_name(&resources)]);
                        }
                    }
                }
            }
        }

        let report = fold(&events);
        let changes: u64 = events
            .iter()
            .map(|event| match event {
                RunEvent::Resource(status) => status.change_count,
                _ => 0,
            })
            .sum();
        prop_assert_eq!(report.changes(), changes);
        prop_assert_eq!(report.statuses().len(), order.len());

        let (events, result) = run(&catalog, &world, &mut memory);
        prop_assert!(result.is_ok());
        prop_assert_eq!(fold(&events).changes(), 0, "the second run changes nothing");
    }
}
