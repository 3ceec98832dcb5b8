//! Facts and reports for PuppetDB: *replace facts*, version 5, and *store report*, version 8.

pub(crate) mod delivery;

use serde_json::{Value as Json, json};

use crate::catalog::rich_data;
use crate::clock::puppet_time;
use crate::history::puppetdb_commands::PuppetDbCommand;
use crate::report::RunRecord;
use crate::report::puppet_report::{PuppetLog, PuppetReport};
use crate::transaction::{Event, ResourceStatus};

/// The commands of a run.
pub(super) fn commands(certname: &str, record: &RunRecord, ended: &str) -> Vec<PuppetDbCommand> {
    let command = |command: &'static str, version, body: Json| PuppetDbCommand {
        command: command.into(),
        version,
        certname: certname.to_owned(),
        produced: ended.to_owned(),
        body: body.to_string(),
    };
    let facts = record.facts.as_ref().map(|values| {
        let body = json!({
            "certname": certname,
            "environment": environment(record),
            "values": values,
            "producer_timestamp": ended,
            "producer": null,
        });
        command("replace_facts", 5, body)
    });
    let report = command("store_report", 8, report_body(certname, record, ended));
    facts.into_iter().chain([report]).collect()
}

fn environment(record: &RunRecord) -> &str {
    record.environment.as_deref().unwrap_or("production")
}

fn report_body(certname: &str, record: &RunRecord, ended: &str) -> Json {
    let report = PuppetReport::from(record);
    let version = record.version();
    let metrics = record.metrics().into_iter().flat_map(|metric| {
        let category = metric.name;
        let values = metric.values.into_iter();
        values
            .map(move |(name, value)| json!({ "category": category, "name": name, "value": value }))
    });
    let logs = record.logs.iter().map(|entry| PuppetLog::from(&**entry));
    let resources = record.resources.iter().map(|status| resource(status));
    json!({
        "puppet_version": report.puppet_version,
        "report_format": report.report_format,
        "transaction_uuid": report.transaction_uuid,
        "catalog_uuid": report.catalog_uuid,
        "code_id": report.code_id,
        "job_id": report.job_id,
        "cached_catalog_status": report.cached_catalog_status,
        "status": report.status,
        "noop": report.noop,
        "noop_pending": report.noop_pending,
        "corrective_change": report.corrective_change,
        "certname": certname,
        "configuration_version": version.as_deref().unwrap_or("unknown"),
        "environment": environment(record),
        "start_time": puppet_time(record.context.time),
        "end_time": ended,
        "producer_timestamp": ended,
        "producer": null,
        "type": "agent",
        "logs": logs.collect::<Vec<_>>(),
        "metrics": metrics.collect::<Vec<_>>(),
        "resources": resources.collect::<Vec<_>>(),
    })
}

fn resource(status: &ResourceStatus) -> Json {
    json!({
        "skipped": status.is_skipped(),
        "timestamp": puppet_time(status.time),
        "resource_type": status.reference.type_name(),
        "resource_title": status.reference.title(),
        "file": status.file,
        "line": status.line,
        "containment_path": status.containment_path,
        "corrective_change": status.corrective_change,
        "events": status.events.iter().map(event).collect::<Vec<_>>(),
    })
}

fn event(event: &Event) -> Json {
    json!({
        "status": event.status,
        "timestamp": puppet_time(event.time),
        "property": event.property,
        "name": event.name,
        "new_value": event.desired_value.as_ref().map(rich_data::write_plain),
        "old_value": event.previous_value.as_ref().map(rich_data::write_plain),
        "message": event.message,
        "corrective_change": event.corrective_change,
    })
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
                      "time": "2026-11-24T12:00:00Z", "file": null, "line": null}],
            "metrics": {"time": {"values": [["total", "Total", 1.5]]}},
            "resource_statuses": {"Network_vlan[42]": {
                "title": "42", "resource_type": "Network_vlan", "skipped": false, "time": "2026-11-24T12:00:00Z",
                "file": "site.pp", "line": 3, "containment_path": ["Stage[main]"],
                "corrective_change": false, "operations": [{"line": "name x", "outcome": "done"}],
                "events": [{"status": "success", "time": "2026-11-24T12:00:00Z", "property": "name",
                            "name": "name_changed", "desired_value": "b", "previous_value": "a",
                            "message": "changed", "corrective_change": false}],
            }},
        });
        let mut record = RunRecord::of_json(report.to_string().as_bytes()).unwrap();
        let facts = [("model".to_owned(), "C9300".to_owned())];
        record.facts = Some(facts.into());
        let ended = "2026-11-24T12:00:02Z";
        let [replace, store] = &commands("sw1.lab.test", &record, ended)[..] else {
            panic!("two commands");
        };
        let body: Json = serde_json::from_str(&replace.body).unwrap();
        assert_eq!((&*replace.command, replace.version), ("replace_facts", 5));
        assert_eq!(body["values"], json!({"model": "C9300"}));
        let body: Json = serde_json::from_str(&store.body).unwrap();
        assert_eq!((&*store.command, store.version), ("store_report", 8));
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
        let metrics = body["metrics"].as_array().unwrap();
        assert!(metrics.contains(&metric), "{metrics:?}");
        assert_eq!(body["resources"][0]["resource_title"], "42");
        assert_eq!(body["resources"][0]["events"][0]["new_value"], "b");
        assert_eq!(body["resources"][0]["operations"], Json::Null);
    }
}
