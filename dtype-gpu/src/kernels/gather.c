/* Whole records to packed bytes: a group copies the memory of RECORDS records to local memory, makes packed words by
 * permutations, and stores them. `origin` is the address of the first byte of data of the first record. */
KERNEL(gather)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 records)
{
    SHARED u128 staged[RECORDS * EXTENT / 16 + 2], made[RECORDS * SIZE / 16 + 2];
    u64 record = (u64)GROUP * RECORDS;
    u32 number = records - record < RECORDS ? (u32)(records - record) : RECORDS;
    u64 from = origin + record * EXTENT, to = at + record * SIZE;
    u32 shift = (u32)from & 15;
    stage(staged, memory + (from - shift), shift + (number - 1) * EXTENT + SPAN);
    LOCAL const u32 *words = (LOCAL const u32 *)staged + shift / READ * (READ / 4);
    for (u32 group = THREAD; group < number / JOINED; group += THREADS) {
        LOCAL const u32 *w = words + group * (JOINED * EXTENT / 4);
        LOCAL u32 *p = (LOCAL u32 *)made + group * (JOINED * SIZE / 4);
/*steps*/    }
    for (u32 i = number / JOINED * JOINED * SIZE + THREAD; i < number * SIZE; i += THREADS)
        ((LOCAL u8 *)made)[i] = ((LOCAL const u8 *)words)[MISALIGNED + i / SIZE * EXTENT + place[i % SIZE]];
    BARRIER;
    unstage(packed + to, (u32)to & 15, made, number * SIZE);
}
