/* Few loops, blocks and lists of equal blocks: a word per thread, found by divisions by constants and comparisons. */
KERNEL(nest)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u32 *offsets)
{
    u64 thread = (u64)GROUP * THREADS + THREAD;
    if (thread >= words)
        return;
    INDEX rest = (INDEX)(first + thread), i;
    u64 place = origin;
/*steps*/    MOVE(*(GLOBAL WORD *)(memory + place), *(GLOBAL WORD *)(packed + at + thread * sizeof(WORD)));
}
