//! Reports of ours against those that a real `puppet device` sent for the same catalogs.
//!
//! The recorded runs drove Resource API types on a device without contents, each the second run
//! after everything had been removed by hand: so every change is corrective.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value as Json, json};
use switchtender::catalog::types::{
    ResourceType, TypeBehavior, TypeSource, ValueStyle, ValueTraits, built_in,
};
use switchtender::catalog::{self, Catalog, Level, Loading, ResourceKind, ResourceRef, Typing};
use switchtender::compat::Deviations;
use switchtender::report::{Context, RunRecord};
use switchtender::route::HostResourcePolicy;
use switchtender::transaction::{self, Input, Memory, RunEvent, TransactionSettings};
use switchtender_devices::change::{Change, Desired, Instance};
use switchtender_devices::driver::UnsupportedType;
use switchtender_devices::map::IndexMap;
use switchtender_devices::model::{AttributeModel, Role, TypeModel};
use switchtender_devices::operation::Operation;
use switchtender_devices::provider::{CommitResult, Provider, ProviderError, ProviderErrorKind};
use switchtender_devices::value::{Attributes, Name, Value};
use test_support::report::context;

fn fixture(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/puppetserver")
        .join(path);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Types made from what the catalog gives.
struct Types(BTreeMap<String, ResourceType>);

impl Types {
    fn of(catalog: &Catalog) -> Self {
        let mut names: BTreeMap<String, Vec<Name>> = BTreeMap::new();
        for resource in &catalog.resources {
            let name = resource.reference.model_name();
            if resource.kind == ResourceKind::Compilable && built_in(&name).is_none() {
                let attributes = names.entry(name).or_default();
                for attribute in resource.parameters.keys() {
                    if !attributes.contains(attribute) {
                        attributes.push(attribute.clone());
                    }
                }
            }
        }
        let typed = names.into_iter().map(|(name, attributes)| {
            let model = model(&name, attributes);
            let ty = ResourceType {
                model: Arc::new(model),
                behavior: Arc::new(Api),
            };
            (name, ty)
        });
        Self(typed.collect())
    }
}

impl TypeSource for Types {
    fn find(&self, name: &str) -> Option<ResourceType> {
        self.0.get(name).cloned().or_else(|| built_in(name))
    }
}

fn model(name: &str, supplied: Vec<Name>) -> TypeModel {
    // The order in which the recorded module defines what these catalogs use.
    const ORDER: [&str; 6] = ["ensure", "enable", "description", "mtu", "speed", "duplex"];
    let mut supplied: Vec<Name> = supplied
        .into_iter()
        .filter(|name| !["require", "before", "notify", "subscribe"].contains(&name.as_str()))
        .collect();
    supplied.sort_by_key(|name| {
        ORDER
            .iter()
            .position(|column| column == name)
            .unwrap_or(ORDER.len())
    });
    let namevar = ("name".into(), Role::Namevar);
    let properties = supplied
        .into_iter()
        .filter(|name| name != "name")
        .map(|name| (name, Role::Property));
    let attributes: IndexMap<Name, AttributeModel> = [namevar]
        .into_iter()
        .chain(properties)
        .map(|(name, role)| {
            let attribute = AttributeModel {
                default_word: None,
                name: name.clone(),
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
            (name, attribute)
        })
        .collect();
    TypeModel {
        name: name.into(),
        attributes,
        ..TypeModel::default()
    }
}

#[derive(Debug)]
struct Api;

impl TypeBehavior for Api {
    fn values(&self) -> ValueStyle {
        ValueStyle::ResourceApi
    }

    fn has_standard_ensure(&self) -> bool {
        false
    }

    fn traits(&self, _: &str, _: &Value) -> ValueTraits {
        ValueTraits::default()
    }
}

/// A device without contents; names that begin with `broken` are refused, as in the recordings.
struct Empty;

#[async_trait]
impl Provider for Empty {
    fn name(&self) -> &str {
        "labswitch"
    }

    fn supports(&self, _: &TypeModel) -> Result<(), UnsupportedType> {
        Ok(())
    }

    async fn prefetch(&mut self, _: &Arc<TypeModel>, _: &[&Desired]) -> Result<(), ProviderError> {
        Ok(())
    }

    async fn retrieve(&mut self, _: &Desired, _: &[&str]) -> Result<Attributes, ProviderError> {
        Ok(Attributes::default())
    }

    async fn instances(&mut self, _: &Arc<TypeModel>) -> Result<Vec<Instance>, ProviderError> {
        Ok(Vec::new())
    }

    fn preview(&mut self, _: &Change) -> Result<Vec<Operation>, ProviderError> {
        Ok(Vec::new())
    }

    async fn commit(&mut self, change: &Change) -> CommitResult {
        let reference = ResourceRef::parse(&change.desired.reference).expect("a reference");
        let title = reference.title();
        let outcome = if title.starts_with("broken") {
            let message = format!("invalid command: {title}");
            Err(ProviderError::new(ProviderErrorKind::Refused, message))
        } else {
            Ok(())
        };
        CommitResult {
            attributes: change
                .reported_attributes()
                .map(|name| (name.to_owned(), outcome.clone()))
                .collect(),
            ..CommitResult::default()
        }
    }

    async fn refresh(&mut self, _: &Desired) -> Option<CommitResult> {
        Some(CommitResult::default())
    }
}

/// The report of the second run.
fn report(name: &str) -> Json {
    let text = String::from_utf8(fixture(&format!("catalogs/{name}.json"))).unwrap();
    // The recorded run had facts of the device, this compilation had none.
    let text = text.replace("switch sw1 runs", "switch sw1.lab.test runs");
    let source = catalog::source(name, text.into_bytes()).unwrap();
    let catalog = catalog::load(&source, &Loading::default()).unwrap();
    let types = Types::of(&catalog);
    let settings = TransactionSettings {
        host_resources: HostResourcePolicy::Silent,
        deviations: Deviations::puppet7(),
        ..TransactionSettings::default()
    };
    let mut memory = Memory::default();
    let mut json = Json::Null;
    for _ in 0..2 {
        let resources = catalog::convert(
            catalog.clone(),
            &Typing {
                types: &types,
                canonicalize: &|_, attributes| Ok(attributes),
                default_schedules: true,
                deviations: settings.deviations,
            },
        )
        .unwrap();
        let mut report = RunRecord::new(Context {
            time: "2026-11-21T08:19:10.472275311Z".parse().unwrap(),
            transaction_uuid: Some("33992000-e861-4b25-b648-3b7cb0a52533".to_owned()),
            ..context(&catalog.name, Level::Info)
        });
        let mut sink = |event: RunEvent| report.fold(&event);
        let mut provider = Empty;
        let run = transaction::run(Input {
            resources,
            types: &types,
            noop: false,
            settings: &settings,
            clock: &|| "2026-11-21T08:19:11.000000000Z".parse().expect("a time"),
            zone: jiff::tz::TimeZone::UTC,
            memory: &mut memory,
            provider: &mut provider,
            sink: &mut sink,
            stop: &|| false,
        });
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(run)
            .unwrap();
        json = report.to_json();
    }
    json
}

fn keys(json: &Json) -> BTreeSet<&str> {
    json.as_object()
        .unwrap_or_else(|| panic!("no object: {json}"))
        .keys()
        .map(String::as_str)
        .collect()
}

/// Fields that differ from run to run, or name what Puppet's agent found on the proxy host.
const PASSING: [&str; 5] = [
    // An extension.
    "skip_reason",
    "time",
    "evaluation_time",
    "provider_used",
    "transaction_uuid",
];

fn without_passing(json: &Json) -> Json {
    match json {
        Json::Object(fields) => fields
            .iter()
            .filter(|(name, _)| !PASSING.contains(&name.as_str()))
            .map(|(name, value)| (name.clone(), without_passing(value)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Json::Array(items) => items.iter().map(without_passing).collect(),
        other => other.clone(),
    }
}

#[test]
fn recorded_reports_have_equal_fields_and_statuses() {
    for name in ["sw1", "failing1", "mixed1"] {
        let recorded: Json =
            serde_json::from_slice(&fixture(&format!("reports/{name}.json"))).unwrap();
        let ours = report(name);
        assert_eq!(keys(&ours), keys(&recorded), "{name}");
        for field in [
            "host",
            "report_format",
            "puppet_version",
            "status",
            "transaction_completed",
            "noop",
            "noop_pending",
            "environment",
            "corrective_change",
            "catalog_uuid",
            "configuration_version",
            "cached_catalog_status",
        ] {
            // The recordings were made with catalogs compiled at other times.
            if ["catalog_uuid", "configuration_version"].contains(&field) {
                assert_eq!(
                    std::mem::discriminant(&ours[field]),
                    std::mem::discriminant(&recorded[field]),
                    "{name}: {field}"
                );
            } else {
                assert_eq!(ours[field], recorded[field], "{name}: {field}");
            }
        }
        assert_eq!(
            keys(&ours["resource_statuses"]),
            keys(&recorded["resource_statuses"]),
            "{name}"
        );
        for (reference, status) in recorded["resource_statuses"].as_object().unwrap() {
            let own = &ours["resource_statuses"][reference];
            let mut fields = keys(own);
            fields.remove("skip_reason");
            assert_eq!(fields, keys(status), "{name}: {reference}");
            assert_eq!(
                without_passing(own),
                without_passing(status),
                "{name}: {reference}"
            );
        }
        for (category, metric) in recorded["metrics"].as_object().unwrap() {
            let own = &ours["metrics"][category];
            assert_eq!(own["label"], metric["label"]);
            if category != "time" {
                assert_eq!(own, metric, "{name}: {category}");
            }
        }
        let entry = &recorded["logs"][0];
        for log in ours["logs"].as_array().unwrap() {
            assert_eq!(keys(log), keys(entry));
        }
    }
}

#[test]
fn recorded_reports_have_equal_log_entries() {
    // What the recorded provider, and the agent around the run, said themselves is not the engine's.
    let about = |log: &&Json| {
        let message = log["message"].as_str().unwrap();
        log["source"] != json!("Puppet") || message.starts_with("Applying")
    };
    for name in ["sw1", "failing1", "mixed1"] {
        let recorded: Json =
            serde_json::from_slice(&fixture(&format!("reports/{name}.json"))).unwrap();
        let ours = report(name);
        let lines = |report: &Json| -> Vec<Json> {
            report["logs"]
                .as_array()
                .unwrap()
                .iter()
                .filter(about)
                .map(|log| {
                    let message = log["message"].as_str().unwrap();
                    let message = message
                        .split_once(" version ")
                        .map_or(message, |(own, _)| own);
                    json!([
                        log["level"],
                        log["source"],
                        message,
                        log["tags"],
                        log["line"]
                    ])
                })
                .collect()
        };
        let (ours, recorded) = (lines(&ours), lines(&recorded));
        for (own, other) in ours.iter().zip(&recorded) {
            assert_eq!(own, other, "{name}");
        }
        assert_eq!(ours.len(), recorded.len(), "{name}");
    }
}
