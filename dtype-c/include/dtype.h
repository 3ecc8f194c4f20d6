/* dtype.h: MPI-style datatypes for C.
 *
 * A datatype says where the values of a struct, a column, a halo or any other layout lie in memory. This library makes
 * datatypes by MPI's constructors, packs what they describe into bytes without gaps, unpacks it, converts it to other byte
 * orders, checks its values, and sends it in frames that programs in Rust read.
 *
 *     struct particle { double place[3]; int8_t charge; };
 *
 *     dtype_type *fields[2], *ty;
 *     dtype_committed *particle;
 *     dtype_type_basic(DTYPE_F64, &fields[0]);
 *     dtype_type_basic(DTYPE_I8, &fields[1]);
 *     dtype_type_struct(2, (int64_t[]){3, 1}, (int64_t[]){0, 24}, (const dtype_type **)fields, &ty);
 *     dtype_commit(ty, &particle);
 *
 *     size_t packed;                       // 25 bytes each, without the padding
 *     dtype_pack(particle, all, sizeof all, 1000, bytes, sizeof bytes, &packed);
 *
 * Rules
 *
 * - Every function returns a `dtype_error`: DTYPE_OK, or why it did nothing. After an error, nothing has been written, except
 *   where this file says otherwise. `dtype_last_message` has the details.
 * - Objects are opaque and counted: a function that makes one sets `*out` to a new reference, which the caller releases with the
 *   function `..._release` of its kind. Objects keep what they are made of alive, so parts may be released at once. Releasing
 *   NULL does nothing.
 * - Types, committed types, columns and frames never change: any number of threads may use one at the same time. Packers,
 *   unpackers, encoders and decoders are for one thread at a time; a second one gets DTYPE_ERROR_BUSY.
 * - Pointers to memory and bytes are borrowed for the call, and by packers, unpackers and encoders until they are released.
 *   A pointer may be NULL if there are no bytes, or no values, behind it. Any other pointer must not be NULL.
 * - `memory` is the address of displacement 0 of the first instance, and `memory_size` the number of bytes that may be accessed
 *   from there on: instances that reach outside are DTYPE_ERROR_BOUNDS. Pass DTYPE_UNBOUNDED if data lie before the origin, or
 *   their end is not known; the caller then answers for the bounds, as in MPI. Gaps are never read and never written.
 * - A text that the library takes has a length and need not end in a zero byte. A text that it returns ends in one.
 * - Functions that fill an array of the caller (`out`, `out_size`, `size`) set `*size` to the number of bytes that the result has.
 *   If that is more than `out_size`, they write nothing else and return DTYPE_ERROR_ROOM: call with 0 first, then with room.
 *
 * Numbers of bytes and instances are `size_t`, displacements and MPI's counts `int64_t`, positions in a stream `uint64_t`.
 * Section numbers are those of MPI-4.1. */

#ifndef DTYPE_H
#define DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#if !defined(_WIN32)
#include <sys/uio.h> /* struct iovec */
#endif

#define DTYPE_VERSION_MAJOR 0
#define DTYPE_VERSION_MINOR 1
#define DTYPE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that runs, as 0xMMmmpp. */
uint32_t dtype_version(void);

/* A `memory_size` without a bound. */
#define DTYPE_UNBOUNDED SIZE_MAX

/* ---- Errors ------------------------------------------------------------------------------------------------------------- */

