//! Loads a catalog from text: reads the resources in order, resolves references and deferred calls
//! (`docs/reference/transaction.md`, section 2, steps 1 to 4).
//!
//! One pass finds and reports all errors. The message of the result is the first one, as in Puppet.

mod containment;
mod syntax;

use std::collections::BTreeSet;
use std::sync::Arc;

use foldhash::HashSet;
use switchtender_devices::diagnostic::{Diagnostic, ManifestPosition, Source};
use switchtender_devices::value::{Attributes, Name, Value};

use self::containment::Containment;
use self::syntax::syntax_error;
use super::compiled::{Catalog, CatalogResource, ConfigVersion, ResourceKind, manifest_position};
use super::deferred;
use super::index::ResourceIndex;
use super::load_error::{LoadError, LoadErrors, PartialCatalog};
use super::redact::redact_strings;
use super::resource_ref::ResourceRef;
use super::wire::{self, WireItem, WireResource, WireVersion};

/// The context of loading.
#[derive(Clone, Debug, Default)]
pub struct Loading {
    /// The facts for deferred calls.
    pub facts: Attributes,
}

/// The source of a catalog from the bytes of a file or response.
///
/// # Errors
/// The bytes are not UTF-8. The error points to the first invalid one.
pub fn source(name: impl Into<String>, bytes: Vec<u8>) -> Result<Arc<Source>, LoadError> {
    let name = name.into();
    let error = match String::from_utf8(bytes) {
        Ok(text) => return Ok(Source::new(name, text)),
        Err(error) => error,
    };
    let offset = error.utf8_error().valid_up_to();
    let message = format!("{name} is not UTF-8 (byte {offset})");
    // Each invalid byte is shown as one replacement character; the text before it is unchanged.
    let display = redact_strings(&Source::new(
        name,
        String::from_utf8_lossy(error.as_bytes()).into_owned(),
    ));
    let bad = offset..offset + char::REPLACEMENT_CHARACTER.len_utf8();
    Err(LoadError {
        diagnostics: vec![
            Diagnostic::error("catalog-encoding", message.clone())
                .at(&display, bad, "")
                .help("save it as UTF-8"),
        ],
        messages: Vec::new(),
        message,
        readable: None,
    })
}

/// Reads a catalog. PSON is read as JSON.
///
/// # Errors
/// With all errors of syntax, duplicates, aliases, edges and values.
pub fn load(source: &Arc<Source>, loading: &Loading) -> Result<Catalog, LoadError> {
    let mut errors = LoadErrors::new(source);
    let facts = Value::Hash(
        loading
            .facts
            .iter()
            .map(|(name, value)| (name.as_str().into(), value.clone()))
            .collect(),
    );

    // An estimate: the number of resources is not known in advance. Unused capacity of a list is
    // never touched; a table is initialized completely, so it gets less.
    let count = source.text.len() / 256;
    let mut names = ResourceIndex::with_capacity(count / 2);
    let mut texts = Interner::default();
    let mut damaged = BTreeSet::new();
    let mut resources = Vec::with_capacity(count);
    let mut contents = Containment::default();
    let mut early = Vec::new();
    let wire = wire::read(&source.text, |item| match item {
        WireItem::Resource(resource) => {
            let index = resources.len();
            let before = errors.count();
            let declared = declare(resource, index, &mut texts, &facts, &mut errors);
            let lacks_values = errors.count() > before;
            let first = register(&mut names, index, &declared, &resources, &mut errors);
            if lacks_values || !first {
                damaged.insert(index);
            }
            resources.push(declared);
        }
        // Servers send the edges after the resources.
        WireItem::Edge(edge) if resources.is_empty() => early.push(edge),
        WireItem::Edge(edge) => contents.add(&edge, &names, &resources, &mut errors),
    })
    .map_err(|error| syntax_error(source, &error))?;
    for edge in &early {
        contents.add(edge, &names, &resources, &mut errors);
    }

    let catalog = Catalog {
        name: wire.name,
        version: wire.version.map(|version| match version {
            WireVersion::Number(number) => ConfigVersion::Number(number),
            WireVersion::Text(text) => ConfigVersion::Text(text),
        }),
        environment: wire.environment,
        code_id: wire.code_id,
        catalog_uuid: wire.catalog_uuid,
        format: wire.catalog_format,
        classes: wire.classes,
        resources,
        edges: contents.edges,
        names,
        source: Arc::clone(source),
    };
    match errors.finish(&|_, _| false) {
        Ok(()) => Ok(catalog),
        Err(error) => Err(LoadError {
            readable: Some(Box::new(PartialCatalog { catalog, damaged })),
            ..error
        }),
    }
}

