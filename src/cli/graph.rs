//! `switchtender graph`: the order of the resources in a catalog, with the reasons.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source, suggest};
use switchtender_devices::driver::Registry;

use super::exit::{CommandError, Exit, print_document};
use super::state::OfflineStateArgs;
use super::{catalog_arguments, definitions};
use crate::catalog::resource::NodeId;
use crate::catalog::types::Types;
use crate::catalog::{self, Loading, ResourceRef, Resources, Typing};
use crate::compat::Deviations;
use crate::desired_state::OriginMap;
use crate::graph::{self, Subgraph};
use crate::validate;

/// Maximum number of resources in a graph of the complete catalog. A larger graph is not readable.
const LARGEST: usize = 300;

/// Show the order of the resources in a catalog; needs no network and no secret
///
/// Prints a graph for Graphviz, or an SVG image with --svg. A container is one node.
///
/// Examples:
///   switchtender graph catalog.json 'Network_vlan[10]' --svg > graph.svg
///   switchtender graph --state state sw1 > sw1.dot
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct GraphArgs {
    /// Catalog: a file, or - for standard input. With --state: the name of a device
    #[arg(value_name = "CATALOG")]
    catalog: PathBuf,

    #[command(flatten)]
    state: OfflineStateArgs,

    /// Show only this resource and its neighbors, such as Network_vlan[10]
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,

    /// Maximum distance from RESOURCE, in relations
    #[arg(long, value_name = "N", default_value_t = 2, requires = "resource")]
    depth: usize,

    /// Print an SVG image
    #[arg(long)]
    svg: bool,

    /// Directory of models that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
}

impl GraphArgs {
    /// The text of the catalog, and its origins if it is made of desired state.
    fn source(
        &self,
        registry: &Registry,
    ) -> Result<(Arc<Source>, Option<OriginMap>), CommandError> {
        let name = self.catalog.display().to_string();
        if let Some(made) = self.state.catalog(&name, registry)? {
            return Ok((made.source, Some(made.origins)));
        }
        let bytes = catalog_arguments::read(&self.catalog)
            .map_err(|error| CommandError::new(format!("cannot read {name}")).with_source(error))?;
        let source = catalog::source(name, bytes);
        let source = source
            .map_err(|error| CommandError::findings(validate::load_findings(error, registry)))?;
        Ok((source, None))
    }
}

/// Prints the graph as DOT or SVG; fails for an invalid catalog or an unknown resource.
pub fn run(args: &GraphArgs) -> Result<Exit, CommandError> {
    let registry = definitions::load(args.definitions.as_deref())?;
    let (source, origins) = args.source(&registry)?;
    let types = Types::new(|name: &str| registry.model(name).cloned());
    let typing = Typing {
        types: &types,
        canonicalize: &|_, attributes| Ok(attributes),
        default_schedules: false,
        deviations: Deviations::default(),
    };
    let failed = |mut findings: Vec<Diagnostic>| {
        if let Some(origins) = &origins {
            origins.relocate(&mut findings);
        }
        CommandError::findings(findings)
    };
    let catalog = catalog::load(&source, &Loading::default())
        .map_err(|error| failed(validate::load_findings(error, &registry)))?;
    let resources =
        catalog::convert(catalog, &typing).map_err(|error| failed(error.diagnostics))?;
    let relationships = graph::build(&resources).relationships;
    let subgraph = match &args.resource {
        Some(text) => Subgraph::neighborhood(
            find(&resources, text)?,
            args.depth,
            &relationships,
            &resources,
        ),
        None => Subgraph::complete(&relationships, &resources),
    };
    if args.resource.is_none() && subgraph.nodes.len() > LARGEST {
        return Err(CommandError::new(format!(
            "cannot draw {} resources and containers: the limit is {LARGEST}",
            subgraph.nodes.len()
        ))
        .hint("name a resource, and limit the distance with --depth"));
    }
    print_document(&match args.svg {
        true => graph::svg(&subgraph, &resources),
        false => graph::dot::subgraph(&subgraph, &resources),
    });
    Ok(Exit::SUCCESS)
}

/// The resource with a reference or alias.
fn find(resources: &Resources, text: &str) -> Result<NodeId, CommandError> {
    let reference = ResourceRef::parse(text).ok();
    if let Some(found) = reference
        .as_ref()
        .and_then(|reference| resources.find(reference))
    {
        return Ok(found);
    }
    let error = CommandError::new(match reference {
        Some(reference) => format!("the catalog has no {reference}"),
        None => format!("`{text}` is not a resource reference"),
    });
    let references = resources
        .order()
        .iter()
        .map(|id| resources.node(*id).reference.as_str());
    // A title without a type: suggest a resource with this title.
    let titled = references
        .clone()
        .find(|name| ResourceRef::parse(name).is_ok_and(|name| name.title() == text));
    let form = "write a reference as in messages: Network_vlan[10]";
    Err(error.hint(match titled {
        Some(reference) => format!("did you mean `{reference}`?"),
        None => suggest(text, references, form),
    }))
}