typedef int32_t dtype_error;
enum {
    DTYPE_OK = 0,
    DTYPE_ERROR_NULL = 1,        /* a pointer is NULL */
    DTYPE_ERROR_HANDLE = 2,      /* released before, or an object of another kind, as far as that can be told */
    DTYPE_ERROR_BUSY = 3,        /* another thread uses the object */
    DTYPE_ERROR_ARGUMENT = 4,    /* a number is out of range, or a constant is unknown */
    DTYPE_ERROR_LIMIT = 5,       /* more than 63 bits count, deeper than 255 levels, or too many parts */
    DTYPE_ERROR_MEMORY = 6,      /* no memory could be allocated */
    DTYPE_ERROR_ROOM = 7,        /* the destination is too small */
    DTYPE_ERROR_LENGTH = 8,      /* too few or too many packed bytes */
    DTYPE_ERROR_BOUNDS = 9,      /* the layout reaches outside the memory */
    DTYPE_ERROR_OVERLAP = 10,    /* the layout names a byte twice, or source and destination overlap */
    DTYPE_ERROR_POSITION = 11,   /* past the end of a stream, or inside a value that is read as a whole */
    DTYPE_ERROR_SIGNATURE = 12,  /* the two sides have different basic datatypes */
    DTYPE_ERROR_VALUE = 13,      /* packed bytes are no value of their type */
    DTYPE_ERROR_CONVERSION = 14, /* a value has no counterpart in the other representation */
    DTYPE_ERROR_TEXT = 15,       /* a text is malformed */
    DTYPE_ERROR_MARSHALLED = 16, /* bytes are not a marshalled type */
    DTYPE_ERROR_FRAME = 17,      /* a frame is malformed or damaged */
    DTYPE_ERROR_REFUSED = 18,    /* a frame exceeds the limits, or lacks a protection that they demand */
    DTYPE_ERROR_TRUNCATED = 19,  /* a stream ended inside a frame */
    DTYPE_ERROR_LOST = 20,       /* after an earlier error, the start of the next frame is unknown */
    DTYPE_ERROR_UNSUPPORTED = 21,/* not for a committed type that converts or checks */
    DTYPE_ERROR_INTERNAL = 22    /* a fault of the library */
};

/* What an error means in general. Never NULL; owned by the library, for ever. */
const char *dtype_error_text(dtype_error error);

/* What was found, expected and where, in the last call of this thread that failed; "" if none has. Owned by the library, until
 * the next call of this thread that fails. */
const char *dtype_last_message(void);

/* The record, counted from 0, and the field that the last call of this thread that failed with DTYPE_ERROR_VALUE refused.
 * UINT64_MAX and "" after another error. The text is owned as that of `dtype_last_message`. */
uint64_t dtype_last_record(void);
const char *dtype_last_field(void);

/* ---- Types -------------------------------------------------------------------------------------------------------------- */

/* A datatype: immutable. */
typedef struct dtype_type dtype_type;

/* The basic datatypes, by the names of the notation; MPI's differ in C and Fortran only by name. DTYPE_I32 and DTYPE_C_INT are
 * the same in a signature. */
typedef int32_t dtype_basic;
enum {
    DTYPE_I8 = 1,                        /* int8_t */
    DTYPE_I16 = 2,
    DTYPE_I32 = 3,
    DTYPE_I64 = 4,
    DTYPE_I128 = 5,                      /* __int128 */
    DTYPE_U8 = 6,                        /* uint8_t */
    DTYPE_U16 = 7,
    DTYPE_U32 = 8,
    DTYPE_U64 = 9,
    DTYPE_U128 = 10,
    DTYPE_F16 = 11,                      /* _Float16 */
    DTYPE_BF16 = 12,                     /* bfloat16 */
    DTYPE_F32 = 13,                      /* float */
    DTYPE_F64 = 14,                      /* double */
    DTYPE_C32 = 15,                      /* float _Complex */
    DTYPE_C64 = 16,                      /* double _Complex */
    DTYPE_BOOL = 17,                     /* bool */
    DTYPE_CHAR = 18,                     /* char32_t, a Unicode scalar value */
    DTYPE_BYTE = 19,                     /* a byte that is never converted */
    DTYPE_PACKED = 20,                   /* MPI_PACKED */
    DTYPE_AINT = 21,                     /* MPI_Aint */
    DTYPE_OFFSET = 22,                   /* MPI_Offset */
    DTYPE_COUNT = 23,                    /* MPI_Count */
    DTYPE_C_CHAR = 24,                   /* char */
    DTYPE_C_SCHAR = 25,                  /* signed char */
    DTYPE_C_UCHAR = 26,                  /* unsigned char */
    DTYPE_C_WCHAR = 27,                  /* wchar_t */
    DTYPE_C_SHORT = 28,
    DTYPE_C_USHORT = 29,
    DTYPE_C_INT = 30,                    /* int */
    DTYPE_C_UINT = 31,                   /* unsigned int */
    DTYPE_C_LONG = 32,
    DTYPE_C_ULONG = 33,
    DTYPE_C_LONGLONG = 34,
    DTYPE_C_ULONGLONG = 35,
    DTYPE_C_LONGDOUBLE = 36,             /* long double */
    DTYPE_C_LONGDOUBLE_COMPLEX = 37,     /* long double _Complex */
    DTYPE_CXX_BOOL = 38,                 /* C++ from here */
    DTYPE_CXX_FLOAT_COMPLEX = 39,
    DTYPE_CXX_DOUBLE_COMPLEX = 40,
    DTYPE_CXX_LONGDOUBLE_COMPLEX = 41,
    DTYPE_CHARACTER = 42,                /* Fortran from here */
    DTYPE_LOGICAL = 43,
    DTYPE_INTEGER = 44,
    DTYPE_REAL = 45,
    DTYPE_DOUBLE_PRECISION = 46,
    DTYPE_COMPLEX = 47,
    DTYPE_DOUBLE_COMPLEX = 48,
    DTYPE_INTEGER1 = 49,
    DTYPE_INTEGER2 = 50,
    DTYPE_INTEGER4 = 51,
    DTYPE_INTEGER8 = 52,
    DTYPE_INTEGER16 = 53,
    DTYPE_REAL2 = 54,
    DTYPE_REAL4 = 55,
    DTYPE_REAL8 = 56,
    DTYPE_REAL16 = 57,                   /* _Float128 */
    DTYPE_COMPLEX4 = 58,
    DTYPE_COMPLEX8 = 59,
    DTYPE_COMPLEX16 = 60,
    DTYPE_COMPLEX32 = 61
};

