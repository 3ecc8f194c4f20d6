//! The sizes that GCC 12 gives to structs on x86-64, for declarations that once had another layout here or were refused.

use dtype_cli::declaration::{Language, parse};

/// The size of `struct P` in each text.
type Sizes = &'static [(&'static str, i64)];

/// Macros, conditions and pragmas.
const PREPROCESSOR: Sizes = &[
    ("#define n 3\nstruct P { char c[n]; };", 3),
    ("#define N 4 // cells\nstruct P { char c[N]; };", 4),
    ("#define N 16U /* x */\nstruct P { char c[N]; };", 16),
    ("#pragma pack(push, 1) // see (spec)\nstruct P { char c; double x; };", 9),
    ("#define N 3\n#undef N\n#define N (1+1)\nstruct P { int x[N]; };", 8),
    ("#define N 3\n#define N 2 * 4\nstruct P { char x[N]; };", 8),
    ("#define N 4 /* number\n of cells */\nstruct Q { char c; };\nstruct P { char c[N]; };", 4),
    ("struct P { char c;\n#if 0\ndouble d;\n#endif\nint x; };", 8),
    ("struct P { char c;\n#if 0\ndouble d;\n#else\nshort d;\n#endif\nint x; };", 8),
    ("struct P { char c;\n#if 1\nchar d;\n#elif X\nint e;\n#else\nint f;\n#endif\nint x; };", 8),
    ("#if 0\nit's broken {{ (\n#if X\n#else\n#endif\n#endif\nstruct P { char c; };", 1),
    ("struct P { char c;\n#ifdef __cplusplus\nP() {}\n#endif\nint x; };", 8),
    ("#ifndef P_H\n#define P_H\n#ifdef P_H\nstruct P { char c; };\n#endif\n#endif", 1),
    ("#ifndef N\n#define N 4\n#endif\nstruct P { char c[N]; };", 4),
    (
        "#if defined(__GNUC__) || defined(__clang__)\n#define PACKED __attribute__((packed))\n#else\n#define PACKED\n#endif\nstruct P { char c; int x; } PACKED;",
        5,
    ),
    ("#ifdef _MSC_VER\n#pragma pack(push, 1)\n#endif\nstruct P { char c; int x; };", 8),
    ("#define PACKED __attribute__((packed))\nstruct P { char c; int x; } PACKED;", 5),
    ("#define PACKED __attribute__((packed))\nstruct PACKED P { char c; int x; };", 5),
    (
        "#define BEGIN _Pragma(\"pack(push, 1)\")\n#define END _Pragma(\"pack(pop)\")\nBEGIN struct Q { char c; int x; }; END\nstruct P { struct Q q; char c; int x; };",
        12,
    ),
    (
        "#ifdef X\n#pragma pack(push, 1)\n#endif\nstruct Q { char c; int x; };\n#ifdef X\n#pragma pack(pop)\n#endif\nstruct P { char c; int x; };",
        8,
    ),
    ("#if X\n#pragma pack(2)\n#else\n#pragma pack(2)\n#endif\nstruct P { char c; int x; };", 6),
    ("#if X\n#define N 3\nstruct Q { char c[N]; };\n#endif\nstruct P { char c; };", 1),
    ("#define N (1 << 2)\n#define M (N >= 4 && N != 5 ? N | 1 : 0)\nstruct P { char c[M]; };", 5),
    ("#define real double\nstruct P { char c; real x; };", 16),
    ("#define API\nAPI struct P { char c; int x; };", 8),
    ("#pragma pack(1)\n#pragma pack(3)\nstruct P { char c; int x;};", 5),
    ("#pragma pack(1)\n#pragma pack(0)\nstruct P { char c; int x;};", 8),
    ("#pragma pack(1)\n#pragma pack(32)\nstruct P { char c; int x;};", 5),
    (
        "#pragma pack(1)\n#pragma pack(push)\n#pragma pack(4)\n#pragma pack(pop)\nstruct P { char c; int x;};",
        5,
    ),
    ("#pragma pack(push, 1)\n#pragma pack(pop, b)\nstruct P { char c; int x;};", 8),
    ("#pragma pack(push, 1, a)\nstruct P { char c; int x;};", 5),
    ("#pragma pack(push, 3)\nstruct P { char c; int x;};", 8),
    ("#pragma pack(1) junk\nstruct P { char c; int x;};", 5),
    ("#pragma pack 1\nstruct P { char c; int x;};", 8),
    ("#define ONE 1\n#pragma pack(ONE)\nstruct P { char c; int x;};", 8),
    ("#pragma pack(01)\nstruct P { char c; int x;};", 5),
    ("#pragma pack(1u)\nstruct P { char c; int x;};", 5),
    ("#pragma pack(1\nstruct P { char c; int x;};", 8),
    ("#pragma pack(pop, 2)\nstruct P { char c; int x;};", 8),
    ("_Pragma(\"pack(1)\")\nstruct P { char c; int x;};", 5),
    ("struct P { char c; _Pragma(\"pack(1)\") int x;};", 5),
    ("struct P {\n#pragma pack(1)\n char c; int x;\n#pragma pack()\n};", 8),
    ("struct P {\n char c; int x;\n#pragma pack(1)\n};", 5),
    (
        "struct P {\n char c; int x; struct {char c; int y;\n#pragma pack(1)\n} q;\n#pragma pack()\n};",
        16,
    ),
    (
        "#pragma pack(2)\nstruct P { char c; struct {int a; char b; double d __attribute__((aligned(16)));} q; } __attribute__((aligned(8)));",
        16,
    ),
    ("#pragma pack(2)\nstruct P { char c; _Alignas(8) int x; };", 6),
    ("#pragma pack(2)\nstruct __attribute__((aligned(8))) P { char c; int x; };", 8),
    ("#pragma pack(2)\ntypedef int T __attribute__((aligned(16)));struct P { char c; T x; };", 6),
    ("#define x 7\nstruct P { char c[x]; };", 7),
    ("#define N 3\nstruct P { char c[N];\n#undef N\n#define N 5\n char d[N]; };", 8),
    ("int f(void) {\n#define N 5\nreturn 0; }\nstruct P { char c[N]; };", 5),
    ("#define foo foo\nstruct P { int foo; };", 4),
    ("#define F (3)\nstruct P { char c[F]; };", 3),
    ("#define F/**/(3)\nstruct P { char c[F]; };", 3),
    ("#define EMPTY\nstruct EMPTY P { EMPTY char c EMPTY; } EMPTY;", 1),
    ("#define A B\n#define B 4\nstruct P { char c[A]; };", 4),
    ("#define N 4 /* x\n y */\nstruct P { char c[N]; };", 4),
    ("#define N \"/*\"\nstruct P { char c[2]; };", 2),
    ("#define N 4 // x /* y\nstruct P { char c[N]; };", 4),
    ("#define N '\"'\nstruct P { char c[2]; };", 2),
    ("  #  define N 2\nstruct P { char c[N]; };", 2),
    ("#pragma pack(push, \\\n 1)\nstruct P { char c; int x; };", 5),
    ("#define N \\\n 4\nstruct P { char c[N]; };", 4),
    ("#define N \\ \r\n 4\nstruct P { char c[N]; };", 4),
];

