//! Declarations of C, as GCC lays them out and as they are read here: what is read must be the same. The layouts of GCC come
//! from its debug information.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use dtype_cli::debug_info::DebugInfo;
use dtype_runtime::basic::Kind;
use dtype_text::declaration::{Language, look, parse};
use dtype_text::notation::Parsed;
use dtype_text::structure::{Form, Kind as Place, Structure, What};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// How a compiler writes all structs of a file, also those without variables.
const OPTIONS: [&str; 5] = ["-g", "-c", "-w", "-std=gnu2x", "-fno-eliminate-unused-debug-types"];

/// The size of each value, its kind and its displacement, with the extent and the names. Integers with and without a sign,
/// characters and enums count as one kind.
type Memory = (Vec<(usize, Kind, i64)>, i64, Vec<Option<String>>);

fn memory(parsed: &Parsed) -> Memory {
    let kind = |kind| match kind {
        Kind::Unsigned | Kind::Character => Kind::Integer,
        other => other,
    };
    let values = parsed.ty.type_map();
    let values =
        values.map(|entry| (entry.basic.size(), kind(entry.basic.kind()), entry.displacement));
    let names = parsed.fields.of(&parsed.ty).unwrap_or(&[]).to_vec();
    (values.collect(), parsed.ty.extent(), names)
}

/// Compiles a text; `None` if the compiler refuses it, or there is none.
fn compiled(folder: &Path, text: &str) -> Option<Vec<u8>> {
    let (source, object) = (folder.join("text.c"), folder.join("text.o"));
    fs::write(&source, text).unwrap();
    let mut command = Command::new("gcc");
    let output = command.args(OPTIONS).arg(&source).arg("-o").arg(&object).output().ok()?;
    output.status.success().then(|| fs::read(&object).unwrap())
}

