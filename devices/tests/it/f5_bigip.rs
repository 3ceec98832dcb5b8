//! The definitions of `f5_bigip`: from catalog values to requests, and these requests with the mock
//! load balancer. This file holds the helpers of its modules.

mod answers;
mod every_type;
mod mock_device;
mod recorded_catalog;
mod single_resources;

use std::sync::Arc;

use serde_json::Value as Json;
use switchtender_devices::change::Desired;
use switchtender_devices::driver::{Driver, Registry};
use switchtender_devices::operation::{Action, Operation};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::Attributes;

use crate::support::catalog::{self, value};
use crate::support::offline::{self, REGISTRY};

fn shipped() -> (&'static Registry, Driver) {
    (&REGISTRY, offline::driver("f5_bigip"))
}

/// The device resources of a catalog, in its order.
fn resources(registry: &Registry, driver: &Driver, catalog: &str) -> Vec<Desired> {
    catalog::resources(catalog)
        .into_iter()
        .filter_map(|resource| {
            let model = registry.model(&resource.type_name)?;
            let attributes = model
                .resolve(&resource.title, &resource.attributes)
                .unwrap_or_else(|errors| panic!("{}: {errors:?}", resource.reference));
            let attributes = driver.canonicalize(model, attributes).expect("accepted");
            let desired = Desired {
                reference: resource.reference.into(),
                model: Arc::clone(model),
                attributes,
            };
            let problems = driver.check(&desired);
            assert!(problems.is_empty(), "{}: {problems:?}", desired.reference);
            Some(desired)
        })
        .collect()
}

/// A resource with these attributes; the namevar is `/Common/x` unless given.
fn desired(registry: &Registry, driver: &Driver, kind: &str, attributes: &Json) -> Desired {
    let model = registry.model(kind).expect("shipped");
    let supplied: Attributes = attributes
        .as_object()
        .expect("a hash")
        .iter()
        .map(|(name, json)| (name.clone(), value(json)))
        .collect();
    let attributes = model.resolve("/Common/x", &supplied).expect("valid");
    Desired {
        reference: format!("{kind}[/Common/x]").into(),
        model: Arc::clone(model),
        attributes: driver.canonicalize(model, attributes).expect("accepted"),
    }
}

/// The state of a device with one given answer; all others are empty.
fn state_with(driver: &Driver, desired: &Desired, read: &str, answer: &Json) -> State {
    let reads: Reads = driver
        .reads_for(&[desired])
        .into_iter()
        .map(|request| {
            let supplied = if request.name == read {
                answer
            } else {
                &Json::Null
            };
            (request.name, supplied.to_string())
        })
        .collect();
    assert!(
        read.is_empty() || reads.contains_key(read),
        "{read} is not read"
    );
    driver.platform().parse(&reads).expect("JSON")
}

fn print(operations: &[Operation]) -> Vec<String> {
    let requests = operations.iter().map(|operation| match &operation.action {
        Action::Request(request) => request.to_string(),
        other => panic!("{other:?} on a REST platform"),
    });
    requests.collect()
}
