//! Dependencies between the modules of a package, and inside its large modules, point one way.

mod cli;
mod driver;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::code::product;

/// The modules of a folder in layers.
struct Layers {
    folder: &'static str,
    /// From bottom to top. A module uses only modules of lower layers. The name of the folder stands for what its
    /// own file has besides modules.
    layers: &'static [&'static [&'static str]],
    /// Files that use a module of the same or of a higher layer, with that module. The list may only shrink.
    exceptions: &'static [(&'static str, &'static str)],
}

const LAYERS: [Layers; 7] = [
    Layers {
        folder: "src",
        layers: &[
            &[
                "bounded_command",
                "clock",
                "compat",
                "counted",
                "error_chain",
                "natural_order",
                "parallel",
                "run_kind",
                "syslog",
                "terminal_text",
                "words",
            ],
            &[
                "catalog",
                "coverage",
                "diagnostic",
                "git",
                "inventory",
                "telemetry",
            ],
            &[
                "desired_state",
                "device_conf",
                "graph",
                "module_types",
                "route",
                "store",
            ],
            &["agent", "transaction", "validate"],
            &["import", "manifest", "report"],
            &["history"],
            &["fleet"],
            &["serve"],
            &["cli"],
        ],
        exceptions: &[],
    },
    Layers {
        folder: "devices/src",
        layers: &[
            &[
                "clock",
                "diagnostic",
                "duration",
                "error_chain",
                "format_version",
                "map",
                "names",
                "number_list",
                "pattern",
                "printable",
                "regular_file",
                "secret",
                "task",
            ],
            &["definitions", "document", "secret_url", "value"],
            &["http", "model", "read", "secret_mask", "secret_text"],
            &["operation", "recording"],
            &["change", "dialogue", "predict"],
            &["not_understood", "session"],
            &["driver"],
            &["draft", "provider"],
        ],
        exceptions: &[],
    },
    cli::LAYERS,
    driver::DRIVER,
    driver::CLI,
    driver::REST,
    Layers {
        folder: "mocks/src",
        layers: &[
            &["clock", "json_path", "shape_pattern", "task"],
            &["control", "rest_request"],
            &["fault"],
            &[
                "network",
                "replay_script",
                "response_body",
                "running",
                "serial_number",
                "terminal",
                "terminal_lines",
                "tls",
            ],
            &["http_server", "ssh_server"],
            &[
                "cli_switch",
                "jump_host",
                "load_balancer",
                "netconf_server",
                "puppet_server",
            ],
            &["structural"],
            &["command_api", "replay"],
            &["grammar_switch"],
            &["fleet"],
        ],
        exceptions: &[],
    },
];

impl Layers {
    /// The path of the folder's module in its package; empty for the package.
    fn module(&self) -> Vec<String> {
        let folders = self.folder.split('/').skip_while(|folder| *folder != "src");
        folders.skip(1).map(str::to_owned).collect()
    }

    fn layer_of(&self, module: &str) -> Option<usize> {
        self.layers.iter().position(|layer| layer.contains(&module))
    }

