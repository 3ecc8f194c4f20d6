/* Any layout: a word per thread, found by a walk over a table of repetitions. A row of the table is
 * 0 the packed bytes of the parent's iteration before it, 1 the displacement, 2 the packed bytes of an iteration,
 * 3 the stride, 4 the index of the rows of its body, 5 their number; with the highest bit set, they are blocks,
 * of the first two columns only. */
KERNEL(walk)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u64 *table)
{
    u64 thread = (u64)GROUP * THREADS + THREAD;
    if (thread >= words)
        return;
    u64 rest = (first + thread) * sizeof(WORD), place = origin, row = 0;
    for (;;) {
        u64 iteration = rest / table[row + 2];
        place += table[row + 1] + iteration * table[row + 3];
        rest -= iteration * table[row + 2];
        u64 body = table[row + 4], rows = table[row + 5] & ~((u64)1 << 63);
        if (rows == 0)
            break;
        u64 is_list = table[row + 5] >> 63, columns = is_list ? 2 : 6, low = 0;
        while (rows - low > 1) {
            u64 middle = low + (rows - low) / 2;
            if (table[body + middle * columns] <= rest)
                low = middle;
            else
                rows = middle;
        }
        row = body + low * columns;
        rest -= table[row];
        if (is_list) {
            place += table[row + 1];
            break;
        }
    }
    GLOBAL WORD *m = (GLOBAL WORD *)(memory + place + rest), *p = (GLOBAL WORD *)(packed + at) + thread;
    TO(*m, *p) = FROM(*m, *p);
}
