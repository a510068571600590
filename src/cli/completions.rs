//! `toolwire completions`: the script by which a shell completes this program's command lines.
//!
//! The scripts of bash, zsh and fish ask the program at each word (`complete`). For other shells the names of commands
//! and flags are written down.

use clap::Args;
use clap_complete::Shell;

use toolwire_server::console::{self, Failure};

/// The name of the command.
pub(super) const NAME: &str = "completions";

/// Prints the completion script of a shell
///
/// In bash, zsh and fish, tools, parameters and their values, intents, confirmations, calls and tasks are completed
/// too: the shell asks the program, which asks the server that the line or TOOLWIRE_SERVER names.
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell to write completions for
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

// bash replaces what follows the last `=` or `:` of a word, and adds a space after a word that is whole.
const BASH: &str = r#"_toolwire() {
    local line=${COMP_LINE:0:COMP_POINT} IFS=$'\n'
    local word=${line##*[[:space:]]}
    COMPREPLY=($("${COMP_WORDS[0]}" complete -- "$line" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*[=:]}"}"}")
    if [[ ${COMPREPLY[0]-} == *= ]]; then compopt -o nospace; fi
} 2>/dev/null
complete -o default -F _toolwire toolwire
"#;
const ZSH: &str = r#"#compdef toolwire
_toolwire() {
    local -a found
    found=(${(f)"$("${words[1]}" complete -- "${(j: :)${(@q)words[1,CURRENT-1]}} $PREFIX" 2>/dev/null)"})
    if (( $#found == 0 )); then _files; return; fi
    compadd -Q -S '' -- ${(M)found:#*=}
    compadd -Q -- ${found:#*=}
}
# As a file of fpath this is what the first completion calls.
if [[ $funcstack[1] == _toolwire ]]; then _toolwire "$@"; else compdef _toolwire toolwire; fi
"#;
const FISH: &str = r"function __toolwire_complete
    toolwire complete --unquoted -- (commandline -cp | string collect) 2>/dev/null
end
complete -c toolwire -a '(__toolwire_complete)'
";

impl Completions {
    /// Prints the script for the program's command line.
    pub(super) fn run(&self, mut program: clap::Command) -> Result<(), Failure> {
        console::exact(match self.shell {
            Shell::Bash => BASH,
            Shell::Zsh => ZSH,
            Shell::Fish => FISH,
            shell => {
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut program, "toolwire", &mut script);
                return console::exact(&String::from_utf8_lossy(&script));
            }
        })
    }
}
