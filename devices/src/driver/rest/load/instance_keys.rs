//! The keys of `[instance]`, `[kind]`, `[shared.x]` and `[refresh]`, and where the objects are when each has
//! an effect.

use crate::document::{At, Item, KeyValue, Named, SectionForm, ValueShape, keys};
use crate::driver::answer_fields::{AnswerFields, KindAnswerFields};
use crate::driver::json_fields::JsonFields;
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::definition::{RequestTarget, UnsetRule};
use crate::driver::rest::template::TextTemplate;
use crate::driver::rest::toml::{
    BodyFields, ChangeBody, ChangeVerb, CreateVerb, ElementChange, ElementCreation, RequestVerb,
    TemplateFields,
};
use crate::pattern::Pattern;
use crate::read::field_path::FieldPath;
use crate::read::nested_rows::NestedRows;
use crate::read::rows::RowsRule;

/// Where the objects of a type are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum ObjectForm {
    /// In a collection with a request of its own.
    Collection,
    /// One object with a request of its own.
    Singleton,
    /// In a read of the platform.
    Read,
    /// In a document that is written as a whole.
    Document,
}

use ObjectForm::{Collection, Document, Read, Singleton};

impl SectionForm for ObjectForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (Collection, "`collection`"),
        (Singleton, "`singleton`"),
        (Read, "`from`"),
        (Document, "a document"),
    ];
}

const OWN_READ: [ObjectForm; 2] = [Collection, Singleton];
const LISTS: [ObjectForm; 3] = [Collection, Read, Document];
const REQUESTS: [ObjectForm; 3] = [Collection, Singleton, Read];

keys! {
    /// Where the objects are, and how they are created and removed.
    pub(in crate::driver) struct ObjectKeys at ObjectForm {
        /// Path of all objects.
        collection: Option<TextTemplate> where OWN_READ,
        /// There is one collection for each of these parents.
        parent: Option<ParentKeys> where [Collection],
        /// The read with the instances.
        from: Option<At<String>> where [Read, Document],
        /// There is exactly one instance, under any title.
        singleton: Option<String> where [Singleton],
        /// Path of the list of rows or objects in the answer.
        rows: Option<NestedRows> where LISTS,
        /// Namevars and the columns or fields that have them.
        key: Option<RequiredNames<KeyField>> where LISTS,
        /// Fields of a valid answer.
        answer: KindAnswerFields where OWN_READ,
        /// A missing path means that there are no objects.
        optional: bool where OWN_READ,
        /// Parameters of the read.
        query: Named<String> where OWN_READ,
        /// Format of the names.
        codec: Option<ValueCodec> where LISTS,
        /// The first namevar of the object, if the title is another one.
        name: Option<NameKeys> where [Collection, Read],
        /// Path of one object.
        object: Option<TextTemplate> where REQUESTS,
        /// Path of the object in bodies.
        envelope: FieldPath where REQUESTS = FieldPath::default(),
        /// Lines, or the request, that create an instance.
        create: Option<CreateKeys> where LISTS,
        /// How an object is changed.
        update: Option<UpdateKeys> where REQUESTS,
        /// How `absent` is written: `delete`, `null` or `omit`.
        unset: Option<UnsetRule>,
        /// The device has entity tags.
        etag: bool where REQUESTS,
        /// Lines, or the form of the request, that remove an instance; `false`: none.
        remove: Option<RemovalKeys> where LISTS,
        /// Instances that belong to the device.
        reserved: Option<Pattern> where LISTS,
        /// Fields of objects that the device has made for itself.
        device_owned: JsonFields where LISTS,
        /// Further collections to read.
        lookups: Vec<LookupKeys>,
    }
}

/// Where the elements of a type of a NETCONF configuration are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::driver) enum ElementForm {
    List,
    Singleton,
}

impl SectionForm for ElementForm {
    const FORMS: &'static [(Self, &'static str)] = &[
        (ElementForm::List, "`collection`"),
        (ElementForm::Singleton, "`singleton`"),
    ];
}

