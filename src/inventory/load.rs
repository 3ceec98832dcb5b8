//! From the text of an inventory to its devices, or to everything that is wrong with it.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use switchtender_devices::diagnostic::{Diagnostic, Severity, Source, nearest};
use switchtender_devices::document::{self, Findings, Table as Document};
use switchtender_devices::map::IndexMap;

use super::check::check;
use super::device::Declared;
use super::file_context::{FileContext, masked};
use super::layer::{Jump, Layer};
use super::permission::readable_by_others;
use super::secret_source::SecretSource;
use super::setting::{Setting, Table};
use super::{Inventory, Limits, surroundings};

/// The largest inventory that is read: a hundred thousand devices with room to spare.
const LARGEST: u64 = 64 << 20;

/// How to read an inventory.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Names of the platforms that there are; `None` leaves platforms unchecked.
    pub platforms: Option<BTreeSet<String>>,
    /// Accept secrets in files that others can read.
    pub allow_readable: bool,
    /// Look at the files that the inventory names, too, and tell which a run would miss.
    pub surroundings: bool,
}

impl Inventory {
    /// Reads a file. All mistakes are returned together, in the order of the file.
    pub fn load(path: &Path, reading: &Reading) -> Result<Self, Vec<Diagnostic>> {
        let name = path.display().to_string();
        let (text, mode) = read(path).map_err(|why| {
            let hint = "name the inventory with --inventory FILE";
            vec![
                Diagnostic::error(
                    "cannot-read",
                    format!("cannot read inventory {name}: {why}"),
                )
                .help(hint),
            ]
        })?;
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&name, &text, base, mode, reading)
    }

    /// Reads the text of an inventory whose relative paths start at `base`. `readable` is the
    /// mode of its file if others can read it.
    pub fn parse(
        name: &str,
        text: &str,
        base: &Path,
        readable: Option<u32>,
        reading: &Reading,
    ) -> Result<Self, Vec<Diagnostic>> {
        let file = FileContext { base, text };
        let source = Source::new(name, masked(text));
        let findings = Findings::new(&source);
        let (devices, limits, allow_readable) = document::read(&findings, |root| {
            let allowed = root.bool("allow_readable").unwrap_or(false) || reading.allow_readable;
            let limits = root.table("limits").map(|table| read_limits(&table));
            let defaults = root.table("defaults").map(|table| {
                let layer = Layer::read(&table, &Table::Defaults, &file);
                refuse(&table, &["certname", "address"]);
                table.finish();
                layer
            });
            let platforms = named(root, "platform", |name, table| {
                let layer = Layer::read(table, &Table::Platform(name.to_owned()), &file);
                refuse(table, &["platform", "certname", "address"]);
                layer
            });
            let devices = named(root, "device", |name, table| {
                Layer::read(table, &Table::Device(name.to_owned()), &file)
            });
            root.finish();
            let own = || {
                let rest = platforms.values().chain(devices.values());
                defaults.iter().chain(rest.map(|(layer, _)| layer))
            };
            for layer in own() {
                literals(&findings, layer, readable.filter(|_| !allowed));
            }
            if let Some(known) = &reading.platforms {
                for (name, (_, span)) in &platforms {
                    known_platform(&findings, known, name, span.clone());
                }
            }
            if reading.surroundings && devices.is_empty() {
                findings.error_with_help(
                    "no-devices",
                    0..0,
                    "the inventory has no device",
                    "add one: [device.sw1] with `platform`, `address` and `user`",
                );
            }
            let below = defaults.clone().unwrap_or_default();
            let devices: IndexMap<String, Declared> = devices
                .into_iter()
                .map(|(name, (own, span))| {
                    let settings = merge(own, &platforms, &below);
                    let device = Declared {
                        name: name.clone(),
                        span,
                        settings,
                    };
                    incomplete(&findings, &device);
                    (name, device)
                })
                .collect();
            if let Some(known) = &reading.platforms {
                let mut seen = BTreeSet::new();
                for device in devices.values() {
                    if let Some(platform) = &device.settings.platform
                        && seen.insert(platform.origin.span.start)
                    {
                        let span = platform.origin.span.clone();
                        known_platform(&findings, known, &platform.value, span);
                    }
                }
            }
            check(&findings, &devices);
            (devices, limits.unwrap_or_default(), allowed)
        });
        let mut found = findings.into_list();
        if reading.surroundings {
            found.extend(surroundings::missing(&devices, allow_readable));
        }
        if found.iter().any(|found| found.code == "toml-syntax") {
            // What a slip has swallowed seems to be missing, or of another kind.
            let swallowed = ["missing-key", "wrong-kind", "no-devices", "no-credentials"];
            found.retain(|found| !swallowed.contains(&found.code));
        }
        found.sort_by_key(|found| found.labels.first().map(|label| label.span.start));
        let (errors, warnings): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|found| found.severity == Severity::Error);
        if !errors.is_empty() {
            return Err(errors.into_iter().chain(warnings).collect());
        }
        let complete = |(name, device): (String, Declared)| Some((name, device.complete()?));
        Ok(Self {
            source,
            devices: devices.into_iter().filter_map(complete).collect(),
            limits,
            allow_readable,
            warnings,
        })
    }
}