/// Compares what is read of a struct with what GCC says of it; whether anything is read.
#[track_caller]
fn compare(info: &DebugInfo<'_>, text: &str, name: &str) -> bool {
    let Ok(read) = parse(text, Language::C, Some(name)) else { return false };
    let Ok(found) = info.find(name) else { return false };
    let (mut read, expected) = (memory(&read), memory(&found));
    assert!(
        found.fields.layout().is_none_or(dtype_text::structure::Structure::is_data),
        "{name}\n{text}"
    );
    // A type that is resized, or an enum, has no names of its own.
    if read.2.is_empty() || expected.2.is_empty() {
        read.2.clone_from(&expected.2);
    }
    // Fields with such names are gaps here, wherever they are.
    if ["_pad", "__pad"].iter().any(|pad| text.contains(pad)) {
        assert_eq!(read.1, expected.1, "the size of {name} in\n{text}");
        return true;
    }
    assert!(read == expected, "{name}: {read:?}\nGCC: {expected:?}\n{text}");
    true
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_is_read_is_what_gcc_says() {
    let folder = tempfile::tempdir().unwrap();
    let (mut all, mut read) = (0, 0);
    for text in TEXTS {
        let Some(object) = compiled(folder.path(), text) else { continue };
        all += 1;
        read += usize::from(compare(&DebugInfo::read(&*object).unwrap(), text, "P"));
    }
    // Without a compiler, there is nothing to compare with.
    assert!(all == 0 || all > 250 && read > 100, "{read} of {all}");
}

/// The name and place of a member, with the bits of a bit-field and what a struct or union has inside.
#[derive(Debug, PartialEq)]
struct Looked {
    name: Option<String>,
    offset: Option<u64>,
    size: Option<u64>,
    bits: Option<(u8, u64)>,
    inside: Option<(Form, Vec<Self>)>,
}

impl Looked {
    fn of(structure: &Structure) -> (Form, Vec<Self>) {
        let all = structure.declared.iter().map(|number| {
            let member = &structure.members[*number];
            let bits = match member.kind {
                Place::Bits { first, width, .. } => Some((first, width)),
                _ => None,
            };
            let mut what = &member.of.what;
            while let What::Array(array) = what {
                what = &array.element.what;
            }
            let inside = match what {
                What::Structure(inner) => Some(Self::of(inner)),
                _ => None,
            };
            Self {
                name: member.name.clone(),
                offset: member.offset,
                size: member.size,
                bits,
                inside,
            }
        });
        (structure.form.clone(), all.collect())
    }
}

/// Members of a struct or a union, each with a name of its own.
fn members(depth: u32, is_union: bool) -> BoxedStrategy<String> {
    let name = || (0..u32::MAX).prop_map(|number| format!("m{number}"));
    let integer = prop::sample::select(vec![
        ("char", 8_u32),
        ("unsigned short", 16),
        ("int", 32),
        ("long", 64),
        ("signed char", 8),
    ]);
    let plain = prop::sample::select(vec![
        "char $;",
        "short $[3];",
        "int $;",
        "double $;",
        "void *$;",
        "int (*$)(int);",
    ]);
    let plain = (plain, name()).prop_map(|(text, name)| text.replace('$', &name));
    let bits = (integer, 0..64_u32, any::<bool>(), name()).prop_map(
        |((of, most), width, is_named, name)| match (is_named, width % (most + 1)) {
            (true, width) => format!("{of} {name} : {};", width.max(1)),
            (false, width) => format!("{of} : {width};"),
        },
    );
    let one = if depth == 0 {
        prop_oneof![plain, bits].boxed()
    } else {
        let inner = any::<bool>()
            .prop_flat_map(move |is_union| (Just(is_union), members(depth - 1, is_union)));
        let word = |is_union: bool| if is_union { "union" } else { "struct" };
        let nested = (inner, prop::sample::select(vec!["$", "$[2]", ""]), name()).prop_map(
            move |((is_union, inner), declarator, name)| {
                format!("{} {{ {inner} }} {};", word(is_union), declarator.replace('$', &name))
            },
        );
        prop_oneof![2 => plain, 3 => bits, 2 => nested].boxed()
    };
    // A union of bits without names alone has no members.
    let first = if is_union { "char first_$;" } else { "" };
    let all = prop::collection::vec(one, 1..7);
    (all, name()).prop_map(move |(all, own)| first.replace('$', &own) + &all.join(" ")).boxed()
}

/// Structs with bit-fields and unions, looked at: each member is where GCC has it, in packed structs as well.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn what_is_looked_at_is_what_gcc_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let texts: Vec<String> = (0..200)
        .map(|number| {
            let body = members(2, false).new_tree(&mut runner).unwrap().current();
            let [before, attribute, after] = match number % 4 {
                0 => ["", "__attribute__((packed))", ""],
                1 => ["#pragma pack(push, 2)\n", "", "#pragma pack(pop)\n"],
                _ => [""; 3],
            };
            format!("{before}struct {attribute} S{number} {{ {body} }};\n{after}")
        })
        .collect();
    let Some(object) = compiled(folder.path(), &texts.concat()) else { return };
    let info = DebugInfo::read(&*object).unwrap();
    for (number, text) in texts.iter().enumerate() {
        let read = look(text, Language::C, None);
        let read = read.unwrap_or_else(|problems| panic!("{text}: {}", problems[0].message));
        let found = info.find(&format!("S{number}")).unwrap();
        let [read, found] = [&read, &found].map(|one| one.fields.layout().unwrap());
        assert_eq!((read.size, Looked::of(read)), (found.size, Looked::of(found)), "{text}");
    }
}

/// The headers of the system, after the preprocessor: thousands of structs with what few people write.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_structs_of_the_systems_headers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut all, mut read) = (0, HashSet::new());
    for header in HEADERS {
        let text = format!("#include <{header}>\n");
        let source = folder.path().join("header.c");
        fs::write(&source, &text).unwrap();
        let output = Command::new("gcc").args(["-E", "-P"]).arg(&source).output();
        let Some(output) = output.ok().filter(|output| output.status.success()) else { continue };
        let text = String::from_utf8(output.stdout).unwrap();
        let Some(object) = compiled(folder.path(), &text) else { continue };
        let Ok(info) = DebugInfo::read(&*object) else { continue };
        for summary in info.types().unwrap_or_default() {
            all += 1;
            let is_known = read.contains(&summary.name);
            if !is_known && compare(&info, &text, &summary.name) {
                read.insert(summary.name);
            }
        }
    }
    assert!(all == 0 || read.len() > all / 20, "{} of {all}", read.len());
}

