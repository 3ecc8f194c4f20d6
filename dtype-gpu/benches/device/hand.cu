// Kernels as a person would write them for one layout. The harness puts the layout's numbers in front, as macros, and
// defines one of RECORDS, WORDS, TRANSPOSE and CHUNKS.
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

template <int N> struct Word;
template <> struct Word<1> { typedef u8 T; };
template <> struct Word<2> { typedef u16 T; };
template <> struct Word<4> { typedef u32 T; };
template <> struct Word<8> { typedef uint2 T; };
template <> struct Word<16> { typedef uint4 T; };

static __host__ __device__ constexpr int gcd(int a, int b) { return b ? gcd(b, a % b) : a; }

#ifdef RECORDS
// E: extent, S: packed size, MAP: the memory byte of each packed byte, INVERSE: the packed byte of each memory byte, or −1.

static __host__ __device__ constexpr int map_of(int q) {
    constexpr int map[] = MAP;
    return map[q];
}
static __constant__ const short map[] = MAP;
static __constant__ const short inverse[] = INVERSE;

// The byte of a group of records that becomes its packed byte b.
static __host__ __device__ constexpr int source(int b) { return b / S * E + map_of(b % S); }

// Records that are whole words on both sides.
constexpr int BUNDLE = 4 / gcd(E, 4) > 4 / gcd(S, 4) ? 4 / gcd(E, 4) : 4 / gcd(S, 4);
static __host__ __device__ constexpr int records_in(int bytes) { return bytes / E / 16 * 16 > 16 ? bytes / E / 16 * 16 : 16; }

template <int K> __device__ __forceinline__ u32 packed_word(const u32 *w) {
    constexpr int a = source(4 * K), b = source(4 * K + 1), c = source(4 * K + 2), d = source(4 * K + 3);
    if constexpr (a % 4 == 0 && b == a + 1 && c == a + 2 && d == a + 3) {
        return w[a / 4];
    } else if constexpr (a / 4 == b / 4 && (c / 4 == a / 4 || d / 4 == c / 4) && (d / 4 == a / 4 || d / 4 == c / 4)) {
        constexpr int other = d / 4;
        constexpr u32 select = a % 4 | (b % 4) << 4 | (c % 4 + (c / 4 == a / 4 ? 0 : 4)) << 8
            | (d % 4 + (d / 4 == a / 4 ? 0 : 4)) << 12;
        return __byte_perm(w[a / 4], w[other], select);
    } else {
        u32 low = __byte_perm(w[a / 4], w[b / 4], a % 4 | (4 + b % 4) << 4);
        u32 high = __byte_perm(w[c / 4], w[d / 4], c % 4 | (4 + d % 4) << 4);
        return __byte_perm(low, high, 0x5410);
    }
}
template <int K, int N> __device__ __forceinline__ void pack_words(const u32 *w, u32 *out) {
    if constexpr (K < N) {
        out[K] = packed_word<K>(w);
        pack_words<K + 1, N>(w, out);
    }
}

// Whole records to shared memory, permuted there, out in order.
constexpr int PACK_RECORDS = records_in(E <= 128 ? 8192 : 16384);
extern "C" __global__ void __launch_bounds__(256) pack(const u8 *__restrict__ mem, u8 *__restrict__ packed, u64 n) {
    constexpr int NR = PACK_RECORDS, GE = BUNDLE * E, GS = BUNDLE * S;
    __shared__ uint4 room[(NR * E + NR * S + 15) / 16];
    u8 *in = (u8 *)room, *out = in + NR * E;
    u64 first = (u64)blockIdx.x * NR;
    int nr = n - first < NR ? (int)(n - first) : NR, t = threadIdx.x;
    const u8 *m = mem + first * E;
    u8 *p = packed + first * S;
    for (int i = 16 * t; i + 16 <= nr * E; i += 16 * 256)
        asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"((u32)__cvta_generic_to_shared(in + i)), "l"(m + i) : "memory");
    for (int i = nr * E / 16 * 16 + t; i < nr * E; i += 256) in[i] = m[i];
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    int groups = nr / BUNDLE;
    for (int i = t; i < groups; i += 256) {
        if constexpr (GE > 128) {
            pack_words<0, GS / 4>((const u32 *)(in + i * GE), (u32 *)(out + i * GS));
        } else {
            constexpr int V = gcd(GE, 16);
            alignas(16) u32 w[GE / 4];
#pragma unroll
            for (int k = 0; k < GE / V; k++) *(typename Word<V>::T *)((u8 *)w + k * V) = *(typename Word<V>::T *)(in + i * GE + k * V);
            pack_words<0, GS / 4>(w, (u32 *)(out + i * GS));
        }
    }
    for (int q = groups * GS + t; q < nr * S; q += 256) out[q] = in[q / S * E + map[q % S]];
    __syncthreads();
    for (int i = 16 * t; i + 16 <= nr * S; i += 16 * 256) *(uint4 *)(p + i) = *(uint4 *)(out + i);
    for (int i = nr * S / 16 * 16 + t; i < nr * S; i += 256) p[i] = out[i];
}

