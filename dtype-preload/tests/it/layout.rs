//! The structures and numbers that Rust declares here equal those in the libraries' own headers.

use std::env;
use std::fmt::Write;
use std::fs;
use std::mem::offset_of;
use std::process::Command;

use dtype_preload::abi::{self, Abi};
use dtype_preload::layout::{self, Convertor, Datatype, Elem, Loop};
use dtype_runtime::types::Combiner;
use dtype_test_support::mpi_library::Library;

/// Static assertions in C.
#[derive(Default)]
struct Assertions(String);

impl Assertions {
    fn equal(&mut self, c: &str, rust: impl Into<i64>) {
        let rust: i64 = rust.into();
        writeln!(self.0, "_Static_assert(({c}) == {rust}, \"{c} is {rust}\");").unwrap();
    }

    /// A handle or an address of the program's header. Handles of integers may have their highest bit set.
    fn handle(&mut self, c: &str, rust: usize) {
        writeln!(
            self.0,
            "_Static_assert((size_t){c} << 32 == (size_t){rust} << 32, \"{c} is {rust}\");"
        )
        .unwrap();
    }

    fn size(&mut self, c: &str, rust: usize) {
        self.equal(&format!("sizeof({c})"), i64::try_from(rust).unwrap());
    }

    fn offset(&mut self, structure: &str, field: &str, rust: usize) {
        self.equal(&format!("offsetof({structure}, {field})"), i64::try_from(rust).unwrap());
    }

