//! The keys of `[attr.x]`, and the locations of values where each has an effect.

use crate::document::{At, Item, KeyValue, Named, SectionForm, ValueKind, ValueShape, keys, word};
use crate::driver::json_fields::{JsonFields, fields_of, json_of};
use crate::driver::rest::codec::{GroupCodec, ValueCodec};
use crate::driver::rest::definition::{CreateOnly, OwnRequest, RestLocation, UnsetRule};
use crate::driver::rest::template::TextTemplate;
use crate::driver::rest::toml::{BodyFields, ChangeVerb, OwnRequestKeys};
use crate::driver::unsupported::Unsupported;
use crate::map::IndexMap;
use crate::model::load::value_spec::Values;
use crate::read::field_path::{FieldPath, FieldPathError};
use crate::value::Value;
use serde_json::Value as Json;

/// The location of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum LocationForm {
    Field,
    SharedField,
    Inside,
    States,
    Members,
    Entries,
    Order,
    Upload,
    /// A field of an element of a NETCONF configuration.
    Leaf,
    /// Several fields of such an element.
    LeafStates,
    /// The position of such an element in its list.
    LeafOrder,
    /// A field whose place depends on another attribute.
    Chosen,
    /// Values that are the fields that exist.
    Choice,
}

use LocationForm::{
    Choice, Chosen, Entries, Field, Inside, Leaf, LeafOrder, LeafStates, Members, Order,
    SharedField, States, Upload,
};

impl SectionForm for LocationForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Field, "`field`"),
        (SharedField, "`field`, `with`"),
        (Inside, "`inside`"),
        (States, "`set`"),
        (Members, "`sub`"),
        (Entries, "`entry`"),
        (Order, "`order`"),
        (Upload, "`upload`"),
        (Leaf, "`field` of NETCONF"),
        (LeafStates, "`set` of NETCONF"),
        (LeafOrder, "`order` of NETCONF"),
        (Chosen, "`field`, `by`"),
        (Choice, "`choice`"),
    ];
}

impl LocationForm {
    /// The form of a location; `None` if the platform has no value.
    pub(super) fn of(location: &RestLocation, is_netconf: bool) -> Option<Self> {
        Some(match location {
            RestLocation::Field(_) if is_netconf => Leaf,
            RestLocation::States(_) if is_netconf => LeafStates,
            RestLocation::Order(_) if is_netconf => LeafOrder,
            RestLocation::Field(_) => Field,
            RestLocation::Chosen(_) => Chosen,
            RestLocation::Choice(_) => Choice,
            RestLocation::States(_) => States,
            RestLocation::Group { .. } => SharedField,
            RestLocation::Inside(_) => Inside,
            RestLocation::Members(_) => Members,
            RestLocation::Entries(_) => Entries,
            RestLocation::Order(_) => Order,
            RestLocation::Upload(_) => Upload,
            RestLocation::Unsupported(_) => return None,
        })
    }
}

const WITH_KINDS: [LocationForm; 10] = [
    Field,
    SharedField,
    Inside,
    States,
    Members,
    Entries,
    Order,
    Upload,
    Chosen,
    Choice,
];
/// Values in fields of the object.
const FIELDS: [LocationForm; 9] = [
    Field,
    SharedField,
    Inside,
    States,
    Upload,
    Leaf,
    LeafStates,
    Chosen,
    Choice,
];
const PATHS: [LocationForm; 6] = [Field, SharedField, Members, Upload, Leaf, Chosen];
const FORMATS: [LocationForm; 5] = [Field, SharedField, Members, Leaf, Chosen];
const VALUES: [LocationForm; 5] = [States, LeafStates, Field, Chosen, Choice];
const WITHOUT: [LocationForm; 7] = [Field, Entries, Order, Leaf, LeafOrder, Chosen, Choice];