    /// The files that use a module of the same or of a higher layer, with that module.
    fn upward_uses(&self) -> Vec<(String, String)> {
        let folder_module = self.module();
        let own_file = format!("{}.rs", self.folder);
        let (own_files, files): (Vec<_>, Vec<_>) = product(self.folder)
            .into_iter()
            .partition(|(path, _)| *path == own_file);
        let mut exported = Vec::new();
        for (_, tokens) in &own_files {
            exported.extend(exported_modules(tokens));
        }
        let mut upward = Vec::new();
        for (path, tokens) in &files {
            let file = path.trim_start_matches(self.folder).trim_start_matches('/');
            let inner = file.trim_end_matches(".rs").split('/').map(str::to_owned);
            let own: Vec<String> = folder_module.iter().cloned().chain(inner).collect();
            let module = &own[folder_module.len()];
            if matches!(module.as_str(), "lib" | "main") {
                continue;
            }
            let Some(layer) = self.layer_of(module) else {
                upward.push((file.to_owned(), format!("`{module}` is in no layer")));
                continue;
            };
            for path in paths(tokens) {
                let Some(used) = within(&folder_module, absolute(&own, path)) else {
                    continue;
                };
                let used = match exported.iter().find(|(name, _)| *name == used) {
                    Some((_, module)) => module.clone(),
                    None if self.layer_of(&used).is_none() && !folder_module.is_empty() => {
                        folder_module[folder_module.len() - 1].clone()
                    }
                    None => used,
                };
                let is_upward = self.layer_of(&used).is_some_and(|used| used >= layer);
                if used != *module && is_upward {
                    upward.push((file.to_owned(), used));
                }
            }
        }
        upward.sort();
        upward.dedup();
        upward
    }
}

#[test]
fn modules_use_only_modules_of_lower_layers() {
    let mut problems = Vec::new();
    for layers in &LAYERS {
        let upward = layers.upward_uses();
        let is_exception = |(file, used): &(String, String)| {
            layers.exceptions.contains(&(file.as_str(), used.as_str()))
        };
        let new = upward.iter().filter(|one| !is_exception(one));
        problems.extend(new.map(|(file, used)| format!("{}/{file} uses {used}", layers.folder)));
        let is_needed = |(file, used): &(&str, &str)| {
            let mut upward = upward.iter();
            upward.any(|one| (one.0.as_str(), one.1.as_str()) == (*file, *used))
        };
        let old = layers.exceptions.iter().filter(|one| !is_needed(one));
        problems.extend(old.map(|(file, used)| {
            format!(
                "{}/{file} no longer uses {used}: remove the exception",
                layers.folder
            )
        }));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The names that the own file of a folder takes from its modules, each with its module.
fn exported_modules(tokens: &[TokenTree]) -> Vec<(String, String)> {
    let mut exported = Vec::new();
    for at in 0..tokens.len() {
        if !matches!(&tokens[at], TokenTree::Ident(name) if name == "use") {
            continue;
        }
        for path in path_at(&tokens[at + 1..]).0 {
            let path: Vec<String> = path.into_iter().skip_while(|one| one == "self").collect();
            if let [module, .., name] = path.as_slice() {
                exported.push((name.clone(), module.clone()));
            }
        }
    }
    let is_own =
        |(_, module): &(String, String)| !matches!(module.as_str(), "crate" | "super" | "std");
    exported.into_iter().filter(is_own).collect()
}

/// The paths that begin with `crate`, `super` or `self`, each complete.
fn paths(tokens: &[TokenTree]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            found.extend(paths(&inner));
        }
        let (all, length) = path_at(&tokens[at..]);
        let is_local = |path: &Vec<String>| matches!(path[0].as_str(), "crate" | "super" | "self");
        found.extend(all.into_iter().filter(is_local));
        at += length.max(1);
    }
    found
}

/// The paths at the beginning of these tokens, several with braces, and the number of their tokens.
fn path_at(tokens: &[TokenTree]) -> (Vec<Vec<String>>, usize) {
    let Some(TokenTree::Ident(first)) = tokens.first() else {
        return (Vec::new(), 0);
    };
    let is_colon =
        |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':');
    let mut path = vec![first.to_string()];
    let mut at = 1;
    while is_colon(at) && is_colon(at + 1) {
        match tokens.get(at + 2) {
            Some(TokenTree::Ident(name)) => path.push(name.to_string()),
            Some(TokenTree::Group(list)) if list.delimiter() == Delimiter::Brace => {
                let prefixed = |rest: Vec<String>| path.iter().cloned().chain(rest).collect();
                let all = listed_paths(list.stream()).into_iter().map(prefixed);
                return (all.collect(), at + 3);
            }
            _ => break,
        }
        at += 3;
    }
    (vec![path], at)
}

/// The paths in the braces of a `use`.
fn listed_paths(list: TokenStream) -> Vec<Vec<String>> {
    let tokens: Vec<TokenTree> = list.into_iter().collect();
    let is_comma =
        |token: &TokenTree| matches!(token, TokenTree::Punct(one) if one.as_char() == ',');
    let each = tokens.split(is_comma);
    each.flat_map(|one| path_at(one).0).collect()
}

/// A path from the root of the package. `own` is the path of the module that has it.
fn absolute(own: &[String], path: Vec<String>) -> Vec<String> {
    if path[0] == "crate" {
        return path[1..].to_vec();
    }
    let supers = path.iter().filter(|one| *one == "super").count();
    let rest = path.into_iter();
    let rest = rest.skip_while(|one| matches!(one.as_str(), "self" | "super"));
    let outer = &own[..own.len().saturating_sub(supers)];
    outer.iter().cloned().chain(rest).collect()
}

/// The first name of a path below a module.
fn within(module: &[String], path: Vec<String>) -> Option<String> {
    path.strip_prefix(module)?.first().cloned()
}

#[test]
fn paths_are_found_in_every_form() {
    let tokens: TokenStream =
        "use crate::a::B; use crate::{c::D, e}; use super::super::f::{G, self};
         use super::near; fn x() { crate::h::<crate::i>(super::super::j::k()) }"
            .parse()
            .expect("Rust");
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let own = ["m".to_owned(), "n".to_owned()];
    let found = paths(&tokens).into_iter();
    let found = found.map(|path| absolute(&own, path).join("::"));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [
            "a::B", "c::D", "e", "f::G", "f::self", "m::near", "h", "i", "j::k"
        ]
    );
}
