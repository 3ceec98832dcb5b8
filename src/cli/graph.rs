//! `switchtender graph`: what goes before what in a catalog, and why.

use std::path::PathBuf;

use switchtender_devices::diagnostic::nearest;

use super::exit::{CommandError, Exit, print};
use super::{catalog_arguments, definitions};
use crate::catalog::resource::NodeId;
use crate::catalog::types::Types;
use crate::catalog::{self, Loading, ResourceRef, Resources, Typing};
use crate::compat::Deviations;
use crate::graph::{self, Subgraph};

/// More resources than this are drawn only if one of them is named: a picture of all shows nothing.
const LARGEST: usize = 300;

/// Show what goes before what in a catalog; needs no network and no secret
///
/// Writes a graph for Graphviz, or a picture with --svg. Containers stand for themselves.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Catalog: a file, or - for standard input
    #[arg(value_name = "CATALOG")]
    catalog: PathBuf,

    /// Show what stands around this resource, such as Network_vlan[10]; all of the catalog unless
    /// given
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,

    /// Steps from the resource that are shown
    #[arg(long, value_name = "N", default_value_t = 2, requires = "resource")]
    depth: usize,

    /// A picture (SVG) instead of text for Graphviz
    #[arg(long)]
    svg: bool,

    /// Search this directory for models before the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, CommandError> {
    let registry = definitions::load(args.definitions.as_deref())?;
    let name = args.catalog.display().to_string();
    let bytes = catalog_arguments::read(&args.catalog)
        .map_err(|why| CommandError::new(format!("cannot read {name}: {why}")))?;
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let typing = Typing {
        types: &types,
        canonicalize: &|_, attributes| Ok(attributes),
        default_schedules: false,
        deviations: Deviations::default(),
    };
    let resources = catalog::source(name, bytes)
        .and_then(|source| catalog::load(&source, &Loading::default()))
        .and_then(|catalog| catalog::convert(catalog, &typing))
        .map_err(|error| CommandError::findings(error.diagnostics))?;
    let relationships = graph::build(&resources).relationships;
    let subgraph = match &args.resource {
        Some(text) => Subgraph::around(
            find(&resources, text)?,
            args.depth,
            &relationships,
            &resources,
        ),
        None => Subgraph::whole(&relationships, &resources),
    };
    if args.resource.is_none() && subgraph.nodes.len() > LARGEST {
        return Err(CommandError::new(format!(
            "the catalog has {} resources and containers, too many to look at",
            subgraph.nodes.len()
        ))
        .hint("name one of them, and how far to look with --depth"));
    }
    print(&match args.svg {
        true => graph::svg(&subgraph, &resources),
        false => graph::dot::subgraph(&subgraph, &resources),
    });
    Ok(Exit::SUCCESS)
}

/// The resource of a reference or alias.
fn find(resources: &Resources, text: &str) -> Result<NodeId, CommandError> {
    let reference = ResourceRef::parse(text).ok();
    if let Some(found) = reference
        .as_ref()
        .and_then(|reference| resources.find(reference))
    {
        return Ok(found);
    }
    let error = CommandError::new(match reference {
        Some(reference) => format!("there is no {reference} in the catalog"),
        None => format!("`{text}` is no resource"),
    });
    let known = resources.order().iter();
    let known = known.map(|id| resources.node(*id).reference.as_str());
    // A title alone is often meant for a resource that has it.
    let titled = known
        .clone()
        .find(|name| ResourceRef::parse(name).is_ok_and(|name| name.title() == text));
    Err(match titled.or_else(|| nearest(text, known)) {
        Some(near) => error.hint(format!("did you mean `{near}`?")),
        None => error.hint("resources are named as in messages: Network_vlan[10]"),
    })
}
