#define KERNEL(name) extern "C" __global__ void __launch_bounds__(THREADS) name
#define GLOBAL
#define SHARED __shared__
#define LOCAL
#define CONSTANT static __constant__ const
#define FUNCTION static __device__ __forceinline__
#define THREAD threadIdx.x
#define GROUP blockIdx.x
#define BARRIER __syncthreads()
#define PREFETCH(address) asm volatile("prefetch.global.L2 [%0];" ::"l"(address))
/* Before a word of a block of `words` words is written: fetches its sector of 32 bytes, unless the block covers it. */
#define FILL(place, word, words) \
    do { \
        u32 words_before = (u32)((u64)(place) % 32 / sizeof(WORD)), all = 32 / sizeof(WORD); \
        if ((word) < words_before || (words) - (word) < all - words_before) \
            PREFETCH(place); \
    } while (0)
#define QUAD(a, b, c, d) make_uint4(a, b, c, d)
#define FUNNEL(low, high, bits) __funnelshift_r(low, high, bits)
#define PERMUTE(low, high, selector) __byte_perm(low, high, selector)
#define ATOMIC_MIN(to, number) atomicMin(to, number)
#if __CUDA_ARCH__ >= 800
#define COPY16(to, from) \
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)), "l"(from))
#define COPIED asm volatile("cp.async.wait_all;" ::: "memory")
#else
#define COPY16(to, from) (*(to) = *(from))
#define COPIED
#endif
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef uint4 u128;