/// Conditions whose value the text and the compiler decide.
const CONDITIONS: Sizes = &[
    ("#define V 3\nstruct P { char c;\n#if V\nint x;\n#endif\n};", 8),
    (
        "#define V 0x3\nstruct P { char c;\n#if V >= 2 && (V << 1) == 6 && !(V % 3)\nint x;\n#endif\n};",
        8,
    ),
    (
        "#define V W\n#define W 1\nstruct P { char c;\n#if X && V < W || V + 1 != 2\nint x;\n#endif\n};",
        1,
    ),
    (
        "#define V 2\nstruct P { char c;\n#if V > 2\ndouble x;\n#elif V == 2 ? 'a' : X\nint x;\n#endif\n};",
        8,
    ),
    (
        "#ifndef V\n#define V 2\n#endif\nstruct P { char c;\n#if defined(V) && V > 1\nint x;\n#endif\n};",
        8,
    ),
    (
        "#define V 1\nstruct P { char c;\n#if 0\n#elifdef V\nint x;\n#elifndef X\ndouble d;\n#endif\n};",
        8,
    ),
    (
        "struct P { char c;\n#if defined(__GNUC__) && (__GNUC__ > 3) && __GNUC__ >= 4\nint x;\n#endif\n};",
        8,
    ),
    ("struct P { char c;\n#if __SIZEOF_INT__ * __CHAR_BIT__ == 32\nint x;\n#endif\n};", 8),
    (
        "struct P { char c;\n#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\nint x;\n#endif\n};",
        8,
    ),
    (
        "#if defined(WIN32) || defined(_WIN32) || defined(__CYGWIN__)\n#define API __declspec(dllexport)\n#else\n#define API\n#endif\nstruct API P { char c; int x; };",
        8,
    ),
];

