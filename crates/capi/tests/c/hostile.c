/* Numbers of an enemy: hostile.c ROUNDS SEED calls everything with edges and noise. Whatever is answered, it is never a
 * defect, and an order that is answered has every request once. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapewise.h>

enum { MOST = 12 };
static uint64_t state;

static uint64_t noise(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t number(void) {
  static const uint64_t edges[] = {0, 1, 2, 3, 7, 207, 208, 65535, 65536, 171103, UINT32_MAX, INT64_MAX, UINT64_MAX};
  switch (noise() % 4) {
  case 0: return noise();
  case 1: return edges[noise() % (sizeof edges / sizeof *edges)];
  case 2: return noise() % 20000000;
  default: return noise() % 5;
  }
}

/* The text is asked for after the call. */
#define TRY(call, text)                          \
  do {                                           \
    const tapewise_status answered = (call);     \
    never_a_defect(answered, text);              \
  } while (0)

static void never_a_defect(tapewise_status status, const char *text) {
  if (status < TAPEWISE_STATUS_OK || status >= TAPEWISE_STATUS_INTERNAL) {
    fprintf(stderr, "status %d: %s\n", (int)status, text);
    exit(1);
  }
}

static void fill(void *into, size_t bytes) {
  /* All fields are numbers of 8 or 4 bytes. */
  for (size_t at = 0; at < bytes; at += 4) {
    uint32_t half = (uint32_t)number();
    memcpy((char *)into + at, &half, 4);
  }
}

static void extents(tapewise_extent *to, size_t count) {
  int tame = noise() % 3 != 0;
  for (size_t at = 0; at < count; at++) {
    memset(&to[at], 0, sizeof to[at]);
    to[at].first_block = tame ? noise() % 20000000 : number();
    to[at].blocks = tame ? 1 + noise() % 5000 : number();
    to[at].bytes = noise() % 2 ? number() : 0;
    to[at].flags = tame ? noise() % 2 * TAPEWISE_EXTENT_HAS_DEADLINE : (uint32_t)number();
    to[at].priority = (int64_t)number();
    to[at].deadline_us = number();
    if (!tame && noise() % 4 == 0) fill(&to[at].partition, 5 * sizeof(uint32_t));
  }
}

static void batch(tapewise_cartridge *cartridge) {
  tapewise_batch *batch;
  tapewise_extent files[MOST];
  tapewise_location places[2];
  tapewise_wanted wanted = {0};
  tapewise_estimate estimate = {0};
  uint64_t order[MOST], some[3], seen = 0;
  size_t count = noise() % (MOST + 1);
  uint64_t block_bytes = noise() % 3 ? 262144 : number();
  TRY(tapewise_batch_open(cartridge, block_bytes, noise() % 2, &batch), tapewise_batch_error(batch));
  extents(files, count);
  TRY(tapewise_batch_add(batch, files, count, sizeof *files), tapewise_batch_error(batch));
  fill(places, sizeof places);
  TRY(tapewise_batch_set_head(batch, noise() % 2 ? places : NULL, noise() % 2 ? places + 1 : NULL),
                 tapewise_batch_error(batch));
  for (int round = 0; round < 2; round++) {
    wanted.size = sizeof wanted;
    wanted.flags = noise() % 4;
    wanted.objective = noise() % 4;
    wanted.work = 1 + noise() % 2000;
    wanted.seed = number();
    wanted.budget_us = noise() % 2 ? 0 : number();
    wanted.algorithm = noise() % 4 ? NULL : "cta";
    estimate.size = sizeof estimate;
    tapewise_status status = tapewise_batch_order(batch, &wanted, order, MOST, &estimate);
    never_a_defect(status, tapewise_batch_error(batch));
    if (status == TAPEWISE_STATUS_OK) {
      for (uint64_t at = 0; at < estimate.requests; at++) seen |= UINT64_C(1) << order[at];
      uint64_t rest = seen;
      for (; rest; rest &= rest - 1) estimate.requests--;
      if (estimate.requests) never_a_defect(TAPEWISE_STATUS_INTERNAL, "a request is missing");
    }
    fill(some, sizeof some);
    TRY(tapewise_batch_price(batch, some, 3, &estimate), tapewise_batch_error(batch));
    some[0] = noise() % MOST;
    seen = 0;
    TRY(tapewise_batch_set_read(batch, some, 1 + noise() % 2), tapewise_batch_error(batch));
  }
  tapewise_batch_free(batch);
}

int main(int count, char **arguments) {
  static const char *profiles[] = {"lto8", "lto1", "dlt4000", "dat-4mm", "lto9", "ibm3584"};
  long rounds = count > 1 ? strtol(arguments[1], NULL, 10) : 1000;
  state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
  for (long round = 0; round < rounds; round++) {
    tapewise_cartridge *cartridge;
    tapewise_wrap_end ends[4];
    tapewise_place places[3];
    tapewise_status opened = tapewise_cartridge_open(profiles[noise() % 6], &cartridge);
    never_a_defect(opened, tapewise_cartridge_error(cartridge));
    switch (noise() % 4) {
    case 0:
      fill(ends, sizeof ends);
      if (noise() % 2)
        for (uint32_t at = 0; at < 4; at++) ends[at] = (tapewise_wrap_end){(at + 1) * (noise() % 9000000), at, 0};
      TRY(tapewise_cartridge_set_wrap_ends(cartridge, ends, noise() % 5), tapewise_cartridge_error(cartridge));
      break;
    case 1:
      fill(places, sizeof places);
      for (int at = 0; at < 3; at++) {
        places[at].reserved = 0;
        if (noise() % 2) places[at] = (tapewise_place){number(), noise() % 300, (uint32_t)number(), noise() % 4, 0};
      }
      TRY(tapewise_cartridge_set_places(cartridge, places, noise() % 4, noise() % 2 ? 0 : number()),
                     tapewise_cartridge_error(cartridge));
      break;
    default: break;
    }
    TRY(tapewise_cartridge_set_layout(cartridge, noise() % 3), tapewise_cartridge_error(cartridge));
    batch(cartridge);
    tapewise_cartridge_free(cartridge);
  }
  printf("hostile: %ld rounds, no defect\n", rounds);
  return 0;
}