keys! {
    /// Where the elements are, and how they are created and removed.
    pub(in crate::driver) struct ElementKeys at ElementForm {
        /// Path of all objects.
        collection: At<String>,
        /// There is exactly one instance, under any title.
        singleton: Option<String> where [ElementForm::Singleton],
        /// Namevars and the columns or fields that have them.
        key: Option<RequiredNames<KeyField>> where [ElementForm::List],
        /// A missing path means that there are no objects.
        optional: bool,
        /// Lines, or the request, that create an instance.
        create: Option<ElementCreateKeys> where [ElementForm::List],
        /// How an object is changed.
        update: Option<ElementUpdateKeys>,
        /// How `absent` is written: `delete`, `null` or `omit`.
        unset: Option<UnsetRule>,
        /// Lines, or the form of the request, that remove an instance; `false`: none.
        remove: Option<bool> where [ElementForm::List],
        /// Instances that belong to the device.
        reserved: Option<Pattern> where [ElementForm::List],
        /// Fields of objects that the device has made for itself.
        device_owned: JsonFields where [ElementForm::List],
    }
}

keys! {
    /// The parents of collections.
    pub(in crate::driver) struct ParentKeys {
        /// Path of the list of the parents.
        collection: String,
        /// The list of the parents in the answer.
        rows: Option<RowsRule>,
        /// Namevars of the parent and their fields.
        key: RequiredNames<FieldPath>,
        /// Fields of a valid answer to the list of the parents.
        answer: AnswerFields,
    }
}

keys! {
    /// The name of an object that is not the title.
    pub(in crate::driver) struct NameKeys {
        /// The name, with placeholders.
        from: TextTemplate,
        /// End of the name.
        end: String = String::new(),
    }
}

keys! {
    /// The request that creates an object.
    pub(in crate::driver) struct CreateKeys {
        /// Method of the request, or operation of NETCONF.
        verb: CreateVerb = CreateVerb(crate::operation::Method::Post),
        /// Path of the request: `collection`, `object` or a path.
        at: Option<RequestTarget>,
        /// Fields besides the attributes.
        body: Option<BodyFields>,
        /// Fields of the body outside of `envelope`.
        frame: BodyFields,
        /// Attributes required for the creation.
        needs: Vec<String>,
        /// Fields that the device adds, for predictions.
        adds: TemplateFields,
    }
}

keys! {
    /// The operation that creates an element.
    pub(in crate::driver) struct ElementCreateKeys {
        /// Method of the request, or operation of NETCONF.
        verb: ElementCreation = ElementCreation(crate::operation::Method::Post),
        /// Fields besides the attributes.
        body: Option<BodyFields>,
        /// Attributes required for the creation.
        needs: Vec<String>,
    }
}

keys! {
    /// The request that changes an object.
    pub(in crate::driver) struct UpdateKeys {
        /// Method of the request, or operation of NETCONF.
        verb: ChangeVerb = ChangeVerb(crate::operation::Method::Patch),
        /// Path of the request: `collection`, `object` or a path.
        at: RequestTarget = RequestTarget::Object,
        /// `changed`: the fields that differ; `whole`: the complete object.
        body: Option<ChangeBody>,
        /// Further fields of each body.
        fields: BodyFields,
        /// Fields of the body outside of `envelope`.
        frame: BodyFields,
    }
}

keys! {
    /// The operation that changes an element.
    pub(in crate::driver) struct ElementUpdateKeys {
        /// Method of the request, or operation of NETCONF.
        verb: ElementChange = ElementChange(crate::operation::Method::Patch),
    }
}

keys! {
    /// The request that removes an object.
    pub(in crate::driver) struct RemoveKeys {
        /// Method of the request; by default `DELETE`, with a body `POST`.
        verb: Option<RequestVerb>,
        /// Path of the request, if it is not that of the object.
        path: Option<TextTemplate>,
        /// Body of the request that removes.
        body: BodyFields,
        /// Members are removed before the object.
        members_first: bool,
    }
}

