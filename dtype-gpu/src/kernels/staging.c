/* Copies memory from an address that 16 divides to local memory, and up to 15 bytes more. */
FUNCTION void stage(LOCAL u128 *to, GLOBAL const u8 *from, u32 bytes)
{
    for (u32 i = THREAD; 16 * i < bytes; i += THREADS)
        COPY16(to + i, (GLOBAL const u128 *)from + i);
    COPIED;
    BARRIER;
}

/* Copies local memory to an address that is `past` bytes past one that 16 divides. */
FUNCTION void unstage(GLOBAL u8 *to, u32 past, LOCAL const u128 *from, u32 bytes)
{
    LOCAL const u8 *source = (LOCAL const u8 *)from;
    u32 head = (16 - past) & 15;
    if (head > bytes)
        head = bytes;
    u32 chunks = (bytes - head) / 16, bits = 8 * (head & 3);
    if (THREAD < head)
        to[THREAD] = source[THREAD];
    GLOBAL u128 *wide = (GLOBAL u128 *)(to + head);
    for (u32 i = THREAD; i < chunks; i += THREADS) {
        LOCAL const u32 *w = (LOCAL const u32 *)from + head / 4 + 4 * i;
        wide[i] = head == 0 ? from[i] : QUAD(FUNNEL(w[0], w[1], bits), FUNNEL(w[1], w[2], bits),
                                             FUNNEL(w[2], w[3], bits), FUNNEL(w[3], w[4], bits));
    }
    for (u32 i = head + 16 * chunks + THREAD; i < bytes; i += THREADS)
        to[i] = source[i];
}
