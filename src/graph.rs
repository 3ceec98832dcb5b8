//! The relationship graph of a catalog (`docs/transaction.md`, sections 3, 4 and 16).
//!
//! [`build`] lists the steps from resources to the graph that is traversed; [`ready`] says what
//! comes next, [`cycle`] finds what can never come. No I/O, no evaluation.

mod automatic;
mod build;
mod containers;
pub mod cycle;
pub mod dot;
mod edges;
mod layers;
mod manual;
mod part;
mod ready;
mod removal;
mod svg;
mod vertex;

pub use build::{Built, build};
pub use edges::{EdgeCounts, EdgeKind, Edges};
pub use part::{Part, Tie, TieKind};
pub use ready::{Key, Ready};
pub use svg::svg;
pub use vertex::{Graph, Vertex, VertexId};