/* The order of an array's elements. */
typedef int32_t dtype_order;
enum {
    DTYPE_ORDER_C = 0,      /* the last index is the fastest */
    DTYPE_ORDER_FORTRAN = 1 /* the first index is the fastest */
};

/* The constructors of section 5.1.2, which may refer to one type any number of times.
 * DTYPE_ERROR_ARGUMENT: a negative count or length, an unknown constant. DTYPE_ERROR_LIMIT: the result would be too large. */
dtype_error dtype_type_basic(dtype_basic basic, dtype_type **out);
dtype_error dtype_type_contiguous(int64_t count, const dtype_type *old, dtype_type **out);
/* Blocks at equal distances: `stride` in extents of `old`, or in bytes. */
dtype_error dtype_type_vector(int64_t count, int64_t blocklength, int64_t stride, const dtype_type *old, dtype_type **out);
dtype_error dtype_type_hvector(int64_t count, int64_t blocklength, int64_t stride, const dtype_type *old, dtype_type **out);
/* Blocks at any distances: displacements in extents of `old`, or in bytes. `number` elements of each array are read. */
dtype_error dtype_type_indexed(size_t number, const int64_t *blocklengths, const int64_t *displacements,
                               const dtype_type *old, dtype_type **out);
dtype_error dtype_type_hindexed(size_t number, const int64_t *blocklengths, const int64_t *displacements,
                                const dtype_type *old, dtype_type **out);
/* As the two before, with blocks of one length. */
dtype_error dtype_type_indexed_block(size_t number, int64_t blocklength, const int64_t *displacements,
                                     const dtype_type *old, dtype_type **out);
dtype_error dtype_type_hindexed_block(size_t number, int64_t blocklength, const int64_t *displacements,
                                      const dtype_type *old, dtype_type **out);
/* Members of different types, displacements in bytes. The types are borrowed for the call. */
dtype_error dtype_type_struct(size_t number, const int64_t *blocklengths, const int64_t *displacements,
                              const dtype_type *const *types, dtype_type **out);
/* A part of an array of elements `old` (section 5.1.3). */
dtype_error dtype_type_subarray(size_t dimensions, const int64_t *sizes, const int64_t *subsizes, const int64_t *starts,
                                dtype_order order, const dtype_type *old, dtype_type **out);
/* `old` with other bounds, in bytes (section 5.1.7). A struct whose last member is followed by padding needs this only if the
 * padding is more than its alignment demands. */
