//! `switchtender resource`: the resources on a device, as in a manifest.

use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Map, Value as Json};
use switchtender_devices::change::{Instance, Wanted};
use switchtender_devices::diagnostic::nearest;
use switchtender_devices::driver::{Driver, ProblemKind};
use switchtender_devices::model::TypeModel;
use switchtender_devices::session::Access;
use switchtender_devices::value::{Attributes, Value};
use tracing::Instrument as _;

use super::block_on;
use super::exit::{CommandError, Exit, eprint_notice, print};
use super::one_device::OneDevice;
use super::view::{of_device, puppet_code};
use crate::catalog::rich_data;
use crate::fleet::inspect::{self, InspectError};
use crate::telemetry::device_span;

/// Show the resources of a type on a device
#[derive(Debug, clap::Args)]
pub struct ResourceArgs {
    #[command(flatten)]
    device: OneDevice,

    /// Type, such as network_vlan
    #[arg(value_name = "TYPE")]
    type_name: String,

    /// Show only the resource with this name
    #[arg(value_name = "NAME")]
    name: Option<String>,

    /// Puppet code, YAML (as Hiera takes it) or JSON
    #[arg(short, long, value_enum, default_value_t = ResourceFormat::Puppet)]
    format: ResourceFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceFormat {
    Puppet,
    Yaml,
    Json,
}

pub fn run(args: &ResourceArgs) -> Result<Exit, CommandError> {
    block_on(async {
        let (connector, device) = args.device.connector().await?;
        let type_name = args.type_name.to_lowercase();
        let Some(model) = connector.registry.model(&type_name).cloned() else {
            let names = connector.registry.models().map(|model| model.name.as_str());
            let error = CommandError::new(format!("unknown type `{}`", args.type_name));
            return Err(match nearest(&type_name, names) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("list the types with `switchtender driver list`"),
            });
        };
        let read = async {
            let device = &connector.inventory.devices[&device];
            let connector = connector.connector(device, Access::ReadOnly).await?;
            inspect::instances(&connector, &model).await
        };
        let instances = read
            .instrument(device_span(&device))
            .await
            .map_err(|error| {
                let findings = match &error {
                    InspectError::Run(error) => error.findings().to_vec(),
                    _ => Vec::new(),
                };
                CommandError {
                    hint: error.hint(),
                    findings,
                    ..CommandError::new(of_device(&device, &error))
                }
            })?;
        let (driver, instances) = instances;
        let mut resources: Vec<ManifestResource> = instances
            .into_iter()
            .map(|instance| ManifestResource::new(&driver, &model, instance))
            .collect();
        if let Some(name) = &args.name {
            let name = name_on_device(&driver, &model, name);
            resources.retain(|one| one.title.eq_ignore_ascii_case(&name));
            if resources.is_empty() {
                return Err(CommandError::new(format!(
                    "{device} has no {type_name} `{name}`"
                )));
            }
        }
        if resources.is_empty() && args.format == ResourceFormat::Puppet {
            eprint_notice(&format!("{device} has no {type_name}"));
        }
        print(&render(args.format, &type_name, &resources));
        Ok(Exit::SUCCESS)
    })
}

/// The name in the platform's own spelling: `GigabitEthernet1/0/1` for `Gi1/0/1`.
fn name_on_device(driver: &Driver, model: &TypeModel, name: &str) -> String {
    let namevars: Vec<&str> = model.namevars().collect();
    let [namevar] = namevars[..] else {
        return name.to_owned();
    };
    let given = Attributes::from_iter([(namevar.to_owned(), Value::string(name))]);
    match driver.canonicalize(model, given) {
        Ok(spelt) => spelt.get(namevar).map_or(name.to_owned(), Value::ruby_to_s),
        Err(_) => name.to_owned(),
    }
}

/// An instance as a resource of a manifest: `ensure` first, the namevar as the title.
pub(crate) struct ManifestResource {
    pub(crate) title: String,
    attributes: Attributes,
    /// Why a manifest cannot manage it.
    unmanageable: Option<String>,
}

impl ManifestResource {
    pub(crate) fn new(driver: &Driver, model: &Arc<TypeModel>, instance: Instance) -> Self {
        let namevars: Vec<&str> = model.namevars().collect();
        let names = namevars
            .iter()
            .filter_map(|name| instance.attributes.get(name))
            .map(Value::ruby_to_s);
        let title = names.collect::<Vec<_>>().join(" ");
        let wanted = Wanted {
            reference: title.as_str().into(),
            model: Arc::clone(model),
            attributes: instance.attributes.clone(),
        };
        let problems = driver.check(&wanted);
        let is_reserved = problems
            .iter()
            .any(|problem| problem.kind == ProblemKind::Reserved);
        let broken = model.check_rules(&instance.attributes).into_iter().next();
        let unmanageable = if is_reserved {
            Some("part of the device, cannot be managed".to_owned())
        } else if let Some(line) = &instance.not_understood {
            Some(format!("not understood, `{line}`"))
        } else {
            broken.map(|error| format!("cannot be managed as it is, {error}"))
        };
        let mut attributes = Attributes::default();
        if model.is_ensurable() {
            attributes.insert("ensure".to_owned(), Value::string("present"));
        }
        for (name, value) in instance.attributes {
            // An unset secret is not a secret.
            let value = match value {
                Value::Sensitive(inner) if inner.as_str() == Some("unset") => *inner,
                other => other,
            };
            let unset = matches!(value, Value::Undef | Value::Absent);
            if !unset && (namevars.len() > 1 || !namevars.contains(&name.as_str())) {
                attributes.insert(name, value);
            }
        }
        Self {
            title,
            attributes,
            unmanageable,
        }
    }

    /// Puppet code; a comment if the resource cannot be managed.
    fn code(&self, type_name: &str) -> String {
        let code = puppet_code::resource(type_name, &self.title, &self.attributes);
        let Some(reason) = &self.unmanageable else {
            return code;
        };
        let lines = code.lines().map(|line| format!("# {line}\n"));
        format!("# {reason}:\n") + &lines.collect::<String>()
    }
}

pub(crate) fn render(
    format: ResourceFormat,
    type_name: &str,
    resources: &[ManifestResource],
) -> String {
    let tree = || {
        let resources: Map<String, Json> = resources
            .iter()
            .map(|one| {
                let attributes = one.attributes.iter();
                let attributes = attributes
                    .map(|(name, value)| (name.to_string(), rich_data::write_plain(value)));
                (one.title.clone(), Json::Object(attributes.collect()))
            })
            .collect();
        Json::Object(Map::from_iter([(
            type_name.to_owned(),
            Json::Object(resources),
        )]))
    };
    match format {
        ResourceFormat::Puppet => {
            let code = resources.iter().map(|one| one.code(type_name));
            code.collect::<Vec<_>>().join("\n")
        }
        ResourceFormat::Json => {
            serde_json::to_string_pretty(&tree()).expect("a tree of texts is JSON") + "\n"
        }
        ResourceFormat::Yaml => serde_saphyr::to_string(&tree()).expect("a tree of texts is YAML"),
    }
}