template <int T> __device__ __forceinline__ void stage(u8 *m, const u8 *p, u8 *room, int nr) {
    for (int i = 32 * threadIdx.x; i < nr * E; i += 32 * T) asm volatile("prefetch.global.L2 [%0];" ::"l"(m + i));
    for (int i = 16 * threadIdx.x; i + 16 <= nr * S; i += 16 * T) *(uint4 *)(room + i) = *(const uint4 *)(p + i);
    for (int i = nr * S / 16 * 16 + threadIdx.x; i < nr * S; i += T) room[i] = p[i];
    __syncthreads();
}

// A byte of memory for each thread: the same byte of each of its records.
constexpr int BYTE_THREADS = 256 / E * E, BYTE_RECORDS = records_in(4096);
extern "C" __global__ void __launch_bounds__(BYTE_THREADS) unpack_bytes(u8 *__restrict__ mem, const u8 *__restrict__ packed, u64 n) {
    constexpr int NR = BYTE_RECORDS, T = BYTE_THREADS;
    __shared__ uint4 room[(NR * S + 15) / 16];
    u64 first = (u64)blockIdx.x * NR;
    int nr = n - first < NR ? (int)(n - first) : NR, t = threadIdx.x;
    u8 *m = mem + first * E;
    stage<T>(m, packed + first * S, (u8 *)room, nr);
    int q = inverse[t % E];
    if (q >= 0) {
        const u8 *s = (const u8 *)room + q + t / E * S;
        for (int i = t; i < nr * E; i += T, s += T / E * S) m[i] = *s;
    }
}

// The same by words, where all data are words.
#if E % 4 == 0 && S % 4 == 0 && WORDS_ONLY
constexpr int WORD_THREADS = 256 / (E / 4) * (E / 4), WORD_RECORDS = records_in(8192);
extern "C" __global__ void __launch_bounds__(WORD_THREADS) unpack_words(u8 *__restrict__ mem, const u8 *__restrict__ packed, u64 n) {
    constexpr int NR = WORD_RECORDS, T = WORD_THREADS, W = E / 4;
    __shared__ uint4 room[(NR * S + 15) / 16];
    u64 first = (u64)blockIdx.x * NR;
    int nr = n - first < NR ? (int)(n - first) : NR, t = threadIdx.x;
    u32 *m = (u32 *)(mem + first * E);
    stage<T>((u8 *)m, packed + first * S, (u8 *)room, nr);
    int q = inverse[t % W * 4];
    if (q >= 0) {
        const u8 *s = (const u8 *)room + q + t / W * S;
        for (int i = t; i < nr * W; i += T, s += T / W * S) m[i] = *(const u32 *)s;
    }
}
#endif
#endif

#ifdef WORDS
// U: bytes of a word, AT: where word w of the packed data lies in memory; lists: `a` and `b`.

static __device__ __forceinline__ u64 at(u32 w, const u32 *__restrict__ a, const u32 *__restrict__ b) { AT }

extern "C" __global__ void __launch_bounds__(256) pack(const u8 *__restrict__ mem, u8 *__restrict__ packed, u64 n,
                                                       const u32 *__restrict__ a, const u32 *__restrict__ b) {
    typedef typename Word<U>::T T;
    u32 w = blockIdx.x * 256 + threadIdx.x;
    if (w < n) ((T *)packed)[w] = *(const T *)(mem + at(w, a, b));
}
extern "C" __global__ void __launch_bounds__(256) unpack(u8 *__restrict__ mem, const u8 *__restrict__ packed, u64 n,
                                                         const u32 *__restrict__ a, const u32 *__restrict__ b) {
    typedef typename Word<U>::T T;
    u32 w = blockIdx.x * 256 + threadIdx.x;
    if (w < n) *(T *)(mem + at(w, a, b)) = ((const T *)packed)[w];
}
#endif

#ifdef TRANSPOSE
// U: bytes of an element; memory: ROWS rows of COLUMNS elements, PITCH elements apart; packed: column by column.

