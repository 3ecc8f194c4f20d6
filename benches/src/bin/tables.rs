//! Writes `benches/results/tables.md` from the recorded runs beside it, and its figures into the tables of other pages.

use std::fs;

use anyhow::{Context as _, Result};
use dtype_benches::tables::{QUOTING, folder, page, quoted};

fn main() -> Result<()> {
    let tables = page(&folder())?;
    fs::write(folder().join("tables.md"), &tables)?;
    for name in QUOTING {
        let path = folder().join("../..").join(name);
        let text = fs::read_to_string(&path).with_context(|| name.to_owned())?;
        fs::write(&path, quoted(&text, &tables))?;
    }
    Ok(())
}
