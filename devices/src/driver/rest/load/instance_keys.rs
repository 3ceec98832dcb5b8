//! Which keys of `[instance]` have an effect, by where the objects are.
//!
//! A key without an effect is an error.

use crate::driver::key_table::KeyTable;

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
    /// Elements of a NETCONF configuration.
    Elements,
    /// One element of a NETCONF configuration.
    Element,
}

use ObjectForm::{Collection, Document, Element, Elements, Read, Singleton};

const ALL: &[ObjectForm] = &[Collection, Singleton, Read, Document, Elements, Element];
const REST: &[ObjectForm] = &[Collection, Singleton, Read, Document];
const REQUESTS: &[ObjectForm] = &[Collection, Singleton, Read];
const LISTS: &[ObjectForm] = &[Collection, Read, Document, Elements];

/// The keys, and the forms for which each has an effect.
pub(in crate::driver) const TABLE: KeyTable<ObjectForm> = KeyTable {
    forms: &[
        (Collection, "`collection`"),
        (Singleton, "`singleton`"),
        (Read, "`from`"),
        (Document, "a document"),
        (Elements, "`collection` of NETCONF"),
        (Element, "`singleton` of NETCONF"),
    ],
    keys: &[
        ("collection", &[Collection, Singleton, Elements, Element]),
        ("parent", &[Collection]),
        ("from", &[Read, Document]),
        ("rows", &[Collection, Read, Document]),
        ("key", LISTS),
        ("answer", &[Collection, Singleton]),
        ("optional", &[Collection, Singleton, Elements, Element]),
        ("query", &[Collection, Singleton]),
        ("codec", &[Collection, Read, Document]),
        ("name", &[Collection, Read]),
        ("object", REQUESTS),
        ("envelope", REQUESTS),
        ("create", LISTS),
        ("update", &[Collection, Singleton, Read, Elements, Element]),
        ("unset", ALL),
        ("etag", REQUESTS),
        ("remove", LISTS),
        ("reserved", LISTS),
        ("device_owned", LISTS),
        ("lookups", REST),
    ],
};
