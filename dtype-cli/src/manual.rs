//! `dtype man`: the man page.

use std::io::Write;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::failure::Failure;
use dtype_text::notation::nearest;

/// Prints the man page of the command or of a subcommand.
pub(crate) fn print(subcommand: Option<&str>, out: &mut impl Write) -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    let command = match subcommand {
        None => command,
        Some(name) => find(&command, name)?,
    };
    // A subcommand has no version of its own.
    let source = concat!("dtype ", env!("CARGO_PKG_VERSION"));
    Ok(Man::new(command).source(source).render(out)?)
}

fn find(command: &Command, name: &str) -> Result<Command, Failure> {
    if let Some(found) = command.find_subcommand(name) {
        return Ok(found.clone());
    }
    let near = nearest(name, command.get_subcommands().map(Command::get_name));
    let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Failure::Usage(format!("unknown subcommand `{name}`{near}")))
}
