//! The keys of a model.

use super::value_spec::{CompletePattern, ModelValues};
use crate::document::{At, Item, KeyValue, Named, ValueShape, keys, sections, word, word_values};
use crate::model::version::Version;
use crate::model::{ArrayKind, Canon, Refresh, Role, RunsOn, Style};
use crate::pattern::Pattern;
use crate::value::Value;

sections! {
    /// The sections of a model, and the keys that are read before all others.
    pub(crate) struct ModelSections {
        /// Version of the format, 1.
        schema (required): i64,
        /// `shipped`: the file changes only the keys that it contains.
        extends: String,
        /// The attributes, in the order of their changes.
        attr: Named<ModelAttributeKeys>,
        /// Conditions between attributes.
        rule: Vec<RuleKeys>,
        /// Resources that are applied before, if the catalog has them.
        autorequire: Vec<RelationKeys>,
        /// Resources that are applied before, and whose changes refresh this one.
        autosubscribe: Vec<RelationKeys>,
        /// Resources that are applied after.
        autobefore: Vec<RelationKeys>,
        /// Resources that are applied after, and refreshed by changes of this one.
        autonotify: Vec<RelationKeys>,
    }
}

keys! {
    /// The values at the top of a model.
    pub(crate) struct ModelKeys {
        /// Name of the type.
        name as "type": At<String>,
        /// Description of the type.
        doc: String,
        /// Where resources of the type are applied: `device` (default), `host` or `both`.
        runs_on: RunsOn = RunsOn::default(),
        /// The type has `ensure`.
        ensurable: bool,
        /// Default of `ensure`.
        ensure_default: Option<At<EnsureWord>>,
        /// Wording of events: `resource_api` (default) or `classic`.
        style: Style = Style::default(),
        /// Whether a refresh has an effect: `no` (default), `yes` or `itself` (also after its own changes).
        refresh: Refresh = Refresh::default(),
        /// Title patterns, for several namevars.
        title: Vec<TitleText>,
        /// The word for the default of the device. The attributes that have it as a value are then without a
        /// line or field.
        default_word: Option<At<String>>,
        /// Pattern of the names of instances that belong to the device.
        built_in: Option<CompletePattern>,
        /// Pattern of the names of instances that the device creates for others.
        implicit: Option<CompletePattern>,
        /// Attributes whose value is an address of the device itself.
        owns_address: Vec<At<String>>,
        /// Attributes whose value is an address that several devices have together.
        shares_address: Vec<At<String>>,
        /// Which instances a session or a login needs.
        access: Option<At<AccessKeys>>,
        /// Attributes whose value stands for one instance on all devices of a site.
        site_unique: Vec<At<String>>,
        /// Attribute with the name of the object of which the instances are parts, such as the list of an
        /// entry.
        object: Option<At<String>>,
        /// The value that takes an interface out of service.
        shutdown: Option<ShutdownKeys>,
        /// The view of desired state that has the type, such as `interface`.
        view: Option<At<String>>,
        /// Key of the type's attributes in the view. Without it, they stand next to the sections.
        section: Option<At<String>>,
    }
}

keys! {
    /// An attribute of a type.
    pub(crate) struct ModelAttributeKeys {
        /// `namevar`, `property` (default), `init_only`, `read_only` or `parameter`.
        role: Role = Role::Property,
        /// Valid values: literals and named kinds, or a type of Puppet.
        values: Option<ModelValues>,
        /// A list of values: `set`, `list` or `sequence`.
        array: Option<ArrayKind>,
        /// Value of a resource that does not set it.
        default: Option<At<Value>>,
        /// Default of Puppet's module only.
        puppet_default: Option<At<Value>>,
        /// Every resource sets it.
        required: bool,
        /// Description of the attribute.
        doc: String = String::new(),
        /// The value is a secret.
        sensitive: Option<bool>,
        /// Normalization of the value, applied in order.
        canon: Vec<Canon>,
        /// The objects that the value names: types, or tables with a type. `[]`: it names nothing.
        refers: Option<Vec<ReferenceForm>>,
        /// Version of the program that is the first with the attribute.
        since: Option<Version>,
    }
}

keys! {
    /// An object that a value names.
    pub(crate) struct ReferenceKeys {
        /// Type of the object, or of its entries.
        target as "type": String,
        /// Field of structs that names it.
        field: Option<At<String>>,
        /// The value is a list of numbers such as `10,20-29`; each single number is a name.
        numbers: bool,
        /// Pattern; its first group is the name.
        pattern: Option<At<Pattern>>,
        /// Name of the object, with `{}` for the text.
        name: Option<String>,
        /// The name can be that of an object without a type: a missing object is not reported.
        others: bool,
    }
}