dtype_error dtype_type_resized(const dtype_type *old, int64_t lb, int64_t extent, dtype_type **out);

/* Another reference to the same type, and the end of one. */
dtype_error dtype_type_retain(const dtype_type *type);
void dtype_type_release(dtype_type *type);

/* What can be asked of a type, in bytes where nothing else is said. */
typedef struct dtype_type_info {
    uint64_t size;           /* packed, of one instance (section 5.1.5) */
    int64_t lb, extent;      /* where one instance begins, and how far the next is (section 5.1.6) */
    int64_t true_lb, true_extent; /* the same for its data, without markers and padding (section 5.1.8) */
    uint64_t align;          /* the strictest alignment of its basic datatypes */
    uint64_t elements;       /* the number of basic datatypes in an instance */
    uint64_t signature_hash; /* equal for types with the same basic datatypes in the same order */
    uint32_t flags;          /* DTYPE_FLAG_... */
    uint32_t reserved;       /* 0 */
} dtype_type_info;
enum {
    DTYPE_FLAG_OVERLAP = 4,     /* an instance names a byte twice: it can be packed, not unpacked */
    DTYPE_FLAG_CONTIGUOUS = 8,  /* the data of an instance are one run, in order */
    DTYPE_FLAG_NO_GAPS = 16     /* so are those of an array of instances */
};
dtype_error dtype_type_get_info(const dtype_type *type, dtype_type_info *out);

/* Whether the same calls with the same arguments made both (section 2.4), and whether both have the same signature, so that one
 * side of a message may send by the first and the other receive by the second. */
dtype_error dtype_type_equal(const dtype_type *a, const dtype_type *b, bool *out);
dtype_error dtype_type_compatible(const dtype_type *a, const dtype_type *b, bool *out);

/* A type as compact bytes, which are the same on every machine, and back. The bytes may come from anyone: others than a
 * marshalled type are DTYPE_ERROR_MARSHALLED. */
dtype_error dtype_type_marshal(const dtype_type *type, void *out, size_t out_size, size_t *size);
dtype_error dtype_type_unmarshal(const void *bytes, size_t size, dtype_type **out);

/* A type as a text. */
typedef int32_t dtype_form;
enum {
    DTYPE_FORM_PICTURE = 0,      /* a picture in characters: data, gaps, bounds */
    DTYPE_FORM_SVG = 1,          /* the picture as an SVG document */
    DTYPE_FORM_CALLS = 2,        /* the tree of the calls that made it */
    DTYPE_FORM_MPI_C = 3,        /* the MPI calls in C that make it again; the last variable, `tN`, is the result */
    DTYPE_FORM_RUST = 4,         /* the calls in Rust that make it again */
    DTYPE_FORM_NUMPY = 5,        /* the NumPy dtype of an array of instances in memory */
    DTYPE_FORM_NUMPY_PACKED = 6, /* the NumPy dtype of packed bytes */
    DTYPE_FORM_NOTATION = 7,     /* the notation of the command `dtype`: "struct{[f64; 3], i8}", "vector(3, 1, 4, f64)" */
    DTYPE_FORM_STRUCT = 8        /* the declaration of a struct in C with this layout */
};
/* `*size` includes the zero byte at the end. DTYPE_ERROR_UNSUPPORTED: no NumPy dtype, or no struct, has the layout; or the
 * library was installed without DTYPE_FORM_NOTATION and DTYPE_FORM_STRUCT. */
dtype_error dtype_type_text(const dtype_type *type, dtype_form form, char *out, size_t out_size, size_t *size);

/* The type of a text, which may come from anyone. Anything malformed is DTYPE_ERROR_TEXT, with the place in the message.
 * - DTYPE_FORM_NUMPY: a dtype as `dtype.descr` or a call of `np.dtype` has it: "[('id', '<u2'), ('at', '<f8', (3,))]". Its byte
 *   orders must be this machine's.
 * - DTYPE_FORM_STRUCT: "struct particle { double place[3]; int8_t charge; };", laid out as this machine's C compiler does it. Of
 *   several structs, it is the one that is not part of another.
 * - DTYPE_FORM_NOTATION. This form and the one before are DTYPE_ERROR_UNSUPPORTED in a library that was installed without them.
 * Any other form is DTYPE_ERROR_ARGUMENT. */
