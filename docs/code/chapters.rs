//! The chapters, and the README of the repository, for the documentation tests. Those on MPI, UCX and GPUs are among the
//! tests of `dtype-mpi`, `dtype-ucx` and `dtype-gpu`.

/// A module for each chapter.
macro_rules! chapters {
    ($($name:ident $file:literal)*) => {$(
        #[cfg(doctest)]
        #[doc = include_str!(concat!("../src/", $file, ".md"))]
        mod $name {}
    )*};
}

chapters! {
    introduction "introduction"
    from_struct_to_wire "from-struct-to-wire"
    layouts "layouts"
    bounds_and_markers "bounds-and-markers"
    fragments "fragments"
    coming_from_mpi "coming-from-mpi"
    coming_from_other_crates "coming-from-other-crates"
    how_it_works "how-it-works"
    api "api"
    command "command"
    figures "figures"
    python_files_columns "python-files-columns"
    cookbook "cookbook"
    stability "stability"
    glossary "glossary"
    readme "../../README"
}
