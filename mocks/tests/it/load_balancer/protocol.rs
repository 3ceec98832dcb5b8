//! Logging in, views of collections, transactions, saving, the log.

use std::time::Duration;

use serde_json::{Value, json};
use switchtender_mocks::{LoadBalancer, LoadBalancerOptions};

use super::client::{Box, answer, start};

async fn login(lb: &Box, user: &str, password: &str) -> (u16, Value) {
    let body = json!({"username": user, "password": password, "loginProviderName": "tmos"});
    answer(lb.request("POST", "shared/authn/login").json(&body)).await
}

async fn with_token(lb: &Box, token: &str) -> u16 {
    answer(
        lb.request("GET", "tm/ltm/pool")
            .header("X-F5-Auth-Token", token),
    )
    .await
    .0
}

#[tokio::test]
async fn tokens_are_valid_until_expiry_or_deletion() {
    let lb = Box::new().await;
    assert_eq!(login(&lb, "admin", "wrong").await.0, 401);
    let (status, body) = login(&lb, "admin", "admin").await;
    assert_eq!(
        (status, body["token"]["timeout"].as_f64()),
        (200, Some(1200.0)),
        "{body}"
    );
    let token = body["token"]["token"].as_str().unwrap().to_owned();
    assert_eq!(with_token(&lb, &token).await, 200);
    assert_eq!(with_token(&lb, "nonsense").await, 401);
    let path = format!("shared/authz/tokens/{token}");
    let (status, body) = answer(
        lb.request("PATCH", &path)
            .header("X-F5-Auth-Token", &token)
            .json(&json!({"timeout": 3600})),
    )
    .await;
    assert_eq!((status, body["timeout"].as_f64()), (200, Some(3600.0)));
    let (status, _) = answer(
        lb.request("PATCH", &path)
            .header("X-F5-Auth-Token", &token)
            .json(&json!({"timeout": 36001})),
    )
    .await;
    assert_eq!(status, 400);
    assert_eq!(lb.running.tokens(), 1);
    assert_eq!(
        answer(
            lb.request("DELETE", &path)
                .header("X-F5-Auth-Token", &token)
        )
        .await
        .0,
        200
    );
    assert_eq!(
        (with_token(&lb, &token).await, lb.running.tokens()),
        (401, 0)
    );

    let lb = start(LoadBalancerOptions {
        token_lifetime: Duration::ZERO,
        ..LoadBalancerOptions::default()
    })
    .await;
    let token = login(&lb, "admin", "admin").await.1["token"]["token"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(with_token(&lb, &token).await, 401, "its time is over");
}

#[tokio::test]
async fn tokens_are_limited_to_one_hundred_per_user() {
    let lb = start(LoadBalancerOptions {
        user: "puppet".into(),
        ..LoadBalancerOptions::default()
    })
    .await;
    for _ in 0..100 {
        assert_eq!(login(&lb, "puppet", "admin").await.0, 200);
    }
    let (status, body) = login(&lb, "puppet", "admin").await;
    assert_eq!(status, 400);
    assert!(
        body["message"]
            .as_str()
            .unwrap()
            .contains("has reached maximum active login tokens"),
        "{body}"
    );
}

#[tokio::test]
async fn authentication_is_required() {
    let lb = start(LoadBalancerOptions {
        tokens: false,
        ..LoadBalancerOptions::default()
    })
    .await;
    assert_eq!(answer(lb.request("GET", "tm/ltm/pool")).await.0, 401);
    assert_eq!(
        answer(
            lb.request("GET", "tm/ltm/pool")
                .basic_auth("admin", Some("wrong"))
        )
        .await
        .0,
        401
    );
    assert_eq!(
        answer(
            lb.request("GET", "tm/ltm/pool")
                .basic_auth("admin", Some("admin"))
        )
        .await
        .0,
        200
    );
    assert_eq!(
        login(&lb, "admin", "admin").await.0,
        404,
        "old releases have no tokens"
    );
}

#[tokio::test]
async fn certificate_is_verified_by_ca_and_fingerprint() {
    let lb = Box::new().await;
    let fingerprint = lb.running.fingerprint();
    assert_eq!(fingerprint.split(':').count(), 32, "{fingerprint}");
    let strict = reqwest::Client::builder()
        .tls_certs_only([])
        .no_proxy()
        .build()
        .unwrap();
    assert!(
        strict.get(lb.url("tm/ltm/pool")).send().await.is_err(),
        "nobody else vouches for it"
    );
}

#[tokio::test]
async fn collections_support_paging_select_and_filter() {
    let lb = Box::new().await;
    lb.done("POST", "auth/partition", json!({"name": "shop"}))
        .await;
    for number in 0..5 {
        lb.done("POST", "ltm/pool", json!({"name": format!("p{number}"), "partition": if number < 2 { "shop" } else { "Common" }})).await;
    }
    let page = lb.get("ltm/pool?$top=2&$skip=2&$select=fullPath").await;
    assert_eq!(
        page["items"],
        json!([{"fullPath": "/Common/p4"}, {"fullPath": "/shop/p0"}])
    );
    assert_eq!(
        page["nextLink"],
        "https://localhost/mgmt/tm/ltm/pool?$top=2&$skip=4&ver=17.1.0"
    );
    for (name, value) in [
        ("currentItemCount", 2),
        ("totalItems", 5),
        ("pageIndex", 2),
        ("totalPages", 3),
    ] {
        assert_eq!(page[name], value, "{name}");
    }
    let last = lb.get("ltm/pool?$top=2&$skip=4").await;
    assert_eq!(
        (last["currentItemCount"].as_u64(), last.get("nextLink")),
        (Some(1), None)
    );
    let shop = lb.get("ltm/pool?$filter=partition+eq+shop").await;
    assert_eq!(shop["items"].as_array().unwrap().len(), 2);
    assert_eq!(
        shop["selfLink"],
        "https://localhost/mgmt/tm/ltm/pool?ver=17.1.0"
    );
    let plain = lb.get("ltm/pool/~shop~p0").await;
    assert_eq!(
        plain["membersReference"],
        json!({"link": "https://localhost/mgmt/tm/ltm/pool/~shop~p0/members?ver=17.1.0", "isSubcollection": true})
    );
}

async fn queue(lb: &Box, transaction: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
    let request = lb
        .request(method, &format!("tm/{path}"))
        .basic_auth("admin", Some("admin"));
    answer(
        request
            .header("X-F5-REST-Coordination-Id", transaction)
            .json(&body),
    )
    .await
}

async fn open(lb: &Box) -> String {
    let body = lb.done("POST", "transaction", json!({})).await;
    assert_eq!(
        (body["state"].as_str(), body["timeoutSeconds"].as_u64()),
        (Some("STARTED"), Some(120))
    );
    body["transId"].as_u64().unwrap().to_string()
}

#[tokio::test]
async fn transaction_is_validated_at_commit_and_is_atomic() {
    let lb = Box::new().await;
    // In an order that would be refused one by one.
    let id = open(&lb).await;
    let (status, first) = queue(
        &lb,
        &id,
        "POST",
        "ltm/virtual",
        json!({"name": "vs", "destination": "10.0.0.1:80", "pool": "/Common/p"}),
    )
    .await;
    assert_eq!(
        (
            status,
            first["commandId"].as_u64(),
            first["evalOrder"].as_u64()
        ),
        (200, Some(1), Some(1)),
        "{first}"
    );
    queue(&lb, &id, "POST", "ltm/pool", json!({"name": "p"})).await;
    assert!(
        lb.get("ltm/pool").await.get("items").is_none(),
        "nothing has happened yet"
    );
    let commands = lb.get(&format!("transaction/{id}/commands")).await;
    assert_eq!(commands["items"].as_array().unwrap().len(), 2);
    let done = lb
        .done(
            "PATCH",
            &format!("transaction/{id}"),
            json!({"state": "VALIDATING"}),
        )
        .await;
    assert_eq!(done["state"], "COMPLETED");
    assert_eq!(lb.get("ltm/virtual/~Common~vs").await["pool"], "/Common/p");

    let id = open(&lb).await;
    queue(
        &lb,
        &id,
        "PATCH",
        "ltm/pool/~Common~p",
        json!({"description": "changed"}),
    )
    .await;
    queue(
        &lb,
        &id,
        "PATCH",
        "ltm/virtual/~Common~vs",
        json!({"pool": "/Common/none"}),
    )
    .await;
    let (status, message) = lb
        .refused(
            "PATCH",
            &format!("transaction/{id}"),
            json!({"state": "VALIDATING"}),
        )
        .await;
    assert_eq!(
        (status, message.as_str()),
        (
            400,
            "transaction failed:01020036:3: The requested Pool (/Common/none) was not found."
        )
    );
    let failed = lb.get(&format!("transaction/{id}")).await;
    assert_eq!(
        (failed["state"].as_str(), failed["failureReason"].as_str()),
        (Some("FAILED"), message.strip_prefix("transaction failed:"))
    );
    assert!(
        lb.get("ltm/pool/~Common~p")
            .await
            .get("description")
            .is_none(),
        "all or nothing"
    );
}

#[tokio::test]
async fn transaction_can_be_validated_reordered_and_deleted() {
    let lb = Box::new().await;
    let id = open(&lb).await;
    queue(
        &lb,
        &id,
        "PATCH",
        "ltm/pool/~Common~p",
        json!({"description": "later"}),
    )
    .await;
    queue(&lb, &id, "POST", "ltm/pool", json!({"name": "p"})).await;
    lb.done(
        "PATCH",
        &format!("transaction/{id}/commands/1"),
        json!({"evalOrder": 3}),
    )
    .await;
    let path = format!("transaction/{id}");
    let only = lb
        .done(
            "PATCH",
            &path,
            json!({"state": "VALIDATING", "validateOnly": true}),
        )
        .await;
    assert_eq!(
        (only["state"].as_str(), only["validateOnly"].as_bool()),
        (Some("COMPLETED"), Some(true))
    );
    assert!(lb.get("ltm/pool").await.get("items").is_none());
    lb.done("PATCH", &path, json!({"state": "VALIDATING"}))
        .await;
    assert_eq!(lb.get("ltm/pool/~Common~p").await["description"], "later");
    lb.done("DELETE", &path, Value::Null).await;
    assert_eq!(lb.refused("GET", &path, Value::Null).await.0, 404);

    let lb = start(LoadBalancerOptions {
        transaction_timeout: Duration::ZERO,
        ..LoadBalancerOptions::default()
    })
    .await;
    let id = lb.done("POST", "transaction", json!({})).await["transId"]
        .as_u64()
        .unwrap();
    assert_eq!(
        lb.refused(
            "PATCH",
            &format!("transaction/{id}"),
            json!({"state": "VALIDATING"})
        )
        .await
        .0,
        404,
        "its time is over"
    );
}

#[tokio::test]
async fn config_save_and_sync_are_reported() {
    let lb = Box::new().await;
    let status = |value: &Value| {
        let entries = value["entries"].as_object().unwrap();
        entries.values().next().unwrap()["nestedStats"]["entries"]["status"]["description"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(lb.running.is_saved());
    assert_eq!(status(&lb.get("cm/sync-status").await), "In Sync");
    lb.done("PATCH", "sys/ntp", json!({"timezone": "UTC"}))
        .await;
    assert!(!lb.running.is_saved());
    assert_eq!(status(&lb.get("cm/sync-status").await), "Changes Pending");
    lb.done("POST", "sys/config", json!({"command": "save"}))
        .await;
    lb.done(
        "POST",
        "cm/config-sync",
        json!({"command": "run", "options": [{"to-group": "/Common/device_trust_group"}]}),
    )
    .await;
    assert!(lb.running.is_saved());
    assert_eq!(status(&lb.get("cm/sync-status").await), "In Sync");
}

#[tokio::test]
async fn exchange_log_omits_logins() {
    let lb = Box::new().await;
    login(&lb, "admin", "admin").await;
    lb.done("POST", "ltm/pool", json!({"name": "p"})).await;
    lb.get("ltm/pool?$top=1").await;
    let log = lb.running.log();
    assert_eq!(
        log.received(),
        [
            "POST /mgmt/shared/authn/login",
            "POST /mgmt/tm/ltm/pool {\"name\":\"p\"}",
            "GET /mgmt/tm/ltm/pool?$top=1"
        ]
    );
    assert_eq!(log.writes(), ["POST /mgmt/tm/ltm/pool {\"name\":\"p\"}"]);
    assert_eq!(log.exchanges()[1].status, Some(200));
    assert_eq!(log.connections(), 1, "the connection is kept");
}

#[tokio::test]
async fn initial_configuration_creates_objects() {
    let config = json!({"POST /mgmt/tm/auth/partition": {"name": "shop"}, "POST /mgmt/tm/ltm/pool": {"name": "p", "partition": "shop"}});
    let lb = start(LoadBalancerOptions {
        config: Some(config),
        ..LoadBalancerOptions::default()
    })
    .await;
    assert_eq!(lb.running.get("ltm/pool/~shop~p").unwrap()["name"], "p");
    assert!(lb.running.is_saved() && lb.running.get("ltm/pool/~shop~q").is_none());
    let wrong = json!([["POST /mgmt/tm/ltm/pool", {"name": "p", "partition": "nowhere"}]]);
    let error = LoadBalancer::start(
        LoadBalancerOptions {
            config: Some(wrong),
            ..LoadBalancerOptions::default()
        },
        0,
    )
    .await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("POST /mgmt/tm/ltm/pool") && error.contains("/nowhere"),
        "{error}"
    );
}
