/* Packed bytes to whole records: a group copies the packed bytes of RECORDS records to local memory, and each of its
 * threads writes one word of each of a few records, or none if the word is in a gap. The number of threads is a multiple
 * of the words of an extent. `origin` is the address of the first byte of data of the first record. */
KERNEL(scatter)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 records)
{
    SHARED u128 staged[RECORDS * SIZE / 16 + 2];
    const u32 each = sizeof(WORD), words = EXTENT / each;
    u64 record = (u64)GROUP * RECORDS;
    u32 number = records - record < RECORDS ? (u32)(records - record) : RECORDS;
    u64 from = at + record * SIZE;
    u32 shift = (u32)from & 15, bytes = (number - 1) * EXTENT + SPAN;
    memory += origin + record * EXTENT;
    for (u32 i = 32 * THREAD; i < bytes; i += 32 * THREADS)
        PREFETCH(memory + i);
    stage(staged, packed + (from - shift), shift + number * SIZE);
    int place = packed_place[THREAD % words];
    if (place < 0)
        return;
    LOCAL const u8 *p = (LOCAL const u8 *)staged + shift + THREAD / words * SIZE + place;
    for (u32 i = THREAD; i * each < bytes; i += THREADS, p += THREADS / words * SIZE)
        ((GLOBAL WORD *)memory)[i] = *(LOCAL const WORD *)p;
}