/// Where attributes stand, which one counts, and atomic objects.
const ATTRIBUTES: Sizes = &[
    ("_Alignas(16) struct P { char c; } p;", 1),
    (
        "typedef int T __attribute__((aligned(16)));struct __attribute__((packed)) P { char c; T x; };",
        5,
    ),
    (
        "typedef int T __attribute__((aligned(16)));struct P { char c; T x __attribute__((packed)); };",
        5,
    ),
    ("struct __attribute__((aligned(16))) P { char c; } __attribute__((aligned(8)));", 8),
    ("struct __attribute__((aligned(8))) P { char c; } __attribute__((aligned(16)));", 16),
    ("struct __attribute__((aligned(16), aligned(8))) P { char c; };", 8),
    ("struct __attribute__((aligned(16))) __attribute__((aligned(8))) P { char c; };", 8),
    ("struct [[gnu::aligned(16)]] P { char c; };", 16),
    ("struct P { char c; } [[gnu::aligned(16)]];", 1),
    ("struct P { char c; } [[gnu::packed]] x;", 1),
    ("struct P { char c; int x __attribute__((aligned(16))) __attribute__((aligned(8))); };", 32),
    ("struct P { char c; _Alignas(16) _Alignas(8) int x; };", 32),
    ("struct P { char c; _Alignas(16) int x __attribute__((aligned(8))); };", 32),
    ("struct P { char c; _Alignas(8) int x __attribute__((aligned(16))); };", 32),
    (
        "typedef int u __attribute__((aligned(16))); typedef u v __attribute__((aligned(4))); struct P { char c; v x; };",
        8,
    ),
    ("typedef int u __attribute__((aligned(4), aligned(16))); struct P { char c; u x; };", 32),
    ("typedef int u __attribute__((aligned(16), aligned(4))); struct P { char c; u x; };", 8),
    (
        "typedef __attribute__((aligned(16))) int u __attribute__((aligned(4))); struct P { char c; u x; };",
        32,
    ),
    (
        "typedef __attribute__((aligned(4))) int u __attribute__((aligned(16))); struct P { char c; u x; };",
        8,
    ),
    ("typedef int u __attribute__((aligned(2))); struct P { char c; u x; };", 6),
    ("typedef int __attribute__((aligned(2))) u; struct P { char c; u x; };", 6),
    ("typedef int u __attribute__((packed)); struct P { char c; u x; };", 8),
    ("struct P { char c; int x __attribute__((aligned(2))); };", 8),
    ("struct P { char c; int __attribute__((aligned(2))) x; };", 8),
    ("struct P { char c; __attribute__((aligned(2))) int x; };", 8),
    ("struct P { char c; __attribute__((packed)) int x; };", 5),
    ("struct P { char c; __attribute__((packed)) struct {int x;}; };", 8),
    ("struct P { char c; __attribute__((aligned(16))) struct {int x;}; };", 8),
    ("struct P { char c; _Alignas(16) struct {int x;}; };", 32),
    ("struct P { char c; struct {int x;} _Alignas(16); };", 32),
    ("struct P { char c; struct {int x;} __attribute__((aligned(16))); };", 32),
    ("struct P { char c; struct {int x;} __attribute__((packed)); };", 5),
    ("struct P { char c; struct {int x;} __attribute__((packed)) s; };", 5),
    ("struct P { char c; struct {int x;} const __attribute__((packed)) s; };", 5),
    ("struct P { char c; struct {int x;} const __attribute__((aligned(16))) s; };", 32),
    ("struct P { char c; const __attribute__((aligned(16))) struct {int x;} s; };", 32),
    ("struct P { char c; const __attribute__((packed)) struct {int x;} s; };", 5),
    ("struct P { struct {int x;} _Alignas(16) s; int y; };", 16),
    ("struct P { struct {int x;} __attribute__((aligned(16))) s; int y; };", 32),
    ("struct {int x;} alignas(16) p; struct P { int y; };", 4),
    ("struct P {int x; char c;} alignas(16) p;", 8),
    ("struct P {int x; double c;} __attribute__((packed)) p;", 12),
    ("struct P {int x; char c;} __attribute__((aligned(16))) p;", 16),
    ("__attribute__((packed)) struct P { char c; int x; };", 8),
    ("__attribute__((packed)) struct P { char c; int x; } p;", 8),
    ("__attribute__((aligned(16))) struct P { char c; int x; };", 8),
    ("__attribute__((aligned(16))) typedef int T; struct P { char c; T x; };", 32),
    ("typedef __attribute__((packed)) struct { char c; int x; } Q; struct P { Q q; };", 8),
    ("typedef __attribute__((aligned(16))) struct { char c; } Q; struct P { char d; Q q; };", 32),
    ("typedef struct { char c; int x; } Q __attribute__((packed)); struct P { Q q; };", 8),
    ("typedef struct { char c; } Q __attribute__((aligned(16))); struct P { char d; Q q; };", 32),
    ("typedef struct { char c; } __attribute__((aligned(16))) Q; struct P { char d; Q q; };", 32),
    ("struct P { char c; _Atomic struct {char a[8];} s; };", 16),
    ("struct P { char c; _Atomic struct {char a[3];} s; };", 4),
    ("struct P { char c; _Atomic struct {char a[16];} s; };", 32),
    ("struct P { char c; _Atomic struct {char a[32];} s; };", 33),
    ("struct P { char c; _Atomic float _Complex s; };", 16),
    ("struct P { char c; _Atomic double _Complex s; };", 32),
    ("struct P { char c; _Atomic long double s; };", 32),
    ("struct P { char c; _Atomic int s[2]; };", 12),
    ("struct P { char c; _Atomic(int) s[2]; };", 12),
    ("struct P { char c; _Atomic(struct {char a[8];}) s; };", 16),
    ("typedef struct {char a[8];} T; struct P { char c; T _Atomic s; };", 16),
    ("typedef _Atomic struct {char a[8];} T; struct P { char c; T s; };", 16),
    ("struct __attribute__((packed)) P { char c; _Atomic int s; };", 5),
    ("struct __attribute__((packed)) P { char c; _Atomic struct {char a[8];} s; };", 9),
    ("enum __attribute__((aligned(16))) E {A}; struct P { char c; enum E e; };", 8),
    ("enum E {A} __attribute__((aligned(16))); struct P { char c; enum E e; };", 8),
    ("struct P { char c; enum {A} __attribute__((aligned(16))) e; };", 8),
    ("struct P { char c; enum {A} __attribute__((packed)) e; };", 2),
    ("struct P { char c; enum {A=300} __attribute__((packed)) e; };", 4),
    ("struct P { char c; enum __attribute__((packed)) {A=300} e; };", 4),
    ("struct P { char c; struct {int x;} [[gnu::aligned(16)]] s; };", 32),
    ("struct P { char c; int [[gnu::aligned(16)]] s; };", 32),
    ("struct P { char c; int [[gnu::aligned(2)]] s; };", 6),
    ("struct P { char c; int [[gnu::packed]] s; };", 8),
    ("struct P { char c; struct { int x; } [[gnu::packed]] s; };", 8),
    ("struct Q { int x; }; struct P { char c; struct Q __attribute__((aligned(16))) s; };", 32),
    ("struct Q { int x; }; struct P { char c; struct Q __attribute__((packed)) s; };", 5),
    ("struct Q { int x; }; struct P { char c; struct Q _Alignas(16) s; };", 32),
    ("struct Q { int x; }; struct P { char c; struct Q [[gnu::aligned(16)]] s; };", 32),
    ("struct Q { int x; }; struct P { char c; struct Q [[gnu::packed]] s; };", 8),
    ("struct Q { int x; }; struct P { char c; struct __attribute__((packed)) Q s; };", 8),
    (
        "struct Q { int x; }; typedef struct Q __attribute__((aligned(16))) T; struct P { char c; T s; };",
        32,
    ),
    (
        "typedef struct Q __attribute__((aligned(16))) T; struct Q { int x; }; struct P { char c; T s; };",
        32,
    ),
    (
        "typedef struct Q [[gnu::aligned(16)]] T; struct Q { int x; }; struct P { char c; T s; };",
        32,
    ),
    ("struct P { char c; [[gnu::aligned(16)]] int s; };", 32),
    ("struct P { char c; [[gnu::packed]] int s; };", 5),
    ("struct P { char c; int s [[gnu::packed]]; };", 5),
    ("struct P { char c; int s [[gnu::aligned(16)]][2]; };", 32),
    ("struct P { char c; [[gnu::aligned(16)]] struct {int x;}; };", 8),
    ("struct [[gnu::aligned(16), gnu::aligned(8)]] P { char c; };", 8),
    ("enum __attribute__((packed)) E {A = -1, B = 255}; struct P { enum E e; };", 2),
    ("enum __attribute__((packed)) E {A = -1, B = 65535}; struct P { enum E e; };", 4),
    ("enum __attribute__((packed)) E {A = -1, B = 0xffffffff}; struct P { enum E e; };", 8),
    ("enum __attribute__((packed)) E {A = 0xffffffff}; struct P { enum E e; };", 4),
    ("enum __attribute__((packed)) E {A = 0x100000000}; struct P { enum E e; };", 8),
    ("enum E; enum E {A} __attribute__((packed)); struct P { enum E e; };", 1),
    ("typedef enum {A} __attribute__((packed)) E; struct P { E e; };", 1),
    ("typedef enum {A} E __attribute__((packed)); struct P { E e; };", 4),
    ("struct P { char c; _Atomic(char) d; const volatile _Atomic short e; };", 4),
    ("struct P { char c; int x __attribute__((aligned)); };", 32),
    ("struct P { char c; int x __attribute__((aligned(0))); };", 8),
    ("struct P { char c; int x __attribute__((aligned(sizeof(double)))); };", 16),
    ("struct P { char c; int x; } __attribute__((gcc_struct));", 8),
    ("struct P { char c; int x; } __attribute__((transparent_union));", 8),
    ("struct P { char c; int x __attribute__((warn_if_not_aligned(8))); };", 8),
    (
        "struct P { char c; int x; } __attribute__((designated_init, randomize_layout, may_alias));",
        8,
    ),
    (
        "typedef struct Cell Cell __attribute__((aligned(16))); struct Cell {double x;}; struct P {Cell c;};",
        16,
    ),
];

