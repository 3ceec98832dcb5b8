//! The kinds of objects: their paths, fields, field types and defaults.
//!
//! The table in `objects.txt` is parsed once. A line without indentation starts a kind: path, name in messages, flags (`flat`: outside
//! of partitions; `fixed`: not created or removed; `words`: unset texts and references are printed as `none`, empty lists as `[]`).
//! Indented lines are its fields: name, type, and after `=` the default as JSON. Types: `text`, `secret`, `bool`, `int LOW..HIGH`, words with `|`
//! between them, `monitor`, `ref PATH`, `refs PATH`, `list`, `object`. Flags of a field: `required`, `fixed` (only when
//! created). `sub NAME` opens the fields of a subcollection.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

const TABLE: &str = include_str!("objects.txt");

/// Kinds below `ltm/monitor`.
pub(super) const MONITORS: &[&str] = &[
    "external",
    "gateway-icmp",
    "http",
    "https",
    "icmp",
    "ldap",
    "sip",
    "tcp",
    "tcp-half-open",
    "udp",
];
/// Kinds below `ltm/profile`.
pub(super) const PROFILES: &[&str] = &[
    "analytics",
    "client-ssl",
    "dns",
    "fasthttp",
    "fastl4",
    "ftp",
    "html",
    "http",
    "http-compression",
    "http2",
    "ipother",
    "one-connect",
    "request-log",
    "sctp",
    "server-ssl",
    "sip",
    "statistics",
    "stream",
    "tcp",
    "udp",
    "web-acceleration",
    "websocket",
];
/// Kinds below `ltm/persistence`.
pub(super) const PERSISTENCES: &[&str] = &[
    "cookie",
    "dest-addr",
    "hash",
    "source-addr",
    "ssl",
    "universal",
];

/// A kind of object.
#[derive(Debug, Clone)]
pub(super) struct ObjectKind {
    /// `ltm/pool`
    pub path: String,
    /// `Pool`
    pub title: String,
    /// Objects are outside partitions.
    pub flat: bool,
    /// Objects cannot be created or removed.
    pub fixed: bool,
    /// Unset texts and references are printed as `none`, empty lists as `[]`.
    pub prints_none: bool,
    /// By name.
    pub fields: BTreeMap<String, Field>,
    /// By name.
    pub subs: BTreeMap<String, ObjectKind>,
}

/// A field of a kind.
#[derive(Debug, Clone)]
pub(super) struct Field {
    /// The type.
    pub field_type: FieldType,
    /// The default; `None` if the field is missing by default.
    pub default: Option<Value>,
    /// Cannot be changed after creation.
    pub fixed: bool,
    /// Required at creation.
    pub required: bool,
}

/// The type of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FieldType {
    /// A string.
    Text,
    /// A string that is returned encrypted.
    Secret,
    /// `true` or `false`, or these values.
    Bool,
    /// A number in a range, or its digits.
    Integer(u64, u64),
    /// One of the words.
    OneOf(Vec<String>),
    /// A monitor expression.
    Monitor,
    /// The path of an object below this kind's path.
    Reference(String),
    /// A list of such paths.
    References(String),
    /// A list of any values.
    List,
    /// An object.
    Object,
}

impl ObjectKind {
    /// The full path of a member in a URL. That of a device may lack the partition.
    pub(super) fn child_name(&self, name: String) -> String {
        if self.path == "cm/device-group/devices" && !name.starts_with('/') {
            format!("/Common/{name}")
        } else {
            name
        }
    }
}

static KINDS: LazyLock<BTreeMap<String, ObjectKind>> = LazyLock::new(read);

/// The kind at that path.
pub(super) fn kind(path: &str) -> Option<&'static ObjectKind> {
    KINDS.get(path)
}

