//! An entry of the catalog: a resource or a container, with its tags and relationships.

use std::sync::Arc;

use switchtender_devices::diagnostic::ManifestPosition;
use switchtender_devices::value::Name;

use super::resource::Resource;
use super::resource_ref::ResourceRef;

/// Index of a node in [`super::Resources`], in the order of addition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The tags of a resource, shared with its messages and events.
pub(crate) type Tags = Arc<[Arc<str>]>;

/// An entry of the catalog: a resource or a container.
#[derive(Clone, Debug)]
pub(crate) struct CatalogNode {
    pub(crate) reference: ResourceRef,
    pub(crate) position: Option<ManifestPosition>,
    /// All tags, in lower case.
    pub(crate) tags: Tags,
    meta: Option<Box<Metaparameters>>,
    /// In the order of [`Relation::ALL`], then as declared. The targets exist.
    pub(crate) relations: Vec<(Relation, NodeId)>,
    /// `None` for stages, classes and instances of defined types.
    pub(crate) resource: Option<Arc<Resource>>,
    pub(crate) container: Option<NodeId>,
    /// A default resource, not from the catalog.
    pub(crate) is_default: bool,
    /// Declared and not realized: skipped.
    pub(crate) is_virtual: bool,
    /// Why the resource fails when it is evaluated, found before the run.
    pub(crate) refusal: Option<Arc<str>>,
    /// References from the outermost container to the node. A class has only its title.
    pub(crate) path: Arc<[Arc<str>]>,
    /// Messages name the node without its containers.
    pub(crate) cut_path: bool,
}

impl CatalogNode {
    /// A node without container, tags and path.
    pub(super) fn new(reference: ResourceRef, position: Option<ManifestPosition>) -> Self {
        Self {
            reference,
            position,
            tags: Tags::default(),
            meta: None,
            relations: Vec::new(),
            resource: None,
            container: None,
            is_default: false,
            is_virtual: false,
            refusal: None,
            path: Arc::default(),
            cut_path: false,
        }
    }

    /// Removes `noop => false`.
    pub(super) fn enforce_noop(&mut self) {
        if let Some(meta) = &mut self.meta
            && meta.noop == Some(false)
        {
            meta.noop = None;
        }
    }

    pub(super) fn with_meta(self, meta: Metaparameters) -> Self {
        let meta = (meta != Metaparameters::NONE).then(|| Box::new(meta));
        Self { meta, ..self }
    }

    /// The metaparameters except relationships.
    pub(crate) fn meta(&self) -> &Metaparameters {
        static NONE: Metaparameters = Metaparameters::NONE;
        self.meta.as_deref().unwrap_or(&NONE)
    }

    /// The source of messages about the node: its path, or the part that Puppet uses.
    pub(crate) fn source(&self) -> String {
        if self.cut_path {
            format!("/{}", self.reference)
        } else {
            self.full_path()
        }
    }

    /// `/Stage[main]/Main/Dev_vlan[10]`.
    pub(crate) fn full_path(&self) -> String {
        let length = self.path.iter().map(|step| step.len() + 1).sum();
        let mut text = String::with_capacity(length);
        for step in self.path.iter() {
            text.push('/');
            text.push_str(step);
        }
        text
    }
}

/// Metaparameters of resources and containers. Most nodes have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Metaparameters {
    pub(crate) noop: Option<bool>,
    pub(crate) schedule: Option<String>,
    pub(crate) level: Option<super::Level>,
    /// The attributes to audit, in the order of declaration.
    pub(crate) audit: Vec<Name>,
    pub(crate) aliases: Vec<String>,
    pub(crate) tags: Vec<String>,
}

impl Metaparameters {
    const NONE: Self = Self {
        noop: None,
        schedule: None,
        level: None,
        audit: Vec::new(),
        aliases: Vec::new(),
        tags: Vec::new(),
    };
}

/// The relationship metaparameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    Require,
    Subscribe,
    Before,
    Notify,
}

impl Relation {
    pub(crate) const ALL: [Relation; 4] = [
        Relation::Require,
        Relation::Subscribe,
        Relation::Before,
        Relation::Notify,
    ];

    /// The name of the metaparameter.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Relation::Require => "require",
            Relation::Subscribe => "subscribe",
            Relation::Before => "before",
            Relation::Notify => "notify",
        }
    }

    /// Whether the other resource comes first.
    pub(crate) fn is_inward(self) -> bool {
        matches!(self, Relation::Require | Relation::Subscribe)
    }

    /// Whether it delivers events.
    pub(crate) fn refreshes(self) -> bool {
        matches!(self, Relation::Subscribe | Relation::Notify)
    }
}