/// Enums and their constants.
const ENUMS: Sizes = &[
    ("struct P { char c; struct Q { int x; } q; enum { A, B } e; char d[B + 1]; };", 16),
    ("enum { A = 1, C = A | 6 }; struct P { char c[C]; };", 7),
    ("enum { A = sizeof(int *), B = (int) 3u, C = 'a' }; struct P { char c[A * B]; };", 24),
    ("enum { A = 5, B = A | 8, C }; struct P { char x[C]; };", 14),
    ("struct P { char c; enum {A}; int y; };", 8),
    ("enum E {A=-1,B=3000000000}; struct P { char c; enum E e; };", 16),
    ("enum E {A=0xffffffff}; struct P { char x[(enum E)-1 > 0 ? 1 : 2]; };", 1),
    ("enum E { M = -1, BIG = 0xffffffffffffffff }; struct P { enum E e; };", 8),
    ("enum E { BIG = 0xffffffffffffffff }; struct P { enum E e; };", 8),
    ("enum {A = 1 << 31, B = A < 0}; struct P { char c[B]; };", 1),
    ("enum E {A = 1 << 31}; struct P { enum E e; };", 4),
    ("enum E {A = 1ull << 63}; struct P { enum E e; };", 8),
    ("enum { A = 1.5 > 1, B = 3 }; struct P { char c[B]; };", 3),
];

