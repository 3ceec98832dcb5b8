//! The load balancer's types, from values of catalogs to requests; and these requests against the
//! mock load balancer, which was written from the description of the device and checks references,
//! rewrites values and fills in defaults as the real one does.

use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use secrecy::SecretString;
use serde_json::{Value as Json, json};
use switchtender_devices::change::{Change, ChangeKind, Wanted};
use switchtender_devices::diagnostic::Severity;
use switchtender_devices::driver::{Driver, Facts, NothingRemembered, Registry, RememberedSecrets};
use switchtender_devices::operation::{Action, Operation, Outcome};
use switchtender_devices::read::{Reads, State};
use switchtender_devices::session::target::{
    Algorithms, HostKeyPolicy, RestLogin, RestOptions, SshOptions, Target, TlsPolicy,
};
use switchtender_devices::session::{Access, open};
use switchtender_devices::value::{Attributes, Value};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions, RunningLoadBalancer};

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
        wanted: Arc::new(wanted.clone()),
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
    let (registry, driver) = shipped();
    let resources = resources(registry, &driver, "lb1.json");
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
    let (registry, driver) = shipped();
    let resources = resources(registry, &driver, "lb1.json");
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

#[test]
fn what_the_device_cannot_do_is_refused_before_anything_is_sent() {
    let (registry, driver) = shipped();
    let node = json!({"items": [{"fullPath": "/Common/x", "address": "192.0.2.1"}]});
    let server =
        json!({"items": [{"fullPath": "/Common/x", "destination": "/Common/192.0.2.1:80"}]});
    let monitor = json!({"items": [{"fullPath": "/Common/x", "defaultsFrom": "/Common/tcp"}]});
    let cases = [
        (
            "f5_node",
            ("GET /mgmt/tm/ltm/node", &node),
            json!({"ensure": "present", "address": "192.0.2.2"}),
            "address: cannot be changed on the device; remove the resource and create it again",
        ),
        (
            "f5_node",
            ("", &Json::Null),
            json!({"ensure": "present", "ratio": 2}),
            "address: is needed to create it",
        ),
        (
            "f5_virtualserver",
            ("GET /mgmt/tm/ltm/virtual", &server),
            json!({"ensure": "present", "provider": "forwarding_ip"}),
            "provider: cannot be changed on the device; remove the resource and create it again",
        ),
        (
            "f5_virtualserver",
            ("", &Json::Null),
            json!({"ensure": "present", "provider": "performance_l4", "destination_address": "192.0.2.1", "service_port": 80}),
            "protocol_profile_client: is needed to create it",
        ),
        (
            "f5_monitor",
            ("GET /mgmt/tm/ltm/monitor/tcp", &monitor),
            json!({"ensure": "present", "provider": "tcp", "parent_monitor": "/Common/other"}),
            "parent_monitor: cannot be changed on the device; remove the resource and create it again",
        ),
    ];
    for (kind, (read, answer), attributes, expected) in cases {
        let wanted = wanted(registry, &driver, kind, &attributes);
        let state = box_with(&driver, &wanted, read, answer);
        let current = driver.instance(&wanted, &state).expect("understood");
        let differing = driver.differs(&wanted, current.as_ref(), &NothingRemembered);
        let change = Change {
            kind: if current.is_some() {
                ChangeKind::Update
            } else {
                ChangeKind::Create
            },
            wanted: Arc::new(wanted),
            current,
            attributes: differing,
        };
        let error = driver.render(&change, &state).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn what_can_be_said_without_the_device_is_said() {
    let (registry, driver) = shipped();
    let cases = [
        (
            "f5_monitor",
            json!({"ensure": "present", "provider": "icmp", "send_string": "x"}),
            Severity::Warning,
            "ignored: kind `icmp` has no such attribute",
        ),
        (
            "f5_virtualserver",
            json!({"ensure": "present", "provider": "reject", "default_pool": "/Common/p"}),
            Severity::Warning,
            "ignored: kind `reject` has no such attribute",
        ),
        (
            "f5_pool",
            json!({"ensure": "present", "health_monitors": ["/Common/a", "/Common/b"], "availability_requirement": 3}),
            Severity::Error,
            "3 monitors must be up, of 2",
        ),
        (
            "f5_irule",
            json!({"name": "/Common/_sys_auth_ldap", "ensure": "absent"}),
            Severity::Error,
            "/Common/_sys_auth_ldap belongs to the device and is never touched",
        ),
    ];
    for (kind, attributes, severity, message) in cases {
        let wanted = wanted(registry, &driver, kind, &attributes);
        let problems = driver.check(&wanted);
        let said: Vec<_> = problems
            .iter()
            .map(|problem| (problem.severity, problem.message.as_str()))
            .collect();
        assert_eq!(said, [(severity, message)], "{kind} {attributes}");
    }
}

#[test]
fn attributes_that_the_kind_lacks_are_not_sent() {
    let (registry, driver) = shipped();
    let attributes =
        json!({"ensure": "present", "provider": "icmp", "send_string": "x", "interval": 9});
    let wanted = wanted(registry, &driver, "f5_monitor", &attributes);
    let mut state = box_with(&driver, &wanted, "", &Json::Null);
    assert_eq!(
        print(&apply(&driver, &wanted, &mut state)),
        [r#"POST /mgmt/tm/ltm/monitor/icmp {"name":"x","partition":"Common","interval":9}"#]
    );
    assert!(apply(&driver, &wanted, &mut state).is_empty());
}

/// Remembers one secret.
struct Remembered(&'static str);

impl RememberedSecrets for Remembered {
    fn is_last(&self, _: &str, attribute: &str, value: &Value) -> Option<bool> {
        (attribute == "password").then(|| value.unwrap_sensitive().as_str() == Some(self.0))
    }
}

#[test]
fn a_password_is_sent_when_it_is_not_the_last_one_and_shown_nowhere() {
    let (registry, driver) = shipped();
    let attributes = json!({"ensure": "present", "provider": "http", "username": "probe", "password": "s3\"cret"});
    let wanted = wanted(registry, &driver, "f5_monitor", &attributes);
    let mut state = box_with(&driver, &wanted, "", &Json::Null);
    let before = state.clone();
    let operations = apply(&driver, &wanted, &mut state);
    assert_eq!(
        print(&operations),
        [
            r#"POST /mgmt/tm/ltm/monitor/http {"name":"x","partition":"Common","username":"probe","password":"••••"}"#
        ]
    );
    let Action::Request(request) = &operations[0].action else {
        panic!("a request");
    };
    let body: Json =
        serde_json::from_str(&request.body.as_ref().expect("a body").reveal()).expect("JSON");
    assert_eq!(body["password"], "s3\"cret");
    let diff = driver.config_diff(&before, &state);
    assert!(
        diff.contains("username") && !diff.contains("cret"),
        "{diff}"
    );
    assert!(!format!("{operations:?}").contains("cret"));

    let answer = json!({"items": [{"fullPath": "/Common/x", "username": "probe", "password": "$M$ab$cdef=="}]});
    let state = box_with(&driver, &wanted, "GET /mgmt/tm/ltm/monitor/http", &answer);
    let current = driver.instance(&wanted, &state).expect("understood");
    for (last, expected) in [("s3\"cret", &[][..]), ("another", &["password".to_owned()])] {
        assert_eq!(
            driver.differs(&wanted, current.as_ref(), &Remembered(last)),
            expected
        );
    }
    let diff = driver.config_diff(&State::default(), &state);
    assert!(diff.contains("password") && !diff.contains("$M$"), "{diff}");
}

#[test]
fn answers_that_are_no_collections_are_told_with_their_read() {
    let (registry, driver) = shipped();
    let node = wanted(
        registry,
        &driver,
        "f5_node",
        &json!({"ensure": "present", "address": "192.0.2.1"}),
    );
    for (answer, message) in [
        (json!([1]), "not a JSON object"),
        (json!({"items": {"a": 1}}), "`items` is not a list"),
        (
            json!({"items": [{"address": "192.0.2.1"}]}),
            "an object without a name",
        ),
    ] {
        let state = box_with(&driver, &node, "GET /mgmt/tm/ltm/node", &answer);
        let error = driver.instance(&node, &state).expect_err("garbage");
        assert_eq!(
            error.to_string(),
            format!("cannot understand the answer to `GET /mgmt/tm/ltm/node`: {message}")
        );
    }
}

#[test]
fn what_was_made_can_be_removed_in_the_reverse_of_the_ranks() {
    let (registry, driver) = shipped();
    let mut resources = resources(registry, &driver, "lb1.json");
    let mut state = new_box(&driver, &resources);
    let empty = state.clone();
    for wanted in &resources {
        apply(&driver, wanted, &mut state);
    }
    resources.retain(|wanted| wanted.attributes.contains_key("ensure"));
    resources.sort_by_key(|wanted| std::cmp::Reverse(driver.rank(&wanted.model)));
    let mut sent = Vec::new();
    for wanted in &mut resources {
        wanted
            .attributes
            .insert("ensure".to_owned(), "absent".into());
        sent.extend(print(&apply(&driver, wanted, &mut state)));
    }
    assert_eq!(
        sent,
        [
            "DELETE /mgmt/tm/ltm/virtual/~shop~web_vs",
            "DELETE /mgmt/tm/ltm/rule/~shop~redirect",
            "DELETE /mgmt/tm/ltm/pool/~shop~web",
            "DELETE /mgmt/tm/ltm/node/~shop~web1",
            "DELETE /mgmt/tm/ltm/node/~shop~web2",
            "DELETE /mgmt/tm/ltm/node/~shop~web3",
            "DELETE /mgmt/tm/net/self/~Common~self-servers",
            "DELETE /mgmt/tm/ltm/monitor/http/~shop~http_health",
            "DELETE /mgmt/tm/net/vlan/~Common~servers",
            "DELETE /mgmt/tm/auth/partition/shop",
        ]
    );
    let diff = driver.config_diff(&empty, &state);
    let changed: Vec<&str> = diff
        .lines()
        .filter(|line| line.starts_with(['+', '-']))
        .collect();
    assert!(
        changed
            .iter()
            .all(|line| line.contains("timezone") || line.contains("servers")),
        "{diff}"
    );
}

#[test]
fn facts_are_those_of_the_unit_that_answers() {
    let (registry, _) = shipped();
    let platform = registry.platform("f5_bigip").expect("shipped");
    let device = json!({"items": [
        {"name": "lb0", "selfDevice": "false", "hostname": "lb0.lab.test", "version": "13.1.0"},
        {"name": "lb1", "selfDevice": "true", "hostname": "lb1.lab.test", "version": "14.1.4", "baseMac": "00:00:5e:00:53:01",
         "managementIp": "192.0.2.20", "marketingName": "BIG-IP Virtual Edition", "failoverState": "active"},
    ]});
    let reads: Reads = platform
        .fact_reads()
        .into_iter()
        .map(|request| (request.name, device.to_string()))
        .collect();
    let facts = platform.facts(&reads);
    for (name, expected) in [
        ("operatingsystem", Some("F5")),
        ("operatingsystemrelease", Some("14.1.4")),
        ("fqdn", Some("lb1.lab.test")),
        ("macaddress", Some("00:00:5e:00:53:01")),
        ("ipaddress", Some("192.0.2.20")),
        ("productname", Some("BIG-IP Virtual Edition")),
        ("failoverState", Some("active")),
        ("chassisId", None),
    ] {
        assert_eq!(facts.get(name).map(String::as_str), expected, "{name}");
    }
}

fn target(device: &RunningLoadBalancer) -> Target {
    Target {
        device: "lb1".to_owned(),
        host: "127.0.0.1".to_owned(),
        port: Some(device.address().port()),
        user: "admin".to_owned(),
        password: Some(SecretString::from("admin")),
        enable_password: None,
        ssh: SshOptions {
            private_key: None,
            passphrase: None,
            agent: None,
            host_key: HostKeyPolicy::Ignore,
            algorithms: Algorithms::Modern,
            jump: None,
        },
        rest: RestOptions {
            token: None,
            login: RestLogin::Auto,
            login_provider: None,
            tls: TlsPolicy::Fingerprint(device.fingerprint()),
            proxy: None,
        },
        connect_timeout: Duration::from_secs(20),
        command_timeout: Duration::from_secs(20),
        transcript: None,
    }
}

/// Reads a device, brings it to what is wanted, and returns what was sent.
async fn run(driver: &Driver, resources: &[Wanted], device: &RunningLoadBalancer) -> Vec<String> {
    let protocol = &driver.platform().protocol;
    let mut session = open(&target(device), protocol, Access::ReadWrite)
        .await
        .expect("opened");
    let all: Vec<&Wanted> = resources.iter().collect();
    let requests = driver.reads_for(&all);
    let texts = session.read(&requests).await.expect("read");
    let names = requests.into_iter().map(|request| request.name);
    let reads: Reads = names.zip(texts).collect();
    let mut state = driver.platform().parse(&reads).expect("JSON");
    let mut sent = Vec::new();
    for wanted in resources {
        let operations = apply(driver, wanted, &mut state);
        let results = session.commit(&operations).await;
        for (operation, result) in print(&operations).into_iter().zip(results) {
            assert!(
                matches!(result.outcome, Outcome::Done { .. }),
                "{}: {operation}: {:?}",
                wanted.reference,
                result.outcome
            );
            sent.push(operation);
        }
    }
    session.close().await;
    sent
}

#[tokio::test]
async fn the_device_takes_what_is_sent_and_needs_nothing_the_second_time() {
    let (registry, driver) = shipped();
    let device = LoadBalancer::start(LoadBalancerOptions::default(), 0)
        .await
        .expect("started");
    let mut catalog = resources(registry, &driver, "lb1.json");
    assert_eq!(run(&driver, &catalog, &device).await.len(), 11);
    assert_eq!(run(&driver, &catalog, &device).await, [""; 0]);

    // Everything that these types can say of one object, changed and read back.
    let more = [
        (
            "f5_dns",
            json!({"name_servers": ["192.0.2.53", "2001:DB8::53"], "search": "lab.test"}),
        ),
        (
            "f5_node",
            json!({"name": "/shop/web1", "ensure": "present", "state": "forced_offline", "ratio": 3, "connection_limit": "100",
                "connection_rate_limit": 50, "description": "007", "logging": true,
                "health_monitors": ["/Common/icmp", "/shop/http_health"], "availability_requirement": 1}),
        ),
        (
            "f5_pool",
            json!({"name": "/shop/web", "ensure": "present", "allow_nat": false, "service_down": "reject", "slow_ramp_time": 20,
                "request_queuing": true, "request_queue_depth": 7, "priority_group_activation": 1, "ip_tos_to_client": "mimic",
                "members": [{"name": "/shop/web1", "port": 8080}, {"name": "/shop/web2", "port": "0"}],
                "health_monitors": "none"}),
        ),
        (
            "f5_monitor",
            json!({"name": "/shop/http_health", "ensure": "present", "provider": "http", "interval": 7, "reverse": "yes",
                "alias_address": "192.0.2.9", "alias_service_port": 81, "receive_disable_string": "off", "up_interval": 9}),
        ),
        (
            "f5_vlan",
            json!({"name": "/Common/servers", "ensure": "present", "vlan_tag": 121, "mtu": 9000, "source_check": true,
                "sflow_polling_interval": 10, "interfaces": [{"name": "1.2", "tagged": false}]}),
        ),
        (
            "f5_selfip",
            json!({"name": "/Common/self-servers", "ensure": "present", "port_lockdown": ["tcp:443", "tcp:22"]}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/web_vs", "ensure": "present", "provider": "standard", "state": "disabled", "service_port": 8443,
                "default_pool": "none", "irules": "none", "source_address_translation": "none", "vlan_and_tunnel_traffic": "all",
                "protocol_profile_client": "/Common/tcp-wan-optimized", "ssl_profile_client": "/Common/clientssl", "http_profile": "none",
                "default_persistence_profile": "/Common/source_addr", "connection_limit": 5, "address_translation": "disabled"}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/six", "ensure": "present", "provider": "performance_l4", "destination_address": "2001:DB8::80",
                "service_port": 80, "protocol": "tcp", "protocol_profile_client": "/Common/fastL4"}),
        ),
        (
            "f5_virtualserver",
            json!({"name": "/shop/no", "ensure": "present", "provider": "reject", "destination_address": "203.0.113.81", "service_port": "*"}),
        ),
        (
            "f5_partition",
            json!({"name": "shop", "ensure": "present", "description": "the shop"}),
        ),
    ];
    let changed: Vec<Wanted> = more
        .iter()
        .map(|(kind, attributes)| wanted(registry, &driver, kind, attributes))
        .collect();
    assert!(!run(&driver, &changed, &device).await.is_empty());
    assert_eq!(run(&driver, &changed, &device).await, [""; 0]);

    // What belongs to the catalog goes again, in the reverse of the ranks.
    catalog.extend(changed);
    catalog.retain(|wanted| wanted.attributes.contains_key("ensure"));
    catalog.sort_by_key(|wanted| std::cmp::Reverse(driver.rank(&wanted.model)));
    for wanted in &mut catalog {
        wanted
            .attributes
            .insert("ensure".to_owned(), "absent".into());
    }
    run(&driver, &catalog, &device).await;
    assert_eq!(run(&driver, &catalog, &device).await, [""; 0]);
    assert_eq!(device.tokens(), 0, "every session logs off");
    device.stop().await;
}