/// The text, and the mode if others can read it.
fn read(path: &Path) -> Result<(String, Option<u32>), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mode = readable_by_others(&file).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, mode)),
        Err(error) => Err(format!(
            "it is not UTF-8 text (byte {})",
            error.utf8_error().valid_up_to()
        )),
    }
}

fn read_limits(table: &Document<'_>) -> Limits {
    let number = |key| {
        let item = table.get(key)?;
        let number = item.integer()?;
        let limit = usize::try_from(number).ok().filter(|limit| *limit > 0);
        if limit.is_none() {
            item.error("limit", format!("`{}` must be at least 1", item.path));
        }
        limit
    };
    let limits = Limits {
        concurrency: number("concurrency"),
        per_site: number("per_site"),
        per_jump: number("per_jump"),
    };
    table.finish();
    limits
}

/// The tables under `[key.<name>]`, with their places.
fn named(
    root: &Document<'_>,
    key: &str,
    read: impl Fn(&str, &Document<'_>) -> Layer,
) -> IndexMap<String, (Layer, Range<usize>)> {
    let Some(tables) = root.table(key) else {
        return IndexMap::default();
    };
    let mut found = IndexMap::default();
    for (name, _, item) in tables.entries() {
        if let Some(table) = item.table() {
            let layer = read(&name, &table);
            table.finish();
            found.insert(name, (layer, item.span.clone()));
        }
    }
    found
}

/// Keys that belong to one device only.
fn refuse(table: &Document<'_>, keys: &[&str]) {
    for key in keys {
        if let Some(item) = table.get(key) {
            item.findings.error_with_help(
                "misplaced-key",
                item.span.clone(),
                format!("`{key}` cannot stand in [{}]", table.path),
                "it belongs to one device: put it into [device.<name>]",
            );
        }
    }
}

fn known_platform(findings: &Findings, known: &BTreeSet<String>, name: &str, span: Range<usize>) {
    if known.contains(name) {
        return;
    }
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "known platforms: {}",
            known.iter().cloned().collect::<Vec<_>>().join(", ")
        ),
    };
    let message = format!("there is no platform `{name}`");
    findings.error_with_help("unknown-platform", span, message, help);
}

/// Warns about secrets that stand in the file, and refuses them where others can read it.
fn literals(findings: &Findings, layer: &Layer, readable: Option<u32>) {
    let secrets = [
        ("password", &layer.password),
        ("enable_password", &layer.enable_password),
        ("passphrase", &layer.passphrase),
        ("token", &layer.token),
    ];
    for (key, setting) in secrets {
        let Some(setting) = setting else { continue };
        if !matches!(setting.value, SecretSource::Literal(_)) {
            continue;
        }
        let origin = &setting.origin;
        findings.push(match readable {
            Some(mode) => origin
                .error(
                    "readable-secret",
                    format!("`{key}` is written here, and others can read this file (mode {mode:04o})"),
                )
                .help(format!(
                    "use {key} = {{ env = \"…\" }}, or `chmod 600 {}`, or set allow_readable = true",
                    findings.source.name
                )),
            None => origin
                .warning("literal-secret", format!("`{key}` is written in the inventory"))
                .help(format!(
                    "use {key} = {{ env = \"…\" }}, {{ file = \"…\" }} or {{ command = [\"…\"] }}"
                )),
        });
    }
    if let Some(Setting {
        value: Jump::Host(host),
        ..
    }) = &layer.jump
    {
        literals(findings, host, readable);
    }
}

/// A device's own settings over its platform's over the defaults.
fn merge(
    own: Layer,
    platforms: &IndexMap<String, (Layer, Range<usize>)>,
    defaults: &Layer,
) -> Layer {
    let platform = own.platform.as_ref().or(defaults.platform.as_ref());
    let layer = platform.and_then(|platform| platforms.get(&platform.value));
    match layer {
        Some((layer, _)) => own.over(layer),
        None => own,
    }
    .over(defaults)
}