/// Expressions with the types of their operands.
const CONSTANTS: Sizes = &[
    ("struct P { char x[(1u - 2u) / 0x10000000u]; };", 15),
    ("struct P { char x[0x80000000 - 0x7fffffff]; };", 1),
    ("struct P { char x[-1 >> 31 & 3]; };", 3),
    ("struct P { char x[-1 % 2u]; };", 1),
    ("struct P { char x[(-1 < 1u) + 1]; };", 1),
    ("struct P { char x[(-1 < 1ul) + 1]; };", 1),
    (
        "struct P { char x['a']; char y['\\n']; char z['\\x10']; char w['\\0' + 1]; char v['\\\\']; };",
        216,
    ),
    ("struct P { char x['\\377' + 2]; };", 1),
    (
        "struct P { char x[(unsigned char)300]; char y[(char)200 + 57]; char z[(short)65537]; char w[(_Bool)7]; };",
        47,
    ),
    (
        "struct P { char x[(int)4L]; char y[sizeof(int*)]; char z[_Alignof(double)]; char v[__alignof__(short)]; };",
        22,
    ),
    (
        "struct P { char x[3 > 2 ? 4 : 5]; char y[(5 + 3) & ~3]; char z[!0]; char w[1 | 2 ^ 7]; char v[1 == 2 || 3 != 4 && 5 <= 6]; };",
        19,
    ),
    ("struct P { char x[1 ? 2 : 0 ? 3 : 4]; char y[~0u == 0xffffffff]; };", 3),
    ("struct P { char x[(~0u >> 30)]; char y[~0ul >> 60]; };", 18),
    ("struct P { char x[(int)sizeof(int) - 5 + 3]; };", 2),
    ("struct P { char x[sizeof(int) - 5 > 0 ? 1 : 2]; };", 1),
    ("struct P { char x[10/-3 + 6]; char y[-7 % 3 + 4]; };", 6),
    ("struct P { char x[5 - -3]; char y[5 - - 3]; char z[- -3]; char w[+2];};", 21),
    (
        "struct P { char x[0x7fffffffffffffff > 0 ? 1 : 2]; char y[18446744073709551615u > 0 ? 1: 2]; };",
        2,
    ),
    ("struct P { char x[sizeof(long long)<<1]; };", 16),
    ("struct P { char x[(unsigned)-1 / 0x10000000]; };", 15),
    ("struct P { char x[sizeof(struct {char c; int y;})]; };", 8),
];

