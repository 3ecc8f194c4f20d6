/* Few loops, blocks and lists of equal blocks. A thread moves EACH words, and finds each of them by divisions by constants
 * and comparisons. */
KERNEL(nest)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u32 *offsets)
{
    u64 thread = (u64)GROUP * (EACH * THREADS) + THREAD;
    GLOBAL WORD *p = (GLOBAL WORD *)(packed + at) + thread, *places[EACH];
    WORD moved[EACH];
#pragma unroll
    for (u32 k = 0; k < EACH; k++) {
        u64 number = thread + k * THREADS;
        if (number >= words)
            continue;
        INDEX rest = (INDEX)(first + number), i;
        u64 place = origin;
/*steps*/        places[k] = (GLOBAL WORD *)(memory + place);
        moved[k] = FROM(*places[k], p[k * THREADS]);
    }
#pragma unroll
    for (u32 k = 0; k < EACH; k++)
        if (thread + k * THREADS < words)
            TO(*places[k], p[k * THREADS]) = moved[k];
}
