//! Outlines of platforms: what a mock of any platform must know.
//!
//! `switchtender-devices` makes them of definitions, and `switchtender-mocks` behaves like them, so that
//! neither knows the other. They describe the definition and not the device. Patterns are texts, since
//! each side has its own way to match them.

mod command_line;
mod json_path;
mod netconf_interface;
mod request_shape;
mod rest_interface;
mod rest_session;

pub use command_line::{
    CommandLine, CommandMode, LineShape, ListForm, ListShape, MoveShape, NegativeForm,
    RemovalShape, SetShape,
};
pub use json_path::{JsonPath, JsonStep};
pub use netconf_interface::{ElementList, NetconfInterface};
pub use request_shape::{FieldShape, RequestShape};
pub use rest_interface::{
    AnswerShape, CandidateShape, DocumentShape, ListLevel, ObjectEffect, ObjectRequest,
    ObjectShape, PageCounter, PageShape, PartShape, RestInterface, TaskShape, VersionShape,
};
pub use rest_session::{RestSession, TokenCarrier, TokenLogin};
