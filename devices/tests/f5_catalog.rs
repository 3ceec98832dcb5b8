//! A recorded catalog for a load balancer, from its values to requests: on a box that is as it
//! came, and again on what these requests leave behind. No device is involved.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};
use switchtender_devices::change::{Change, ChangeKind, Wanted};
use switchtender_devices::driver::{Driver, Facts, NothingRemembered, Registry};
use switchtender_devices::operation::{Action, Operation};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::value::{Attributes, Value};

const METAPARAMETERS: [&str; 4] = ["before", "require", "subscribe", "notify"];

fn driver(registry: &Registry) -> Driver {
    let platform = registry.platform("f5_bigip").expect("shipped");
    Driver::new(platform, &Facts::new())
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
                reference,
                title,
                model: Arc::clone(model),
                attributes,
            };
            let problems = driver.check(&wanted);
            assert!(problems.is_empty(), "{}: {problems:?}", wanted.reference);
            Some(wanted)
        })
        .collect()
}

/// A box as it comes: some objects of the system, nothing of anyone else's.
fn new_box(driver: &Driver, resources: &[Wanted]) -> State {
    let of_the_system = [
        (
            "GET /mgmt/tm/auth/partition",
            json!({"items": [{"name": "Common", "fullPath": "Common", "defaultRouteDomain": 0}]}),
        ),
        (
            "GET /mgmt/tm/ltm/monitor/http",
            json!({"items": [{"name": "http", "partition": "Common", "fullPath": "/Common/http", "interval": 5}]}),
        ),
        (
            "GET /mgmt/tm/ltm/profile/http",
            json!({"items": [{"fullPath": "/Common/http"}]}),
        ),
        (
            "GET /mgmt/tm/ltm/profile/tcp",
            json!({"items": [{"fullPath": "/Common/tcp"}]}),
        ),
        (
            "GET /mgmt/tm/ltm/rule",
            json!({"items": [{"fullPath": "/Common/_sys_https_redirect", "apiAnonymous": "x"}]}),
        ),
        (
            "GET /mgmt/tm/sys/ntp",
            json!({"timezone": "America/Los_Angeles"}),
        ),
    ];
    let all: Vec<&Wanted> = resources.iter().collect();
    let reads: Reads = driver
        .reads_for(&all)
        .into_iter()
        .map(|request| {
            let known = of_the_system.iter().find(|(name, _)| *name == request.name);
            let answer = known.map_or_else(|| json!({"kind": "x"}), |(_, answer)| answer.clone());
            (request.name, answer.to_string())
        })
        .collect();
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
    let change = Change {
        kind: match current {
            None => ChangeKind::Create,
            Some(_) if wanted.absent() => ChangeKind::Remove,
            Some(_) => ChangeKind::Update,
        },
        wanted: wanted.clone(),
        current,
        attributes,
    };
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

#[test]
fn a_new_box_gets_one_request_per_resource_and_then_none() {
    let registry = Registry::shipped();
    let driver = driver(&registry);
    let resources = resources(&registry, &driver, "lb1.json");
    let mut state = new_box(&driver, &resources);
    let before = state.clone();

    let sent: Vec<String> = resources
        .iter()
        .flat_map(|wanted| print(&apply(&driver, wanted, &mut state)))
        .collect();
    assert_eq!(
        sent,
        [
            r#"POST /mgmt/tm/auth/partition {"name":"shop"}"#,
            r#"POST /mgmt/tm/net/vlan {"name":"servers","partition":"Common","tag":120,"interfaces":[{"name":"1.2","tagged":true}]}"#,
            r#"POST /mgmt/tm/net/self {"name":"self-servers","partition":"Common","address":"198.51.100.1/24","vlan":"/Common/servers"}"#,
            r#"POST /mgmt/tm/ltm/monitor/http {"name":"http_health","partition":"shop","defaultsFrom":"/Common/http","interval":5,"timeout":16,"send":"GET /health HTTP/1.1\\r\\nHost: shop.example\\r\\nConnection: close\\r\\n\\r\\n","recv":"200 OK"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web1","partition":"shop","address":"198.51.100.11","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web2","partition":"shop","address":"198.51.100.12","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/node {"name":"web3","partition":"shop","address":"198.51.100.13","monitor":"/Common/icmp"}"#,
            r#"POST /mgmt/tm/ltm/pool {"name":"web","partition":"shop","monitor":"/shop/http_health","loadBalancingMode":"least-connections-member","members":[{"name":"/shop/web1:8080"},{"name":"/shop/web2:8080"},{"name":"/shop/web3:8080"}]}"#,
            r#"POST /mgmt/tm/ltm/rule {"name":"redirect","partition":"shop","apiAnonymous":"when HTTP_REQUEST {\n  HTTP::redirect \"https://[HTTP::host][HTTP::uri]\"\n}"}"#,
            r#"POST /mgmt/tm/ltm/virtual {"name":"web_vs","partition":"shop","destination":"/shop/203.0.113.80:443","mask":"255.255.255.255","source":"0.0.0.0/0","ipProtocol":"tcp","pool":"/shop/web","rules":["/shop/redirect"],"sourceAddressTranslation":{"type":"automap"},"vlans":["/Common/servers"],"vlansEnabled":true,"profiles":[{"name":"/Common/tcp","context":"all"},{"name":"/Common/http"}]}"#,
            r#"PATCH /mgmt/tm/sys/ntp {"servers":["192.0.2.10","192.0.2.11"],"timezone":"UTC"}"#,
        ]
    );

    let again: Vec<String> = resources
        .iter()
        .flat_map(|wanted| print(&apply(&driver, wanted, &mut state)))
        .collect();
    assert!(again.is_empty(), "{again:#?}");

    let diff = driver.config_diff(&before, &state);
    for line in [
        "+/mgmt/tm/ltm/pool /shop/web",
        "+ members: /shop/web1:8080",
        "+ timezone: \"UTC\"",
        "- timezone: \"America/Los_Angeles\"",
    ] {
        assert!(
            diff.lines().any(|one| one.trim_end() == line),
            "{line} in\n{diff}"
        );
    }
    assert!(
        !diff.contains("_sys_https_redirect") || !diff.contains("-/mgmt/tm/ltm/rule"),
        "{diff}"
    );
}

#[test]
fn each_collection_is_read_once_and_only_the_kinds_that_are_named() {
    let registry = Registry::shipped();
    let driver = driver(&registry);
    let resources = resources(&registry, &driver, "lb1.json");
    let all: Vec<&Wanted> = resources.iter().collect();
    let reads: Vec<String> = driver
        .reads_for(&all)
        .into_iter()
        .map(|read| read.command)
        .collect();
    assert_eq!(
        reads,
        [
            "/mgmt/tm/auth/partition",
            "/mgmt/tm/net/vlan?expandSubcollections=true",
            "/mgmt/tm/net/self",
            "/mgmt/tm/ltm/monitor/http",
            "/mgmt/tm/ltm/node",
            "/mgmt/tm/ltm/pool?expandSubcollections=true",
            "/mgmt/tm/ltm/rule",
            "/mgmt/tm/ltm/virtual?expandSubcollections=true",
            "/mgmt/tm/ltm/profile/fasthttp",
            "/mgmt/tm/ltm/profile/fastl4",
            "/mgmt/tm/ltm/profile/http",
            "/mgmt/tm/ltm/profile/tcp",
            "/mgmt/tm/sys/ntp",
        ]
    );
}