    /// Compiles the assertions behind an include.
    fn hold(&self, library: Library, includes: &str) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("assertions.c");
        fs::write(&file, format!("#include <stddef.h>\n{includes}\n{}", self.0)).unwrap();
        let mut command = Command::new(library.compiler());
        command.arg("-fsyntax-only").arg(&file);
        if library == Library::OpenMpi {
            let folders =
                Command::new(library.compiler()).arg("--showme:incdirs").output().unwrap();
            for folder in String::from_utf8(folders.stdout).unwrap().split_whitespace() {
                command.arg(format!("-I{folder}")).arg(format!("-I{folder}/openmpi"));
            }
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn open_mpi() {
    if !Library::all().contains(&Library::OpenMpi) {
        return;
    }
    let mut all = Assertions::default();
    macro_rules! fields {
        ($rust:ty, $c:literal: $($field:ident = $name:literal),+ $(,)?) => {
            $(all.offset($c, $name, offset_of!($rust, $field));)+
        };
    }
    all.size("opal_convertor_t", layout::CONVERTOR_SIZES[0]);
    all.size("opal_datatype_t", size_of::<Datatype>());
    all.size("dt_elem_desc_t", size_of::<layout::Entry>());
    all.size("dt_type_desc_t", size_of::<layout::Description>());
    all.size("opal_object_t", size_of::<layout::Object>());
    fields!(Convertor, "opal_convertor_t":
        remote_arch = "remoteArch", flags = "flags", local_size = "local_size", remote_size = "remote_size",
        datatype = "pDesc", description = "use_desc", count = "count", stack_size = "stack_size",
        base = "pBaseBuf", stack = "pStack", advance = "fAdvance", master = "master",
        stack_position = "stack_pos", partial_length = "partial_length", converted = "bConverted",
        static_stack = "static_stack");
    fields!(Datatype, "opal_datatype_t":
        flags = "flags", id = "id", size = "size", true_lb = "true_lb", true_ub = "true_ub", lb = "lb",
        ub = "ub", name = "name", desc = "desc", opt_desc = "opt_desc");
    fields!(Elem, "ddt_elem_desc_t":
        head = "common", count = "count", blocklen = "blocklen", extent = "extent", disp = "disp");
    fields!(Loop, "ddt_loop_desc_t":
        head = "common", items = "items", loops = "loops", extent = "extent");
    fields!(layout::Description, "dt_type_desc_t":
        length = "length", used = "used", entries = "desc");
    fields!(layout::Object, "opal_object_t":
        class = "obj_class", references = "obj_reference_count");
    fields!(layout::Class, "opal_class_t": name = "cls_name", size = "cls_sizeof");
    all.equal("OPAL_DATATYPE_LOOP", 0);
    all.equal("OPAL_DATATYPE_END_LOOP", 1);
    all.equal("OPAL_DATATYPE_FIRST_TYPE", 4);
    all.equal("OPAL_DATATYPE_FLAG_COMMITTED", layout::COMMITTED);
    all.equal("OPAL_DATATYPE_FLAG_CONTIGUOUS", layout::CONTIGUOUS);
    all.equal("OPAL_DATATYPE_FLAG_NO_GAPS", layout::NO_GAPS);
    all.equal("CONVERTOR_RECV", layout::RECEIVE);
    all.equal("CONVERTOR_SEND", layout::SEND);
    all.equal("CONVERTOR_HOMOGENEOUS", layout::HOMOGENEOUS);
    all.equal("CONVERTOR_COMPLETED", layout::COMPLETED);
    all.equal(
        "CONVERTOR_NO_OP | CONVERTOR_WITH_CHECKSUM | CONVERTOR_CUDA | CONVERTOR_CUDA_ASYNC | CONVERTOR_COMPLETED \
         | CONVERTOR_CUDA_UNIFIED",
        layout::OTHER_PATHS,
    );
    all.equal(
        "CONVERTOR_TYPE_MASK & ~(CONVERTOR_SEND | CONVERTOR_RECV | CONVERTOR_NO_OP)",
        layout::KEPT,
    );
    all.equal("DT_STATIC_STACK_SIZE", 5);
    all.hold(
        Library::OpenMpi,
        "#include \"opal/datatype/opal_convertor.h\"\n#include \"opal/datatype/opal_datatype_internal.h\"",
    );
}

/// The numbers of an ABI.
fn numbers(abi: &Abi) -> Assertions {
    let mut all = Assertions::default();
    all.size("MPI_Datatype", abi.handle);
    all.size("MPI_Comm", abi.handle);
    all.size("MPI_Request", abi.handle);
    all.size("MPI_Aint", size_of::<isize>());
    all.size("MPI_Count", size_of::<i64>());
    all.size("MPI_Status", abi.status);
    all.offset("MPI_Status", "MPI_ERROR", abi.status_error);
    for (name, mpich, standard, _) in abi::COMBINERS {
        let number = abi.number(mpich, standard);
        if number != 0 {
            all.equal(name, number);
        }
    }
    for combiner in Combiner::ALL {
        let is_there = abi::COMBINERS.iter().any(|(.., here)| here == combiner);
        let is_left = matches!(combiner, Combiner::ValueIndex | Combiner::Named);
        assert!(is_there != is_left, "{combiner:?}");
    }
    all.equal("MPI_COMBINER_NAMED", abi.combiner_named);
    for (name, mpich, standard) in abi::ARRAYS {
        all.equal(name, abi.number(mpich, standard));
    }
    for (name, mpich, standard) in abi::PREDEFINED {
        let number = abi.number(mpich, standard);
        // MPICH 4 lacks some.
        if number != 0 && !["MPI_INTEGER16", "MPI_REAL2"].contains(&name) {
            all.handle(name, number);
        }
    }
    all.equal("MPI_DISTRIBUTE_DFLT_DARG", abi.default_argument);
    all.handle("MPI_COMM_WORLD", abi.comm_world);
    all.handle("MPI_PACKED", abi.packed);
    all.handle("MPI_REQUEST_NULL", abi.request_null);
    all.handle("MPI_STATUS_IGNORE", abi.status_ignore);
    all.handle("MPI_STATUSES_IGNORE", abi.status_ignore);
    all.equal("MPI_PROC_NULL", abi.proc_null);
    all.equal("MPI_THREAD_MULTIPLE", abi.thread_multiple);
    all.equal("MPI_ERR_IN_STATUS", abi.err_in_status);
    all.equal("MPI_ERR_TRUNCATE", abi.err_truncate);
    all.equal("MPI_ERR_PENDING", 18);
    all.equal("MPI_ERR_COUNT", abi::ERR_COUNT);
    let max = i64::try_from(abi::MAX_LIBRARY_VERSION_STRING).unwrap();
    all.equal("MPI_MAX_LIBRARY_VERSION_STRING", max);
    all
}

#[test]
fn mpich() {
    if !Library::all().contains(&Library::Mpich) {
        return;
    }
    let mut all = numbers(&abi::MPICH);
    all.equal("MPI_ERR_INTERN", 16);
    all.hold(Library::Mpich, "#include <mpi.h>");
}

/// The header of the standard ABI is part of MPICH 5.
#[test]
fn standard() {
    let Some(header) = env::var_os("DTYPE_PRELOAD_MPI_ABI_H") else { return };
    let all = numbers(&abi::STANDARD);
    all.hold(Library::Mpich, &format!("#include {header:?}"));
}

#[test]
fn the_check_itself() {
    for library in Library::all() {
        let mut wrong = Assertions::default();
        wrong.equal("MPI_SUCCESS", 1);
        let result = std::panic::catch_unwind(|| wrong.hold(library, "#include <mpi.h>"));
        assert!(result.is_err(), "a wrong assertion does not hold");
    }
}
