/* Frames: whole, piece by piece, refused, damaged. */

#include "check.h"

static void one_by_one(void)
{
    dtype_committed *type = committed(particle_type()), *checked = NULL;
    OK(dtype_checked(type, NULL, 0, &checked));
    particle all[500], back[500];
    fill(all, 500);
    static unsigned char stream[4][500 * 30 + 52];
    static const dtype_framing framings[4] = {{1, 0},
                                              {2, DTYPE_FRAME_COMPACT},
                                              {3, DTYPE_FRAME_COMPACT | DTYPE_FRAME_NO_CHECKSUM},
                                              {4, DTYPE_FRAME_COMPACT | DTYPE_FRAME_NO_CHECKSUM | DTYPE_FRAME_NO_SIGNATURE}};
    size_t sizes[4];
    for (int i = 0; i < 4; i++) {
        FAILS(DTYPE_ERROR_ROOM, dtype_encode(type, all, sizeof all, 500, &framings[i], NULL, 0, &sizes[i]));
        CHECK(sizes[i] > 15000 && sizes[i] <= 15052);
        size_t size = 0;
        OK(dtype_encode(type, all, sizeof all, 500, &framings[i], stream[i], sizeof stream[i], &size));
        CHECK(size == sizes[i]);
        /* Piece by piece, the same: in small pieces, and in one. */
        static unsigned char piece[16000];
        for (size_t room = 999; room <= sizeof piece; room += sizeof piece - 999) {
            dtype_encoder *encoder = NULL;
            OK(dtype_encoder_new(type, all, sizeof all, 500, &framings[i], &encoder));
            FAILS(DTYPE_ERROR_OVERLAP, dtype_encoder_next(encoder, &all[1], room, &size));
            FAILS(DTYPE_ERROR_NULL, dtype_encoder_next(encoder, NULL, room, &size));
            for (size_t at = 0;; at += size) {
                OK(dtype_encoder_next(encoder, piece, room, &size));
                CHECK(size <= room && memcmp(piece, stream[i] + at, size) == 0);
                if (size == 0) {
                    CHECK(at == sizes[i]);
                    break;
                }
            }
            dtype_encoder_release(encoder);
        }
    }
    const dtype_limits limits = {1 << 20, 500, DTYPE_LIMITS_ALLOW_NO_CHECKSUM | DTYPE_LIMITS_ALLOW_NO_SIGNATURE, 0};
    dtype_decoder *decoder = NULL;
    OK(dtype_decoder_new(&limits, &decoder));
    for (size_t step = 1; step < 20000; step = step * 5 + 1)
        for (int i = 0; i < 4; i++) {
            dtype_received *frame = NULL;
            for (size_t at = 0; at < sizes[i];) {
                const size_t few = sizes[i] - at < step ? sizes[i] - at : step;
                size_t taken = 0;
                OK(dtype_decoder_feed(decoder, stream[i] + at, few, &taken, &frame));
                CHECK(taken == few && (frame != NULL) == (at + few == sizes[i]));
                at += taken;
            }
            OK(dtype_decoder_finish(decoder));
            dtype_received_info info;
            OK(dtype_received_get_info(frame, &info));
            CHECK(info.tag == framings[i].tag && info.count == 500 && info.record_size == 30);
            CHECK(info.payload_size == 15000 && (info.signature_hash == 0) == (i == 3));
            size_t count = 0;
            memset(back, 0, sizeof back);
            OK(dtype_received_unpack(frame, checked, back, sizeof back, 500, &count));
            CHECK(count == 500 && same(all, back, 500));
            FAILS(DTYPE_ERROR_REFUSED, dtype_received_unpack(frame, type, back, sizeof back, 499, &count));
            FAILS(DTYPE_ERROR_BOUNDS, dtype_received_unpack(frame, type, back, sizeof back - 1, 500, &count));
            dtype_committed *other = committed(basic(DTYPE_F64));
            FAILS(DTYPE_ERROR_SIGNATURE, dtype_received_unpack(frame, other, back, sizeof back, 500, &count));
            dtype_committed_release(other);
            dtype_received_release(frame);
            FAILS(DTYPE_ERROR_HANDLE, dtype_received_get_info(frame, &info));
        }
    dtype_decoder_release(decoder);

    /* What the limits do not allow is skipped, and the next frame is read. */
    OK(dtype_decoder_new(NULL, &decoder));
    static unsigned char both[2 * 15052];
    memcpy(both, stream[0], sizes[0]);
    memcpy(both + sizes[0], stream[0], sizes[0]);
    both[3000] ^= 1;
    size_t at = 0, taken = 0;
    dtype_received *frame = NULL;
    dtype_error error = DTYPE_OK;
    while (at < sizes[0] && error == DTYPE_OK) {
        error = dtype_decoder_feed(decoder, both + at, 2 * sizes[0] - at, &taken, &frame);
        at += taken;
    }
    FAILS(DTYPE_ERROR_FRAME, error);
    CHECK(frame == NULL);
    OK(dtype_decoder_feed(decoder, both + at, 2 * sizes[0] - at, &taken, &frame));
    CHECK(frame != NULL && at + taken == 2 * sizes[0]);
    dtype_received_release(frame);
    FAILS(DTYPE_ERROR_REFUSED, dtype_decoder_feed(decoder, stream[2], sizes[2], &taken, &frame));
    dtype_decoder_release(decoder);

    OK(dtype_decoder_new(NULL, &decoder));
    OK(dtype_decoder_feed(decoder, stream[0], 100, &taken, &frame));
    FAILS(DTYPE_ERROR_TRUNCATED, dtype_decoder_finish(decoder));
    dtype_decoder_release(decoder);
    OK(dtype_decoder_new(NULL, &decoder));
    FAILS(DTYPE_ERROR_FRAME, dtype_decoder_feed(decoder, "GET / HTTP/1.1\r\n", 16, &taken, &frame));
    FAILS(DTYPE_ERROR_LOST, dtype_decoder_feed(decoder, stream[0], sizes[0], &taken, &frame));
    FAILS(DTYPE_ERROR_LOST, dtype_decoder_finish(decoder));
    dtype_decoder_release(decoder);

    /* A wrong value is found before anything is written. */
    OK(dtype_decoder_new(&limits, &decoder));
    stream[3][sizes[3] - 30 + 25] = 9;
    OK(dtype_decoder_feed(decoder, stream[3], sizes[3], &taken, &frame));
    size_t count = 0;
    memset(back, 0x77, sizeof back);
    FAILS(DTYPE_ERROR_VALUE, dtype_received_unpack(frame, checked, back, sizeof back, 500, &count));
    CHECK(dtype_last_record() == 499 && count == 0 && *(unsigned char *)back == 0x77);
    dtype_received_release(frame);
    dtype_decoder_release(decoder);
    const dtype_framing wrong = {0, DTYPE_FRAME_NO_CHECKSUM};
    FAILS(DTYPE_ERROR_ARGUMENT, dtype_encode(type, all, sizeof all, 1, &wrong, NULL, 0, &count));
    FAILS(DTYPE_ERROR_NULL, dtype_encode(type, all, sizeof all, 1, NULL, NULL, 0, &count));
    dtype_committed_release(type);
    dtype_committed_release(checked);
}

int main(void)
{
    one_by_one();
    return 0;
}
