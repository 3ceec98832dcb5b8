//! Which keys of `[attr.x]` have an effect, by the location of the value.
//!
//! A key without an effect is an error.

use crate::driver::key_table::KeyTable;
use crate::driver::rest::definition::RestLocation;

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

const REST: &[LocationForm] = &[
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
const ALL: &[LocationForm] = &[
    Field,
    SharedField,
    Inside,
    States,
    Members,
    Entries,
    Order,
    Upload,
    Leaf,
    LeafStates,
    LeafOrder,
    Chosen,
    Choice,
];
/// Values in fields of the object.
const FIELDS: &[LocationForm] = &[
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

/// The keys, and the locations where each has an effect.
pub(in crate::driver) const TABLE: KeyTable<LocationForm> = KeyTable {
    forms: &[
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
    ],
    keys: &[
        (
            "field",
            &[Field, SharedField, Members, Upload, Leaf, Chosen],
        ),
        ("by", &[Chosen]),
        ("choice", &[Choice]),
        ("with", &[SharedField]),
        ("set", &[States, LeafStates, Field, Chosen, Choice]),
        ("when", &[States, LeafStates]),
        ("map", &[Field, Leaf, Chosen]),
        (
            "absent",
            &[Field, Entries, Order, Leaf, LeafOrder, Chosen, Choice],
        ),
        ("unset", &[Field, Leaf, Chosen, Choice]),
        ("codec", &[Field, SharedField, Members, Leaf, Chosen]),
        ("collection", &[Members]),
        ("object", &[Members]),
        ("key", &[Members]),
        ("split", &[Members]),
        ("item", &[Members]),
        ("create", &[Members]),
        ("none", &[Members]),
        ("kind", &[Entries]),
        ("context", &[Entries]),
        ("both", &[Entries]),
        ("otherwise", &[Entries]),
        ("kinds", REST),
        ("alike", ALL),
        ("values", ALL),
        ("create_only", ALL),
        ("write_only", FIELDS),
    ],
};