typedef typename Word<U>::T T;
#if U == 4
// 64 × 64 elements; 4 × 4 of them are transposed in registers, the rest by a swizzle of 16 bytes.
static __device__ __forceinline__ void tile(const T *from, u64 from_pitch, T *to, u64 to_pitch) {
    __shared__ uint4 s[64 * 16];
    int t = threadIdx.x, b = t % 16, a = t / 16;
    uint4 r[4];
#pragma unroll
    for (int k = 0; k < 4; k++) r[k] = *(const uint4 *)(from + (a * 4 + k) * from_pitch + b * 4);
    s[(b * 4 + 0) * 16 + (a ^ b)] = make_uint4(r[0].x, r[1].x, r[2].x, r[3].x);
    s[(b * 4 + 1) * 16 + (a ^ b)] = make_uint4(r[0].y, r[1].y, r[2].y, r[3].y);
    s[(b * 4 + 2) * 16 + (a ^ b)] = make_uint4(r[0].z, r[1].z, r[2].z, r[3].z);
    s[(b * 4 + 3) * 16 + (a ^ b)] = make_uint4(r[0].w, r[1].w, r[2].w, r[3].w);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int row = a + 16 * k;
        *(uint4 *)(to + row * to_pitch + b * 4) = s[row * 16 + (b ^ (row / 4))];
    }
}
constexpr int SIDE = 64;
#else
constexpr int SIDE = U == 8 ? 32 : 16;
static __device__ __forceinline__ void tile(const T *from, u64 from_pitch, T *to, u64 to_pitch) {
    __shared__ T s[SIDE][SIDE + 1];
    int x = threadIdx.x % SIDE, y = threadIdx.x / SIDE;
#pragma unroll
    for (int i = y; i < SIDE; i += 256 / SIDE) s[i][x] = from[i * from_pitch + x];
    __syncthreads();
#pragma unroll
    for (int i = y; i < SIDE; i += 256 / SIDE) to[i * to_pitch + x] = s[x][i];
}
#endif
// A whole number of tiles is all that the harness has.
// Where the group's tile starts in memory and in the packed data. Matrices are ROWS * PITCH elements apart.
static __device__ __forceinline__ void place(u64 *memory, u64 *packed) {
    constexpr u32 WIDE = COLUMNS / SIDE, TILES = WIDE * (ROWS / SIDE);
    u32 matrix = blockIdx.x / TILES, c = blockIdx.x % TILES % WIDE * SIDE, r = blockIdx.x % TILES / WIDE * SIDE;
    *memory = ((u64)matrix * ROWS + r) * PITCH + c;
    *packed = ((u64)matrix * COLUMNS + c) * ROWS + r;
}
extern "C" __global__ void __launch_bounds__(256) pack(const u8 *__restrict__ mem, u8 *__restrict__ packed, u64 n) {
    u64 m, p;
    place(&m, &p);
    tile((const T *)mem + m, PITCH, (T *)packed + p, ROWS);
}
extern "C" __global__ void __launch_bounds__(256) unpack(u8 *__restrict__ mem, const u8 *__restrict__ packed, u64 n) {
    u64 m, p;
    place(&m, &p);
    tile((const T *)packed + p, ROWS, (T *)mem + m, PITCH);
}
#endif

#ifdef CHUNKS
// U: bytes of a word. Instances of NUMBER words, SPACING bytes apart. Blocks of uneven lengths, in chunks of 512 packed words:
// `a` holds the displacement and the first packed word of each block, in words, two to an entry; `b` the first block of each
// chunk.

template <bool PACK> static __device__ __forceinline__ void chunk(u8 *mem, u8 *packed, const uint2 *__restrict__ a,
                                                                 const u32 *__restrict__ b) {
    typedef typename Word<U>::T T;
    constexpr u32 C = 512, CHUNKS_OF_INSTANCE = (NUMBER + C - 1) / C;
    __shared__ u32 head[C], shift[C];
    __shared__ u32 top[4];
    u32 instance = blockIdx.x / CHUNKS_OF_INSTANCE, c = blockIdx.x % CHUNKS_OF_INSTANCE, t = threadIdx.x;
    u32 w0 = c * C, w1 = w0 + C < NUMBER ? w0 + C : NUMBER, first = b[c], blocks = b[c + 1] - first + 1;
    mem += (u64)instance * SPACING;
    packed += (u64)instance * NUMBER * U;
    for (u32 i = t; i < C; i += 128) head[i] = 0;
    __syncthreads();
    for (u32 i = t; i < blocks && i < C; i += 128) {
        uint2 block = a[first + i];
        shift[i] = block.x - block.y;
        if (i && block.y >= w0 && block.y < w1) head[block.y - w0] = i;
    }
    __syncthreads();
    // A running maximum says which block each word is in.
    u32 mine[4], m = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        m = max(m, head[4 * t + k]);
        mine[k] = m;
    }
    u32 upto = m;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        u32 other = __shfl_up_sync(0xffffffffu, upto, d);
        if (t % 32 >= d) upto = max(upto, other);
    }
    u32 before = __shfl_up_sync(0xffffffffu, upto, 1);
    if (t % 32 == 0) before = 0;
    if (t % 32 == 31) top[t / 32] = upto;
    __syncthreads();
    for (u32 k = 0; k < t / 32; k++) before = max(before, top[k]);
#pragma unroll
    for (int k = 0; k < 4; k++) head[4 * t + k] = max(mine[k], before);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 4; k++) {
        u32 w = w0 + t + 128 * k;
        if (w < w1) {
            T *inside = (T *)mem + (u32)(shift[head[w - w0]] + w);
            if (PACK) ((T *)packed)[w] = *inside;
            else *inside = ((T *)packed)[w];
        }
    }
}
extern "C" __global__ void __launch_bounds__(128) pack(u8 *__restrict__ mem, u8 *__restrict__ packed, u64 n, const uint2 *__restrict__ a,
                                                       const u32 *__restrict__ b) {
    chunk<true>(mem, packed, a, b);
}
extern "C" __global__ void __launch_bounds__(128) unpack(u8 *__restrict__ mem, u8 *__restrict__ packed, u64 n, const uint2 *__restrict__ a,
                                                         const u32 *__restrict__ b) {
    chunk<false>(mem, packed, a, b);
}
#endif
