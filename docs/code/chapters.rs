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
    from_python "from-python"
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
    from_c "from-c"
    messages_in_c_and_python "messages-in-c-and-python"
    cookbook "cookbook"
    stability "stability"
    glossary "glossary"
    readme "../../README"
}

/// The picture of the chapter on MPI: the plane in the middle of a grid with its halo. It is drawn here because the code of that
/// chapter needs an MPI library.
///
/// ```
/// use dtype_runtime::{Basic, Order, Type};
/// use dtype_show::{Diagram, View};
///
/// let f64s = Type::basic(Basic::F64);
/// let part = |sizes: [u64; 2], starts: [u64; 2]| {
///     Type::subarray(&[6, 6], &sizes, &starts, Order::C, &f64s).unwrap()
/// };
/// let parts = [
///     ("sent to x − 1", part([4, 1], [1, 1])),
///     ("sent to x + 1", part([4, 1], [1, 4])),
///     ("received from x − 1", part([4, 1], [1, 0])),
///     ("received from x + 1", part([4, 1], [1, 5])),
///     ("received from y − 1", part([1, 4], [0, 1])),
///     ("received from y + 1", part([1, 4], [5, 1])),
/// ];
/// let types: Vec<Type> = parts.iter().map(|(_, ty)| ty.clone()).collect();
/// let plane = Type::structure(&[1; 6], &[0; 6], &types).unwrap();
/// let mut picture = Diagram::of_type(&plane, &View::default().with_unit(8).with_row(8 * 6));
/// picture.rename_fields(|field| {
///     let index: usize = field.path.split(['.', '[']).next().unwrap().parse().unwrap();
///     parts[index].0.to_owned()
/// });
/// dtype_book::grid("halo-faces", &picture);
/// ```
#[cfg(doctest)]
mod on_mpi {}
