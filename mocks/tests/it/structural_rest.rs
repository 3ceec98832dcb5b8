//! The structural mock with REST as a client sees it.

use reqwest::{Client, Method};
use serde_json::{Value, json};
use switchtender_mocks::{
    RunningStructuralDevice, StructuralDevice, StructuralInterface, StructuralOptions,
};
use switchtender_outline::{
    AnswerShape, CandidateShape, DocumentShape, JsonPath, JsonStep, ListLevel, ObjectEffect,
    ObjectRequest, ObjectShape, PageCounter, PageShape, PartShape, RequestShape, RestInterface,
    RestSession, TaskShape, TokenCarrier, TokenLogin, VersionShape,
};

use crate::load_balancer::client::client_with;

/// The path of a member, `a.b`; the document itself for an empty text.
fn path(text: &str) -> JsonPath {
    let names = text.split('.').filter(|name| !name.is_empty());
    JsonPath(
        names
            .map(|name| JsonStep::Member(name.to_owned()))
            .collect(),
    )
}

fn request(verb: &str, path: &str) -> RequestShape {
    RequestShape {
        verb: verb.to_owned(),
        path: format!("^{path}$"),
        ..RequestShape::default()
    }
}

const OBJECT: &str = "/objects/(?P<name>[A-Za-z0-9%-]*)";

/// Objects at `/objects`, each with a name.
fn objects() -> RestInterface {
    let requests = [
        (
            "POST",
            "/objects".to_owned(),
            ObjectEffect::Create {
                required: vec![path("size")],
            },
        ),
        ("PATCH", OBJECT.to_owned(), ObjectEffect::Merge),
        ("PUT", OBJECT.to_owned(), ObjectEffect::Replace),
        ("DELETE", OBJECT.to_owned(), ObjectEffect::Remove),
        ("GET", OBJECT.to_owned(), ObjectEffect::Read),
        (
            "DELETE",
            format!("{OBJECT}/note"),
            ObjectEffect::RemoveField(path("note")),
        ),
        (
            "POST",
            format!("{OBJECT}/behind/(?P<other>[a-z]*)"),
            ObjectEffect::Move {
                other: "other".to_owned(),
                is_before: false,
            },
        ),
    ];
    let requests = requests.map(|(verb, path, effect)| ObjectRequest {
        request: request(verb, &path),
        effect,
    });
    RestInterface {
        session: RestSession {
            message: path("error.message"),
            ..RestSession::default()
        },
        answers: vec![AnswerShape {
            name: "GET /objects".to_owned(),
            request: request("GET", "/objects"),
            content: json!({"kind": "objects", "items": []}),
            rows: Some(path("items")),
            is_optional: false,
            part: None,
        }],
        objects: vec![ObjectShape {
            answer: "GET /objects".to_owned(),
            lists: vec![ListLevel {
                at: path("items"),
                keys: vec![("name".to_owned(), Some(path("name")))],
            }],
            envelope: path("object"),
            requests: requests.to_vec(),
            ..ObjectShape::default()
        }],
        done: json!({"status": "ok"}),
        refused: json!({"status": "error"}),
        missing: "not here".to_owned(),
        ..RestInterface::default()
    }
}

struct Trial {
    device: RunningStructuralDevice,
    http: Client,
    headers: Vec<(&'static str, String)>,
}

impl Trial {
    async fn of(interface: RestInterface, faults: &[&str]) -> Self {
        let options = StructuralOptions {
            name: "x".to_owned(),
            user: "admin".to_owned(),
            password: "secret".to_owned(),
            interface: StructuralInterface::Rest(Box::new(interface)),
            exchanges_in_memory: 100,
            faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        };
        let device = StructuralDevice::start(options, 0).await.unwrap();
        let http = client_with(&device.ca_pem());
        Self {
            device,
            http,
            headers: vec![("Authorization", "Basic YWRtaW46c2VjcmV0".to_owned())],
        }
    }