/// Tells what every device needs and this one has not.
fn incomplete(findings: &Findings, device: &Declared) {
    let name = &device.name;
    if !usable_name(name) {
        findings.error_with_help(
            "device-name",
            device.span.clone(),
            format!("`{name}` cannot be a device's name"),
            "use letters, digits and . _ - : only",
        );
    }
    let settings = &device.settings;
    for (key, setting) in [
        ("platform", &settings.platform),
        ("address", &settings.address),
        ("user", &settings.user),
    ] {
        if setting.is_none() {
            findings.error_with_help(
                "missing-key",
                device.span.clone(),
                format!("device `{name}` has no `{key}`"),
                format!(
                    "add {key} = \"…\" to [device.{name}] or to a table that it takes defaults from"
                ),
            );
        }
    }
}

/// Names become file names and stand in patterns.
fn usable_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | ':');
    !name.is_empty() && name.len() <= 200 && !name.starts_with('.') && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use switchtender_devices::diagnostic::Label;

    use super::*;

    const DEVICE: &str =
        "platform = \"cisco_ios\"\naddress = \"192.0.2.1\"\nuser = \"u\"\nagent = true\n";

    fn parse(text: &str) -> Result<Inventory, Vec<Diagnostic>> {
        let reading = Reading {
            platforms: Some(["cisco_ios", "f5_bigip"].map(str::to_owned).into()),
            ..Reading::default()
        };
        Inventory::parse("inventory.toml", text, Path::new("/etc/st"), None, &reading)
    }

    /// `line:column code message | help` of each.
    fn told(list: &[Diagnostic]) -> Vec<String> {
        list.iter()
            .map(|found| {
                let place = |label: &Label| {
                    let (line, column) = label.source.position(label.span.start);
                    format!("{line}:{column} ")
                };
                format!(
                    "{}{}: {} | {}",
                    found.labels.first().map(place).unwrap_or_default(),
                    found.code,
                    found.message,
                    found.help.as_deref().unwrap_or("-"),
                )
            })
            .collect()
    }

    #[test]
    fn a_device_takes_what_it_does_not_say_from_its_platform_then_from_the_defaults() {
        let inventory = parse(
            r#"
[defaults]
user = "puppet"
password = { env = "NET_PASSWORD" }
command_timeout = "2m"
labels.stage = "lab"
labels.rack = "none"

[platform.cisco_ios]
enable_password = { file = "secrets/enable" }
algorithms = "compatible"
command_timeout = "1m"
save_config = "on_change"
options.network_trunk.manage_vlan_lists = true

[limits]
concurrency = 100
per_site = 5

[device.sw1]
platform = "cisco_ios"
certname = "sw1.lab.test"
address = "192.0.2.1"
port = 2222
labels.rack = "a1"
site = "fra"

[device.lb1]
platform = "f5_bigip"
address = "lb1.lab.test"
user = "admin"
"#,
        )
        .unwrap();
        let shown: Vec<String> = inventory
            .show(&inventory.devices.values().collect::<Vec<_>>())
            .into_iter()
            .flat_map(|device| {
                device.settings.into_iter().map(move |setting| {
                    let table = setting.table.unwrap_or_default();
                    format!(
                        "{} {} = {} {table}",
                        device.name, setting.key, setting.value
                    )
                })
            })
            .collect();
        assert_eq!(
            shown,
            [
                "sw1 platform = cisco_ios [device.sw1]",
                "sw1 certname = sw1.lab.test [device.sw1]",
                "sw1 address = 192.0.2.1 [device.sw1]",
                "sw1 port = 2222 [device.sw1]",
                "sw1 user = puppet [defaults]",
                "sw1 password = environment variable NET_PASSWORD [defaults]",
                "sw1 enable_password = file /etc/st/secrets/enable [platform.cisco_ios]",
                "sw1 algorithms = compatible [platform.cisco_ios]",
                "sw1 site = fra [device.sw1]",
                "sw1 command_timeout = 1m [platform.cisco_ios]",
                "sw1 save_config = on_change [platform.cisco_ios]",
                "sw1 labels.rack = a1 [device.sw1]",
                "sw1 labels.stage = lab [defaults]",
                "sw1 options.network_trunk.manage_vlan_lists = true [platform.cisco_ios]",
                "lb1 platform = f5_bigip [device.lb1]",
                "lb1 certname = lb1 ",
                "lb1 address = lb1.lab.test [device.lb1]",
                "lb1 user = admin [device.lb1]",
                "lb1 password = environment variable NET_PASSWORD [defaults]",
                "lb1 command_timeout = 2m [defaults]",
                "lb1 labels.rack = none [defaults]",
                "lb1 labels.stage = lab [defaults]",
            ]
        );
        assert_eq!(
            inventory.limits,
            Limits {
                concurrency: Some(100),
                per_site: Some(5),
                per_jump: None
            }
        );
        assert_eq!(inventory.warnings, []);
    }

    #[test]
    fn mistakes_are_told_with_their_place_and_what_to_do() {
        let device = |rest: &str| format!("[device.a]\n{DEVICE}{rest}\n");
        let cases: Vec<(String, &[&str])> = vec![
            (
                device("adress = \"x\""),
                &["6:1 unknown-key: unknown key `adress` in [device.a] | did you mean `address`?"],
            ),
            (
                "[device.a]\naddress = \"x\"\nagent = true".into(),
                &[
                    "1:1 missing-key: device `a` has no `platform` | add platform = \"…\" to [device.a] or to a table that it takes defaults from",
                    "1:1 missing-key: device `a` has no `user` | add user = \"…\" to [device.a] or to a table that it takes defaults from",
                ],
            ),
            // A slip in the syntax is told alone, not with what it has swallowed.
            (
                device("").replace("address = ", "address = = "),
                &[
                    "3:11 toml-syntax: extra `=`, expected nothing | -",
                    "3:13 toml-syntax: unexpected key or value, expected newline, `#` | -",
                ],
            ),
            (
                device("").replace("cisco_ios", "cisco_io"),
                &[
                    "2:12 unknown-platform: there is no platform `cisco_io` | did you mean `cisco_ios`?",
                ],
            ),
            (
                "[platform.junos]\n".into(),
                &[
                    "1:1 unknown-platform: there is no platform `junos` | known platforms: cisco_ios, f5_bigip",
                ],
            ),
            (
                device("").replace("192.0.2.1", "192.0.2.300"),
                &[
                    "3:11 address: `192.0.2.300` is neither a host name nor an IP address | an IPv4 address has four numbers from 0 to 255",
                ],
            ),
            (
                device("port = 70000"),
                &["6:8 port: 70000 is not a port (1 to 65535) | -"],
            ),
            (
                device("command_timeout = \"30\""),
                &[
                    "6:19 duration: `30` is not a duration | write a number with its unit: \"30s\", \"500ms\", \"2m\"",
                ],
            ),
            (
                device("algorithms = \"legcay\""),
                &[
                    "6:14 unknown-word: `device.a.algorithms` cannot be \"legcay\" | did you mean \"legacy\"?",
                ],
            ),
            (
                device("save_config = true"),
                &[
                    "6:15 unknown-word: `device.a.save_config` is one of three words, not yes or no | write \"on_change\" to save after a run that has changed the device, \"always\" to save after every run",
                ],
            ),
            (
                device("save_config = false"),
                &[
                    "6:15 unknown-word: `device.a.save_config` is one of three words, not yes or no | write \"never\"",
                ],
            ),
            (
                device("save_config = \"sometimes\""),
                &[
                    "6:15 unknown-word: `device.a.save_config` cannot be \"sometimes\" | one of \"never\", \"on_change\", \"always\"",
                ],
            ),
            (
                device("fingerprint = \"SHA256:abc\""),
                &[
                    "6:15 fingerprint: `SHA256:abc` is not a SHA-256 fingerprint | for SSH as `ssh-keyscan HOST | ssh-keygen -lf -` prints it (SHA256:…), for HTTPS 64 hex digits as `openssl x509 -fingerprint -sha256` prints them",
                ],
            ),
            (
                device("password = { env = \"A\", file = \"b\" }"),
                &[
                    "6:12 secret-source: `device.a.password` must name exactly one place of the secret | write { env = \"VARIABLE\" }, { file = \"path\" } or { command = [\"program\", \"argument\"] }",
                ],
            ),
            (
                device("password = { vault = \"A\" }"),
                &[
                    "6:14 unknown-key: unknown key `vault` in [device.a.password] | known keys: `command`, `env`, `file`",
                ],
            ),
            (
                device("jump = \"b\""),
                &["6:8 unknown-jump: there is no device `b` | did you mean `a`?"],
            ),
            // One that lacks something is there all the same, and lacks all that it lacks at once.
            (
                format!(
                    "{}[device.b]\naddress = \"192.0.2.1\"\n",
                    device("jump = \"b\"")
                ),
                &[
                    "7:1 missing-key: device `b` has no `platform` | add platform = \"…\" to [device.b] or to a table that it takes defaults from",
                    "7:1 missing-key: device `b` has no `user` | add user = \"…\" to [device.b] or to a table that it takes defaults from",
                    "7:1 no-credentials: device `b` has no way to log in | give it `password`, `private_key` or `agent = true`",
                ],
            ),
            (
                device("jump = \"a\""),
                &[
                    "6:8 jump-cycle: the way to `a` never ends: a → a | set `jump = false` in [device.a]",
                ],
            ),
            (
                device("jump = { address = \"x\" }"),
                &["6:8 missing-key: key `user` is missing in [device.a.jump] | -"],
            ),
            (
                "[defaults]\naddress = \"x\"\n".into(),
                &[
                    "2:11 misplaced-key: `address` cannot stand in [defaults] | it belongs to one device: put it into [device.<name>]",
                ],
            ),
            (
                "[limits]\nconcurrency = 0\n".into(),
                &["2:15 limit: `limits.concurrency` must be at least 1 | -"],
            ),
            (
                format!("[device.\"../a\"]\n{DEVICE}"),
                &[
                    "1:1 device-name: `../a` cannot be a device's name | use letters, digits and . _ - : only",
                ],
            ),
            (
                format!(
                    "{}[device.b]\n{}certname = \"a\"\n",
                    device(""),
                    DEVICE.replace("2.1", "2.2")
                ),
                &[
                    "7:1 duplicate-certname: devices `a` and `b` have one certname, `a` | one catalog would go to both; set `certname` of one of them",
                ],
            ),
        ];
        for (text, expected) in cases {
            let found = parse(&text).expect_err(&text);
            assert_eq!(told(&found), expected, "{text}");
        }
    }

    #[test]
    fn odd_things_are_warnings() {
        let text = format!(
            "[device.a]\n{DEVICE}[device.b]\n{}",
            DEVICE.replace("agent = true\n", "")
        );
        let inventory = parse(&text).unwrap();
        assert_eq!(
            told(&inventory.warnings),
            [
                "6:1 no-credentials: device `b` has no way to log in | give it `password`, `private_key` or `agent = true`",
                "8:11 duplicate-address: devices `a` and `b` have one address, 192.0.2.1 | two catalogs would be applied to one device, in no certain order",
            ]
        );
    }

    #[test]
    fn a_secret_in_the_file_is_warned_about_and_refused_where_others_can_read_it() {
        let text = format!("[device.a]\n{DEVICE}password = \"s3cr3t\" \noops = 1\n");
        let clean = text.replace("oops = 1\n", "");
        let inventory = parse(&clean).unwrap();
        assert_eq!(
            told(&inventory.warnings),
            [
                "6:12 literal-secret: `password` is written in the inventory | use password = { env = \"…\" }, { file = \"…\" } or { command = [\"…\"] }"
            ]
        );
        let read = |text: &str, allow_readable| {
            let reading = Reading {
                allow_readable,
                ..Reading::default()
            };
            Inventory::parse("i.toml", text, Path::new(""), Some(0o644), &reading)
        };
        let refused = read(&clean, false).unwrap_err();
        assert_eq!(
            told(&refused),
            [
                "6:12 readable-secret: `password` is written here, and others can read this file (mode 0644) | use password = { env = \"…\" }, or `chmod 600 i.toml`, or set allow_readable = true"
            ]
        );
        assert!(read(&clean, true).is_ok());
        assert!(read(&format!("allow_readable = true\n{clean}"), false).is_ok());

        let everything = format!("{:?}{:?}{:?}", parse(&text), inventory, refused);
        assert!(!everything.contains("s3cr3t"));
    }

    #[test]
    fn the_example_is_right() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/inventory.toml");
        let reading = Reading {
            platforms: Some(["cisco_ios", "f5_bigip"].map(str::to_owned).into()),
            ..Reading::default()
        };
        let inventory = Inventory::load(&path, &reading).unwrap();
        let devices: Vec<_> = inventory
            .devices
            .values()
            .map(|d| (d.name.as_str(), d.platform.as_str(), d.certname.as_str()))
            .collect();
        assert_eq!(
            devices,
            [
                ("sw1", "cisco_ios", "sw1.lab.test"),
                ("lb1", "f5_bigip", "lb1.lab.test")
            ]
        );
        assert_eq!(inventory.warnings, []);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told_by_name() {
        let found = Inventory::load(Path::new("/nonexistent/i.toml"), &Reading::default());
        let told = told(&found.unwrap_err());
        assert!(
            told[0].contains("cannot read inventory /nonexistent/i.toml"),
            "{told:?}"
        );
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"user = \"\xff\"").unwrap();
        let found = Inventory::load(file.path(), &Reading::default()).unwrap_err();
        assert!(
            found[0].message.contains("not UTF-8 text (byte 8)"),
            "{found:?}"
        );
    }
}