dtype_error dtype_type_from_text(const char *text, size_t length, dtype_form form, dtype_type **out);

/* ---- Committed types ---------------------------------------------------------------------------------------------------- */

/* A type that was compiled for packing, with the representation of its packed bytes and the checks of its values: immutable. */
typedef struct dtype_committed dtype_committed;

/* How values look in packed bytes. */
typedef int32_t dtype_representation;
enum {
    DTYPE_NATIVE = 0,
    DTYPE_EXTERNAL32 = 1,    /* MPI's: big-endian, the same widths on every machine (section 14.5.2) */
    DTYPE_LITTLE_ENDIAN = 2, /* this machine's widths */
    DTYPE_BIG_ENDIAN = 3
};

/* Another machine: its byte order, DTYPE_LITTLE_ENDIAN or DTYPE_BIG_ENDIAN, and the widths in bytes of the types whose width C
 * leaves open. Fields of 0 are as on this machine. */
typedef struct dtype_architecture {
    dtype_representation order;
    uint8_t long_bytes;      /* 4 or 8 */
    uint8_t address_bytes;   /* 4 or 8 */
    uint8_t wide_char_bytes; /* 2 or 4 */
    uint8_t logical_bytes;   /* 1, 2, 4 or 8 */
} dtype_architecture;

/* Compiles a type (section 5.1.9). Its packed bytes are this machine's, or in another representation: then values are converted
 * as they are packed and unpacked, and one that does not fit is DTYPE_ERROR_CONVERSION. */
dtype_error dtype_commit(const dtype_type *type, dtype_committed **out);
dtype_error dtype_commit_as(const dtype_type *type, dtype_representation representation, dtype_committed **out);
dtype_error dtype_commit_for(const dtype_type *type, const dtype_architecture *machine, dtype_committed **out);

/* A field with constants: `count` basic datatypes from the one with the index `element` on, in the order of the type map, have
 * one of `number` values. A negative value is given in two's complement, as the conversion to `uint64_t` makes it. */
typedef struct dtype_values {
    uint64_t element;
    uint64_t count;
    const char *name; /* for errors */
    size_t name_length;
    const uint64_t *values;
    size_t number;
} dtype_values;

/* The same, but unpacking refuses bytes that are no values of their type with DTYPE_ERROR_VALUE, record and field, before it
 * writes the record: every `bool` is 0 or 1, and the fields have their constants. Packed bytes from another program need this,
 * because a `bool` of 2 is undefined behaviour in C. */
dtype_error dtype_checked(const dtype_committed *committed, const dtype_values *fields, size_t number, dtype_committed **out);

dtype_error dtype_committed_retain(const dtype_committed *committed);
void dtype_committed_release(dtype_committed *committed);

/* Packed bytes of `count` instances. */
dtype_error dtype_packed_size(const dtype_committed *committed, size_t count, size_t *out);

/* ---- Packing ------------------------------------------------------------------------------------------------------------ */

/* Packs `count` instances to the front of `out`, and sets `*packed` to the number of bytes. `packed` may be NULL. */
dtype_error dtype_pack(const dtype_committed *committed, const void *memory, size_t memory_size, size_t count,
                       void *out, size_t out_size, size_t *packed);

/* Unpacks `count` instances; `packed_size` must be exactly their packed size. */
dtype_error dtype_unpack(const dtype_committed *committed, const void *packed, size_t packed_size,
                         void *memory, size_t memory_size, size_t count);

/* Copies instances of one type to instances of another, which has the same basic datatypes in the same order: as packing and
 * unpacking would, in the time of one pass. The memories may overlap. */
dtype_error dtype_copy(const dtype_committed *from_type, const void *from, size_t from_size, size_t from_count,
                       const dtype_committed *to_type, void *to, size_t to_size, size_t to_count);

/* The CRC-32C of bytes, as frames have it; `crc` is 0, or that of the bytes before them. NULL bytes have none. */
uint32_t dtype_crc(uint32_t crc, const void *bytes, size_t size);

