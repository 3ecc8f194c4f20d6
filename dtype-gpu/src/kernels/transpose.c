/* A matrix whose columns are packed one after another and whose rows are contiguous in memory: tiles of it pass through
 * local memory, so that both sides are accessed along their contiguous direction. A column has ROWS words, STRIDE bytes
 * apart; neighbouring columns are neighbouring words. There are `columns` columns, in matrices of COLUMNS each, whose
 * first words are MATRIX_STRIDE bytes apart. */
KERNEL(transpose)(GLOBAL u8 *memory, u64 origin, GLOBAL u8 *packed, u64 at, u64 columns)
{
    SHARED WORD tile[SIDE][SIDE + 1];
    u32 x = THREAD % SIDE, y = THREAD / SIDE, row = GROUP % ROW_TILES * SIDE;
    u64 column = (u64)(GROUP / ROW_TILES) * SIDE;
#ifdef COLUMNS
    u64 matrix = GROUP / ROW_TILES / COLUMN_TILES;
    column -= matrix * COLUMN_TILES * SIDE;
    origin += matrix * MATRIX_STRIDE;
    at += matrix * COLUMNS * ROWS * sizeof(WORD);
    columns = COLUMNS;
#endif
    GLOBAL u8 *m = memory + origin + (column + x) * sizeof(WORD) + (row + y) * STRIDE;
    GLOBAL WORD *p = (GLOBAL WORD *)(packed + at) + (column + y) * ROWS + row + x;
    u32 left = columns - column < SIDE ? (u32)(columns - column) : SIDE, high = ROWS - row < SIDE ? ROWS - row : SIDE;
    const u32 step = THREADS / SIDE;
#if PACKS
#pragma unroll
    for (u32 k = 0; k < SIDE; k += step)
        if (x < left && y + k < high)
            tile[y + k][x] = *(GLOBAL const WORD *)(m + k * STRIDE);
    BARRIER;
#pragma unroll
    for (u32 k = 0; k < SIDE; k += step)
        if (x < high && y + k < left)
            p[k * (u64)ROWS] = tile[x][y + k];
#else
#pragma unroll
    for (u32 k = 0; k < SIDE; k += step)
        if (x < high && y + k < left)
            tile[x][y + k] = p[k * (u64)ROWS];
    BARRIER;
#pragma unroll
    for (u32 k = 0; k < SIDE; k += step)
        if (x < left && y + k < high)
            *(GLOBAL WORD *)(m + k * STRIDE) = tile[y + k][x];
#endif
}