    /// The status and the body of the answer to `METHOD /path body`.
    async fn answer(&self, line: &str) -> (u16, Value) {
        let mut words = line.splitn(3, ' ');
        let (verb, target) = (words.next().unwrap(), words.next().unwrap());
        let url = format!("https://127.0.0.1:{}{target}", self.device.address().port());
        let method: Method = verb.parse().unwrap();
        let mut request = self.http.request(method, url);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(words.next().unwrap_or_default().to_owned());
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        let text = response.text().await.unwrap();
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    /// Sends requests and compares status and body; `null` stands for the body of a change.
    async fn check(&self, steps: &[(&str, u16, Value)]) {
        for (line, status, body) in steps {
            let body = if body.is_null() {
                json!({"status": "ok"})
            } else {
                body.clone()
            };
            assert_eq!(self.answer(line).await, (*status, body), "{line}");
        }
    }
}

fn refused(message: &str) -> Value {
    json!({"status": "error", "error": {"message": message}})
}

fn list(items: Value) -> Value {
    json!({"kind": "objects", "items": items})
}

#[tokio::test]
async fn objects_are_created_changed_moved_and_removed() {
    let trial = Trial::of(objects(), &["refuse=^PATCH /objects/a .*9 => too large"]).await;
    trial
        .check(&[
            ("GET /objects", 200, list(json!([]))),
            (
                "POST /objects {\"object\":{\"name\":\"a\",\"size\":1,\"note\":null}}",
                200,
                Value::Null,
            ),
            ("GET /objects", 200, list(json!([{"name": "a", "size": 1}]))),
            (
                "POST /objects {\"object\":{\"name\":\"a\",\"size\":1}}",
                409,
                refused("the object exists already"),
            ),
            (
                "POST /objects {\"name\":\"b\"}",
                400,
                refused("the body has no object at its place"),
            ),
            (
                "PATCH /objects/a {\"object\":{\"note\":\"x\"}}",
                200,
                Value::Null,
            ),
            (
                "PATCH /objects/a {\"object\":{\"size\":9}}",
                400,
                refused("too large"),
            ),
            (
                "PATCH /objects/b {\"object\":{\"note\":\"x\"}}",
                404,
                refused("not here"),
            ),
            (
                "GET /objects/a",
                200,
                json!({"object": {"name": "a", "size": 1, "note": "x"}}),
            ),
            ("DELETE /objects/a/note", 200, Value::Null),
            ("DELETE /objects/a/note", 404, refused("not here")),
            (
                "POST /objects {\"object\":{\"name\":\"b\",\"size\":2}}",
                200,
                Value::Null,
            ),
            ("POST /objects/a/behind/b", 200, Value::Null),
            ("PUT /objects/b {\"object\":{\"size\":3}}", 200, Value::Null),
            (
                "GET /objects",
                200,
                list(json!([{"size": 3, "name": "b"}, {"name": "a", "size": 1}])),
            ),
            ("DELETE /objects/b", 200, Value::Null),
            ("GET /objects", 200, list(json!([{"name": "a", "size": 1}]))),
            (
                "GET /objects?x=1",
                404,
                refused("the structural mock has no answer to this request"),
            ),
        ])
        .await;
    let (status, _) = trial
        .answer("POST /objects {\"object\":{\"name\":\"c\"}}")
        .await;
    assert_eq!(status, 400, "a required field is missing");
}

#[tokio::test]
async fn objects_may_be_members_of_a_map_in_lists_of_any_depth() {
    let mut interface = objects();
    interface.answers[0].content = json!({"zones": [{"id": 1, "racks": {}}]});
    interface.answers[0].rows = None;
    let object = &mut interface.objects[0];
    object.lists = vec![
        ListLevel {
            at: path("zones"),
            keys: vec![("zone".to_owned(), Some(path("id")))],
        },
        ListLevel {
            at: path("racks"),
            keys: vec![("name".to_owned(), None)],
        },
    ];
    object.envelope = path("");
    let create = ObjectEffect::Create {
        required: Vec::new(),
    };
    object.requests = vec![ObjectRequest {
        request: request("PUT", "/zones/(?P<zone>[0-9])/(?P<name>[a-z]*)"),
        effect: create,
    }];
    let trial = Trial::of(interface, &[]).await;
    trial
        .check(&[
            ("PUT /zones/1/left {\"units\":42}", 200, Value::Null),
            ("PUT /zones/2/left {\"units\":42}", 404, refused("not here")),
            (
                "GET /objects",
                200,
                json!({"zones": [{"id": 1, "racks": {"left": {"units": 42}}}]}),
            ),
        ])
        .await;
}

#[tokio::test]
async fn each_parent_has_a_collection() {
    let mut interface = objects();
    let answer = &mut interface.answers[0];
    answer.request = request("GET", "/(?P<zone>[a-z]*)/objects");
    answer.content = json!([]);
    answer.part = Some(PartShape {
        names: vec![("zone".to_owned(), path("zone"))],
        at: path("answer"),
        empty: json!({"answer": {"kind": "objects", "items": []}}),
    });
    let object = &mut interface.objects[0];
    object.lists = vec![
        ListLevel {
            at: path(""),
            keys: vec![("zone".to_owned(), Some(path("zone")))],
        },
        ListLevel {
            at: path("answer.items"),
            keys: vec![("name".to_owned(), Some(path("name")))],
        },
    ];
    object.requests = vec![ObjectRequest {
        request: request("POST", "/(?P<zone>[a-z]*)/objects"),
        effect: ObjectEffect::Create {
            required: Vec::new(),
        },
    }];
    let trial = Trial::of(interface, &[]).await;
    trial
        .check(&[
            ("GET /left/objects", 200, list(json!([]))),
            (
                "POST /left/objects {\"object\":{\"name\":\"a\"}}",
                200,
                Value::Null,
            ),
            ("GET /left/objects", 200, list(json!([{"name": "a"}]))),
            ("GET /right/objects", 200, list(json!([]))),
        ])
        .await;
}

#[tokio::test]
async fn changes_require_the_tag_of_the_object() {
    let mut trial = Trial::of(objects(), &[]).await;
    let create = "POST /objects {\"object\":{\"name\":\"a\",\"size\":1}}";
    trial.check(&[(create, 200, Value::Null)]).await;
    let change = "PATCH /objects/a {\"object\":{\"size\":2}}";
    trial.headers.push(("If-Match", "\"other\"".to_owned()));
    let stale = refused("the object is not as it was read");
    trial.check(&[(change, 412, stale)]).await;
    trial.headers.pop();
    let url = format!(
        "https://127.0.0.1:{}/objects/a",
        trial.device.address().port()
    );
    let read = trial
        .http
        .get(url)
        .header("Authorization", &trial.headers[0].1);
    let tag = read.send().await.unwrap().headers()["etag"]
        .to_str()
        .unwrap()
        .to_owned();
    trial.headers.push(("If-Match", tag));
    trial.check(&[(change, 200, Value::Null)]).await;
}

#[tokio::test]
async fn commit_is_a_task_and_a_refused_one_fails() {
    let mut interface = objects();
    interface.tasks = Some(TaskShape {
        id: path("job"),
        request: Some(request("GET", "/jobs/(?P<id>[0-9]*)")),
        state: path("state"),
        states: ["running", "OK", "FAIL"].map(str::to_owned),
    });
    interface.candidate = Some(CandidateShape {
        begin: None,
        id: JsonPath::default(),
        header: None,
        parameter: None,
        check: None,
        commit: request("POST", "/commit"),
        abort: request("POST", "/revert"),
        committed: json!({"status": "ok"}),
    });
    let trial = Trial::of(interface, &["refuse=^POST /commit$ => it does not compile"]).await;
    let create = "POST /objects {\"object\":{\"name\":\"a\",\"size\":1}}";
    trial
        .check(&[
            (create, 200, Value::Null),
            ("GET /objects", 200, list(json!([]))),
            ("POST /commit", 200, json!({"status": "ok", "job": "1"})),
            ("GET /jobs/1", 200, json!({"status": "ok", "state": "running"})),
            (
                "GET /jobs/1",
                200,
                json!({"status": "ok", "state": "FAIL", "error": {"message": "it does not compile"}}),
            ),
            ("POST /revert", 200, Value::Null),
        ])
        .await;
    trial.device.clear_faults();
    trial
        .check(&[
            (create, 200, Value::Null),
            ("POST /commit", 200, json!({"status": "ok", "job": "2"})),
            (
                "GET /jobs/2",
                200,
                json!({"status": "ok", "state": "running"}),
            ),
            ("GET /jobs/2", 200, json!({"status": "ok", "state": "OK"})),
            ("GET /objects", 200, list(json!([{"name": "a", "size": 1}]))),
        ])
        .await;
}

#[tokio::test]
async fn requests_of_a_transaction_take_effect_together() {
    let mut interface = objects();
    interface.candidate = Some(CandidateShape {
        begin: Some(request("POST", "/transactions")),
        id: path("id"),
        header: None,
        parameter: Some("transaction".to_owned()),
        check: None,
        commit: request("PUT", "/transactions/(?P<id>[0-9]*)"),
        abort: request("DELETE", "/transactions/(?P<id>[0-9]*)"),
        committed: json!({"status": "success"}),
    });
    let trial = Trial::of(interface, &[]).await;
    let body = "{\"object\":{\"name\":\"a\",\"size\":1}}";
    let create = |id: u8| format!("POST /objects?transaction={id} {body}");
    trial
        .check(&[
            (
                "POST /transactions",
                200,
                json!({"status": "ok", "id": "1"}),
            ),
            (&create(1), 200, Value::Null),
            ("DELETE /transactions/1", 200, Value::Null),
            (
                "PUT /transactions/1",
                404,
                refused("there is no transaction 1"),
            ),
            (&create(1), 404, refused("there is no transaction 1")),
            (
                "POST /transactions",
                200,
                json!({"status": "ok", "id": "2"}),
            ),
            (&create(2), 200, Value::Null),
            ("GET /objects", 200, list(json!([]))),
            ("PUT /transactions/2", 200, json!({"status": "success"})),
            ("GET /objects", 200, list(json!([{"name": "a", "size": 1}]))),
        ])
        .await;
}

#[tokio::test]
async fn changes_name_the_number_of_the_configuration() {
    let mut interface = objects();
    interface.version = Some(VersionShape {
        request: request("GET", "/version"),
        at: JsonPath::default(),
        parameter: "version".to_owned(),
        stale_status: 409,
    });
    let trial = Trial::of(interface, &[]).await;
    let body = "{\"object\":{\"name\":\"a\",\"size\":1}}";
    let stale = refused("the configuration has another number");
    trial
        .check(&[
            ("GET /version", 200, json!(1)),
            (&format!("POST /objects {body}"), 409, stale.clone()),
            (&format!("POST /objects?version=1 {body}"), 200, Value::Null),
            ("GET /version", 200, json!(2)),
            ("DELETE /objects/a?version=1", 409, stale),
        ])
        .await;
}

#[tokio::test]
async fn lists_are_divided_into_pages() {
    let item = |name: &str| json!({"name": name});
    let query = |parameter: &str, counter| PageShape::Query {
        parameter: parameter.to_owned(),
        counter,
        others: vec!["limit".to_owned()],
    };
    for (pages, steps) in [
        (
            PageShape::Field(path("next")),
            vec![
                (
                    "/objects",
                    json!({"items": [item("a"), item("b")], "next": "/objects?page=1"}),
                ),
                ("/objects?page=1", json!({"items": [item("c")]})),
            ],
        ),
        (
            query("skip", PageCounter::Objects),
            vec![("/objects?limit=2&skip=2", json!({"items": [item("c")]}))],
        ),
        (
            query("page", PageCounter::Page(1)),
            vec![("/objects?limit=2&page=2", json!({"items": [item("c")]}))],
        ),
    ] {
        let mut interface = objects();
        interface.answers[0].content = json!({"items": [item("a"), item("b"), item("c")]});
        interface.pages = Some(pages);
        let trial = Trial::of(interface, &[]).await;
        for (target, expected) in steps {
            trial
                .check(&[(&format!("GET {target}"), 200, expected)])
                .await;
        }
    }
}

#[tokio::test]
async fn requests_need_the_token_of_a_login() {
    let mut interface = objects();
    interface.session.token = Some(TokenCarrier::Header("X-Token".to_owned(), "T ".to_owned()));
    interface.session.login = Some(TokenLogin {
        request: request("POST", "/login"),
        credentials: Some((path("user"), path("password"))),
        is_form: false,
        token: Some(path("token.value")),
        second: None,
    });
    let mut trial = Trial::of(interface, &["login-refused=1"]).await;
    trial.headers.clear();
    let login = "POST /login {\"user\":\"admin\",\"password\":\"secret\"}";
    let wrong = refused("user or password is wrong");
    trial
        .check(&[
            ("GET /objects", 401, refused("the token is not valid")),
            (login, 401, wrong.clone()),
            (
                "POST /login {\"user\":\"admin\",\"password\":\"x\"}",
                401,
                wrong,
            ),
            (
                login,
                200,
                json!({"status": "ok", "token": {"value": "mock-token-1"}}),
            ),
        ])
        .await;
    trial.headers.push(("X-Token", "T mock-token-1".to_owned()));
    trial.check(&[("GET /objects", 200, list(json!([])))]).await;
    let log = format!("{:?}", trial.device.log().exchanges());
    assert!(
        !log.contains("secret") && !log.contains("mock-token"),
        "{log}"
    );
}

#[tokio::test]
async fn documents_are_written_completely() {
    let mut interface = objects();
    let document = |is_check, path_of: &str| DocumentShape {
        answer: "GET /objects".to_owned(),
        at: path(""),
        request: request("PUT", path_of),
        envelope: path("config"),
        is_check,
    };
    interface.documents = vec![document(true, "/test"), document(false, "/objects")];
    let trial = Trial::of(interface, &[]).await;
    trial
        .check(&[
            ("PUT /test {\"config\":{\"items\":[1]}}", 200, Value::Null),
            ("GET /objects", 200, list(json!([]))),
            (
                "PUT /objects {\"config\":{\"items\":[1]}}",
                200,
                Value::Null,
            ),
            ("GET /objects", 200, json!({"items": [1]})),
            (
                "PUT /objects {}",
                400,
                refused("the body has no document at its place"),
            ),
        ])
        .await;
}