/// What is a field, what is passed over, and names that are declared later.
const STRUCTS: Sizes = &[
    (
        "int f(int a, struct Q *q);\nstatic inline int g(void) { struct L { int a; } l; return 0; }\nstruct P { int x; };",
        4,
    ),
    ("int f(a) struct Q *a; { return 0; }\nstruct P { int x; };", 4),
    ("struct Q { int x; } q = { 1 }, r[2]; struct P { struct Q q; char c; };", 8),
    ("typedef struct Cell Cell; struct Cell { double x; }; struct P { Cell c[4]; };", 32),
    (
        "typedef struct Cell Cell; typedef Cell Cells; struct Cell { char x; }; struct P { Cells c[3]; };",
        3,
    ),
    (
        "typedef struct Cell Cell; typedef struct Cell Cell; struct Cell { char x; }; struct P { Cell c[3]; };",
        3,
    ),
    ("typedef struct particle_s { char c; int x; } particle_t; struct P { particle_t p; };", 8),
    ("struct P { struct Q { int x; }; int y; };", 4),
    ("struct P { char c; union U { int x; }; int y; };", 8),
    ("struct P { char c; struct Q; int y; };", 8),
    ("struct Q { int x; }; struct P { char c; struct Q; int y; };", 8),
    ("struct P { char c; const struct { int x; }; int y; };", 12),
    ("// a \\\n struct Q { int y; };\nstruct P { char c; };", 1),
    ("typedef struct Cell Cell; struct Cell {double x;}; struct P {Cell c[4];};", 32),
    (
        "typedef struct Cell Cell, *CellP; struct Cell {double x;}; typedef Cell C2; struct P {C2 c[4];};",
        32,
    ),
];

