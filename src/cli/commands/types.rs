//! `switchtender type`: list and describe the resource types.

use std::path::PathBuf;

use switchtender_devices::diagnostic::suggest;
use switchtender_devices::driver::Registry;
use switchtender_devices::model::TypeModel;
use switchtender_devices::names::{PlatformName, TypeName};

use crate::cli::commands::type_reference::{Part, index, markdown, parts};
use crate::cli::exit::{CommandError, Exit, print};
use crate::cli::options::definitions;
use crate::cli::options::global::Global;
use crate::cli::options::unknown_name::{unknown_platform, unknown_type};
use crate::cli::output::view::wrapped_text;
use crate::terminal_text::{Style, TerminalText};

/// Describe a resource type, list all, or search for types
///
/// A word that is no type lists the types with this word in name or description.
///
/// Examples:
///   switchtender type
///   switchtender type --platform cisco_ios
///   switchtender type spanning
///   switchtender type network_vlan
///   switchtender type network_vlan vlan_name
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TypeArgs {
    /// Type, such as network_vlan, or a word to search for
    #[arg(value_name = "TYPE|WORD")]
    type_name: Option<TypeName>,
    /// Describe only this attribute
    #[arg(value_name = "ATTRIBUTE")]
    attribute: Option<String>,
    /// Directory of models and drivers that override the built-in ones
    #[arg(long, value_name = "DIR")]
    definitions: Option<PathBuf>,
    /// List only the types of this platform
    #[arg(long, value_name = "PLATFORM", conflicts_with = "attribute")]
    platform: Option<PlatformName>,
    /// Print Markdown: a page about the type, or the index of all types
    #[arg(long, conflicts_with = "platform")]
    markdown: bool,
}

pub(crate) fn run(args: &TypeArgs, global: &Global) -> Result<Exit, CommandError> {
    let registry = definitions::load(args.definitions.as_deref())?;
    let mut text = TerminalText::with_colors(global.is_stdout_colored());
    match &args.type_name {
        None if args.markdown => {
            text.block("", &index(&registry));
        }
        None => list(&listed(&registry, args)?, &registry, &mut text),
        Some(name) if args.attribute.is_none() && registry.model(name).is_none() => {
            let found = listed(&registry, args)?;
            if found.is_empty() {
                return Err(unknown_type(&registry, name));
            }
            list(&found, &registry, &mut text);
        }
        Some(name) => {
            let parts = described(&registry, name, args.attribute.as_deref())?;
            if args.markdown {
                text.block("", &markdown(&parts));
            } else {
                add(&parts, &mut text);
            }
        }
    }
    print(&text);
    Ok(Exit::SUCCESS)
}

/// The types of the platform, if it is named, whose name or description has the word, if there is one.
fn listed<'r>(registry: &'r Registry, args: &TypeArgs) -> Result<Vec<&'r TypeModel>, CommandError> {
    let platform = match &args.platform {
        None => None,
        Some(name) => {
            let found = registry.platform(name);
            Some(found.ok_or_else(|| unknown_platform(registry, name))?)
        }
    };
    let word = args.type_name.as_ref().map(|word| word.to_lowercase());
    let is_listed = |model: &&TypeModel| {
        let is_known = platform.is_none_or(|one| one.has_type(&model.name));
        let has_word = word.as_ref().is_none_or(|word| {
            model.name.contains(word.as_str()) || model.doc.to_lowercase().contains(word.as_str())
        });
        is_known && has_word
    };
    Ok(registry
        .models()
        .map(|model| &**model)
        .filter(is_listed)
        .collect())
}

fn list(models: &[&TypeModel], registry: &Registry, text: &mut TerminalText) {
    for model in models {
        let platforms = registry.platforms();
        let platforms = platforms.filter(|platform| platform.has_type(&model.name));
        let platforms: Vec<_> = platforms.map(|platform| platform.name.as_str()).collect();
        text.paint(Style::Bold, &model.name)
            .line(format_args!("  ({})", platforms.join(", ")));
        let doc = model.doc.lines().next().unwrap_or_default();
        for line in wrapped_text("  ", "  ", doc) {
            text.line(line);
        }
    }
}

fn described(
    registry: &Registry,
    name: &str,
    attribute: Option<&str>,
) -> Result<Vec<Part>, CommandError> {
    let model = registry.model(name);
    let model = model.ok_or_else(|| unknown_type(registry, name))?;
    let attribute = attribute
        .map(|attribute| {
            let known = model.attributes.get(attribute);
            known.ok_or_else(|| {
                let names: Vec<&str> = model.attributes.keys().map(|name| &**name).collect();
                let all = format!("attributes: {}", names.join(", "));
                CommandError::new(format!("{name} has no attribute `{attribute}`"))
                    .hint(suggest(attribute, names, all))
            })
        })
        .transpose()?;
    Ok(parts(registry, model, attribute))
}

/// Adds the lines of a text, each wrapped.
fn add_wrapped(text: &mut TerminalText, first: &str, further: &str, content: &str) {
    for line in content
        .lines()
        .flat_map(|line| wrapped_text(first, further, line))
    {
        text.line(line);
    }
}

fn add(parts: &[Part], text: &mut TerminalText) {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 && !matches!(part, Part::Items(_)) {
            text.end_line();
        }
        match part {
            Part::Heading(_, heading) => {
                text.paint(Style::Bold, heading).end_line();
            }
            Part::Paragraph(paragraph) => add_wrapped(text, "", "", paragraph),
            Part::Items(items) => {
                for item in items {
                    add_wrapped(text, "  ", "    ", item);
                }
            }
            Part::Code(_, code) => {
                text.block("    ", code);
            }
        }
    }
}
