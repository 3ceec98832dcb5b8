//! Which files make up a definition: a file, and those that it extends.
//!
//! A user's file replaces the shipped one of the same path, or extends it (`extends = "shipped"`).
//! A platform with `based_on` has the keys and types of another platform; a file of its types can
//! extend that of the other platform (`extends = "base"`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::file::parts;
use crate::definitions::DefinitionFile;
use crate::diagnostic::{Diagnostic, nearest};
use crate::document::{Document, Findings};
use crate::model::load::word;

/// A file of a definition.
#[derive(Clone, Copy)]
pub(crate) struct Layer<'a> {
    pub(crate) file: &'a DefinitionFile,
    /// The file is built into the program.
    pub(crate) shipped: bool,
}

impl<'a> Layer<'a> {
    pub(crate) fn shipped(file: &'a DefinitionFile) -> Self {
        Self {
            file,
            shipped: true,
        }
    }
}

/// The files of all definitions, by path.
pub(crate) struct Layers<'a> {
    shipped: BTreeMap<&'a str, &'a DefinitionFile>,
    own: BTreeMap<&'a str, &'a DefinitionFile>,
    /// By directory of a platform: the platform that it is based on.
    bases: BTreeMap<&'a str, Base>,
}

struct Base {
    platform: String,
    /// Types that are not taken over, with their positions in the file.
    without: Vec<(String, Range<usize>)>,
}

impl Base {
    fn has_left_out(&self, type_name: &str) -> bool {
        self.without.iter().any(|(name, _)| name == type_name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Extends {
    Shipped,
    Base,
}

impl<'a> Layers<'a> {
    pub(crate) fn new(
        shipped: &'a [DefinitionFile],
        own: &'a [DefinitionFile],
        findings: &mut Vec<Diagnostic>,
    ) -> Self {
        let by_path = |files: &'a [DefinitionFile]| {
            let files = files.iter().map(|file| (file.path.as_str(), file));
            files.collect()
        };
        let mut layers = Self {
            shipped: by_path(shipped),
            own: by_path(own),
            bases: BTreeMap::new(),
        };
        let platforms = layers.platforms();
        for file in own {
            if let Some(directory) = platform_directory(&file.path)
                && let Some(base) = layers.base(file, &platforms, findings)
            {
                layers.bases.insert(directory, base);
            }
        }
        layers.check_without(findings);
        layers
    }

    /// Reports types that are to be left out, and that the other platform does not have.
    fn check_without(&self, findings: &mut Vec<Diagnostic>) {
        for (directory, base) in &self.bases {
            let types = self.types_of(&base.platform);
            let file = self.own[format!("{directory}/platform.toml").as_str()];
            for (name, span) in &base.without {
                if !types.contains(name.as_str()) {
                    let message = format!("`{}` has no type `{name}`", base.platform);
                    let error = Diagnostic::error("without", message);
                    let error = error.at(&file.source, span.clone(), "");
                    findings.push(match nearest(name, types.iter().copied()) {
                        Some(near) => error.help(format!("did you mean `{near}`?")),
                        None => error,
                    });
                }
            }
        }
    }

    /// Reads which platform a platform is based on.
    fn base(
        &self,
        file: &DefinitionFile,
        platforms: &BTreeSet<&str>,
        findings: &mut Vec<Diagnostic>,
    ) -> Option<Base> {
        let problems = Findings::new(&file.source);
        let document = Document::parse(&problems);
        let root = document.root();
        let item = root.get("based_on")?;
        // Errors of other keys are reported when the platform is loaded.
        let platform = item.string()?;
        let without = root.get("without").and_then(|item| item.list());
        let without = without.iter().flatten();
        let without = without.filter_map(|item| Some((item.string()?, item.span.clone())));
        let without = without.collect();
        let directory = platform_directory(&file.path)?;
        let error = if !platforms.contains(platform.as_str()) {
            let help = nearest(&platform, platforms.iter().copied()).map_or_else(
                || format!("add {platform}/platform.toml"),
                |name| format!("did you mean `{name}`?"),
            );
            Some((format!("unknown platform `{platform}`"), help))
        } else if platform == directory || self.ancestors(&platform).contains(&directory) {
            let message = format!("`{directory}` is based on itself");
            Some((message, "name another platform".to_owned()))
        } else {
            None
        };
        if let Some((message, help)) = error {
            let place = Diagnostic::error("based-on", message).at(&file.source, item.span, "");
            findings.push(place.help(help));
            return None;
        }
        Some(Base { platform, without })
    }

    /// A platform and those that it is based on, nearest first.
    fn ancestors<'s>(&'s self, platform: &'s str) -> Vec<&'s str> {
        let next = |directory: &&'s str| Some(self.bases.get(directory)?.platform.as_str());
        std::iter::successors(Some(platform), next).collect()
    }

    fn paths(&self) -> impl Iterator<Item = &'a str> {
        self.shipped.keys().chain(self.own.keys()).copied()
    }

    /// The paths of all models.
    pub(crate) fn models(&self) -> BTreeSet<&'a str> {
        let paths = self.paths();
        paths.filter(|path| path.starts_with("models/")).collect()
    }

