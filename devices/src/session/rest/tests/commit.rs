//! Writes: their outcomes, repetitions and the save request.

use super::*;

#[tokio::test]
async fn commit_reports_writes_as_answered() {
    let pool = "/mgmt/tm/ltm/pool";
    let server = serve(script(&[
        ("POST /mgmt/tm/ltm/pool", &[Reply::Json(200, "{}")]),
        (
            "PATCH /mgmt/tm/ltm/pool/~Common~web",
            &[Reply::Json(400, r#"{"code":400,"message":"01070734:3: Configuration error: the secret top-secret is \"bad\""}"#)],
        ),
        ("DELETE /mgmt/tm/ltm/pool/~Common~gone", &[Reply::HangUp, Reply::Json(404, r#"{"message":"was not found."}"#)]),
    ]))
    .await;
    let mut session = open(&target(&server)).await.expect("opened");
    let mut body = Text::plain(r#"{"password":""#);
    body.push_secret("top-secret");
    body.push(r#""}"#);
    let operations = [
        operation(
            Method::Post,
            pool,
            Some(Text::plain(r#"{"name":"web"}"#)),
            false,
        ),
        operation(Method::Delete, &format!("{pool}/~Common~gone"), None, true),
        operation(
            Method::Patch,
            &format!("{pool}/~Common~web"),
            Some(body),
            true,
        ),
        operation(Method::Post, pool, None, false),
    ];
    assert_eq!(
        commit(&mut session, &operations).await,
        [
            "done",
            "done: was not found.",
            "refused: Configuration error: the secret •••• is \"bad\" (01070734:3)",
            "not sent",
        ]
    );
    assert_eq!(session.statistics().writes, 3);
}

#[tokio::test]
async fn commit_reports_unknown_after_a_lost_answer() {
    for fault in [Reply::HangUp, Reply::Half, Reply::Nothing] {
        let line = "POST /mgmt/tm/ltm/pool";
        let server = serve(script(&[(line, std::slice::from_ref(&fault))])).await;
        let mut target = target(&server);
        if matches!(fault, Reply::Nothing) {
            target.command_timeout = LONG_ENOUGH_TO_LOG_IN;
        }
        let mut session = open(&target).await.expect("opened");
        let post = operation(Method::Post, "/mgmt/tm/ltm/pool", None, false);
        let outcomes = commit(&mut session, &[post.clone(), post]).await;
        assert!(outcomes[0].starts_with("unknown: "), "{outcomes:?}");
        assert_eq!(outcomes[1], "not sent");
        assert_eq!(seen(&server).iter().filter(|seen| *seen == line).count(), 1);
    }
}

#[tokio::test]
async fn commit_repeats_an_idempotent_write() {
    let line = "PATCH /mgmt/tm/sys/ntp";
    let good = Reply::Json(200, "{}");
    let server = serve(script(&[(
        line,
        &[Reply::HangUp, Reply::Json(503, "{}"), good],
    )]))
    .await;
    let mut session = open(&target(&server)).await.expect("opened");
    let patch = operation(
        Method::Patch,
        "/mgmt/tm/sys/ntp",
        Some(Text::plain("{}")),
        true,
    );
    assert_eq!(commit(&mut session, &[patch]).await, ["done"]);
}

#[tokio::test]
async fn save_sends_the_save_request() {
    let save = "POST /mgmt/tm/sys/config";
    let server = serve(script(&[(save, &[Reply::Json(200, "{}")])])).await;
    let mut session = open(&target(&server)).await.expect("opened");
    session.save().await.expect("saved");
    assert_eq!(
        seen(&server)[1],
        format!("{save} {}", r#"{"command":"save"}"#)
    );
}

#[tokio::test]
async fn deletion_of_a_missing_object_is_done() {
    // docs/reference/devices/f5_bigip.md section 4.
    let missing = || {
        Reply::Json(
            404,
            r#"{"code":404,"message":"01020036:3: The requested Pool (/Common/web) was not found.","errorStack":[],"apiError":3}"#,
        )
    };
    let done = "done: The requested Pool (/Common/web) was not found. (01020036:3)";
    let unregistered = Reply::Json(
        404,
        r#"{"code":404,"message":"Public URI path not registered: /mgmt/tm"}"#,
    );
    let cases: [(&[Reply], &str); 5] = [
        (&[missing()], done),
        (&[Reply::HangUp, missing()], done),
        (&[Reply::Json(503, "{}"), missing()], done),
        (
            std::slice::from_ref(&unregistered),
            "refused: Public URI path not registered: /mgmt/tm",
        ),
        (&[Reply::Json(404, "")], "refused: status 404"),
    ];
    for (replies, expected) in cases {
        let line = "DELETE /mgmt/tm/ltm/pool/~Common~web";
        let server = serve(script(&[(line, replies)])).await;
        let mut session = open(&target(&server)).await.expect("opened");
        let delete = operation(Method::Delete, "/mgmt/tm/ltm/pool/~Common~web", None, true);
        assert_eq!(commit(&mut session, &[delete]).await, [expected]);
    }
}
