//! What all routes of the OpenAPI document have: descriptions of answers, errors, and the token.

use serde_json::{Map, Value, json};

/// The answers of every route.
const ALWAYS: [&str; 5] = ["400", "401", "403", "429", "500"];

/// Adds to a document what its routes share.
pub(super) fn complete(document: &mut Value) {
    document["components"]["securitySchemes"] = json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of `switchtender access add-token`",
        },
    });
    document["security"] = json!([{ "token": [] }]);
    let paths = document["paths"].as_object_mut();
    let items = paths.into_iter().flat_map(Map::values_mut);
    let operations = items
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut);
    for operation in operations {
        if let Some(responses) = operation["responses"].as_object_mut() {
            complete_responses(responses);
        }
    }
}

fn complete_responses(responses: &mut Map<String, Value>) {
    for status in ALWAYS {
        responses.entry(status).or_insert_with(|| {
            let schema = json!({ "$ref": "#/components/schemas/ErrorBody" });
            json!({ "content": { "application/json": { "schema": schema } } })
        });
    }
    for (status, response) in responses {
        let is_described = response["description"]
            .as_str()
            .is_some_and(|text| !text.is_empty());
        if !is_described {
            response["description"] = description(status).into();
        }
    }
}

fn description(status: &str) -> &'static str {
    match status {
        "200" => "The answer",
        "202" => "The run is stored and waits for its start",
        "204" => "The request had its effect",
        "400" => "The request is invalid",
        "401" => "The token is missing, unknown or expired",
        "403" => "The user lacks the required role, or is the author of the plan",
        "404" => "The device, run or approval is unknown",
        "409" => {
            "The device is never changed or needs an approval, or the plan does not wait for one"
        }
        "410" => "The run was unchanged and is folded; the error has its day",
        "422" => "The body is invalid, or its key belongs to a different request",
        "429" => "Too many requests; the header `Retry-After` has the seconds until the next one",
        "503" => "The store cannot be used, or no run can start",
        _ => "The process failed",
    }
}