keys! {
    /// How an attribute is read and written.
    pub(in crate::driver) struct LocationKeys at LocationForm {
        /// Key of a stanza, or path of a field.
        field: Option<At<FieldPositions>> where PATHS,
        /// Attribute that decides about the place, a `field.VALUE` for each of its values.
        by: Option<String> where [Chosen],
        /// Field that exists with each value.
        choice: Option<Named<FieldPath>> where [Choice],
        /// Attributes in the same line or fields.
        with: Vec<String> where [SharedField],
        /// Attribute whose line or fields have the value.
        inside: Option<String> where [Inside],
        /// The line, or the fields, for a value, by its name in the model. `request` is a request of its
        /// own for the value.
        set: Named<SetFields> where VALUES,
        /// Patterns or fields by the name of the value.
        when: Option<Named<ConditionFields>> where [States, LeafStates],
        /// Words of the device by value.
        map: Named<Json> where [Field, Leaf, Chosen],
        /// Value without a line or field.
        absent: Option<Value> where WITHOUT,
        /// How `absent` is written: `delete`, `null`, `omit` or a request of its own.
        unset: Option<At<UnsetKeys>> where [Field, Leaf, Chosen, Choice],
        /// Value format.
        codec: Option<At<LocationCodec>> where FORMATS,
        /// The inner block with the lines, or the list of members.
        sub: Option<FieldPath> where [Members],
        /// Path of members that are objects.
        collection: Option<TextTemplate> where [Members],
        /// Path of one member.
        object: Option<TextTemplate> where [Members],
        /// Field that identifies a member.
        key: Option<FieldPath> where [Members],
        /// Conversion of the key to a hash.
        split: Option<At<TextTemplate>> where [Members],
        /// Further fields of a member.
        item: Named<MemberFieldKeys> where [Members],
        /// How a member is created.
        create: Option<MemberCreateKeys> where [Members],
        /// Fields of members that the device has made for itself.
        device_owned: JsonFields where [Members],
        /// The word for an empty list.
        none: Option<Value> where [Members],
        /// Shared array with the entries, see `[shared]`.
        entry: Option<String> where [Entries],
        /// Kinds of the entries.
        kind: Vec<String> where [Entries],
        /// The side of the entries.
        context: Option<String> where [Entries],
        /// Kinds whose entries have no side.
        both: Vec<String> where [Entries],
        /// Default entry of a new object.
        otherwise: Option<DefaultEntryKeys> where [Entries],
        /// The content of a file that is sent before.
        upload: Option<UploadKeys> where [Upload],
        /// The position among the instances.
        order: Option<MoveKeys> where [Order, LeafOrder],
        /// Kinds of object that have the attribute.
        kinds: Vec<String> where WITH_KINDS,
        /// Current values that are in sync with a value.
        alike: Named<Vec<Value>>,
        /// Valid values on the platform, if they are only a part of those of the model.
        values: Option<At<Values>>,
        /// Set at the creation only: `true`, or `field` if only the existence of the field is.
        create_only: CreateOnly = CreateOnly::Nothing,
        /// The value cannot be read; it is sent if it is not the one that was set last.
        write_only: bool where FIELDS,
        /// Reason why the platform does not have the attribute, or names of values that it does not
        /// have, with reasons.
        unsupported: Option<At<Unsupported>>,
    }
}

/// The path of a field; for `upstreams[*].dial`, that of the list and that in its elements.
#[derive(Clone, Debug)]
pub(in crate::driver) struct FieldPosition {
    pub(in crate::driver) path: FieldPath,
    pub(in crate::driver) each: Option<FieldPath>,
}

impl KeyValue for FieldPosition {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.template()?;
        if text.contains('{') {
            let message = format!("the path `{text}` has no placeholders");
            let help = "write `by`, the attribute that decides, and a `field.VALUE` for each value";
            let span = item.span.clone();
            item.findings.error_with_help("path", span, message, help);
            return None;
        }
        let Some((list, field)) = text.split_once("[*].") else {
            let path = FieldPath::read(item)?;
            return Some(Self { path, each: None });
        };
        match (list.parse(), field.parse()) {
            (Ok(path), Ok(field)) => Some(Self {
                path,
                each: Some(field),
            }),
            (Err(error), _) | (_, Err(error)) => {
                let error: FieldPathError = error;
                item.error("path", error.to_string());
                None
            }
        }
    }
}

