#ifndef DTYPE_FRAMES
#define DTYPE_FRAMES
/* The first five bytes of a full frame. */
static const unsigned char dtype_magic[5] = {0xD7, 'D', 'T', 'M', 1};

/* A frame: its header, and where its packed records are in the bytes that were read. */
struct dtype_frame {
    uint64_t count, record_size;
    uint64_t signature; /* of a record; 32 bits of it in a compact frame, or 0 if that has none */
    uint32_t tag;
    int is_compact, is_big_endian; /* the byte order of the numbers in the records */
    const unsigned char *records;
};

/* The CRC-32C of bytes, continued from that of the bytes before them, or from 0. */
static inline uint32_t dtype_crc32c(uint32_t crc, const unsigned char *bytes, uint64_t length) {
    for (crc = ~crc; length > 0; length--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    }
    return ~crc;
}

static inline uint64_t dtype_little_endian(const unsigned char *bytes, int length) {
    uint64_t number = 0;
    while (length-- > 0) number = number << 8 | bytes[length];
    return number;
}

/* Reads a number in groups of seven bits. Returns the bytes that it has, 0 if they are not all there, or -1. */
static inline int dtype_group(uint64_t *number, const unsigned char *bytes, uint64_t length) {
    *number = 0;
    for (int at = 0; at < 10 && (uint64_t)at < length; at++) {
        if ((at > 0 && bytes[at] == 0) || (at == 9 && bytes[at] > 1)) return -1;
        *number |= (uint64_t)(bytes[at] & 0x7F) << 7 * at;
        if (bytes[at] < 0x80) return at + 1;
    }
    return length < 10 ? 0 : -1;
}

/* Reads the frame at the start of bytes from a stream. Returns its length in bytes; 0 if it is not complete; -1 if it is
   damaged, or has a payload of more than `most` bytes. */
static inline int64_t dtype_read_frame(struct dtype_frame *frame, const unsigned char *bytes, uint64_t length, uint64_t most) {
    unsigned char first = length > 0 ? bytes[0] : 0;
    uint64_t at = 48, numbers[3] = {0, 1, 0}; /* tag, count, size of a record */
    uint32_t crc = 0;
    if (length == 0) return 0;
    frame->is_compact = (first & 0xC0) == 0x80;
    if (frame->is_compact) {
        if (first & 0x20 || (first & 0x0C) == 0x0C) return -1;
        at = 1;
        for (int i = 0; i < 3; i++) {
            int group = i == 1 && !(first & 0x10) ? 0 : dtype_group(&numbers[i], bytes + at, length - at);
            if (group < 0 || (i == 1 && group > 0 && numbers[1] == 1)) return -1;
            if (group == 0 && (i != 1 || first & 0x10)) return 0;
            at += (uint64_t)group;
        }
        if (first & 0x0C && length - at < 4) return 0;
        frame->signature = first & 4 ? dtype_little_endian(bytes + at, 4) : 0;
        at += first & 0x0C ? 4 : 0;
        frame->is_big_endian = first & 1;
        crc = dtype_crc32c(0, bytes, at);
    } else {
        if (memcmp(bytes, dtype_magic, length < 5 ? length : 5) != 0) return -1;
        if (length < 48) return 0;
        crc = dtype_crc32c(0, bytes, 44);
        if (crc != dtype_little_endian(bytes + 44, 4)) return -1;
        if ((bytes[5] != 1 && bytes[5] != 2) || bytes[6] || bytes[7]) return -1;
        frame->signature = dtype_little_endian(bytes + 8, 8);
        numbers[0] = dtype_little_endian(bytes + 40, 4);
        numbers[1] = dtype_little_endian(bytes + 16, 8);
        numbers[2] = dtype_little_endian(bytes + 24, 8);
        frame->is_big_endian = bytes[5] == 2;
    }
    if (numbers[0] > UINT32_MAX || (numbers[2] > 0 && numbers[1] > most / numbers[2])) return -1;
    frame->tag = (uint32_t)numbers[0];
    frame->count = numbers[1];
    frame->record_size = numbers[2];
    frame->records = bytes + at;
    uint64_t payload = numbers[1] * numbers[2], check = !frame->is_compact || first & 2 ? 4 : 0;
    if (length - at < payload || length - at - payload < check) return 0;
    if (check && dtype_crc32c(crc, bytes + at, payload) != dtype_little_endian(bytes + at + payload, 4)) return -1;
    return (int64_t)(at + payload + check);
}

/* Whether the records of a frame have this type: its size in bytes, and its signature if the frame has one. */
static inline int dtype_holds(const struct dtype_frame *frame, uint64_t size, uint64_t signature) {
    uint64_t folded = (signature ^ signature >> 32) & 0xFFFFFFFFu;
    return frame->record_size == size && (frame->is_compact ? !frame->signature || frame->signature == folded
                                                            : frame->signature == signature);
}

/* The number of records after the head of a frame, if the frame has a head and records of these sizes in bytes, and their
   signature if it has one; otherwise -1. The head is at `frame->records`, the records follow it. */
static inline int64_t dtype_after_head(const struct dtype_frame *frame, uint64_t head, uint64_t size, uint64_t signature) {
    if (frame->count != 1 || frame->record_size < head || size == 0 || (frame->record_size - head) % size != 0) return -1;
    return dtype_holds(frame, frame->record_size, signature) ? (int64_t)((frame->record_size - head) / size) : -1;
}

/* Writes the header of a full frame: 48 bytes, before the records. The checksum of the frame, four bytes, little-endian, follows
   the records: `dtype_crc32c` of them, continued from that of the first 44 bytes of the header. A head and
   its list are one record of the length of both. */
static inline uint32_t dtype_write_header(unsigned char *to, uint32_t tag, uint64_t signature, uint64_t count, uint64_t size) {
    const uint16_t one = 1;
    uint64_t numbers[5] = {signature, count, size, 0, tag};
    memcpy(to, dtype_magic, 5);
    to[5] = *(const unsigned char *)&one ? 1 : 2;
    to[6] = to[7] = 0;
    for (int i = 0; i < 36; i++) to[8 + i] = (unsigned char)(numbers[i / 8] >> 8 * (i % 8));
    uint32_t crc = dtype_crc32c(0, to, 44);
    for (int i = 0; i < 4; i++) to[44 + i] = (unsigned char)(crc >> 8 * i);
    return crc;
}
#endif