/// Names below a path that lists kinds.
pub(super) fn family(path: &str) -> Option<&'static [&'static str]> {
    match path {
        "ltm/monitor" => Some(MONITORS),
        "ltm/profile" => Some(PROFILES),
        "ltm/persistence" => Some(PERSISTENCES),
        _ => None,
    }
}

fn read() -> BTreeMap<String, ObjectKind> {
    let mut kinds: BTreeMap<String, ObjectKind> = BTreeMap::new();
    let mut open: Vec<String> = Vec::new();
    let mut sub: Option<String> = None;
    for line in TABLE.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(rest) = line.strip_prefix("  sub ") {
            let (name, title) = rest
                .split_once(' ')
                .expect("a subcollection has a name and a title");
            for path in &open {
                let kind = ObjectKind {
                    path: format!("{path}/{name}"),
                    title: title.trim_matches('"').to_owned(),
                    flat: false,
                    fixed: false,
                    prints_none: false,
                    fields: BTreeMap::new(),
                    subs: BTreeMap::new(),
                };
                kinds
                    .get_mut(path)
                    .expect("it was opened")
                    .subs
                    .insert(name.to_owned(), kind);
            }
            sub = Some(name.to_owned());
        } else if let Some(line) = line.strip_prefix("  ") {
            let (name, field) = field(line);
            for path in &open {
                let kind = kinds.get_mut(path).expect("it was opened");
                let kind = match &sub {
                    Some(sub) => kind.subs.get_mut(sub).expect("it was opened"),
                    None => kind,
                };
                kind.fields.insert(name.clone(), field.clone());
            }
        } else {
            let (paths, rest) = line.split_once(' ').unwrap_or((line, ""));
            open = expand(paths);
            sub = None;
            for path in &open {
                kinds.entry(path.clone()).or_insert_with(|| ObjectKind {
                    path: path.clone(),
                    title: rest.split('"').nth(1).unwrap_or_default().to_owned(),
                    flat: rest.contains(" flat"),
                    fixed: rest.contains(" fixed"),
                    prints_none: rest.contains(" words"),
                    fields: BTreeMap::new(),
                    subs: BTreeMap::new(),
                });
            }
        }
    }
    kinds
}

/// `ltm/monitor/*` and `ltm/monitor/http+https` name several kinds.
fn expand(paths: &str) -> Vec<String> {
    let Some((head, last)) = paths.rsplit_once('/') else {
        return vec![paths.to_owned()];
    };
    let names: Vec<&str> = if last == "*" {
        family(head).expect("a star stands for a family").to_vec()
    } else {
        last.split('+').collect()
    };
    names
        .into_iter()
        .map(|name| format!("{head}/{name}"))
        .collect()
}

fn field(line: &str) -> (String, Field) {
    let (line, default) = match line.split_once(" = ") {
        Some((line, default)) => (
            line,
            Some(serde_json::from_str(default).expect("a default is JSON")),
        ),
        None => (line, None),
    };
    let mut words = line.split(' ');
    let name = words.next().expect("a field has a name").to_owned();
    let field_type = match words.next().expect("a field has a type") {
        "text" => FieldType::Text,
        "secret" => FieldType::Secret,
        "bool" => FieldType::Bool,
        "monitor" => FieldType::Monitor,
        "list" => FieldType::List,
        "object" => FieldType::Object,
        "int" => {
            let (low, high) = words
                .next()
                .and_then(|range| range.split_once(".."))
                .expect("a range");
            FieldType::Integer(
                low.parse().expect("a number"),
                high.parse().expect("a number"),
            )
        }
        "ref" => FieldType::Reference(words.next().expect("a path").to_owned()),
        "refs" => FieldType::References(words.next().expect("a path").to_owned()),
        choices => FieldType::OneOf(choices.split('|').map(str::to_owned).collect()),
    };
    let flags: Vec<&str> = words.collect();
    let field = Field {
        field_type,
        default,
        fixed: flags.contains(&"fixed"),
        required: flags.contains(&"required"),
    };
    (name, field)
}