/// The place of a value, or its places by the value of another attribute.
#[derive(Clone, Debug)]
pub(in crate::driver) enum FieldPositions {
    Always(FieldPosition),
    ByValue(Named<FieldPosition>),
}

impl KeyValue for FieldPositions {
    fn declare(shape: &ValueShape) {
        FieldPosition::declare(shape);
        Named::<FieldPosition>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            Named::read(item).map(Self::ByValue)
        } else {
            FieldPosition::read(item).map(Self::Always)
        }
    }
}

/// The key of a request in `set.VALUE`.
const REQUEST: &str = "request";

/// The fields for a value, and its request.
#[derive(Clone, Debug)]
pub(in crate::driver) struct SetFields {
    pub(super) fields: Vec<(FieldPath, Json)>,
    pub(super) request: Option<OwnRequest>,
}

impl SetFields {
    /// Whether the value is in fields, even if in none.
    pub(super) fn has_fields(&self) -> bool {
        !self.fields.is_empty() || self.request.is_none()
    }
}

impl KeyValue for SetFields {
    fn declare(shape: &ValueShape) {
        shape.accepts(ValueKind::Table);
        let request = shape.key(REQUEST);
        request.describe("Request of its own for the value.".to_owned());
        OwnRequestKeys::declare(&request);
        shape.any_name().accepts_anything();
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let table = item.table()?;
        let request = table.get(REQUEST);
        let keys = request.as_ref().map(OwnRequestKeys::read);
        let entries = table.entries().into_iter();
        let fields = entries.filter(|(name, ..)| name != REQUEST);
        let fields = fields.map(|(name, span, item)| {
            let path = FieldPath::read_key(&table, &name, &span);
            path.zip(json_of(&item))
        });
        let fields: Vec<Option<_>> = fields.collect();
        Some(Self {
            fields: fields.into_iter().collect::<Option<_>>()?,
            request: match keys {
                Some(keys) => Some(keys?.into()),
                None => None,
            },
        })
    }
}

/// The fields that identify a value, each with its possible values.
#[derive(Clone, Debug)]
pub(in crate::driver) struct ConditionFields(pub(super) Vec<(FieldPath, Vec<Json>)>);

impl KeyValue for ConditionFields {
    fn declare(shape: &ValueShape) {
        JsonFields::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let fields = fields_of(&item.table()?, json_of)?.into_iter();
        let fields = fields.map(|(path, json)| match json {
            Json::Array(any) => (path, any),
            one => (path, vec![one]),
        });
        Some(Self(fields.collect()))
    }
}

/// How the value without a field is written.
#[derive(Clone, Debug)]
pub(in crate::driver) enum UnsetKeys {
    Field(UnsetRule),
    Request(OwnRequest),
}

impl KeyValue for UnsetKeys {
    fn declare(shape: &ValueShape) {
        UnsetRule::declare(shape);
        OwnRequestKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            let keys = OwnRequestKeys::read(item)?;
            return Some(Self::Request(keys.into()));
        }
        UnsetRule::read(item).map(Self::Field)
    }
}

/// The format of a value, of several attributes in common fields, or of the keys of members by the value
/// of another attribute.
#[derive(Clone, Debug)]
pub(in crate::driver) enum LocationCodec {
    Value(ValueCodec),
    Group(GroupCodec, usize),
    By {
        attribute: String,
        codecs: IndexMap<String, ValueCodec>,
    },
}

/// The key of the attribute that decides about a format.
const BY: &str = "by";

