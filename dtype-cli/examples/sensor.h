#include <stdint.h>

enum { CHANNELS = 4 };

typedef struct {
    double seconds;
    float value;
} Sample;

struct Station {
    uint8_t kind;
    Sample samples[CHANNELS];
    int32_t id;
};
