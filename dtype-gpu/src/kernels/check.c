/* Whether packed records are valid: a record per thread. `invalid` becomes the least number of one that is not. */
FUNCTION u64 value(GLOBAL const u8 *p, u32 bytes)
{
    u64 all = 0;
    for (u32 i = 0; i < bytes; i++)
        all |= (u64)p[i] << 8 * i;
    return all;
}

KERNEL(check)(GLOBAL const u8 *packed, u64 at, u64 records, GLOBAL u32 *invalid)
{
    u64 record = (u64)GROUP * THREADS + THREAD;
    if (record >= records)
        return;
    GLOBAL const u8 *p0 = packed + at + record * SIZE;
    u32 is_valid = 1;
    u64 v;
/*steps*/    if (!is_valid)
        ATOMIC_MIN(invalid, (u32)record);
}