#[cfg(all(target_arch = "x86_64", unix))]
/// Beside `struct P` is something that is not understood, as far as it stands in a header at all.
const BESIDE: Sizes = &[
    ("struct Q { int x FOO; };\nstruct P { char c; int x; };", 8),
    ("struct Q { int x[3; };\nstruct P { char c; int x; };", 8),
    ("struct Q { int f() const { return x; } int x = 3; };\nstruct P { char c; int x; };", 8),
    ("typedef unsigned __int64 u_quad_t;\nstruct P { char c; int x; };", 8),
    ("typedef FOO(int) bar;\nstruct P { char c; int x; };", 8),
    ("struct __attribute__((aligned(8)) Q { int x; };\nstruct P { char c; int x; };", 8),
    (
        "#define ALL(X) X(a) X(b)\n#define NAME(n) n,\nenum { A, B, ALL(NAME) C };\nstruct P { char c; int x[B]; };",
        8,
    ),
    (
        "union U { struct V { char c; double d; } v; enum { K = 5 } e; };\nstruct P { struct V v; char c[K]; };",
        24,
    ),
    ("typedef union { int x FOO; } U;\nstruct P { char c; int x; };", 8),
    ("typedef struct { char c; int x; } P __attribute__((aligned(16)));", 8),
    ("typedef enum { A } const E;\nstruct P { E e; };", 4),
    ("enum P { A };", 4),
];

/// Names of types from headers.
const NAMES: Sizes = &[
    ("struct P { u_int8_t a; u_int16_t b; u_int32_t c; u_int64_t d; __int128_t e; };", 32),
    ("struct P { pid_t p; uid_t u; gid_t g; id_t i; socklen_t s; in_addr_t a; in_port_t r; };", 28),
    ("typedef char pid_t; struct P { pid_t p; __sum16 s; };", 4),
    ("typedef unsigned __be16; struct P { __be16 x; };", 4),
];

/// What a compiler defines, in each place where a constant stands. GCC does not expand a macro in `#pragma pack`.
const PREDEFINED: Sizes = &[
    ("struct P { char a[__SIZEOF_LONG__]; };", 8),
    ("struct P { char a[__CHAR_BIT__ * __SIZEOF_POINTER__]; };", 64),
    ("enum { A = __SIZEOF_INT__ }; struct P { char a[A]; };", 4),
    ("struct P { char c; char d __attribute__((aligned(__SIZEOF_LONG_DOUBLE__))); };", 32),
    ("struct P { char c; _Alignas(__BIGGEST_ALIGNMENT__) char d; };", 32),
    ("#define N __SIZEOF_SHORT__\nstruct P { char a[N + 1]; };", 3),
    ("struct P { char c; __UINT16_TYPE__ x; __SIZE_TYPE__ y; };", 16),
    ("typedef __INT64_TYPE__ int64_t; struct P { int64_t x[__SCHAR_WIDTH__]; };", 64),
    ("struct P { char a[__INT_MAX__ / 1000000000 + __linux__]; };", 3),
    (
        "#undef __SIZEOF_LONG__\n#define __SIZEOF_LONG__ 3\nstruct P { char a[__SIZEOF_LONG__]; };",
        3,
    ),
    (
        "#ifndef __SIZEOF_LONG__\n#define __SIZEOF_LONG__ 3\n#endif\nstruct P { char a[__SIZEOF_LONG__]; };",
        8,
    ),
    ("#pragma pack(__SIZEOF_SHORT__)\nstruct P { char c; int x; };", 8),
    ("struct P { char a[sizeof \"abc\"], b[sizeof(\"\") + 1]; };", 6),
];

#[test]
fn sizes_are_those_of_gcc() {
    for (text, size) in
        [PREPROCESSOR, CONDITIONS, ATTRIBUTES, ENUMS, CONSTANTS, STRUCTS, BESIDE, NAMES, PREDEFINED]
            .concat()
    {
        let parsed = parse(text, Language::C, Some("P"));
        let parsed = parsed.unwrap_or_else(|problems| panic!("{text}: {problems:?}"));
        assert_eq!(parsed.ty.extent(), size, "{text}");
    }
}