fn declare(
    resource: WireResource,
    index: usize,
    texts: &mut Interner,
    facts: &Value,
    errors: &mut LoadErrors,
) -> CatalogResource {
    let kind = match resource.kind.as_ref().map(|kind| &*kind.0) {
        Some("compilable_type") => ResourceKind::Compilable,
        Some("class") => ResourceKind::Class,
        Some("defined_type") => ResourceKind::Defined,
        Some(_) => ResourceKind::Unknown,
        None => ResourceKind::Missing,
    };
    // The title of a resource that contains nothing is not a tag of another resource.
    let is_own = |tag: &str| kind == ResourceKind::Compilable && tag == resource.title.0;
    let mut shared_tag = |tag: &str| {
        if is_own(tag) {
            tag.into()
        } else {
            texts.get(tag)
        }
    };
    let mut declared = CatalogResource {
        reference: ResourceRef::new(&resource.type_name.0, &resource.title.0),
        kind,
        tags: resource.tags.iter().map(|tag| shared_tag(&tag.0)).collect(),
        position: resource
            .file
            .zip(resource.line)
            .map(|(file, line)| ManifestPosition {
                file: texts.get(&file.0),
                line,
            }),
        is_virtual: resource.is_virtual,
        parameters: Attributes::default(),
        sensitive: resource.sensitive_parameters,
    };
    let mut parameters = Vec::with_capacity(resource.parameters.0.len());
    for (name, parsed) in resource.parameters.0 {
        let name = Name::from(texts.get(&name.0));
        let path = || {
            vec![
                "resources".into(),
                index.into(),
                "parameters".into(),
                name.as_str().into(),
            ]
        };
        let value = match parsed.value() {
            Ok(value) => value,
            Err(error) => {
                errors.add(
                    Diagnostic::error(
                        "catalog-value",
                        format!("{}: {name}: {error}", declared.reference),
                    )
                    .in_manifest(declared.position.clone()),
                    format!("Could not intern from data: {error}"),
                    path(),
                );
                continue;
            }
        };
        let value = match deferred::resolve(value, facts) {
            Ok(value) => value,
            Err(error) => {
                errors.add(
                    Diagnostic::error(
                        "catalog-deferred",
                        format!("{}: {name}: {error}", declared.reference),
                    )
                    .in_manifest(declared.position.clone())
                    .help(error.help()),
                    error.to_string(),
                    path(),
                );
                continue;
            }
        };
        let marked = declared.sensitive.iter().any(|one| name == *one);
        let value = match value {
            Value::Sensitive(inner) => {
                if !marked {
                    declared.sensitive.push(name.to_string());
                }
                Value::Sensitive(inner)
            }
            value if marked => Value::Sensitive(Box::new(value)),
            value => value,
        };
        parameters.push((name, value));
    }
    declared.parameters = parameters.into_iter().collect();
    declared
}

/// Strings that resources share: names of files and attributes, and tags.
#[derive(Default)]
struct Interner(HashSet<Arc<str>>);

impl Interner {
    fn get(&mut self, text: &str) -> Arc<str> {
        if let Some(shared) = self.0.get(text) {
            return Arc::clone(shared);
        }
        let shared: Arc<str> = text.into();
        self.0.insert(Arc::clone(&shared));
        shared
    }
}

/// Registers the reference and the aliases of a resource (section 14). Names from namevars are
/// registered when resources have types. Returns whether it is the first resource with its
/// reference.
fn register(
    names: &mut ResourceIndex,
    index: usize,
    declared: &CatalogResource,
    earlier: &[CatalogResource],
    errors: &mut LoadErrors,
) -> bool {
    let reference = &declared.reference;
    if let Err(existing) = names.claim(reference.clone(), index) {
        let existing = &earlier[existing];
        let at = match &existing.position {
            Some(position) => format!(" at (file: {}, line: {})", position.file, position.line),
            None => String::new(),
        };
        errors.add(
            Diagnostic::error("duplicate", format!("{reference} is declared twice"))
                .in_manifest(declared.position.clone())
                .help("rename one of the two resources"),
            format!(
                "Duplicate declaration: {reference} is already declared{at}; cannot redeclare{}",
                declared.position()
            ),
            vec!["resources".into(), index.into(), "title".into()],
        );
        return false;
    }
    let aliases = declared.parameters.get("alias").map(texts);
    for alias in aliases.iter().flatten() {
        let Err(existing) = names.claim(reference.sibling(alias), index) else {
            continue;
        };
        errors.add(
            Diagnostic::error(
                "alias",
                format!(
                    "alias {alias:?} of {reference} is also a name of {}",
                    earlier[existing].reference
                ),
            )
            .in_manifest(declared.position.clone())
            .help("use a different alias"),
            alias_collision(
                reference,
                &Value::string(alias).inspect(),
                &[alias.as_str().into()],
                declared.position.as_ref(),
                earlier[existing].position.as_ref(),
            ),
            vec!["resources".into(), index.into()],
        );
    }
    true
}

