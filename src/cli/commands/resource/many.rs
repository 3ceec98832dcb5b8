//! `resource EXPRESSION TYPE`: the resources of a type on many devices, as a table, CSV or JSON.

use std::sync::Arc;

use serde_json::{Map, Value as Json};
use switchtender_devices::model::{AttributeModel, TypeModel};
use switchtender_devices::value::Value;

use super::format::{TypeResources, attributes, plain_json, secrets_notice, tree};
use super::{OutputChoice, ResourceArgs, find_model, name_on_device, read_error};
use crate::cli::commands::read_many::read_many;
use crate::cli::exit::{CommandError, Exit, eprint_notice, eprint_text, print_json};
use crate::cli::options::global::Global;
use crate::cli::output::device_table::DeviceTable;
use crate::fleet::inspect;
use crate::inventory::{DeviceSelection, range};

/// How a table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableOutput {
    Text,
    Csv,
}

/// A device with its resources.
type DeviceResources = (String, Vec<TypeResources>);

/// Reads a type on the selected devices, and prints its resources, or those with a name.
pub(super) async fn run(
    args: &ResourceArgs,
    global: &Global,
    selection: &DeviceSelection,
    (type_name, name): (&str, Option<&str>),
) -> Result<Exit, CommandError> {
    let output = args.output.unwrap_or(OutputChoice::Table);
    let table = output.table();
    if table.is_none() && output != OutputChoice::Json {
        let error = CommandError::new("several devices can be selected");
        return Err(error.hint(
            "choose --output table, csv or json, or write a file for each with --all --output-dir DIR",
        ));
    }
    let (connector, names) = args.access.select(selection).await?;
    let model = find_model(&connector.registry, type_name)?;
    let is_colored = global.is_stderr_colored();
    let work = {
        let model = Arc::clone(&model);
        move |connector| {
            let model = Arc::clone(&model);
            async move { inspect::instances(&connector, &model).await }
        }
    };
    let all = read_many(&connector, names, is_colored, work).await;
    let mut exit = all.exit;
    let mut found = Vec::new();
    for (device, inspection) in all.read {
        let name = name.map(|name| name_on_device(&inspection.driver, &model, name));
        let mut types = TypeResources::list(inspection, args.show_secrets);
        for of_type in &mut types {
            name.iter().for_each(|name| of_type.select(name));
        }
        found.push((device.to_string(), types));
    }
    if found.is_empty() {
        for (device, error) in &all.unsupported {
            eprint_text(&read_error(device, error).text(is_colored));
            exit = Exit::FAILURE;
        }
        return Ok(exit);
    }
    let unsupported = all.unsupported.iter().map(|(device, _)| device.as_str());
    print_devices(&format!("without the type {}", model.name), unsupported);
    let (with, without): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(_, types)| !types.iter().all(TypeResources::is_empty));
    let what = match name {
        Some(name) => format!("no {} `{name}`", model.name),
        None => format!("no {}", model.name),
    };
    print_devices(&what, without.iter().map(|(device, _)| device.as_str()));
    print_notes(&with);
    match table {
        Some(table) if !with.is_empty() => table.print(&with),
        Some(_) => {}
        None => print_tree(&with),
    }
    // As for one device: a name that no device has is an error.
    if name.is_some() && with.is_empty() {
        exit = Exit::FAILURE;
    }
    Ok(exit)
}

fn print_devices<'a>(what: &str, devices: impl Iterator<Item = &'a str>) {
    let names = range::of_names(devices);
    if !names.is_empty() {
        eprint_notice(&format!("{what}: {}", names.join(", ")));
    }
}

/// What the rows do not say.
fn print_notes(devices: &[DeviceResources]) {
    for (device, types) in devices {
        let lines: usize = types.iter().map(|found| found.not_understood.len()).sum();
        if lines > 0 {
            eprint_notice(&format!("{device}: lines that are not understood: {lines}"));
        }
    }
    let resources = devices.iter().flat_map(|(_, types)| types);
    let resources = resources.flat_map(|found| &found.resources);
    let left_out = resources.filter(|one| !one.left_out.is_empty()).count();
    if let Some(notice) = secrets_notice(left_out, 0) {
        eprint_notice(&notice);
    }
}

/// An object with the resources of each device.
fn print_tree(devices: &[DeviceResources]) {
    let trees = devices.iter().map(|(device, types)| {
        let tree = tree(types, |_, one| attributes(one, plain_json));
        (device.clone(), tree)
    });
    let trees = Json::Object(trees.collect::<Map<_, _>>());
    let text = serde_json::to_string_pretty(&trees).expect("a tree of texts is JSON");
    print_json(&format!("{text}\n"));
}

impl TableOutput {
    /// Prints a row for each resource. Columns without values are left out.
    pub(super) fn print(self, devices: &[DeviceResources]) {
        let table = table(devices);
        match self {
            Self::Text => table.print_text(false),
            Self::Csv => table.print_csv(),
        }
    }
}

/// A row for each resource: device, name and attributes.
fn table(devices: &[DeviceResources]) -> DeviceTable {
    let types = || devices.iter().flat_map(|(_, types)| types);
    let model: Option<&TypeModel> = types().next().map(|found| &*found.model);
    let is_absent = |found: &TypeResources| {
        let mut resources = found.resources.iter();
        resources.any(|one| {
            one.attributes
                .get("ensure")
                .is_some_and(|value| value.as_str() != Some("present"))
        })
    };
    // That all of them exist is no news.
    let has_ensure = types().any(is_absent);
    let columns: Vec<&AttributeModel> = model
        .iter()
        .flat_map(|model| model.attributes.values())
        .filter(|attribute| has_ensure || &*attribute.name != "ensure")
        .collect();
    let mut rows = Vec::new();
    for (device, types) in devices {
        for resource in types.iter().flat_map(|found| &found.resources) {
            let cells = columns.iter().map(|attribute| {
                let value = resource.attributes.get(&attribute.name);
                let value = value.filter(|value| !attribute.is_unset(value));
                value.map_or_else(String::new, cell)
            });
            let first = [device.clone(), resource.title.clone()];
            rows.push(first.into_iter().chain(cells).collect());
        }
    }
    let header = ["device", "name"].into_iter();
    let header = header.chain(columns.iter().map(|attribute| &*attribute.name));
    let table = DeviceTable {
        header: header.map(str::to_owned).collect(),
        rows,
    };
    table.without_empty_columns(2)
}

/// A value without the marks of a language.
fn cell(value: &Value) -> String {
    json_cell(&plain_json(value))
}

fn json_cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(json_cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}
