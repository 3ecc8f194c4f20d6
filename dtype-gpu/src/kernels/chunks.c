/* A list of blocks of unequal lengths: a group moves a chunk of CHUNK packed words. The table has, one after another, for
 * each chunk of an instance the block that its first word is in, for each block its first packed word, and one more for
 * the end, and for each block its offset in words. The words are `first` and the `words - 1` that follow. */
KERNEL(chunks)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 first, u64 words, GLOBAL const u32 *table)
{
    SHARED u32 latest[CHUNK], ends[2][THREADS];
    GLOBAL const u32 *starts = table + CHUNKS + 1, *offsets = starts + BLOCKS + 1;
    u64 chunk = first / WORDS * CHUNKS + first % WORDS / CHUNK + GROUP, instance = chunk / CHUNKS;
    u32 number = (u32)(chunk - instance * CHUNKS), start = number * CHUNK, block = table[number];
    u32 end = WORDS - start < CHUNK ? WORDS : start + CHUNK, blocks = table[number + 1] - block + 1;
    /* For each word that starts a block, the block's number in the chunk. */
    for (u32 i = THREAD; i < CHUNK; i += THREADS)
        latest[i] = 0;
    BARRIER;
    for (u32 i = THREAD + 1; i < blocks; i += THREADS) {
        u32 word = starts[block + i];
        if (word < end)
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
    u64 begin = instance * WORDS + start;
    GLOBAL u8 *place = memory + origin + instance * STRIDE;
    for (u32 i = THREAD; i < end - start; i += THREADS) {
        u32 before = i / (CHUNK / THREADS), mine = latest[i];
        u32 other = before > 0 ? ends[side][before - 1] : 0;
        u32 b = block + (other > mine ? other : mine);
        u64 word = begin + i;
        if (word - first < words)
            MOVE(*(GLOBAL WORD *)(place + ((u64)offsets[b] + (start + i - starts[b])) * sizeof(WORD)),
                 *((GLOBAL WORD *)(packed + at) + (word - first)));
    }
}
