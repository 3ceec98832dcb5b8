//! The relationship graph of a catalog (`docs/reference/transaction.md`, sections 3, 4 and 16).
//!
//! [`mod@build`] lists the steps from resources to the traversed graph, [`ready_queue`] orders the
//! evaluation, [`cycle`] finds dependency cycles. No I/O, no evaluation.

mod automatic;
mod build;
mod containers;
pub mod cycle;
mod deletion_order;
pub mod dot;
mod drawing;
mod edges;
mod layers;
mod manual;
mod object;
mod ready_queue;
mod references;
mod svg;
mod vertex;

pub use build::build;
pub(crate) use drawing::{Drawing, DrawnLine, DrawnNode, LineStyle, NodeStyle};
pub use edges::EdgeKind;
pub(crate) use object::ObjectIndex;
pub(crate) use ready_queue::{OrderKey, ReadyQueue};
pub(crate) use svg::svg;
pub(crate) use vertex::{Graph, Vertex, VertexId};