/* ---- Fragments ---------------------------------------------------------------------------------------------------------- */

/* The packed stream of `count` instances in pieces of any size, from any position. The memory is borrowed until the release. */
typedef struct dtype_packer dtype_packer;
dtype_error dtype_packer_new(const dtype_committed *committed, const void *memory, size_t memory_size, size_t count,
                             dtype_packer **out);
/* Packs the next bytes, as many as fit, and sets `*packed` to their number: 0 at the end. */
dtype_error dtype_packer_pack(dtype_packer *packer, void *out, size_t out_size, size_t *packed);
dtype_error dtype_packer_seek(dtype_packer *packer, uint64_t position);
/* Both of these may be NULL. */
dtype_error dtype_packer_where(const dtype_packer *packer, uint64_t *position, uint64_t *remaining);
void dtype_packer_release(dtype_packer *packer);

/* The receiving side. Each call writes only what its bytes complete; a checked record is written as a whole. */
typedef struct dtype_unpacker dtype_unpacker;
dtype_error dtype_unpacker_new(const dtype_committed *committed, void *memory, size_t memory_size, size_t count,
                               dtype_unpacker **out);
/* Unpacks up to `size` bytes, and sets `*unpacked` to their number: fewer only at the end of the stream. */
dtype_error dtype_unpacker_unpack(dtype_unpacker *unpacker, const void *bytes, size_t size, size_t *unpacked);
dtype_error dtype_unpacker_seek(dtype_unpacker *unpacker, uint64_t position);
dtype_error dtype_unpacker_where(const dtype_unpacker *unpacker, uint64_t *position, uint64_t *remaining);
void dtype_unpacker_release(dtype_unpacker *unpacker);

/* ---- Segments ----------------------------------------------------------------------------------------------------------- */

/* The number of contiguous pieces of memory that hold the packed bytes of `count` instances from `position` on. */
dtype_error dtype_segment_count(const dtype_committed *committed, size_t count, uint64_t position, uint64_t *out);

#if !defined(_WIN32)
/* The first of these pieces, at most `room`, for `writev` or `readv`. Sets `*number` to their number and `*next` to the position
 * after the last. Bytes that a short `writev` did not take are asked for again by their position.
 * DTYPE_ERROR_UNSUPPORTED: the type converts its values, which then are nowhere in memory. Bytes that `readv` writes into the
 * pieces are not checked. */
dtype_error dtype_segments(const dtype_committed *committed, const void *memory, size_t memory_size, size_t count,
                           uint64_t position, struct iovec *out, size_t room, size_t *number, uint64_t *next);
#endif

/* ---- Columns ------------------------------------------------------------------------------------------------------------ */

/* Arrays of structs as arrays of their members, and back. A type that `dtype_type_struct` made has one column for each member,
 * resized or not; any other type is one column. A column is the packed values of its member, one record after another. */
typedef struct dtype_columns dtype_columns;
dtype_error dtype_columns_new(const dtype_type *type, dtype_columns **out);
void dtype_columns_release(dtype_columns *columns);
/* The number of columns, and the bytes of one record in a column. */
dtype_error dtype_columns_number(const dtype_columns *columns, size_t *out);
dtype_error dtype_columns_width(const dtype_columns *columns, size_t column, size_t *out);
/* Copies `count` records to the columns, or back. `arrays` and `sizes` have the address and the bytes of each column; a column
 * whose address is NULL is left out. */
dtype_error dtype_columns_split(const dtype_columns *columns, const void *memory, size_t memory_size, size_t count,
                                void *const *arrays, const size_t *sizes, size_t number);
dtype_error dtype_columns_join(const dtype_columns *columns, const void *const *arrays, const size_t *sizes, size_t number,
                               void *memory, size_t memory_size, size_t count);

/* ---- Frames ------------------------------------------------------------------------------------------------------------- */

/* A message on a stream: a header with a tag, the number of records and the hash of their signature; the packed records; a
 * checksum. The format is that of the Rust crate dtype-message. Values are sent in the byte order of the sender, and the
 * receiver converts. */
