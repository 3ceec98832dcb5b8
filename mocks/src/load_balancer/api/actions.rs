//! `POST` requests with a command: trust, synchronization and renaming of devices, the license, the password of `root`.

use serde_json::{Value, json};

use super::{Api, WriteResult};
use crate::load_balancer::message::ApiRequest;
use crate::load_balancer::path::FullPath;
use crate::load_balancer::refusal::Refusal;
use crate::load_balancer::schema;
use crate::load_balancer::tree::{Object, Tree};

impl Api {
    /// Executes the command of a request below `/mgmt/tm`; `None` if the path has no commands.
    pub(super) fn action(
        &mut self,
        tree: &mut Tree,
        request: &ApiRequest,
        path: &str,
    ) -> Option<Result<WriteResult, Refusal>> {
        if request.method != "POST" {
            return None;
        }
        let done = match (path, text(request, "command")) {
            ("cm/device", Some("mv")) => rename(tree, request),
            ("cm/add-to-trust", _) => trust(tree, request),
            ("cm/remove-from-trust", _) => distrust(tree, request),
            ("cm/config-sync", _) => synchronize(tree, request).map(|()| {
                self.synced = tree.generation;
            }),
            ("cm", _) => {
                self.synced = tree.generation;
                Ok(())
            }
            ("sys/license", _) => install_license(tree, request),
            _ => return None,
        };
        let mut answer = request.body.clone();
        answer["kind"] = json!(format!("tm:{}:runstate", path.replace('/', ":")));
        Some(done.map(|()| WriteResult::answer(answer)))
    }

    /// Changes the password of `root`.
    pub(super) fn root_password(&mut self, request: &ApiRequest) -> Result<Value, Refusal> {
        let new = required(request, "newPassword")?.to_owned();
        if required(request, "oldPassword")? != self.root_password {
            return Err(Refusal::without_code(
                400,
                "Old password is incorrect.".to_owned(),
            ));
        }
        self.root_password = new;
        Ok(json!({"generation": 0, "lastUpdateMicros": 0}))
    }
}

/// A field of the request as text.
fn text<'a>(request: &'a ApiRequest, name: &str) -> Option<&'a str> {
    request.body.get(name).and_then(Value::as_str)
}

fn required<'a>(request: &'a ApiRequest, name: &str) -> Result<&'a str, Refusal> {
    text(request, name).ok_or_else(|| Refusal::missing(name))
}

/// The command of the request must be this one.
fn check_command(request: &ApiRequest, command: &str) -> Result<(), Refusal> {
    match required(request, "command")? {
        found if found == command => Ok(()),
        found => Err(Refusal::invalid_value("command", &json!(found))),
    }
}

/// The full path of a device.
fn device_path(name: &str) -> String {
    FullPath::parse(name, "Common").text()
}

fn rename(tree: &mut Tree, request: &ApiRequest) -> Result<(), Refusal> {
    let (old, new) = (
        device_path(required(request, "name")?),
        device_path(required(request, "target")?),
    );
    let devices = tree.objects.entry("cm/device".to_owned()).or_default();
    if devices.contains_key(&new) {
        return Err(Refusal::exists("Device", &new, "Common"));
    }
    let mut device = devices
        .remove(&old)
        .ok_or_else(|| Refusal::not_found("Device", &old))?;
    device.path = FullPath::parse(&new, "Common");
    tree.insert("cm/device", device);
    let groups = tree
        .objects
        .get_mut("cm/device-group")
        .into_iter()
        .flatten();
    for (_, group) in groups {
        let members = group.subs.entry("devices".to_owned()).or_default();
        if let Some(mut member) = members.remove(&old) {
            member.path = FullPath::parse(&new, "Common");
            members.insert(new.clone(), member);
        }
    }
    Ok(())
}

fn trust(tree: &mut Tree, request: &ApiRequest) -> Result<(), Refusal> {
    check_command(request, "run")?;
    for name in ["name", "username", "password"] {
        required(request, name)?;
    }
    let is_set = |name: &str| request.body.get(name) == Some(&json!(true));
    if is_set("caDevice") == is_set("nonCaDevice") {
        return Err(Refusal::missing("caDevice"));
    }
    let address = required(request, "device")?;
    let path = device_path(required(request, "deviceName")?);
    if tree.object("cm/device", &path).is_some() {
        return Err(Refusal::exists("Device", &path, "Common"));
    }
    let mut device = Object::new(FullPath::parse(&path, "Common"));
    let kind = schema::kind("cm/device").expect("devices are in the table");
    let defaults = kind.fields.iter();
    let defaults =
        defaults.filter_map(|(name, field)| Some((name.clone(), field.default.clone()?)));
    device.fields = defaults.collect();
    let (host, address) = (json!(device.path.name), json!(address));
    device.fields.insert("hostname".to_owned(), host);
    device.fields.insert("managementIp".to_owned(), address);
    tree.insert("cm/device", device);
    Ok(())
}

fn distrust(tree: &mut Tree, request: &ApiRequest) -> Result<(), Refusal> {
    check_command(request, "run")?;
    required(request, "name")?;
    let path = device_path(required(request, "deviceName")?);
    let devices = tree.objects.entry("cm/device".to_owned()).or_default();
    let removed = devices.remove(&path);
    tree.generation += 1;
    removed
        .map(drop)
        .ok_or_else(|| Refusal::not_found("Device", &path))
}

/// `options: [{"to-group": GROUP}]`.
fn synchronize(tree: &Tree, request: &ApiRequest) -> Result<(), Refusal> {
    check_command(request, "run")?;
    let options = request.body.get("options").and_then(Value::as_array);
    let mut options = options.into_iter().flatten();
    let group = options.find_map(|option| option.get("to-group")?.as_str());
    let group = device_path(group.ok_or_else(|| Refusal::missing("to-group"))?);
    match tree.object("cm/device-group", &group) {
        Some(_) => Ok(()),
        None => Err(Refusal::not_found("Device Group", &group)),
    }
}

fn install_license(tree: &mut Tree, request: &ApiRequest) -> Result<(), Refusal> {
    check_command(request, "install")?;
    let key = required(request, "registrationKey")?;
    let groups: Vec<usize> = key.split('-').map(str::len).collect();
    if groups != [5, 5, 5, 5, 7] {
        return Err(Refusal::invalid_value("registration-key", &json!(key)));
    }
    key.clone_into(&mut tree.license);
    Ok(())
}
