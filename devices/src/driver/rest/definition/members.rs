//! Members of objects: objects in a list, and entries of an array that several attributes share.

use super::{DeviceOwned, RestLocation};
use crate::driver::rest::codec::ValueCodec;
use crate::driver::rest::template::{BodyField, TextTemplate};
use crate::map::IndexMap;
use crate::read::answer_rule::Expectation;
use crate::read::field_path::FieldPath;
use crate::value::Value;

/// Members of an object that are objects themselves.
#[derive(Clone, Debug)]
pub(crate) struct MembersRule {
    /// Path for reading their list.
    pub(crate) read: FieldPath,
    /// Path for writing with the object.
    pub(crate) write: FieldPath,
    /// How they are added and removed individually; `None`: the list is always written completely.
    pub(crate) own: Option<MemberPaths>,
    /// Field of a member that identifies it.
    pub(crate) key: FieldPath,
    pub(crate) split: KeySplit,
    /// Fields of members that the device has made for itself.
    pub(crate) device_owned: DeviceOwned,
    /// Format of the key, or of its host.
    pub(crate) codec: Option<MemberCodec>,
    /// The word for no members.
    pub(crate) none: Option<Value>,
    /// Fields in the body of a new member.
    pub(crate) create: Vec<(FieldPath, BodyField)>,
    /// Fields of a member that are not part of its key.
    pub(crate) fields: IndexMap<String, RestLocation>,
}

/// The paths of the requests for single members.
#[derive(Clone, Debug)]
pub(crate) struct MemberPaths {
    pub(crate) collection: TextTemplate,
    pub(crate) object: TextTemplate,
}

/// The format of the key of a member.
#[derive(Clone, Debug)]
pub(crate) enum MemberCodec {
    Always(ValueCodec),
    /// By the value of another attribute; others have none.
    By {
        attribute: String,
        codecs: IndexMap<String, ValueCodec>,
    },
}

/// Conversion between a member's value and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeySplit {
    /// The member is its key.
    Complete,
    /// The member is a hash; one field is the key.
    Field(String),
    /// The member is a hash; two fields are the key, host and port.
    HostPort(String, String),
}

/// Which entries of a shared array an attribute owns.
#[derive(Clone, Debug)]
pub(crate) struct EntriesRule {
    /// Name of the shared array.
    pub(crate) of: String,
    /// The kinds of entry.
    pub(crate) kinds: Vec<String>,
    /// The side (client or server) of the entry; entries with `all` are for both.
    pub(crate) context: Option<String>,
    /// Kinds whose entries are always for both sides.
    pub(crate) both: Vec<String>,
    /// The word for no entry.
    pub(crate) absent: Option<Value>,
    /// Entries of a new object if the catalog has none.
    pub(crate) default_entry: Option<DefaultEntry>,
}

/// A default entry.
#[derive(Clone, Debug)]
pub(crate) struct DefaultEntry {
    /// Attributes with the values that are required for it.
    pub(crate) when: IndexMap<String, Vec<String>>,
    /// Kind of the entry.
    pub(crate) kind: TextTemplate,
    /// Candidates: the first that exists on the device, else the last.
    pub(crate) paths: Vec<TextTemplate>,
}

/// An array that several attributes share: each owns the entries of some kinds. Entries of other
/// kinds are preserved.
#[derive(Clone, Debug)]
pub(crate) struct SharedArray {
    /// Path for reading the array.
    pub(crate) read: FieldPath,
    /// Path for writing; the array is always written completely.
    pub(crate) write: FieldPath,
    /// Path of the collection with the objects of a kind: `/mgmt/tm/ltm/profile/{kind}`.
    pub(crate) kinds: TextTemplate,
    /// Fields of a valid answer of that collection; values may contain `{kind}`.
    pub(crate) answer: Vec<Expectation>,
}