const HEADERS: [&str; 40] = [
    "aio.h",
    "arpa/inet.h",
    "complex.h",
    "dirent.h",
    "elf.h",
    "fcntl.h",
    "ftw.h",
    "glob.h",
    "grp.h",
    "inttypes.h",
    "linux/fb.h",
    "linux/fs.h",
    "linux/if_packet.h",
    "linux/input.h",
    "linux/perf_event.h",
    "linux/rtnetlink.h",
    "linux/videodev2.h",
    "locale.h",
    "math.h",
    "net/if.h",
    "netdb.h",
    "netinet/in.h",
    "netinet/ip.h",
    "netinet/tcp.h",
    "poll.h",
    "pthread.h",
    "pwd.h",
    "regex.h",
    "sched.h",
    "signal.h",
    "stdlib.h",
    "sys/ipc.h",
    "sys/resource.h",
    "sys/socket.h",
    "sys/stat.h",
    "sys/timex.h",
    "termios.h",
    "time.h",
    "utmpx.h",
    "wchar.h",
];

/// Texts that once had another layout here, or that show a rule of GCC.
const TEXTS: &[&str] = &[
    "#define n 3\nstruct P { char c[n]; };",
    "#define N 4 // cells\nstruct P { char c[N]; };",
    "#define N 16U /* x */\nstruct P { char c[N]; };",
    "#pragma pack(push, 1) // see (spec)\nstruct P { char c; double x; };",
    "#define N 3\n#undef N\n#define N (1+1)\nstruct P { int x[N]; };",
    "#define N 3\n#define N 2 * 4\nstruct P { char x[N]; };",
    "#define N 4 /* number\n of cells */\nstruct Q { char c; };\nstruct P { char c[N]; };",
    "struct P { char c;\n#if 0\ndouble d;\n#endif\nint x; };",
    "struct P { char c;\n#if 0\ndouble d;\n#else\nshort d;\n#endif\nint x; };",
    "struct P { char c;\n#if 1\nchar d;\n#elif X\nint e;\n#else\nint f;\n#endif\nint x; };",
    "#if 0\nit's broken {{ (\n#if X\n#else\n#endif\n#endif\nstruct P { char c; };",
    "struct P { char c;\n#ifdef __cplusplus\nP() {}\n#endif\nint x; };",
    "#ifndef P_H\n#define P_H\n#ifdef P_H\nstruct P { char c; };\n#endif\n#endif",
    "#ifndef N\n#define N 4\n#endif\nstruct P { char c[N]; };",
    "#if defined(__GNUC__) || defined(__clang__)\n#define PACKED __attribute__((packed))\n#else\n#define PACKED\n#endif\nstruct P { char c; int x; } PACKED;",
    "#ifdef _MSC_VER\n#pragma pack(push, 1)\n#endif\nstruct P { char c; int x; };",
    "#define PACKED __attribute__((packed))\nstruct P { char c; int x; } PACKED;",
    "#define PACKED __attribute__((packed))\nstruct PACKED P { char c; int x; };",
    "#define BEGIN _Pragma(\"pack(push, 1)\")\n#define END _Pragma(\"pack(pop)\")\nBEGIN struct Q { char c; int x; }; END\nstruct P { struct Q q; char c; int x; };",
    "#ifdef X\n#pragma pack(push, 1)\n#endif\nstruct Q { char c; int x; };\n#ifdef X\n#pragma pack(pop)\n#endif\nstruct P { char c; int x; };",
    "#if X\n#pragma pack(2)\n#else\n#pragma pack(2)\n#endif\nstruct P { char c; int x; };",
    "#if X\n#define N 3\nstruct Q { char c[N]; };\n#endif\nstruct P { char c; };",
    "#define N (1 << 2)\n#define M (N >= 4 && N != 5 ? N | 1 : 0)\nstruct P { char c[M]; };",
    "#define real double\nstruct P { char c; real x; };",
    "#define API\nAPI struct P { char c; int x; };",
    "#pragma pack(1)\n#pragma pack(3)\nstruct P { char c; int x;};",
    "#pragma pack(1)\n#pragma pack(0)\nstruct P { char c; int x;};",
    "#pragma pack(1)\n#pragma pack(32)\nstruct P { char c; int x;};",
    "#pragma pack(1)\n#pragma pack(push)\n#pragma pack(4)\n#pragma pack(pop)\nstruct P { char c; int x;};",
    "#pragma pack(push, 1)\n#pragma pack(pop, b)\nstruct P { char c; int x;};",
    "#pragma pack(push, 1, a)\nstruct P { char c; int x;};",
    "#pragma pack(push, 3)\nstruct P { char c; int x;};",
    "#pragma pack(1) junk\nstruct P { char c; int x;};",
    "#pragma pack 1\nstruct P { char c; int x;};",
    "#define ONE 1\n#pragma pack(ONE)\nstruct P { char c; int x;};",
    "#pragma pack(01)\nstruct P { char c; int x;};",
    "#pragma pack(1u)\nstruct P { char c; int x;};",
    "#pragma pack(1\nstruct P { char c; int x;};",
    "#pragma pack(pop, 2)\nstruct P { char c; int x;};",
    "_Pragma(\"pack(1)\")\nstruct P { char c; int x;};",
    "struct P { char c; _Pragma(\"pack(1)\") int x;};",
    "struct P {\n#pragma pack(1)\n char c; int x;\n#pragma pack()\n};",
    "struct P {\n char c; int x;\n#pragma pack(1)\n};",
    "struct P {\n char c; int x; struct {char c; int y;\n#pragma pack(1)\n} q;\n#pragma pack()\n};",
    "#pragma pack(2)\nstruct P { char c; struct {int a; char b; double d __attribute__((aligned(16)));} q; } __attribute__((aligned(8)));",
    "#pragma pack(2)\nstruct P { char c; _Alignas(8) int x; };",
    "#pragma pack(2)\nstruct __attribute__((aligned(8))) P { char c; int x; };",
    "#pragma pack(2)\ntypedef int T __attribute__((aligned(16)));struct P { char c; T x; };",
    "#define x 7\nstruct P { char c[x]; };",
    "#define N 3\nstruct P { char c[N];\n#undef N\n#define N 5\n char d[N]; };",
    "int f(void) {\n#define N 5\nreturn 0; }\nstruct P { char c[N]; };",
    "#define foo foo\nstruct P { int foo; };",
    "#define F (3)\nstruct P { char c[F]; };",
    "#define F/**/(3)\nstruct P { char c[F]; };",
    "#define EMPTY\nstruct EMPTY P { EMPTY char c EMPTY; } EMPTY;",
    "#define A B\n#define B 4\nstruct P { char c[A]; };",
    "#define N 4 /* x\n y */\nstruct P { char c[N]; };",
    "#define N \"/*\"\nstruct P { char c[2]; };",
    "#define N 4 // x /* y\nstruct P { char c[N]; };",
    "#define N '\"'\nstruct P { char c[2]; };",
    "  #  define N 2\nstruct P { char c[N]; };",
    "#pragma pack(push, \\\n 1)\nstruct P { char c; int x; };",
    "#define N \\\n 4\nstruct P { char c[N]; };",
    "#define N \\ \r\n 4\nstruct P { char c[N]; };",
    "#define V 3\nstruct P { char c;\n#if V\nint x;\n#endif\n};",
    "#define V 0x3\nstruct P { char c;\n#if V >= 2 && (V << 1) == 6 && !(V % 3)\nint x;\n#endif\n};",
    "#define V W\n#define W 1\nstruct P { char c;\n#if X && V < W || V + 1 != 2\nint x;\n#endif\n};",
    "#define V 2\nstruct P { char c;\n#if V > 2\ndouble x;\n#elif V == 2 ? 'a' : X\nint x;\n#endif\n};",
    "#ifndef V\n#define V 2\n#endif\nstruct P { char c;\n#if defined(V) && V > 1\nint x;\n#endif\n};",
    "#define V 1\nstruct P { char c;\n#if 0\n#elifdef V\nint x;\n#elifndef X\ndouble d;\n#endif\n};",
    "struct P { char c;\n#if defined(__GNUC__) && (__GNUC__ > 3) && __GNUC__ >= 4\nint x;\n#endif\n};",
    "struct P { char c;\n#if __SIZEOF_INT__ * __CHAR_BIT__ == 32\nint x;\n#endif\n};",
    "struct P { char c;\n#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\nint x;\n#endif\n};",
    "#if defined(WIN32) || defined(_WIN32) || defined(__CYGWIN__)\n#define API __declspec(dllexport)\n#else\n#define API\n#endif\nstruct API P { char c; int x; };",
    "_Alignas(16) struct P { char c; } p;",
    "typedef int T __attribute__((aligned(16)));struct __attribute__((packed)) P { char c; T x; };",
    "typedef int T __attribute__((aligned(16)));struct P { char c; T x __attribute__((packed)); };",
    "struct __attribute__((aligned(16))) P { char c; } __attribute__((aligned(8)));",
    "struct __attribute__((aligned(8))) P { char c; } __attribute__((aligned(16)));",
    "struct __attribute__((aligned(16), aligned(8))) P { char c; };",
    "struct __attribute__((aligned(16))) __attribute__((aligned(8))) P { char c; };",
    "struct [[gnu::aligned(16)]] P { char c; };",
    "struct P { char c; } [[gnu::aligned(16)]];",
    "struct P { char c; } [[gnu::packed]] x;",
    "struct P { char c; int x __attribute__((aligned(16))) __attribute__((aligned(8))); };",
    "struct P { char c; _Alignas(16) _Alignas(8) int x; };",
    "struct P { char c; _Alignas(16) int x __attribute__((aligned(8))); };",
    "struct P { char c; _Alignas(8) int x __attribute__((aligned(16))); };",
    "typedef int u __attribute__((aligned(16))); typedef u v __attribute__((aligned(4))); struct P { char c; v x; };",
    "typedef int u __attribute__((aligned(4), aligned(16))); struct P { char c; u x; };",
    "typedef int u __attribute__((aligned(16), aligned(4))); struct P { char c; u x; };",
    "typedef __attribute__((aligned(16))) int u __attribute__((aligned(4))); struct P { char c; u x; };",
    "typedef __attribute__((aligned(4))) int u __attribute__((aligned(16))); struct P { char c; u x; };",
    "typedef int u __attribute__((aligned(2))); struct P { char c; u x; };",
    "typedef int __attribute__((aligned(2))) u; struct P { char c; u x; };",
    "typedef int u __attribute__((packed)); struct P { char c; u x; };",
    "struct P { char c; int x __attribute__((aligned(2))); };",
    "struct P { char c; int __attribute__((aligned(2))) x; };",
    "struct P { char c; __attribute__((aligned(2))) int x; };",
    "struct P { char c; __attribute__((packed)) int x; };",
    "struct P { char c; __attribute__((packed)) struct {int x;}; };",
    "struct P { char c; __attribute__((aligned(16))) struct {int x;}; };",
    "struct P { char c; _Alignas(16) struct {int x;}; };",
    "struct P { char c; struct {int x;} _Alignas(16); };",
    "struct P { char c; struct {int x;} __attribute__((aligned(16))); };",
    "struct P { char c; struct {int x;} __attribute__((packed)); };",
    "struct P { char c; struct {int x;} __attribute__((packed)) s; };",
    "struct P { char c; struct {int x;} const __attribute__((packed)) s; };",
    "struct P { char c; struct {int x;} const __attribute__((aligned(16))) s; };",
    "struct P { char c; const __attribute__((aligned(16))) struct {int x;} s; };",
    "struct P { char c; const __attribute__((packed)) struct {int x;} s; };",
    "struct P { struct {int x;} _Alignas(16) s; int y; };",
    "struct P { struct {int x;} __attribute__((aligned(16))) s; int y; };",
    "struct {int x;} alignas(16) p; struct P { int y; };",
    "struct P {int x; char c;} alignas(16) p;",
    "struct P {int x; double c;} __attribute__((packed)) p;",
    "struct P {int x; char c;} __attribute__((aligned(16))) p;",
    "__attribute__((packed)) struct P { char c; int x; };",
    "__attribute__((packed)) struct P { char c; int x; } p;",
    "__attribute__((aligned(16))) struct P { char c; int x; };",
    "__attribute__((aligned(16))) typedef int T; struct P { char c; T x; };",
    "typedef __attribute__((packed)) struct { char c; int x; } Q; struct P { Q q; };",
    "typedef __attribute__((aligned(16))) struct { char c; } Q; struct P { char d; Q q; };",
    "typedef struct { char c; int x; } Q __attribute__((packed)); struct P { Q q; };",
    "typedef struct { char c; } Q __attribute__((aligned(16))); struct P { char d; Q q; };",
    "typedef struct { char c; } __attribute__((aligned(16))) Q; struct P { char d; Q q; };",
    "struct P { char c; _Atomic struct {char a[8];} s; };",
    "struct P { char c; _Atomic struct {char a[3];} s; };",
    "struct P { char c; _Atomic struct {char a[16];} s; };",
    "struct P { char c; _Atomic struct {char a[32];} s; };",
    "struct P { char c; _Atomic float _Complex s; };",
    "struct P { char c; _Atomic double _Complex s; };",
    "struct P { char c; _Atomic long double s; };",
    "struct P { char c; _Atomic int s[2]; };",
    "struct P { char c; _Atomic(int) s[2]; };",
    "struct P { char c; _Atomic(struct {char a[8];}) s; };",
    "typedef struct {char a[8];} T; struct P { char c; T _Atomic s; };",
    "typedef _Atomic struct {char a[8];} T; struct P { char c; T s; };",
    "struct __attribute__((packed)) P { char c; _Atomic int s; };",
    "struct __attribute__((packed)) P { char c; _Atomic struct {char a[8];} s; };",
    "enum __attribute__((aligned(16))) E {A}; struct P { char c; enum E e; };",
    "enum E {A} __attribute__((aligned(16))); struct P { char c; enum E e; };",
    "struct P { char c; enum {A} __attribute__((aligned(16))) e; };",
    "struct P { char c; enum {A} __attribute__((packed)) e; };",
    "struct P { char c; enum {A=300} __attribute__((packed)) e; };",
    "struct P { char c; enum __attribute__((packed)) {A=300} e; };",
    "struct P { char c; struct {int x;} [[gnu::aligned(16)]] s; };",
    "struct P { char c; int [[gnu::aligned(16)]] s; };",
    "struct P { char c; int [[gnu::aligned(2)]] s; };",
    "struct P { char c; int [[gnu::packed]] s; };",
    "struct P { char c; struct { int x; } [[gnu::packed]] s; };",
    "struct Q { int x; }; struct P { char c; struct Q __attribute__((aligned(16))) s; };",
    "struct Q { int x; }; struct P { char c; struct Q __attribute__((packed)) s; };",
    "struct Q { int x; }; struct P { char c; struct Q _Alignas(16) s; };",
    "struct Q { int x; }; struct P { char c; struct Q [[gnu::aligned(16)]] s; };",
    "struct Q { int x; }; struct P { char c; struct Q [[gnu::packed]] s; };",
    "struct Q { int x; }; struct P { char c; struct __attribute__((packed)) Q s; };",
    "struct Q { int x; }; typedef struct Q __attribute__((aligned(16))) T; struct P { char c; T s; };",
    "typedef struct Q __attribute__((aligned(16))) T; struct Q { int x; }; struct P { char c; T s; };",
    "typedef struct Q [[gnu::aligned(16)]] T; struct Q { int x; }; struct P { char c; T s; };",
    "struct P { char c; [[gnu::aligned(16)]] int s; };",
    "struct P { char c; [[gnu::packed]] int s; };",
    "struct P { char c; int s [[gnu::packed]]; };",
    "struct P { char c; int s [[gnu::aligned(16)]][2]; };",
    "struct P { char c; [[gnu::aligned(16)]] struct {int x;}; };",
    "struct [[gnu::aligned(16), gnu::aligned(8)]] P { char c; };",
    "enum __attribute__((packed)) E {A = -1, B = 255}; struct P { enum E e; };",
    "enum __attribute__((packed)) E {A = -1, B = 65535}; struct P { enum E e; };",
    "enum __attribute__((packed)) E {A = -1, B = 0xffffffff}; struct P { enum E e; };",
    "enum __attribute__((packed)) E {A = 0xffffffff}; struct P { enum E e; };",
    "enum __attribute__((packed)) E {A = 0x100000000}; struct P { enum E e; };",
    "enum E; enum E {A} __attribute__((packed)); struct P { enum E e; };",
    "typedef enum {A} __attribute__((packed)) E; struct P { E e; };",
    "typedef enum {A} E __attribute__((packed)); struct P { E e; };",
    "struct P { char c; _Atomic(char) d; const volatile _Atomic short e; };",
    "struct P { char c; int x __attribute__((aligned)); };",
    "struct P { char c; int x __attribute__((aligned(0))); };",
    "struct P { char c; int x __attribute__((aligned(sizeof(double)))); };",
    "struct P { char c; int x; } __attribute__((gcc_struct));",
    "struct P { char c; int x; } __attribute__((transparent_union));",
    "struct P { char c; int x __attribute__((warn_if_not_aligned(8))); };",
    "struct P { char c; int x; } __attribute__((designated_init, randomize_layout, may_alias));",
    "typedef struct Cell Cell __attribute__((aligned(16))); struct Cell {double x;}; struct P {Cell c;};",
    "struct P { char c; struct Q { int x; } q; enum { A, B } e; char d[B + 1]; };",
    "enum { A = 1, C = A | 6 }; struct P { char c[C]; };",
    "enum { A = sizeof(int *), B = (int) 3u, C = 'a' }; struct P { char c[A * B]; };",
    "enum { A = 5, B = A | 8, C }; struct P { char x[C]; };",
    "struct P { char c; enum {A}; int y; };",
    "enum E {A=-1,B=3000000000}; struct P { char c; enum E e; };",
    "enum E {A=0xffffffff}; struct P { char x[(enum E)-1 > 0 ? 1 : 2]; };",
    "enum E { M = -1, BIG = 0xffffffffffffffff }; struct P { enum E e; };",
    "enum E { BIG = 0xffffffffffffffff }; struct P { enum E e; };",
    "enum {A = 1 << 31, B = A < 0}; struct P { char c[B]; };",
    "enum E {A = 1 << 31}; struct P { enum E e; };",
    "enum E {A = 1ull << 63}; struct P { enum E e; };",
    "enum { A = 1.5 > 1, B = 3 }; struct P { char c[B]; };",
    "struct P { char x[(1u - 2u) / 0x10000000u]; };",
    "struct P { char x[0x80000000 - 0x7fffffff]; };",
    "struct P { char x[-1 >> 31 & 3]; };",
    "struct P { char x[-1 % 2u]; };",
    "struct P { char x[(-1 < 1u) + 1]; };",
    "struct P { char x[(-1 < 1ul) + 1]; };",
    "struct P { char x['a']; char y['\\n']; char z['\\x10']; char w['\\0' + 1]; char v['\\\\']; };",
    "struct P { char x['\\377' + 2]; };",
    "struct P { char x[(unsigned char)300]; char y[(char)200 + 57]; char z[(short)65537]; char w[(_Bool)7]; };",
    "struct P { char x[(int)4L]; char y[sizeof(int*)]; char z[_Alignof(double)]; char v[__alignof__(short)]; };",
    "struct P { char x[3 > 2 ? 4 : 5]; char y[(5 + 3) & ~3]; char z[!0]; char w[1 | 2 ^ 7]; char v[1 == 2 || 3 != 4 && 5 <= 6]; };",
    "struct P { char x[1 ? 2 : 0 ? 3 : 4]; char y[~0u == 0xffffffff]; };",
    "struct P { char x[(~0u >> 30)]; char y[~0ul >> 60]; };",
    "struct P { char x[(int)sizeof(int) - 5 + 3]; };",
    "struct P { char x[sizeof(int) - 5 > 0 ? 1 : 2]; };",
    "struct P { char x[10/-3 + 6]; char y[-7 % 3 + 4]; };",
    "struct P { char x[5 - -3]; char y[5 - - 3]; char z[- -3]; char w[+2];};",
    "struct P { char x[0x7fffffffffffffff > 0 ? 1 : 2]; char y[18446744073709551615u > 0 ? 1: 2]; };",
    "struct P { char x[sizeof(long long)<<1]; };",
    "struct P { char x[(unsigned)-1 / 0x10000000]; };",
    "struct P { char x[sizeof(struct {char c; int y;})]; };",
    "int f(int a, struct Q *q);\nstatic inline int g(void) { struct L { int a; } l; return 0; }\nstruct P { int x; };",
    "int f(a) struct Q *a; { return 0; }\nstruct P { int x; };",
    "struct Q { int x; } q = { 1 }, r[2]; struct P { struct Q q; char c; };",
    "typedef struct Cell Cell; struct Cell { double x; }; struct P { Cell c[4]; };",
    "typedef struct Cell Cell; typedef Cell Cells; struct Cell { char x; }; struct P { Cells c[3]; };",
    "typedef struct Cell Cell; typedef struct Cell Cell; struct Cell { char x; }; struct P { Cell c[3]; };",
    "typedef struct particle_s { char c; int x; } particle_t; struct P { particle_t p; };",
    "struct P { struct Q { int x; }; int y; };",
    "struct P { char c; union U { int x; }; int y; };",
    "struct P { char c; struct Q; int y; };",
    "struct Q { int x; }; struct P { char c; struct Q; int y; };",
    "struct P { char c; const struct { int x; }; int y; };",
    "// a \\\n struct Q { int y; };\nstruct P { char c; };",
    "typedef struct Cell Cell; struct Cell {double x;}; struct P {Cell c[4];};",
    "typedef struct Cell Cell, *CellP; struct Cell {double x;}; typedef Cell C2; struct P {C2 c[4];};",
    "struct Q { int x FOO; };\nstruct P { char c; int x; };",
    "struct Q { int x[3; };\nstruct P { char c; int x; };",
    "struct Q { int f() const { return x; } int x = 3; };\nstruct P { char c; int x; };",
    "typedef unsigned __int64 u_quad_t;\nstruct P { char c; int x; };",
    "typedef FOO(int) bar;\nstruct P { char c; int x; };",
    "struct __attribute__((aligned(8)) Q { int x; };\nstruct P { char c; int x; };",
    "#define ALL(X) X(a) X(b)\n#define NAME(n) n,\nenum { A, B, ALL(NAME) C };\nstruct P { char c; int x[B]; };",
    "union U { struct V { char c; double d; } v; enum { K = 5 } e; };\nstruct P { struct V v; char c[K]; };",
    "typedef union { int x FOO; } U;\nstruct P { char c; int x; };",
    "typedef struct { char c; int x; } P __attribute__((aligned(16)));",
    "typedef enum { A } const E;\nstruct P { E e; };",
    "enum P { A };",
    "struct P { u_int8_t a; u_int16_t b; u_int32_t c; u_int64_t d; __int128_t e; };",
    "struct P { pid_t p; uid_t u; gid_t g; id_t i; socklen_t s; in_addr_t a; in_port_t r; };",
    "typedef char pid_t; struct P { pid_t p; __sum16 s; };",
    "typedef unsigned __be16; struct P { __be16 x; };",
    "struct P { char a[__SIZEOF_LONG__]; };",
    "struct P { char a[__CHAR_BIT__ * __SIZEOF_POINTER__]; };",
    "enum { A = __SIZEOF_INT__ }; struct P { char a[A]; };",
    "struct P { char c; char d __attribute__((aligned(__SIZEOF_LONG_DOUBLE__))); };",
    "struct P { char c; _Alignas(__BIGGEST_ALIGNMENT__) char d; };",
    "#define N __SIZEOF_SHORT__\nstruct P { char a[N + 1]; };",
    "struct P { char c; __UINT16_TYPE__ x; __SIZE_TYPE__ y; };",
    "typedef __INT64_TYPE__ int64_t; struct P { int64_t x[__SCHAR_WIDTH__]; };",
    "struct P { char a[__INT_MAX__ / 1000000000 + __linux__]; };",
    "#undef __SIZEOF_LONG__\n#define __SIZEOF_LONG__ 3\nstruct P { char a[__SIZEOF_LONG__]; };",
    "#ifndef __SIZEOF_LONG__\n#define __SIZEOF_LONG__ 3\n#endif\nstruct P { char a[__SIZEOF_LONG__]; };",
    "#pragma pack(__SIZEOF_SHORT__)\nstruct P { char c; int x; };",
    "struct P { char a[sizeof \"abc\"], b[sizeof(\"\") + 1]; };",
    "struct P { char c; signed char s; unsigned char u; };",
    "struct P { long unsigned int a; long long b; short unsigned c; };",
    "struct P { _Bool a; float _Complex z; double complex w; long double l; };",
    "struct P { int a[2][3], b, c[1]; };",
    "typedef double vec3[3]; typedef struct Q { vec3 x[2]; } Q; struct P { Q q; struct Q r[2]; };",
    "struct P { struct { char a; int b; } in[2]; };",
    "struct P { char a; struct { char b; double c; }; };",
    "struct __attribute__((packed)) P { char a; double b; };",
    "struct P { char a; double b; } __attribute__((__packed__, aligned(4)));",
    "#pragma pack(push, 2)\nstruct P { char a; double b; };\n#pragma pack(pop)",
    "struct P { char a; alignas(16) int b; };",
    "struct P { char a; int b __attribute__((packed)); };",
    "#define N 4\nenum { M = N * 2 + 1 };\nstruct P { int x[N][M - 1]; };",
    "enum kind { A, B }; struct P { enum kind k; enum { C } l[C + 2]; };",
    "enum E { A = 0x80000000 }; struct P { enum E e; };",
    "enum E { A = -1, B = 3000000000 }; struct P { enum E e; };",
    "enum __attribute__((packed)) E { A = 1, B = 0x100000000 }; struct P { enum E e; };",
    "#define N 3\r\nstruct P { int x[N]; };\r\n",
    "struct P { const volatile uint8_t *const restrict; };",
    "struct P { int x[sizeof(double) / sizeof(struct { int y; })]; };",
    "struct P { uint32_t a, /* two */ b; // c\n };",
    "int f(void) { return 1; }\nstatic const struct P { int x; } p = { 1 };\nextern \"C\" { int g(int); }",
    "struct P { int x; }; struct P f(struct P *p); static_assert(sizeof(struct P) == 4, \"\");",
    "typedef struct node *link; typedef int (*call)(int); struct P { int x; };",
    "struct P { int a[0]; char b; };",
];
