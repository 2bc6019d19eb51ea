/* Orders eight files of an LTO-8 cartridge: cc order.c $(pkg-config --cflags --libs tapewise) */
#include <inttypes.h>
#include <stdio.h>
#include <tapewise.h>

static const uint64_t first_blocks[] = {9000000, 40000, 9100000, 2000000, 700000, 15000000, 3000, 12000000};
enum { FILES = sizeof first_blocks / sizeof *first_blocks };

int main(void) {
  tapewise_extent files[FILES] = {0};
  for (int at = 0; at < FILES; at++) {
    files[at].first_block = first_blocks[at];
    files[at].blocks = 2000;
  }
  uint64_t order[FILES], listed[FILES];
  for (uint64_t at = 0; at < FILES; at++) listed[at] = at;
  tapewise_estimate ours = {.size = sizeof ours}, theirs = {.size = sizeof theirs};

  tapewise_cartridge *cartridge;
  tapewise_batch *batch = NULL;
  int failed = 1;
  if (tapewise_cartridge_open("lto8", &cartridge) != TAPEWISE_STATUS_OK) {
    fprintf(stderr, "%s\n", tapewise_cartridge_error(cartridge));
  } else if (tapewise_batch_open(cartridge, 524288, 0, &batch) != TAPEWISE_STATUS_OK ||
             tapewise_batch_add(batch, files, FILES, sizeof *files) != TAPEWISE_STATUS_OK ||
             tapewise_batch_order(batch, NULL, order, FILES, &ours) != TAPEWISE_STATUS_OK ||
             tapewise_batch_price(batch, listed, FILES, &theirs) != TAPEWISE_STATUS_OK) {
    fprintf(stderr, "%s\n", tapewise_batch_error(batch));
  } else {
    for (int at = 0; at < FILES; at++) printf("%" PRIu64 "\n", order[at]);
    printf("%.1f s, as listed %.1f s, no order below %.1f s\n", ours.total_us / 1e6, theirs.total_us / 1e6,
           ours.bound_us / 1e6);
    failed = 0;
  }
  tapewise_batch_free(batch);
  tapewise_cartridge_free(cartridge);
  return failed;
}
