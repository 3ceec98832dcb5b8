//! Dependencies between the modules of a package point one way.

use proc_macro2::{TokenStream, TokenTree};

use super::code::product;

/// The modules of each package from bottom to top. A module uses only modules of lower layers.
const LAYERS: [(&str, &[&[&str]]); 3] = [
    (
        "src",
        &[
            &[
                "bounded_command",
                "clock",
                "compat",
                "error_chain",
                "run_kind",
                "terminal_text",
            ],
            &["catalog", "diagnostic", "inventory", "telemetry"],
            &["desired_state", "device_conf", "graph", "route", "store"],
            &["agent", "transaction", "validate"],
            &["manifest", "report"],
            &["history"],
            &["fleet"],
            &["serve"],
            &["cli"],
        ],
    ),
    (
        "devices/src",
        &[
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
            &["model", "read", "secret_mask", "secret_text"],
            &["operation", "recording"],
            &["change", "dialogue", "predict"],
            &["not_understood", "session"],
            &["driver"],
            &["draft", "provider"],
        ],
    ),
    (
        "mocks/src",
        &[
            &["clock", "task"],
            &["control"],
            &["fault"],
            &[
                "network",
                "replay_script",
                "response_body",
                "running",
                "serial_number",
                "terminal",
                "tls",
            ],
            &["ssh_server"],
            &[
                "cli_switch",
                "jump_host",
                "load_balancer",
                "netconf_server",
                "puppet_server",
                "structural",
            ],
            &["replay"],
            &["fleet"],
        ],
    ),
];

#[test]
fn modules_use_only_modules_of_lower_layers() {
    let mut upward = Vec::new();
    for (package, layers) in LAYERS {
        let layer = |module: &str| layers.iter().position(|layer| layer.contains(&module));
        for (path, tokens) in product(package) {
            let file = path.trim_start_matches(package).trim_start_matches('/');
            let modules: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
            if matches!(modules[0], "lib" | "main") {
                continue;
            }
            let Some(own) = layer(modules[0]) else {
                upward.push(format!("{path}: `{}` is in no layer", modules[0]));
                continue;
            };
            for used in used_modules(&tokens, modules.len()) {
                if used != modules[0] && layer(&used).is_some_and(|used| used >= own) {
                    upward.push(format!("{path} uses {used}"));
                }
            }
        }
    }
    assert!(upward.is_empty(), "{}", upward.join("\n"));
}

/// The top-level modules that paths name: `crate::NAME`, `crate::{NAME, …}`, and `super::…::NAME`
/// with as many `super` as the module is deep.
fn used_modules(tokens: &[TokenTree], depth: usize) -> Vec<String> {
    let mut used = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            let inner: Vec<TokenTree> = group.stream().into_iter().collect();
            used.extend(used_modules(&inner, depth));
        }
        let segments = path_to_root(&tokens[at..], depth);
        match tokens.get(at + segments) {
            Some(TokenTree::Ident(name)) if segments > 0 => used.push(name.to_string()),
            Some(TokenTree::Group(group)) if segments > 0 => {
                used.extend(first_names(group.stream()));
            }
            _ => {}
        }
        at += segments.max(1);
    }
    used
}

/// The number of tokens of a path to the root of the package, `::` at its end included.
fn path_to_root(tokens: &[TokenTree], depth: usize) -> usize {
    const SEGMENT: usize = 3;
    let is_segment = |index: usize, word: &str| {
        let at = index * SEGMENT;
        let colon =
            |at| matches!(tokens.get(at), Some(TokenTree::Punct(colon)) if colon.as_char() == ':');
        matches!(tokens.get(at), Some(TokenTree::Ident(name)) if name == word)
            && colon(at + 1)
            && colon(at + 2)
    };
    if is_segment(0, "crate") {
        return SEGMENT;
    }
    let supers = (0..depth)
        .take_while(|index| is_segment(*index, "super"))
        .count();
    if supers == depth { supers * SEGMENT } else { 0 }
}

/// The first name of each path in the braces of a `use`.
fn first_names(list: TokenStream) -> Vec<String> {
    let mut is_first = true;
    let mut names = Vec::new();
    for token in list {
        match token {
            TokenTree::Ident(name) if is_first => {
                names.push(name.to_string());
                is_first = false;
            }
            TokenTree::Punct(comma) if comma.as_char() == ',' => is_first = true,
            _ => {}
        }
    }
    names
}

#[test]
fn used_modules_are_found_in_every_form_of_path() {
    let tokens: TokenStream = "use crate::a::B; use crate::{c::D, e}; use super::super::f::G;
         use super::near; fn x() { crate::h::i(super::super::j::k()) }"
        .parse()
        .expect("Rust");
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    assert_eq!(used_modules(&tokens, 2), ["a", "c", "e", "f", "h", "j"]);
}
