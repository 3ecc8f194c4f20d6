#define KERNEL(name) __kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void name
#define GLOBAL __global
#define SHARED __local
#define LOCAL __local
#define CONSTANT __constant
#define FUNCTION
#define THREAD ((u32)get_local_id(0))
#define GROUP ((u32)get_group_id(0))
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#define PREFETCH(address)
#define FILL(place, word, words)
#define COPY16(to, from) (*(to) = *(from))
#define COPIED
#define QUAD(a, b, c, d) ((u128)(a, b, c, d))
#define FUNNEL(low, high, bits) ((u32)(((u64)(high) << 32 | (low)) >> (bits)))
#define CHOSEN(pair, selector, i) ((u32)((pair) >> 8 * ((selector) >> 4 * (i) & 7) & 255) << 8 * (i))
#define PERMUTE(low, high, selector) permute((u64)(high) << 32 | (low), selector)
#define ATOMIC_MIN(to, number) atomic_min(to, number)
typedef uchar u8;
typedef ushort u16;
typedef uint u32;
typedef ulong u64;
typedef uint4 u128;
u32 permute(u64 pair, u32 selector)
{
    return CHOSEN(pair, selector, 0) | CHOSEN(pair, selector, 1) | CHOSEN(pair, selector, 2) | CHOSEN(pair, selector, 3);
}