    /// The directories of all platforms.
    pub(crate) fn platforms(&self) -> BTreeSet<&'a str> {
        self.paths().filter_map(platform_directory).collect()
    }

    /// The paths of all types of platforms, and of files that are in no place of a definition. A type
    /// that a platform takes over has the path that its own file would have.
    pub(crate) fn types(&self) -> BTreeSet<String> {
        let is_type =
            |path: &&str| !path.starts_with("models/") && platform_directory(path).is_none();
        let mut types: BTreeSet<String> = self.paths().filter(is_type).map(str::to_owned).collect();
        for directory in self.bases.keys() {
            let names = self.types_of(directory).into_iter();
            types.extend(names.map(|name| format!("{directory}/{name}.toml")));
        }
        types
    }

    /// The types of a platform, with those that it takes over.
    fn types_of(&self, platform: &str) -> BTreeSet<&str> {
        let files = self.paths().filter_map(parts);
        let files = files.filter(|(directory, name)| *directory == platform && *name != "platform");
        let mut types: BTreeSet<&str> = files.map(|(_, name)| name).collect();
        if let Some(base) = self.bases.get(platform) {
            let of_base = self.types_of(&base.platform).into_iter();
            types.extend(of_base.filter(|name| !base.has_left_out(name)));
        }
        types
    }

    /// The shipped file with this path.
    pub(crate) fn shipped(&self, path: &str) -> Option<&'a DefinitionFile> {
        self.shipped.get(path).copied()
    }

    /// The files of a definition, each over the next one.
    pub(crate) fn of(&self, path: &str, findings: &mut Vec<Diagnostic>) -> Vec<Layer<'a>> {
        let name = parts(path).map_or("", |(_, name)| name);
        let shipped = self.shipped(path).map(Layer::shipped);
        let Some(file) = self.own.get(path).copied() else {
            let taken_over = || self.of_base(path, findings);
            return shipped.map_or_else(taken_over, |layer| vec![layer]);
        };
        let below = match extends(file, name, findings) {
            Some((Extends::Shipped, span)) => {
                if shipped.is_none() {
                    let message = "no shipped file with this name exists";
                    let error = Diagnostic::error("extends", message);
                    findings.push(error.at(&file.source, span, ""));
                }
                shipped.into_iter().collect()
            }
            Some((Extends::Base, span)) => {
                let below = self.of_base(path, findings);
                if below.is_empty() {
                    let message = format!("the platform is not based on one that has {name}");
                    let error = Diagnostic::error("extends", message);
                    findings.push(error.at(&file.source, span, ""));
                }
                below
            }
            None if name == "platform" => self.of_base(path, findings),
            None => Vec::new(),
        };
        let shipped = false;
        let own = Layer { file, shipped };
        std::iter::once(own).chain(below).collect()
    }

    /// The files of the same definition of the platform that this one is based on.
    fn of_base(&self, path: &str, findings: &mut Vec<Diagnostic>) -> Vec<Layer<'a>> {
        let found = parts(path).and_then(|(directory, name)| {
            let base = self.bases.get(directory)?;
            (!base.has_left_out(name)).then(|| format!("{}/{name}.toml", base.platform))
        });
        found.map_or_else(Vec::new, |path| self.of(&path, findings))
    }
}

/// What a file extends, and the position of the key.
fn extends(
    file: &DefinitionFile,
    name: &str,
    all: &mut Vec<Diagnostic>,
) -> Option<(Extends, Range<usize>)> {
    let findings = Findings::new(&file.source);
    let document = Document::parse(&findings);
    if !findings.is_empty() {
        // Loading the file reports it.
        return None;
    }
    let item = document.root().get("extends")?;
    let of_type = name != "platform" && !file.path.starts_with("models/");
    let words = [("shipped", Extends::Shipped), ("base", Extends::Base)];
    let found = word(&item, if of_type { &words } else { &words[..1] });
    let span = item.span.clone();
    drop(item);
    drop(document);
    all.extend(findings.into_list());
    Some((found?, span))
}

/// The directory of a `platform.toml`.
fn platform_directory(path: &str) -> Option<&str> {
    path.strip_suffix("/platform.toml")
}