/// Puppet's message about two resources with one name (section 14, *Collision*).
pub(super) fn alias_collision(
    reference: &ResourceRef,
    display: &str,
    key: &[Value],
    position: Option<&ManifestPosition>,
    existing: Option<&ManifestPosition>,
) -> String {
    let at = match position {
        Some(position) => format!(" at (file: {}, line: {})", position.file, position.line),
        None => String::new(),
    };
    let mut parts = vec![Value::string(reference.type_name())];
    parts.extend_from_slice(key);
    format!(
        "Cannot alias {reference} to {display}{at}; resource {} already declared{}",
        Value::List(parts).inspect(),
        manifest_position(existing)
    )
}

/// The strings of a string or a list of strings.
pub(super) fn texts(value: &Value) -> Vec<String> {
    match value.unwrap_sensitive() {
        Value::List(items) => items.iter().map(Value::ruby_to_s).collect(),
        Value::Undef => Vec::new(),
        other => vec![other.ruby_to_s()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(resources: &str, edges: &str) -> Arc<Source> {
        Source::new(
            "c.json",
            format!(
                r#"{{"name": "d", "catalog_format": 2, "resources": [{resources}], "edges": [{edges}]}}"#
            ),
        )
    }

    fn vlan(title: &str, rest: &str) -> String {
        format!(r#"{{"type": "Dev_vlan", "title": "{title}", "kind": "compilable_type"{rest}}}"#)
    }

    #[test]
    fn load_errors_have_puppets_wording_and_a_position() {
        let position = r#", "file": "/site.pp", "line": 7"#;
        let cases = [
            (
                vec![vlan("10", position), vlan("10", "")],
                "",
                "Duplicate declaration: Dev_vlan[10] is already declared at (file: /site.pp, line: 7); cannot redeclare",
                "\"10\"",
            ),
            (
                vec![vlan("10", ""), vlan("10", position)],
                "",
                "Duplicate declaration: Dev_vlan[10] is already declared; cannot redeclare (file: /site.pp, line: 7)",
                "\"10\"",
            ),
            (
                vec![
                    vlan("up", ""),
                    vlan("x", r#", "parameters": {"alias": "up"}"#),
                ],
                "",
                r#"Cannot alias Dev_vlan[x] to "up"; resource ["Dev_vlan", "up"] already declared"#,
                "{",
            ),
            (
                vec![vlan("1", "")],
                r#"{"source": "Class[main]", "target": "Dev_vlan[1]"}"#,
                "Could not intern from data: Could not find relationship source \"Class[main]\"",
                "\"Class[main]\"",
            ),
            (
                vec![vlan(
                    "1",
                    r#", "parameters": {"label": {"__ptype": "Deferred", "name": "no_such_function"}}"#,
                )],
                "",
                "Unknown function 'no_such_function'",
                r#"{"__ptype""#,
            ),
            (
                vec![vlan(
                    "1",
                    r#", "parameters": {"label": {"__ptype": "Odd"}}"#,
                )],
                "",
                "Could not intern from data: No implementation mapping found for Puppet Type Odd",
                r#"{"__ptype""#,
            ),
        ];
        for (resources, edges, message, at) in cases {
            let source = catalog(&resources.join(","), edges);
            let error = load(&source, &Loading::default()).unwrap_err();
            assert_eq!(error.message, message);
            let label = &error.diagnostics[0].labels[0];
            let marked = &source.text[label.span.clone()];
            assert!(marked.starts_with(at), "{message}: marked {marked}");
        }
    }

    #[test]
    fn load_reports_all_errors_at_once() {
        let source = catalog(
            &[vlan("1", ""), vlan("1", ""), vlan("1", "")].join(","),
            r#"{"source": "A[1]", "target": "B[1]"}"#,
        );
        let error = load(&source, &Loading::default()).unwrap_err();
        assert_eq!(error.diagnostics.len(), 4);
    }

    #[test]
    fn load_wraps_sensitive_values() {
        let source = catalog(
            &vlan(
                "1",
                r#", "parameters": {"a": "s3cret", "b": {"__ptype": "Sensitive", "__pvalue": "t0p"}}, "sensitive_parameters": ["a"]"#,
            ),
            "",
        );
        let catalog = load(&source, &Loading::default()).unwrap();
        assert_eq!(
            format!("{:?}", catalog.resources[0].parameters),
            r#"{"a": ••••, "b": ••••}"#
        );
    }

    #[test]
    fn load_errors_of_bytes_and_syntax_have_a_position() {
        let error = super::source("c", vec![b'{', 0xff]).unwrap_err();
        assert_eq!(error.diagnostics[0].labels[0].span.start, 1);
        for text in [
            "",
            "{",
            "[]",
            "{\"name\": 1}",
            "{\"name\": \"ü\", ]",
            "\u{feff}{}",
        ] {
            let source = Source::new("c.json", text);
            let error = load(&source, &Loading::default()).unwrap_err();
            assert_eq!(error.diagnostics.len(), 1, "{text}");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let source = catalog(
            &vlan("1", &format!(r#", "parameters": {{"x": {deep}}}"#)),
            "",
        );
        assert!(load(&source, &Loading::default()).is_err());
    }
}