/// Whether objects are removed, or the request that does so.
#[derive(Clone, Debug)]
pub(in crate::driver) enum RemovalKeys {
    IsPossible(bool),
    Request(RemoveKeys),
}

impl KeyValue for RemovalKeys {
    fn declare(shape: &ValueShape) {
        bool::declare(shape);
        RemoveKeys::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        if !item.is_table() {
            return bool::read(item).map(Self::IsPossible);
        }
        let keys = RemoveKeys::read(item)?;
        if keys.body.0.is_empty() && keys.path.is_none() && !keys.members_first {
            item.table()?.missing("body");
            return None;
        }
        Some(Self::Request(keys))
    }
}

keys! {
    /// A further collection.
    pub(in crate::driver) struct LookupKeys {
        /// Path of the collection.
        path: String,
        /// Field with the default route domain.
        default_domain: String,
        /// Fields of a valid answer.
        answer: AnswerFields,
    }
}

/// The field of a namevar: `name`, `../name` in the element that contains the object, or `@name`, the name of
/// the object in a map.
#[derive(Clone, Debug)]
pub(in crate::driver) struct KeyField {
    pub(super) field: Option<FieldPath>,
    pub(super) up: usize,
}

/// The word for the name of an object in a map.
const MEMBER_NAME: &str = "@name";
/// The text before the path of a field in the element that contains the object.
const OUTER: &str = "../";

impl KeyValue for KeyField {
    fn declare(shape: &ValueShape) {
        String::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let text = item.string()?;
        let (mut own, mut up) = (text.as_str(), 0);
        while let Some(outer) = own.strip_prefix(OUTER) {
            own = outer;
            up += 1;
        }
        if own == MEMBER_NAME {
            return Some(Self { field: None, up });
        }
        let field = own.parse::<FieldPath>();
        if let Err(error) = &field {
            item.error("path", error.to_string());
        }
        let field = Some(field.ok()?);
        Some(Self { field, up })
    }
}

/// A table with at least one name.
#[derive(Clone, Debug)]
pub(in crate::driver) struct RequiredNames<T>(pub(super) Named<T>);

impl<T: KeyValue> KeyValue for RequiredNames<T> {
    fn declare(shape: &ValueShape) {
        Named::<T>::declare(shape);
    }

    fn read(item: &Item<'_>) -> Option<Self> {
        let names = Named::read(item)?;
        if names.is_empty() {
            let message = format!("`{}` requires an entry", item.path);
            item.error("wrong-kind", message);
            return None;
        }
        Some(Self(names))
    }
}

keys! {
    /// Kinds of objects, selected by an attribute.
    pub(in crate::driver) struct KindKeys {
        /// The attribute.
        attr: String,
        /// The kinds by value of the attribute.
        is: Named<KindObjectKeys>,
    }
}

keys! {
    /// A kind of objects.
    pub(in crate::driver) struct KindObjectKeys {
        /// Path of the collection of the kind.
        path: Option<String>,
        /// Fields that identify the kind.
        when: JsonFields,
        /// Entry of a shared array that identifies the kind.
        entry: Named<String>,
        /// Attributes required for the creation.
        needs: Vec<String>,
    }
}

keys! {
    /// An array whose entries belong to several attributes.
    pub(in crate::driver) struct SharedArrayKeys {
        /// Path of the array when reading.
        sub: FieldPath,
        /// Path of the array when writing.
        field: FieldPath,
        /// Collection that lists the paths of a kind.
        kinds: TextTemplate,
        /// Fields of a valid answer.
        answer: KindAnswerFields,
    }
}

keys! {
    /// What a refresh sends.
    pub(in crate::driver) struct RefreshKeys {
        /// Path of the `POST`.
        path: TextTemplate,
        /// Body of the `POST`.
        body: TemplateFields,
    }
}
