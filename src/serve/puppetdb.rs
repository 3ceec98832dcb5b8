//! Facts and reports for PuppetDB: *replace facts*, version 5, and *store report*, version 8.

pub(crate) mod delivery;

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use crate::history::puppetdb_commands::PuppetDbCommand;

/// The commands of a run. `report` is in Puppet's format 12.
pub(super) fn commands(
    certname: &str,
    facts: Option<&BTreeMap<String, String>>,
    report: &Json,
    ended: &str,
) -> Vec<PuppetDbCommand> {
    let environment = report["environment"].as_str().unwrap_or("production");
    let command = |command, version, body: Json| PuppetDbCommand {
        command,
        version,
        certname: certname.to_owned(),
        produced: ended.to_owned(),
        body: body.to_string(),
    };
    let facts = facts.map(|values| {
        let body = json!({
            "certname": certname,
            "environment": environment,
            "values": values,
            "producer_timestamp": ended,
            "producer": null,
        });
        command("replace_facts", 5, body)
    });
    let report = command("store_report", 8, report_body(certname, report, ended));
    facts.into_iter().chain([report]).collect()
}

fn report_body(certname: &str, report: &Json, ended: &str) -> Json {
    let copied = [
        "puppet_version",
        "report_format",
        "transaction_uuid",
        "catalog_uuid",
        "code_id",
        "job_id",
        "cached_catalog_status",
        "status",
        "noop",
        "noop_pending",
        "corrective_change",
    ];
    let mut body: Map<String, Json> = copied
        .iter()
        .map(|key| ((*key).to_owned(), report[*key].clone()))
        .collect();
    let version = match &report["configuration_version"] {
        Json::String(text) => text.clone(),
        Json::Null => "unknown".to_owned(),
        other => other.to_string(),
    };
    let environment = report["environment"].as_str().unwrap_or("production");
    let own = json!({
        "certname": certname,
        "configuration_version": version,
        "environment": environment,
        "start_time": report["time"],
        "end_time": ended,
        "producer_timestamp": ended,
        "producer": null,
        "type": "agent",
        "logs": logs(report),
        "metrics": metrics(report),
        "resources": resources(report),
    });
    if let Json::Object(own) = own {
        body.extend(own);
    }
    Json::Object(body)
}

fn logs(report: &Json) -> Vec<Json> {
    let logs = report["logs"].as_array().into_iter().flatten();
    let keys = ["level", "message", "source", "tags", "time", "file", "line"];
    logs.map(|log| copy(log, &keys)).collect()
}

fn metrics(report: &Json) -> Vec<Json> {
    let metrics = report["metrics"].as_object().into_iter().flatten();
    metrics
        .flat_map(|(category, metric)| {
            let values = metric["values"].as_array().into_iter().flatten();
            values.map(
                move |value| json!({ "category": category, "name": value[0], "value": value[2] }),
            )
        })
        .collect()
}

fn resources(report: &Json) -> Vec<Json> {
    let statuses = report["resource_statuses"]
        .as_object()
        .into_iter()
        .flatten();
    statuses
        .map(|(_, status)| {
            let events = status["events"].as_array().into_iter().flatten();
            let events: Vec<Json> = events.map(event).collect();
            json!({
                "skipped": status["skipped"],
                "timestamp": status["time"],
                "resource_type": status["resource_type"],
                "resource_title": status["title"],
                "file": status["file"],
                "line": status["line"],
                "containment_path": status["containment_path"],
                "corrective_change": status["corrective_change"],
                "events": events,
            })
        })
        .collect()
}

fn event(event: &Json) -> Json {
    json!({
        "status": event["status"],
        "timestamp": event["time"],
        "property": event["property"],
        "name": event["name"],
        "new_value": event["desired_value"],
        "old_value": event["previous_value"],
        "message": event["message"],
        "corrective_change": event["corrective_change"],
    })
}

fn copy(from: &Json, keys: &[&str]) -> Json {
    let keys = keys.iter();
    let entries = keys.map(|key| ((*key).to_owned(), from[*key].clone()));
    Json::Object(entries.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_has_the_keys_of_version_8() {
        // The list is that of PuppetDB's documentation, "Report format, version 8".
        let required = [
            "cached_catalog_status",
            "catalog_uuid",
            "certname",
            "code_id",
            "configuration_version",
            "corrective_change",
            "end_time",
            "environment",
            "job_id",
            "logs",
            "metrics",
            "noop",
            "noop_pending",
            "producer",
            "producer_timestamp",
            "puppet_version",
            "report_format",
            "resources",
            "start_time",
            "status",
            "transaction_uuid",
            "type",
        ];
        let report = json!({
            "host": "sw1.lab.test", "time": "2026-11-24T12:00:00Z", "report_format": 12,
            "puppet_version": "7.0", "status": "changed", "noop": false, "noop_pending": false,
            "configuration_version": 17, "environment": null, "corrective_change": false,
            "logs": [{"level": "notice", "message": "m", "source": "s", "tags": ["notice"],
                      "time": "t", "file": null, "line": null}],
            "metrics": {"time": {"values": [["total", "Total", 1.5]]}},
            "resource_statuses": {"Network_vlan[42]": {
                "title": "42", "resource_type": "Network_vlan", "skipped": false, "time": "t",
                "file": "site.pp", "line": 3, "containment_path": ["Stage[main]"],
                "corrective_change": false, "operations": [{"line": "name x"}],
                "events": [{"status": "success", "time": "t", "property": "name",
                            "name": "name_changed", "desired_value": "b", "previous_value": "a",
                            "message": "changed", "corrective_change": false}],
            }},
        });
        let facts = BTreeMap::from([("model".to_owned(), "C9300".to_owned())]);
        let ended = "2026-11-24T12:00:02Z";
        let [replace, store] = &commands("sw1.lab.test", Some(&facts), &report, ended)[..] else {
            panic!("two commands");
        };
        let body: Json = serde_json::from_str(&replace.body).unwrap();
        assert_eq!((replace.command, replace.version), ("replace_facts", 5));
        assert_eq!(body["values"], json!({"model": "C9300"}));
        let body: Json = serde_json::from_str(&store.body).unwrap();
        assert_eq!((store.command, store.version), ("store_report", 8));
        let mut keys: Vec<&str> = body
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        keys.sort_unstable();
        assert_eq!(keys, required);
        assert_eq!(body["configuration_version"], "17");
        let metric = json!({"category": "time", "name": "total", "value": 1.5});
        assert_eq!(body["metrics"], json!([metric]));
        assert_eq!(body["resources"][0]["resource_title"], "42");
        assert_eq!(body["resources"][0]["events"][0]["new_value"], "b");
        assert_eq!(body["resources"][0]["operations"], Json::Null);
    }
}