/// The name of a type, or how a value names its objects.
#[derive(Clone, Debug)]
pub(crate) enum ReferenceForm {
    Type(String),
    Keys(Box<At<ReferenceKeys>>),
}

impl KeyValue for ReferenceForm {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
        ReferenceKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            At::read(item).map(|keys| Self::Keys(Box::new(keys)))
        } else {
            item.string().map(Self::Type)
        }
    }
}

keys! {
    /// Which instances a session or a login needs.
    pub(crate) struct AccessKeys {
        /// Attribute with the name of a user.
        user: Option<At<String>>,
        /// Attribute with the name of a list. A list counts if `[session_use]` finds it, or if its name is
        /// `default`.
        list: Option<At<String>>,
        /// Attribute that every login depends on, if it matches.
        login: Option<At<String>>,
        /// Pattern of the value of `login`.
        pattern: Option<Pattern>,
        /// Attribute with the name of a list that `[session_use]` finds.
        filter: Option<At<String>>,
        /// Attributes of an instance that the session or a login uses: only a change of one can cut off the
        /// session.
        changes: Vec<At<String>>,
        /// Attribute with the mode of a trunk, whose change can cut off the session; `pattern` matches a
        /// trunk.
        trunk: Option<At<String>>,
        /// Attribute with the native VLAN of a trunk.
        native: Option<At<String>>,
        /// Attribute with the network of a route.
        route: Option<At<String>>,
        /// Attribute with the mask of the network.
        mask: Option<At<String>>,
    }
}

keys! {
    /// The value that takes an interface out of service.
    pub(crate) struct ShutdownKeys {
        /// The attribute.
        attribute: At<String>,
        /// The value.
        when: At<Value>,
    }
}

keys! {
    /// An automatic relation that is no reference.
    pub(crate) struct RelationKeys {
        /// Type of the other resource.
        target as "type": String,
        /// Attribute with its names.
        from: Option<At<String>>,
        /// Its names; without them, `autorequire` is with all resources of the type.
        names: Option<Vec<String>>,
    }
}

keys! {
    /// A condition between attributes.
    pub(crate) struct RuleKeys {
        /// All of these attributes are set, or none.
        together: Option<Vec<At<String>>>,
        /// At most one of these attributes is set.
        exclusive: Option<Vec<At<String>>>,
        /// The first attribute needs the others.
        needs: Option<Vec<At<String>>>,
        /// Exactly one of these attributes is set.
        one_of: Option<Vec<At<String>>>,
        /// At least one of these attributes is set.
        any_of: Option<Vec<At<String>>>,
        /// These attributes are not set.
        forbidden: Option<Vec<At<String>>>,
        /// The rule applies with these values.
        when: Named<Vec<Value>>,
        /// The rule does not apply with these values.
        unless: Named<Vec<Value>>,
        /// The reason, for messages.
        doc: String = String::new(),
    }
}

/// A title with its placeholders, which are namevars.
#[derive(Clone, Debug)]
pub(crate) struct TitleText(pub(super) At<String>);

impl KeyValue for TitleText {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let value = item.template()?;
        let span = item.span.clone();
        Some(Self(At { value, span }))
    }
}

/// A value of `ensure`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnsureWord(pub(super) &'static str);

word_values!(EnsureWord {
    "present" => EnsureWord("present"),
    "absent" => EnsureWord("absent"),
});

word_values!(RunsOn {
    "device" => RunsOn::Device,
    "host" => RunsOn::Host,
    "both" => RunsOn::Both,
});

word_values!(Style {
    "classic" => Style::Classic,
    "resource_api" => Style::ResourceApi,
});

word_values!(Refresh {
    "no" => Refresh::No,
    "yes" => Refresh::Yes,
    "itself" => Refresh::ItselfToo,
});

word_values!(Role {
    "namevar" => Role::Namevar,
    "property" => Role::Property,
    "init_only" => Role::InitOnly,
    "read_only" => Role::ReadOnly,
    "parameter" => Role::Parameter,
});

word_values!(ArrayKind {
    "set" => ArrayKind::Set,
    "list" => ArrayKind::List,
    "sequence" => ArrayKind::Sequence,
});

impl KeyValue for Canon {
    fn declare(shape: &ValueShape) {
        shape.accepts_words(Canon::ALL.iter().map(|(word, _)| *word));
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        word(item, &Canon::ALL)
    }
}

impl KeyValue for Version {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let found = Version::parse(&item.string()?);
        if found.is_none() {
            item.findings.error_with_help(
                "since",
                item.span.clone(),
                "the value is no version",
                "write the version of switchtender that is the first with the attribute: \"0.3\"",
            );
        }
        found
    }
}