typedef struct dtype_framing {
    uint32_t tag;   /* a number of the application */
    uint32_t flags; /* DTYPE_FRAME_..., or 0 for a full frame of 52 bytes around the records */
} dtype_framing;
enum {
    DTYPE_FRAME_COMPACT = 1,     /* some 11 bytes around the records */
    DTYPE_FRAME_NO_CHECKSUM = 2, /* of a compact frame: 4 bytes less, and damage is not found */
    DTYPE_FRAME_NO_SIGNATURE = 4 /* of a compact frame: 4 bytes less, and records of the same size count as the same type */
};

/* The whole frame of `count` instances as bytes. DTYPE_ERROR_UNSUPPORTED: the type has another representation. */
dtype_error dtype_encode(const dtype_committed *committed, const void *memory, size_t memory_size, size_t count,
                               const dtype_framing *framing, void *out, size_t out_size, size_t *size);

/* The same piece by piece. The memory is borrowed until the release. */
typedef struct dtype_encoder dtype_encoder;
dtype_error dtype_encoder_new(const dtype_committed *committed, const void *memory, size_t memory_size, size_t count,
                              const dtype_framing *framing, dtype_encoder **out);
/* The next bytes of the frame, as many as fit; sets `*size` to their number: 0 at the end. */
dtype_error dtype_encoder_next(dtype_encoder *encoder, void *out, size_t out_size, size_t *size);
void dtype_encoder_release(dtype_encoder *encoder);

/* What a receiver accepts. */
typedef struct dtype_limits {
    uint64_t max_payload_bytes;
    uint64_t max_records;
    uint32_t flags;    /* DTYPE_LIMITS_... */
    uint32_t reserved; /* 0 */
} dtype_limits;
enum {
    DTYPE_LIMITS_ALLOW_NO_CHECKSUM = 1, /* also compact frames without a checksum */
    DTYPE_LIMITS_ALLOW_NO_SIGNATURE = 2 /* also compact frames without a signature */
};

/* Finds the frames in bytes that arrive in pieces of any size. It holds the part of one frame that has arrived. `limits` may be
 * NULL: 1 GiB, 2^30 records, and both protections. */
typedef struct dtype_decoder dtype_decoder;
typedef struct dtype_received dtype_received;
dtype_error dtype_decoder_new(const dtype_limits *limits, dtype_decoder **out);
/* Takes bytes up to the end of a frame, and sets `*taken` to their number. Sets `*frame` to the frame if it is whole, and to NULL
 * if all bytes were taken and more are needed. After an error, `*taken` is set, too, and the frame is skipped as it arrives: feed
 * on. DTYPE_ERROR_LOST: the start of the next frame is unknown, so the connection has to be closed. */
dtype_error dtype_decoder_feed(dtype_decoder *decoder, const void *bytes, size_t size, size_t *taken, dtype_received **frame);
/* Whether the stream may end here. DTYPE_ERROR_TRUNCATED, DTYPE_ERROR_LOST. */
dtype_error dtype_decoder_finish(const dtype_decoder *decoder);
void dtype_decoder_release(dtype_decoder *decoder);

/* A frame that was received as a whole, and verified. */
typedef struct dtype_received_info {
    uint32_t tag;
    dtype_representation order; /* of the payload: DTYPE_LITTLE_ENDIAN or DTYPE_BIG_ENDIAN */
    uint64_t count;             /* records */
    uint64_t record_size;       /* packed bytes of each */
    uint64_t signature_hash;    /* that of a record, 32 bits of it in a compact frame, or 0 if the frame has none */
    const void *payload;        /* the packed records; owned by the frame */
    size_t payload_size;
} dtype_received_info;
dtype_error dtype_received_get_info(const dtype_received *frame, dtype_received_info *out);
/* Unpacks the records, at most `most`, and sets `*count`, which may be NULL, to their number. The type must have the signature of
 * the records, and this machine's representation: the byte order is the frame's. Checks are made as by `dtype_unpack`. */
dtype_error dtype_received_unpack(const dtype_received *frame, const dtype_committed *committed, void *memory, size_t memory_size,
                               size_t most, size_t *count);
void dtype_received_release(dtype_received *frame);

#ifdef __cplusplus
}
#endif

#endif /* DTYPE_H */
