/* A list of blocks of unequal lengths: a group moves a chunk of CHUNK packed words. A bisection finds the block of a word.
 * The words are `first` and the `words - 1` that follow. The table has three parts:
 * - for each chunk of an instance, the block that its first word is in, and after these the last block;
 * - for each block, its first packed word, and after these the number of words;
 * - for each block, the number that is added, modulo 2^32, to that of a packed word to get its offset in words. */
KERNEL(chunks)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u32 *table)
{
    SHARED u32 begins[CHUNK + 1], shifts[CHUNK];
    GLOBAL const u32 *starts = table + CHUNKS + 1, *all_shifts = starts + BLOCKS + 1;
    u64 chunk = first / WORDS * CHUNKS + first % WORDS / CHUNK + GROUP, instance = chunk / CHUNKS;
    u32 number = (u32)(chunk - instance * CHUNKS), start = number * CHUNK, block = table[number];
    /* The last of these blocks may start right after the chunk. */
    u32 blocks = table[number + 1] - block + 1;
    if (blocks > CHUNK)
        blocks = CHUNK;
    for (u32 i = THREAD; i <= blocks; i += THREADS) {
        begins[i] = starts[block + i];
        if (i < blocks)
            shifts[i] = all_shifts[block + i];
    }
    BARRIER;
    u64 before = instance * WORDS, past = first + words - before;
    u32 begin = first > before + start ? (u32)(first - before) : start, end = WORDS - start < CHUNK ? WORDS : start + CHUNK;
    if (end > past)
        end = (u32)past;
    GLOBAL WORD *m = (GLOBAL WORD *)(memory + origin + instance * STRIDE);
    GLOBAL WORD *p = (GLOBAL WORD *)(packed + (at + (before - first) * sizeof(WORD)));
    u32 places[CHUNK / THREADS];
    WORD moved[CHUNK / THREADS];
#pragma unroll
    for (u32 k = 0; k < CHUNK / THREADS; k++) {
        u32 word = start + k * THREADS + THREAD, low = 0;
        if (word < begin || word >= end)
            continue;
        for (u32 left = blocks; left > 1; left -= left / 2)
            if (begins[low + left / 2] <= word)
                low += left / 2;
        places[k] = shifts[low] + word;
        moved[k] = FROM(m[places[k]], p[word]);
#if !PACKS
        FILL(m + places[k], word - begins[low], begins[low + 1] - begins[low]);
#endif
    }
#pragma unroll
    for (u32 k = 0; k < CHUNK / THREADS; k++) {
        u32 word = start + k * THREADS + THREAD;
        if (word >= begin && word < end)
            TO(m[places[k]], p[word]) = moved[k];
    }
}
