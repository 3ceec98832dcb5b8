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
}

use LocationForm::{
    Entries, Field, Inside, Leaf, LeafStates, Members, Order, SharedField, States, Upload,
};

impl LocationForm {
    /// The form of a location; `None` if the platform has no value.
    pub(super) fn of(location: &RestLocation, is_netconf: bool) -> Option<Self> {
        Some(match location {
            RestLocation::Field(_) if is_netconf => Leaf,
            RestLocation::States(_) if is_netconf => LeafStates,
            RestLocation::Field(_) => Field,
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
];
/// Values in fields of the object.
const FIELDS: &[LocationForm] = &[Field, SharedField, Inside, States, Upload, Leaf, LeafStates];

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
    ],
    keys: &[
        ("field", &[Field, SharedField, Members, Upload, Leaf]),
        ("with", &[SharedField]),
        ("set", &[States, LeafStates]),
        ("when", &[States, LeafStates]),
        ("map", &[Field, Leaf]),
        ("absent", &[Field, Entries, Order, Leaf]),
        ("unset", &[Field, Leaf]),
        ("codec", &[Field, SharedField, Members, Leaf]),
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
        ("same", ALL),
        ("truthy", ALL),
        ("values", ALL),
        ("create_only", ALL),
        ("write_only", FIELDS),
    ],
};
