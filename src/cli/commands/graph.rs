//! `switchtender graph`: the order of the resources in a catalog, with the reasons.

use std::path::PathBuf;
use std::sync::Arc;

use switchtender_devices::diagnostic::{Diagnostic, Source, suggest};
use switchtender_devices::driver::Registry;

use crate::catalog::{self, ResourceRef};
use crate::cli::exit::{CommandError, Exit, print_document};
use crate::cli::options::offline_state::OfflineStateArgs;
use crate::cli::{options::catalog_arguments, options::definitions};
use crate::desired_state::OriginMap;
use crate::fleet::catalog_graph::{self, CatalogGraph};
use crate::graph::{self, Drawing};
use crate::validate::{self, ReferenceIndex};

/// Draw the order of the resources in a catalog
///
/// Prints a graph for Graphviz, or an SVG image with --svg. A container is one node. Errors of the
/// catalog are listed on standard error, and what is readable is drawn.
///
/// Exit codes: 0 no errors, 1 errors in the catalog, or it cannot be drawn.
///
/// Examples:
///   switchtender graph catalog.json 'Network_vlan[10]' --svg > graph.svg
///   switchtender graph --state state sw1 > sw1.dot
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct GraphArgs {
    /// Catalog: a file, or - for standard input. With --state and --manifest: the name of a device
    #[arg(value_name = "CATALOG|DEVICE")]
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
            return Ok((made.source, made.origins));
        }
        let bytes = catalog_arguments::read(&self.catalog).map_err(|error| {
            let failed = CommandError::new(format!("cannot read {name}")).with_source(error);
            if self.catalog.is_dir() { failed.hint(format!(
                "pass a catalog; for desired state in YAML: switchtender graph --state {name} DEVICE"
            )) } else { failed }
        })?;
        let source = catalog::source(name, bytes);
        let source = source
            .map_err(|error| CommandError::findings(validate::load_findings(error, registry)))?;
        Ok((source, None))
    }
}

/// Prints the graph as DOT or SVG; fails after that if the catalog has errors.
pub(crate) fn run(args: &GraphArgs) -> Result<Exit, CommandError> {
    let registry = definitions::load(args.definitions.as_deref())?;
    let (source, origins) = args.source(&registry)?;
    let failed = |mut findings: Vec<Diagnostic>| {
        if let Some(origins) = &origins {
            origins.relocate(&mut findings);
        }
        CommandError::findings(findings)
    };
    let CatalogGraph {
        mut drawing,
        index,
        errors,
    } = CatalogGraph::read(&source, &registry).map_err(failed)?;
    if let Some(text) = &args.resource {
        let center = find(&drawing, &index, text)?;
        drawing = drawing.neighborhood(center, args.depth);
    } else if drawing.nodes.len() > catalog_graph::LARGEST {
        let text = catalog_graph::too_large(drawing.nodes.len());
        return Err(
            CommandError::new(text).hint("name a resource, and limit the distance with --depth")
        );
    }
    print_document(&if args.svg {
        graph::svg(&drawing)
    } else {
        graph::dot::drawing(&drawing)
    });
    if errors.is_empty() {
        Ok(Exit::SUCCESS)
    } else {
        Err(failed(errors))
    }
}

/// The node with a reference or alias.
fn find(drawing: &Drawing, index: &ReferenceIndex, text: &str) -> Result<usize, CommandError> {
    let references = drawing.nodes.iter().map(|node| node.name.as_str());
    let reference = ResourceRef::parse(text).ok();
    if let Some(reference) = &reference
        && let Some(found) = index.find(reference).or_else(|| {
            let name = reference.to_string();
            references.clone().position(|other| other == name)
        })
    {
        return Ok(found);
    }
    let error = CommandError::new(match reference {
        Some(reference) => format!("the catalog has no {reference}"),
        None => format!("`{text}` is not a resource reference"),
    });
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
