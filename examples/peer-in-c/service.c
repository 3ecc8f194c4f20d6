// A service in C that a program in Rust talks to: it receives readings in frames of dtype-message, and replies with their means.
// It listens on a free port of this machine, prints the port, and serves one connection.

#define _POSIX_C_SOURCE 200809L
#include "protocol.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_STATIONS = 64, MAX_PAYLOAD = 1 << 16 };

static int write_all(int to, const void *bytes, size_t length) {
    const char *rest = bytes;
    while (length > 0) {
        ssize_t written = write(to, rest, length);
        if (written <= 0) return 0;
        rest += written;
        length -= (size_t)written;
    }
    return 1;
}

// Sends records in a full frame.
static int reply(int to, uint32_t tag, uint64_t signature, const void *records, uint64_t count, uint64_t size) {
    unsigned char head[48], end[4];
    uint32_t checksum = dtype_write_header(head, tag, signature, count, size);
    checksum = dtype_crc32c(checksum, records, count * size);
    for (int i = 0; i < 4; i++) end[i] = (unsigned char)(checksum >> 8 * i);
    return write_all(to, head, sizeof head) && write_all(to, records, (size_t)(count * size)) && write_all(to, end, sizeof end);
}

static int refuse(int to, const char *why) {
    return reply(to, Message_Refused_TAG, Message_Refused_SIGNATURE, why, strlen(why), Message_Refused_SIZE);
}

// Replies to readings.
static int readings(int to, const struct dtype_frame *frame) {
    struct Mean means[MAX_STATIONS];
    uint64_t stations = 0;
    for (uint64_t i = 0; i < frame->count; i++) {
        struct Reading reading;
        memcpy(&reading, frame->records + i * sizeof reading, sizeof reading);
        double celsius = reading.temperature;
        if (reading.scale == Scale_Fahrenheit) {
            celsius = (celsius - 32) / 1.8;
        } else if (reading.scale != Scale_Celsius) {
            return refuse(to, "a scale that is not known");
        }
        uint64_t at = 0;
        while (at < stations && means[at].station != reading.station) at++;
        if (at == MAX_STATIONS) return refuse(to, "too many stations");
        if (at == stations) means[stations++] = (struct Mean){.station = reading.station};
        means[at].readings++;
        means[at].temperature += (celsius - means[at].temperature) / means[at].readings;
    }
    return reply(to, Message_Means_TAG, Message_Means_SIGNATURE, means, stations, Message_Means_SIZE);
}

static int serve(int peer) {
    static unsigned char bytes[MAX_PAYLOAD + 64];
    uint64_t length = 0;
    for (;;) {
        struct dtype_frame frame;
        int64_t frame_length = dtype_read_frame(&frame, bytes, length, MAX_PAYLOAD);
        if (frame_length < 0) return 1; // After a damaged frame, nothing tells where the next one starts.
        if (frame_length == 0) {
            ssize_t more = read(peer, bytes + length, sizeof bytes - (size_t)length);
            if (more <= 0) return more < 0 || length > 0;
            length += (uint64_t)more;
            continue;
        }
        const uint16_t one = 1;
        int is_answered;
        if (frame.is_big_endian == *(const unsigned char *)&one) {
            is_answered = refuse(peer, "numbers of the other byte order");
        } else if (frame.tag == Message_Readings_TAG && dtype_holds(&frame, Message_Readings_SIZE, Message_Readings_SIGNATURE)) {
            is_answered = readings(peer, &frame);
        } else {
            is_answered = refuse(peer, "not readings");
        }
        if (!is_answered) return 1;
        length -= (uint64_t)frame_length;
        memmove(bytes, bytes + frame_length, (size_t)length);
    }
}

int main(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length)) {
        perror("cannot listen");
        return 2;
    }
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    int peer = accept(listener, NULL, NULL);
    return peer < 0 ? 2 : serve(peer);
}
