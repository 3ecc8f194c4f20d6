/* A list of blocks of unequal lengths: a group moves a chunk of CHUNK packed words. The table has, one after another, for
 * each chunk of an instance the block that its first word is in, for each block its first packed word, and one more for
 * the end, and for each block what has to be added, modulo 2^32, to the number of a packed word to have its offset in
 * words. The words are `first` and the `words - 1` that follow. */
KERNEL(chunks)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u32 *table)
{
    SHARED u32 latest[CHUNK], shifts[CHUNK], ends[2][THREADS];
    GLOBAL const u32 *starts = table + CHUNKS + 1, *all_shifts = starts + BLOCKS + 1;
    u64 chunk = first / WORDS * CHUNKS + first % WORDS / CHUNK + GROUP, instance = chunk / CHUNKS;
    u32 number = (u32)(chunk - instance * CHUNKS), start = number * CHUNK, block = table[number];
    u32 end = WORDS - start < CHUNK ? WORDS : start + CHUNK, blocks = table[number + 1] - block + 1;
    /* For each word that starts a block, the block's number in the chunk. */
    for (u32 i = THREAD; i < CHUNK; i += THREADS)
        latest[i] = 0;
    BARRIER;
    for (u32 i = THREAD; i < blocks; i += THREADS) {
        u32 word = starts[block + i];
        if (word < end)
            shifts[i] = all_shifts[block + i];
        if (word > start && word < end)
            latest[word - start] = i;
    }
    BARRIER;
    /* For each word, the number of the block that it is in: the greatest so far. */
    u32 greatest = 0;
    for (u32 i = 0; i < CHUNK / THREADS; i++) {
        LOCAL u32 *word = latest + THREAD * (CHUNK / THREADS) + i;
        if (*word > greatest)
            greatest = *word;
        *word = greatest;
    }
    u32 side = 0;
    ends[0][THREAD] = greatest;
    BARRIER;
    for (u32 step = 1; step < THREADS; step *= 2, side ^= 1) {
        u32 mine = ends[side][THREAD], other = THREAD >= step ? ends[side][THREAD - step] : 0;
        ends[side ^ 1][THREAD] = other > mine ? other : mine;
        BARRIER;
    }
    u32 before = THREAD > 0 ? ends[side][THREAD - 1] : 0;
    for (u32 i = 0; i < CHUNK / THREADS; i++) {
        LOCAL u32 *word = latest + THREAD * (CHUNK / THREADS) + i;
        if (*word < before)
            *word = before;
    }
    BARRIER;
    u64 begin = instance * WORDS + start;
    GLOBAL WORD *place = (GLOBAL WORD *)(memory + origin + instance * STRIDE);
    for (u32 i = THREAD; i < end - start; i += THREADS) {
        u64 word = begin + i;
        if (word - first < words)
            MOVE(place[shifts[latest[i]] + (start + i)], *((GLOBAL WORD *)(packed + at) + (word - first)));
    }
}
