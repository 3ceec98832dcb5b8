//! The kinds of objects: their paths, fields, field types and defaults.
//!
//! The table below is parsed once. A line without indentation starts a kind: path, name in messages, flags. Indented lines are its
//! fields: name, type, and after `=` the default as JSON. Types: `text`, `secret`, `bool`, `int LOW..HIGH`, words with `|`
//! between them, `monitor`, `ref PATH`, `refs PATH`, `list`, `object`. Flags of a field: `required`, `fixed` (only when
//! created). `sub NAME` opens the fields of a subcollection.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

const TABLE: &str = r#"
auth/partition "Partition" flat
  description text
  defaultRouteDomain int 0..65534 = 0
ltm/node "Node"
  description text
  address text fixed required
  connectionLimit int 0..4294967295 = 0
  dynamicRatio int 0..65535 = 1
  ephemeral true|false = "false"
  fqdn object = {"addressFamily":"ipv4","autopopulate":"disabled","downInterval":5,"interval":"3600"}
  logging enabled|disabled = "disabled"
  monitor monitor = "default"
  rateLimit text = "disabled"
  ratio int 1..65535 = 1
  session user-enabled|user-disabled|monitor-enabled = "user-enabled"
  state user-up|user-down|unchecked|up|down = "unchecked"
ltm/pool "Pool"
  description text
  allowNat yes|no = "yes"
  allowSnat yes|no = "yes"
  ignorePersistedWeight enabled|disabled = "disabled"
  ipTosToClient text = "pass-through"
  ipTosToServer text = "pass-through"
  linkQosToClient text = "pass-through"
  linkQosToServer text = "pass-through"
  loadBalancingMode round-robin|ratio-member|least-connections-member|observed-member|predictive-member|ratio-node|least-connections-node|fastest-node|observed-node|predictive-node|dynamic-ratio-node|fastest-app-response|least-sessions|dynamic-ratio-member|weighted-least-connections-member|weighted-least-connections-node|ratio-session|ratio-least-connections-member|ratio-least-connections-node = "round-robin"
  minActiveMembers int 0..65535 = 0
  minUpMembers int 0..65535 = 0
  minUpMembersAction failover|reboot|restart-all = "failover"
  minUpMembersChecking enabled|disabled = "disabled"
  monitor monitor
  profiles refs ltm/profile/*
  queueDepthLimit int 0..4294967295 = 0
  queueOnConnectionLimit enabled|disabled = "disabled"
  queueTimeLimit int 0..4294967295 = 0
  reselectTries int 0..65535 = 0
  serviceDownAction none|reset|drop|reselect
  slowRampTime int 0..65535 = 10
  sub members "Pool Member"
  description text
  address text fixed
  connectionLimit int 0..4294967295 = 0
  dynamicRatio int 0..65535 = 1
  ephemeral true|false = "false"
  inheritProfile enabled|disabled = "enabled"
  logging enabled|disabled = "disabled"
  monitor monitor = "default"
  priorityGroup int 0..65535 = 0
  rateLimit text = "disabled"
  ratio int 1..65535 = 1
  session user-enabled|user-disabled|monitor-enabled = "user-enabled"
  state user-up|user-down|unchecked|up|down = "unchecked"
ltm/virtual "Virtual Server"
  description text
  addressStatus yes|no = "yes"
  auth refs ltm/auth/*
  autoLasthop default|enabled|disabled = "default"
  bwcPolicy text
  clonePools list
  connectionLimit int 0..4294967295 = 0
  destination text required
  enabled bool = true
  disabled bool
  fallbackPersistence ref ltm/persistence/*
  gtmScore int 0..100 = 0
  ipForward bool
  ipProtocol any|tcp|udp|sctp = "any"
  l2Forward bool
  lastHopPool ref ltm/pool
  mask text = "255.255.255.255"
  mirror enabled|disabled = "disabled"
  mobileAppTunnel enabled|disabled = "disabled"
  nat64 enabled|disabled = "disabled"
  persist list
  pool ref ltm/pool
  rateClass text
  rateLimit text = "disabled"
  rateLimitDstMask int 0..128 = 0
  rateLimitMode object|object-source|object-destination|object-source-destination|source|destination|source-destination = "object"
  rateLimitSrcMask int 0..128 = 0
  reject bool
  rules refs ltm/rule
  serviceDownImmediateAction none|reset|drop = "none"
  source text = "0.0.0.0/0"
  sourceAddressTranslation object = {"type":"none"}
  sourcePort preserve|preserve-strict|change = "preserve"
  stateless bool
  synCookieStatus text = "not-activated"
  trafficClasses list
  translateAddress enabled|disabled = "enabled"
  translatePort enabled|disabled = "enabled"
  vlans refs net/vlan
  vlansEnabled bool
  vlansDisabled bool = true
  sub profiles "Virtual Server Profile"
  context all|clientside|serverside = "all"
  sub policies "Virtual Server Policy"
ltm/virtual-address "Virtual Address"
  address text fixed
  arp enabled|disabled = "enabled"
  autoDelete true|false = "true"
  enabled yes|no = "yes"
  icmpEcho enabled|disabled|selective|all|any = "enabled"
  mask text = "255.255.255.255"
  trafficGroup text = "/Common/traffic-group-1"
ltm/rule "Rule"
  apiAnonymous text required
  ignoreVerification true|false = "false"
  apiRawValues object
ltm/monitor/* "Monitor"
  description text
  defaultsFrom ref ltm/monitor/* fixed
  destination text = "*:*"
  interval int 1..86400 = 5
  manualResume enabled|disabled = "disabled"
  timeUntilUp int 0..86400 = 0
  timeout int 1..86400 = 16
  upInterval int 0..86400 = 0
ltm/monitor/http+https+tcp+udp
  recv text
  recvDisable text
  reverse enabled|disabled = "disabled"
  send text
ltm/monitor/http+https+tcp+udp+tcp-half-open+icmp+gateway-icmp
  transparent enabled|disabled = "disabled"
ltm/monitor/http+https+tcp
  ipDscp int 0..63 = 0
ltm/monitor/http+https
  adaptive enabled|disabled = "disabled"
  password secret
  username text
ltm/monitor/https
  cert text
  cipherlist text
  compatibility enabled|disabled
  key text
  sslProfile ref ltm/profile/server-ssl
ltm/monitor/icmp+gateway-icmp
  adaptive enabled|disabled = "disabled"
ltm/monitor/udp
  debug yes|no = "no"
ltm/monitor/ldap
  base text
  chaseReferrals yes|no = "yes"
  debug yes|no = "no"
  filter text
  mandatoryAttributes yes|no = "no"
  password secret
  security none|ssl|tls = "none"
  username text
ltm/monitor/sip
  debug yes|no = "no"
  filter text
  filterNeg text
  headers text
  mode tcp|udp|tls|sips = "udp"
  request text
ltm/monitor/external
  apiRawValues object
  args text
  run text
ltm/profile/* "Profile"
  description text
  defaultsFrom ref ltm/profile/* fixed
ltm/profile/http
  fallbackHost text
  fallbackStatusCodes list
  insertXforwardedFor enabled|disabled = "disabled"
ltm/profile/tcp
  idleTimeout text = "300"
ltm/profile/client-ssl+server-ssl
  cert text
  key text
  ciphers text = "DEFAULT"
ltm/persistence/* "Persistence Profile"
  description text
  defaultsFrom ref ltm/persistence/* fixed
  mirror enabled|disabled = "disabled"
  timeout text = "180"
ltm/persistence/cookie
  cookieName text
  expiration text = "0"
  method insert|passive|rewrite|hash = "insert"
ltm/snatpool "SNAT Pool"
  description text
  members list required
ltm/data-group/internal "Class"
  description text
  records list
  type ip|string|integer fixed required
net/interface "Interface" flat fixed
  enabled bool = true
  mtu int 576..65535 = 1500
net/vlan "VLAN"
  description text
  autoLasthop default|enabled|disabled = "default"
  cmpHash default|src-ip|dst-ip = "default"
  dagRoundRobin enabled|disabled = "disabled"
  failsafe enabled|disabled = "disabled"
  failsafeAction reboot|restart-all|failover|failover-restart-tm = "failover-restart-tm"
  failsafeTimeout int 10..3600 = 90
  mtu int 576..65535 = 1500
  sflow object = {"pollInterval":0,"pollIntervalGlobal":"yes","samplingRate":0,"samplingRateGlobal":"yes"}
  sourceChecking enabled|disabled = "disabled"
  tag int 1..4094
  sub interfaces "VLAN Member"
  tagged bool
  untagged bool
  tagMode none|service|customer|double = "none"
net/self "Self IP"
  description text
  address text fixed required
  addressSource text = "from-user"
  allowService list
  floating enabled|disabled = "disabled"
  inheritedTrafficGroup true|false = "false"
  trafficGroup text = "/Common/traffic-group-local-only"
  unit int 0..255 = 0
  vlan ref net/vlan required
net/route "Route"
  description text
  gw text
  mtu int 0..65535 = 0
  network text fixed required
  pool ref ltm/pool
  tmInterface ref net/vlan
cm/device "Device" fixed
  baseMac text
  chassisId text
  configsyncIp text = "none"
  failoverState text
  hostname text
  managementIp text
  marketingName text
  mirrorIp text = "any6"
  platformId text
  selfDevice true|false = "false"
  timeZone text = "UTC"
  version text
sys/provision "Provision" flat fixed
  level none|minimum|nominal|dedicated = "none"
"#;

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