impl KeyValue for LocationCodec {
    fn declare(shape: &ValueShape) {
        ValueCodec::declare(shape);
        shape.accepts_words(GroupCodec::ALL.iter().map(|(name, ..)| *name));
        shape.accepts(ValueKind::Table);
        let by = shape.key(BY);
        by.describe("Attribute whose value selects the format of the keys of members.".to_owned());
        String::declare(&by);
        ValueCodec::declare(&shape.any_name());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            let table = item.table()?;
            let attribute = table.required_string(BY);
            let entries = table.entries().into_iter();
            let codecs = entries.filter(|(name, ..)| name != BY);
            let codecs = codecs.map(|(name, _, item)| Some((name, KeyValue::read(&item)?)));
            let codecs: Vec<Option<_>> = codecs.collect();
            return Some(Self::By {
                attribute: attribute?,
                codecs: codecs.into_iter().collect::<Option<_>>()?,
            });
        }
        let values = ValueCodec::ALL.iter();
        let values = values.map(|(name, codec)| (*name, (Some(*codec), None)));
        let groups = GroupCodec::ALL.iter();
        let groups = groups.map(|(name, codec, arity)| (*name, (None, Some((*codec, *arity)))));
        let words: Vec<_> = values.chain(groups).collect();
        match word(item, &words)? {
            (_, Some((codec, arity))) => Some(Self::Group(codec, arity)),
            (codec, None) => codec.map(Self::Value),
        }
    }
}

impl KeyValue for CreateOnly {
    fn declare(shape: &ValueShape) {
        bool::declare(shape);
        shape.accepts_words([FIELD].into_iter());
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        match item.as_bool() {
            Some(true) => Some(CreateOnly::Value),
            Some(false) => Some(CreateOnly::Nothing),
            None => word(item, &[(FIELD, CreateOnly::Field)]),
        }
    }
}

/// The word for an existence that the creation decides.
const FIELD: &str = "field";

keys! {
    /// A field of a member.
    pub(in crate::driver) struct MemberFieldKeys {
        /// Path of the field.
        field: Option<FieldPath>,
        /// Value without the field.
        absent: Option<Value>,
        /// Words of the device by value.
        map: Named<Json>,
        /// Fields for a value.
        set: Option<Named<JsonFields>>,
        /// Fields that identify a value.
        when: Option<Named<ConditionFields>>,
    }
}

keys! {
    /// How a member is created.
    pub(in crate::driver) struct MemberCreateKeys {
        /// Fields besides the attributes.
        body: BodyFields,
    }
}

keys! {
    /// The entry of a new object.
    pub(in crate::driver) struct DefaultEntryKeys {
        /// Values with which it applies.
        when: Named<Vec<String>>,
        /// Kind of the entry.
        kind: TextTemplate,
        /// Paths of entries; the first that exists counts.
        paths: Vec<TextTemplate>,
    }
}

keys! {
    /// The content of a file that is sent before.
    pub(in crate::driver) struct UploadKeys {
        /// Path of the upload.
        path: TextTemplate,
        /// Value of the field that names the file.
        value: TextTemplate,
    }
}

keys! {
    /// How an object is moved.
    pub(in crate::driver) struct MoveKeys {
        /// Method of the requests that move.
        verb: Option<At<ChangeVerb>>,
        /// Line, path or attributes of NETCONF that move an instance behind another one.
        after: Option<At<MoveForm>>,
        /// Line, path or attributes of NETCONF that move an instance to the first place.
        before: Option<At<MoveForm>>,
    }
}

/// The path of a request that moves, or the attributes of an edit.
#[derive(Clone, Debug)]
pub(in crate::driver) enum MoveForm {
    Path(TextTemplate),
    Attributes(Named<TextTemplate>),
}

impl KeyValue for MoveForm {
    fn declare(shape: &ValueShape) {
        TextTemplate::declare(shape);
        Named::<TextTemplate>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if item.is_table() {
            Named::read(item).map(Self::Attributes)
        } else {
            TextTemplate::read(item).map(Self::Path)
        }
    }
}
