//! The chapter *Coming from MPI* names every call.

use std::fs;
use std::path::{Path, PathBuf};

/// The calls about datatypes in chapter 5 of MPI-4.1 and in section 19.1.5, the attributes of section 7.7.4, the names
/// of section 7.8, and what MPI-3.0 removed.
const CALLS: &[&str] = &[
    "MPI_Address",
    "MPI_Aint_add",
    "MPI_Aint_diff",
    "MPI_Get_address",
    "MPI_Get_count",
    "MPI_Get_elements",
    "MPI_LB",
    "MPI_Pack",
    "MPI_Pack_external",
    "MPI_Pack_external_size",
    "MPI_Pack_size",
    "MPI_Register_datarep",
    "MPI_Status_set_elements",
    "MPI_Type_c2f",
    "MPI_Type_commit",
    "MPI_Type_contiguous",
    "MPI_Type_create_darray",
    "MPI_Type_create_f90_complex",
    "MPI_Type_create_f90_integer",
    "MPI_Type_create_f90_real",
    "MPI_Type_create_hindexed",
    "MPI_Type_create_hindexed_block",
    "MPI_Type_create_hvector",
    "MPI_Type_create_indexed_block",
    "MPI_Type_create_keyval",
    "MPI_Type_create_resized",
    "MPI_Type_create_struct",
    "MPI_Type_create_subarray",
    "MPI_Type_delete_attr",
    "MPI_Type_dup",
    "MPI_Type_extent",
    "MPI_Type_f2c",
    "MPI_Type_free",
    "MPI_Type_free_keyval",
    "MPI_Type_get_attr",
    "MPI_Type_get_contents",
    "MPI_Type_get_envelope",
    "MPI_Type_get_extent",
    "MPI_Type_get_name",
    "MPI_Type_get_true_extent",
    "MPI_Type_get_value_index",
    "MPI_Type_hindexed",
    "MPI_Type_hvector",
    "MPI_Type_indexed",
    "MPI_Type_lb",
    "MPI_Type_match_size",
    "MPI_Type_set_attr",
    "MPI_Type_set_name",
    "MPI_Type_size",
    "MPI_Type_struct",
    "MPI_Type_ub",
    "MPI_Type_vector",
    "MPI_UB",
    "MPI_Unpack",
    "MPI_Unpack_external",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The chapter's names in code font.
fn named() -> Vec<String> {
    let chapter = fs::read_to_string(root().join("docs/src/coming-from-mpi.md")).unwrap();
    chapter.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_call_of_the_standard_has_a_row() {
    let named = named();
    let missing: Vec<_> =
        CALLS.iter().filter(|call| !named.iter().any(|name| name == **call)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The paths and the texts of all Rust files below these folders.
fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut paths: Vec<_> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut sources = Vec::new();
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            sources.push((path, text));
        }
    }
    sources
}

/// Every MPI call that the crate's documentation has as another name of a function has a row in the chapter.
#[test]
fn every_alias_in_the_crate_has_a_row() {
    let named = named();
    let mut aliases = 0;
    for (path, source) in sources(&["dtype-runtime/src"]) {
        for alias in source.split("#[doc(alias = \"MPI").skip(1) {
            let alias = format!("MPI{}", alias.split('"').next().unwrap());
            assert!(named.contains(&alias), "{alias}, in {}", path.display());
            aliases += 1;
        }
    }
    assert!(aliases > 40, "{aliases}");
}

/// The functions that the tables name exist.
#[test]
fn every_function_in_the_tables_exists() {
    let sources = sources(&["dtype-runtime/src", "dtype-mpi/src"]);
    let chapter = fs::read_to_string(root().join("docs/src/coming-from-mpi.md")).unwrap();
    let mut functions = 0;
    for row in chapter.lines().filter(|line| line.starts_with("| `MPI")) {
        let here = row.split(" | ").nth(1).unwrap();
        for code in here.split('`').skip(1).step_by(2).filter(|code| !code.starts_with("core::")) {
            let path = code.split('(').next().unwrap();
            let name = path.rsplit([':', '.']).next().unwrap();
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
                continue;
            }
            let declared = [format!("fn {name}("), format!("fn {name}<")];
            let there = sources.iter().any(|(_, source)| {
                declared.iter().any(|declared| source.contains(declared.as_str()))
            });
            assert!(there, "{code}, in: {row}");
            functions += 1;
        }
    }
    assert!(functions > 50, "{functions}");
}
