//! The structure of a NETCONF configuration.

/// The structure of a NETCONF configuration, and the answers to other operations.
#[derive(Clone, Debug, Default)]
pub struct NetconfInterface {
    /// Elements with one name that are a list.
    pub lists: Vec<ElementList>,
    /// The configuration at the start: XML elements.
    pub config: String,
    /// Other operations with the content of their replies.
    pub answers: Vec<(String, String)>,
}

/// Elements with one name in one parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementList {
    /// The names from the outermost element to those of the list, or their end. They have no prefix.
    pub path: Vec<String>,
    /// The elements that identify one of the list; none: its text does.
    pub keys: Vec<String>,
    /// Elements that each of the list must have.
    pub required: Vec<String>,
}
