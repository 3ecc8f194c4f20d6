//! Lists the structs in an object file.

use std::cmp::Reverse;
use std::io::Write;

use crate::debug_info::Summary;
use crate::failure::Failure;
use crate::json;
use dtype_text::printable::printable;

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
    let number = |number: Option<u64>| number.map_or("–".into(), |number| number.to_string());
    for one in &types {
        let part = one.part.as_ref().map(|part| format!(" ({part})")).unwrap_or_default();
        let name = printable(&format!("{}{part}", one.name));
        let [size, padding, reordered, saves] =
            [one.size, one.padding, one.reordered, one.saves()].map(number);
        if reorder {
            writeln!(out, "{size:>10}  {reordered:>9}  {saves:>10}  {name}")?;
        } else {
            writeln!(out, "{size:>10}  {padding:>10}  {name}")?;
        }
    }
    Ok(())
}
