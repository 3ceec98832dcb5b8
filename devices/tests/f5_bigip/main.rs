//! The load balancer's types, from values of catalogs to requests, and these requests against the
//! mock load balancer. Here is what all of it needs: resources, and the requests for them.

mod answers;
mod mock_device;
mod recorded_catalog;
mod single_resources;

use std::path::Path;
use std::sync::{Arc, LazyLock};

use serde_json::Value as Json;
use switchtender_devices::change::{Change, Wanted};
use switchtender_devices::driver::{Driver, Facts, NothingRemembered, Registry};
use switchtender_devices::operation::{Action, Operation};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::{Attributes, Value};

const METAPARAMETERS: [&str; 4] = ["before", "require", "subscribe", "notify"];

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::shipped);

fn shipped() -> (&'static Registry, Driver) {
    let platform = REGISTRY.platform("f5_bigip").expect("shipped");
    (&REGISTRY, Driver::new(platform, &Facts::default()))
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Undef,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => Value::Integer(number.as_i64().expect("whole")),
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => Value::List(items.iter().map(value).collect()),
        Json::Object(fields) => {
            let fields = fields.iter();
            Value::Hash(
                fields
                    .map(|(key, json)| (key.as_str().into(), value(json)))
                    .collect(),
            )
        }
    }
}

/// The device resources of a catalog, in its order.
fn resources(registry: &Registry, driver: &Driver, catalog: &str) -> Vec<Wanted> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/puppetserver/catalogs")
        .join(catalog);
    let text = std::fs::read_to_string(file).expect("the fixture is there");
    let catalog: Json = serde_json::from_str(&text).expect("JSON");
    let resources = catalog["resources"].as_array().expect("a list");
    resources
        .iter()
        .filter_map(|resource| {
            let reference = format!(
                "{}[{}]",
                resource["type"].as_str()?,
                resource["title"].as_str()?
            );
            let model = registry.model(&resource["type"].as_str()?.to_lowercase())?;
            let given: Attributes = resource["parameters"]
                .as_object()?
                .iter()
                .filter(|(name, _)| !METAPARAMETERS.contains(&name.as_str()))
                .map(|(name, json)| (name.clone(), value(json)))
                .collect();
            let title = resource["title"].as_str()?.to_owned();
            let attributes = model
                .resolve(&title, &given)
                .unwrap_or_else(|errors| panic!("{reference}: {errors:?}"));
            let attributes = driver.canonicalize(model, attributes).expect("accepted");
            let wanted = Wanted {
                reference: reference.into(),
                model: Arc::clone(model),
                attributes,
            };
            let problems = driver.check(&wanted);
            assert!(problems.is_empty(), "{}: {problems:?}", wanted.reference);
            Some(wanted)
        })
        .collect()
}

/// A resource of its attributes; the namevar is `/Common/x` unless given.
fn wanted(registry: &Registry, driver: &Driver, kind: &str, attributes: &Json) -> Wanted {
    let model = registry.model(kind).expect("shipped");
    let given: Attributes = attributes
        .as_object()
        .expect("a hash")
        .iter()
        .map(|(name, json)| (name.clone(), value(json)))
        .collect();
    let attributes = model.resolve("/Common/x", &given).expect("valid");
    Wanted {
        reference: format!("{kind}[/Common/x]").into(),
        model: Arc::clone(model),
        attributes: driver.canonicalize(model, attributes).expect("accepted"),
    }
}

/// A box of which only one answer is given; all others are empty.
fn box_with(driver: &Driver, wanted: &Wanted, read: &str, answer: &Json) -> State {
    let reads: Reads = driver
        .reads_for(&[wanted])
        .into_iter()
        .map(|request| {
            let given = if request.name == read {
                answer
            } else {
                &Json::Null
            };
            (request.name, given.to_string())
        })
        .collect();
    assert!(
        read.is_empty() || reads.contains_key(read),
        "{read} is not read"
    );
    driver.platform().parse(&reads).expect("JSON")
}

/// The operations for a resource, of which the state then knows.
fn apply(driver: &Driver, wanted: &Wanted, state: &mut State) -> Vec<Operation> {
    let current = driver.instance(wanted, state).expect("understood");
    let wanted = driver.resolve(wanted, current.as_ref());
    let attributes = driver.differs(&wanted, current.as_ref(), &NothingRemembered);
    if attributes.is_empty() {
        return Vec::new();
    }
    let change = Change::new(Arc::new(wanted.clone().into_owned()), current, attributes);
    let operations = driver.render(&change, state).expect("possible");
    driver.predict(&wanted.model, state, &operations);
    operations
}

fn print(operations: &[Operation]) -> Vec<String> {
    let requests = operations.iter().map(|operation| match &operation.action {
        Action::Request(request) => request.to_string(),
        Action::Line(line) => panic!("{line:?} on a REST platform"),
    });
    requests.collect()
}
