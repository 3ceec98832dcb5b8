//! `docs/reference/inventory.md`, made from the schema of the inventory and the variables of Ansible.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::ansible::{PREFIX, VARIABLES};
use super::schema::schema;

const PAGE: &str = "docs/reference/inventory.md";

const HEAD: &str = "\
# Inventory

All tables and keys of `inventory.toml`. `switchtender inventory validate` checks a file, `inventory show` prints the settings of each
device with their origin, and `switchtender schema inventory` prints the JSON Schema for editors. `docs/first-device.md` has a start.

A device has each setting from the first of these tables that has it: `[device.NAME]`, its groups, `[platform.NAME]` of its platform,
`[defaults]`. Relative paths start at the directory of the inventory, `~/` is the home directory.

A secret is a text, which only the owner may read, or one of `{ env = \"VARIABLE\" }`, `{ file = \"path\" }`,
`{ command = [\"program\", \"argument\"] }`, `{ credential = \"name\" }` of systemd and `{ vault = \"net/sw1\", field = \"password\" }`.
Secrets are read when a session opens.

In `address`, `certname` and sources of secrets, `{name}` stands for the name of the device, `{site}` and `{platform}` for these settings,
and `{role}` for its label `role`. A value with `/`, `..` or a control character is refused in a path, and one that begins with `-` as an argument.
`{{…}}` and `${…}` are left to the program.
";

const VAULT: &str = "
`vault = \"net/{name}\"` is the path as in `vault kv get net/sw1`. The server says which engine has it, and whether that is version 1 or 2 of
the key-value engine. The token needs the capability `read`: on `net/sw1` with version 1, on `net/data/sw1` with version 2.

```toml
[vault]
address = \"https://vault.example.com:8200\"
approle = { role_id = \"switchtender\", secret_id = { file = \"secrets/vault\" } }

[defaults]
password = { vault = \"net/{name}\", field = \"password\" }
```
";

const SOURCE: &str = "
The command prints devices as TOML or JSON, with the tables `device`, `group`, `platform` and `defaults` of this page, or it prints
Ansible's JSON. A setting of a table in both has the value of the file: the file has secrets, limits and exceptions, the command the rest.
The output has at most 64 MiB.

Every command that contacts devices runs it. `validate`, `inventory`, `state` and `graph` run it only with `--run-commands`. No command of an
inventory that other users can write is run (`chmod go-w inventory.toml`).

```toml
[source]
command = [\"ansible-inventory\", \"--list\"]
groups  = [\"switches\"]
```

In Ansible's JSON (`_meta` has the variables of the hosts), variables of groups count as in Ansible. Each group is a label of its hosts
with the value `true`: `--label switches=true`. Templates and encrypted values are errors of their device. Other variables are ignored; the options of
connection plug-ins too, so that certificates and host keys are verified unless the inventory says otherwise.

| setting | variable of Ansible |
|---|---|
";

const SERVICE: &str = "
All pages of the list are read, and only the host of `url` gets the token. The device has its name, platform, site and primary address
there; Nautobot has the `location` as the site. Role, tenant, rack, location, status and type are labels. A tag is the label `tag_NAME` with
the value `true`, and a custom field the label `cf_NAME`. A custom field `switchtender_KEY` is the setting `KEY`: `switchtender_port`.
References have their slug, and in Nautobot their name. Nautobot 3 needs `filter = { exclude_m2m = \"false\" }` for tags.

A platform is an entry of `platforms`, a platform here, or one of its aliases: `cisco-ios`, `f5-big-ip`. A device without an address or with an
unknown platform is an error of that device, and the others run. One without a name, or with spaces in it, is left out with a warning.

`examples/inventory` has an inventory with NetBox. A command is the way for other services.
";

const SETTINGS: &str = "
## Settings of devices

In `[device.NAME]`, `[group.NAME]`, `[platform.NAME]`, `[defaults]` and the table `jump`. `certname` and `address` name one device: outside of
its table, they must contain `{name}`. `[platform.NAME]` has no `platform`.

| key | meaning | value |
|---|---|---|
";

fn page() -> String {
    let schema = schema();
    let root = &schema["properties"];
    let mut page = HEAD.to_owned();
    page.push_str("\n## Top level\n\n| key | meaning | value |\n|---|---|---|\n");
    rows(&mut page, root);
    page.push_str(SETTINGS);
    rows(&mut page, &schema["$defs"]["settings"]["properties"]);
    page.push_str(
        "\n`[group.NAME]` has one more key:\n\n| key | meaning | value |\n|---|---|---|\n",
    );
    let devices = &schema["$defs"]["group"]["properties"]["devices"];
    let devices = Map::from_iter([("devices".to_owned(), devices.clone())]);
    rows(&mut page, &Json::Object(devices));
    page.push_str("\n## `[limits]`\n\n| key | meaning | value |\n|---|---|---|\n");
    rows(&mut page, &root["limits"]["properties"]);
    page.push_str("\n## `[vault]`: the server of HashiCorp Vault or OpenBao\n\n| key | meaning | value |\n|---|---|---|\n");
    rows(&mut page, &root["vault"]["properties"]);
    page.push_str(VAULT);
    page.push_str(
        "\n## `[source]`: devices from a command or a service\n\n| key | meaning | value |\n|---|---|---|\n",
    );
    rows(&mut page, &root["source"]["properties"]);
    page.push_str(SOURCE);
    for (key, names) in VARIABLES {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let other = match key {
            "platform" => ": a name of the platform, or one of its `aliases`",
            "address" => "; the name of the host without it",
            _ => "",
        };
        let _ = writeln!(page, "| `{key}` | {}{other} |", names.join(", "));
    }
    let _ = writeln!(page, "| `labels` | `{PREFIX}labels`, an object |");
    let _ = writeln!(
        page,
        "| any other | `{PREFIX}` and its name: `{PREFIX}site` |"
    );
    page.push_str(
        "\n## `[source.netbox]` and `[source.nautobot]`\n\n| key | meaning | value |\n|---|---|---|\n",
    );
    rows(
        &mut page,
        &root["source"]["properties"]["netbox"]["properties"],
    );
    page.push_str(SERVICE);
    page
}

fn rows(page: &mut String, properties: &Json) {
    for (key, schema) in properties.as_object().expect("an object") {
        let doc = schema["description"]
            .as_str()
            .expect("each key has a description");
        let _ = writeln!(page, "| `{key}` | {doc} | {} |", values(schema));
    }
}

/// The values of a schema in words.
fn values(schema: &Json) -> String {
    let list = |schemas: &[Json]| {
        let words: Vec<String> = schemas.iter().map(values).collect();
        words.join(" or ")
    };
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    if let Some(schemas) = schema["anyOf"].as_array() {
        return list(schemas);
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    match (schema["type"].as_str(), schema["maximum"].as_u64()) {
        (Some("integer"), Some(high)) => format!("{} to {high}", schema["minimum"]),
        (Some("integer"), None) => format!("number, at least {}", schema["minimum"]),
        (Some("boolean"), _) => "`true` or `false`".to_owned(),
        (Some("array"), _) => "list of texts".to_owned(),
        (Some("string"), _) if schema.get("pattern").is_some() => {
            "duration: `\"30s\"`, `\"2m\"`".to_owned()
        }
        (Some("string"), _) => "text".to_owned(),
        _ if schema["properties"].get("env").is_some() => "source of a secret".to_owned(),
        _ => "table".to_owned(),
    }
}

#[test]
fn inventory_page_is_that_of_the_loader() {
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &page).expect("written");
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        page == written,
        "{PAGE} is out of date: write it with UPDATE_DOCS=1"
    );
}
