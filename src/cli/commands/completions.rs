//! `switchtender completions`: shell completions.

use clap_complete::Shell;

use crate::cli::exit::{CommandError, Exit, print_document};
use crate::cli::help;

/// Print completions for a shell
///
/// In bash, zsh and fish, they complete devices, labels, types and platforms, too, from
/// the inventory of --inventory, or ./inventory.toml.
///
/// Examples:
///   switchtender completions bash > /etc/bash_completion.d/switchtender
///   switchtender completions zsh > /usr/local/share/zsh/site-functions/_switchtender
///   switchtender completions fish > ~/.config/fish/completions/switchtender.fish
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, CommandError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut help::command(), "switchtender", &mut text);
    let text = String::from_utf8_lossy(&text);
    print_document(&with_names(args.shell, &text));
    Ok(Exit::SUCCESS)
}

/// The start of the function in the scripts of clap that completes commands and options.
const FUNCTION: &str = "_switchtender() {";

/// A script that asks `complete-names` first, and then completes commands and options.
fn with_names(shell: Shell, text: &str) -> String {
    let names = match shell {
        Shell::Bash => BASH,
        Shell::Zsh => ZSH,
        Shell::Fish => return format!("{text}{FISH}"),
        _ => return text.to_owned(),
    };
    let renamed = format!("{names}_switchtender_options() {{");
    text.replacen(FUNCTION, &renamed, 1)
}

const BASH: &str = r#"_switchtender() {
    local name names current="${COMP_WORDS[COMP_CWORD]}"
    names=$(switchtender complete-names -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
    if [[ -z $names ]]; then
        _switchtender_options "$@"
        return
    fi
    COMPREPLY=()
    while IFS= read -r name; do
        [[ $name == "$current"* ]] && COMPREPLY+=("$name")
    done <<<"$names"
    return 0
}

"#;

const ZSH: &str = r#"_switchtender() {
    local -a names
    names=("${(@f)$(switchtender complete-names -- "${(@)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ -n $names ]]; then
        compadd -a names
    else
        _switchtender_options "$@"
    fi
}

"#;

const FISH: &str = r#"
function __fish_switchtender_names
    switchtender complete-names -- (commandline -opc) (commandline -ct) 2>/dev/null
end
complete -c switchtender -a '(__fish_switchtender_names)'
complete -c switchtender -s t -l target -x -a '(__fish_switchtender_names)'
complete -c switchtender -s l -l label -x -a '(__fish_switchtender_names)'
complete -c switchtender -l platform -x -a '(__fish_switchtender_names)'
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_call_both_functions() {
        for shell in [Shell::Bash, Shell::Zsh] {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut help::command(), "switchtender", &mut text);
            let text = String::from_utf8(text).expect("a script is text");
            let count =
                |text: &str, line: &str| text.lines().filter(|other| *other == line).count();
            assert_eq!(count(&text, FUNCTION), 1, "{shell}");
            let script = with_names(shell, &text);
            for function in [FUNCTION, "_switchtender_options() {"] {
                assert_eq!(count(&script, function), 1, "{shell}");
            }
        }
    }
}
