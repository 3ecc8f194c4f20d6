//! Lists the structs in an object file.

use std::cmp::Reverse;
use std::io::Write;

use crate::debug_info::Summary;
use crate::failure::Failure;
use crate::json;
use crate::value::printable;

/// Prints the sizes of structs, and how many bytes their padding takes; with `reorder`, how many another order of their fields
/// saves, the greatest saving first.
pub(crate) fn print(
    mut types: Vec<Summary>,
    as_json: bool,
    reorder: bool,
    out: &mut impl Write,
) -> Result<(), Failure> {
    if reorder {
        types.sort_by_key(|one| Reverse(one.saves()));
    }
    if as_json {
        return json::print(&types, out);
    }
    if reorder {
        writeln!(out, "{:>10}  {:>9}  {:>10}  type", "size", "reordered", "saves")?;
    } else {
        writeln!(out, "{:>10}  {:>10}  type", "size", "padding")?;
    }
    for one in &types {
        let name = printable(&one.name);
        if reorder {
            writeln!(out, "{:>10}  {:>9}  {:>10}  {name}", one.size, one.reordered, one.saves())?;
        } else {
            writeln!(out, "{:>10}  {:>10}  {name}", one.size, one.padding)?;
        }
    }
    Ok(())
}
