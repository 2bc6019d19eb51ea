/* Everything that tapewise.h promises, once: what is answered, which errors are told, what a host may leave out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapewise.h>

#define CHECK(holds)                                                                 \
  do {                                                                               \
    if (!(holds)) {                                                                  \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #holds);      \
      exit(1);                                                                       \
    }                                                                                \
  } while (0)
#define OK(call) CHECK((call) == TAPEWISE_STATUS_OK)

enum { FILES = 40 };

static tapewise_cartridge *lto8(void) {
  tapewise_cartridge *cartridge = NULL;
  OK(tapewise_cartridge_open("lto8", &cartridge));
  return cartridge;
}

/* Files of 2,000 blocks all over the tape. */
static tapewise_batch *batch_of(const tapewise_cartridge *cartridge, size_t files) {
  tapewise_extent extents[FILES];
  tapewise_batch *batch = NULL;
  OK(tapewise_batch_open(cartridge, 524288, 0, &batch));
  memset(extents, 0, sizeof extents);
  for (size_t at = 0; at < files; at++) {
    extents[at].first_block = (at * 7919 % 97) * 200000;
    extents[at].blocks = 2000;
  }
  OK(tapewise_batch_add(batch, files ? extents : NULL, files, sizeof *extents));
  return batch;
}

static int is_permutation(const uint64_t *order, size_t count, uint64_t numbers) {
  char *seen = calloc(numbers ? numbers : 1, 1);
  int holds = 1;
  for (size_t at = 0; at < count; at++) {
    holds = holds && order[at] < numbers && !seen[order[at]]++;
  }
  free(seen);
  return holds;
}

static void orders_are_permutations_and_prices_agree(void) {
  static const size_t sizes[] = {0, 1, 2, FILES};
  tapewise_cartridge *cartridge = lto8();
  for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
    size_t files = sizes[at];
    uint64_t order[FILES];
    tapewise_estimate found = {0}, priced = {0};
    tapewise_batch *batch = batch_of(cartridge, files);
    found.size = priced.size = sizeof found;
    OK(tapewise_batch_order(batch, NULL, files ? order : NULL, files, &found));
    CHECK(is_permutation(order, files, files) && found.requests == files);
    OK(tapewise_batch_price(batch, order, files, &priced));
    CHECK(priced.total_us == found.total_us && priced.worst_us == found.worst_us);
    CHECK(found.total_us == found.locate_us + found.read_us && found.worst_us >= found.total_us);
    if (files) {
      tapewise_wanted sorted = {0};
      tapewise_estimate theirs = {0};
      sorted.size = sizeof sorted;
      sorted.algorithm = "sort";
      theirs.size = sizeof theirs;
      CHECK(found.flags & TAPEWISE_ESTIMATE_HAS_BOUND && found.bound_us <= found.total_us);
      CHECK(found.positions == TAPEWISE_POSITIONS_NOMINAL);
      OK(tapewise_batch_order(batch, &sorted, order, files, &theirs));
      CHECK(theirs.worst_us >= found.worst_us);
    }
    tapewise_batch_free(batch);
  }
  tapewise_cartridge_free(cartridge);
}

static void the_same_work_gives_the_same_order(void) {
  uint64_t one[FILES], other[FILES];
  tapewise_estimate estimate = {0};
  tapewise_wanted wanted = {0};
  tapewise_cartridge *cartridge = lto8();
  tapewise_batch *batch = batch_of(cartridge, FILES);
  tapewise_cartridge_free(cartridge); /* A batch keeps what it needs. */
  wanted.size = sizeof wanted;
  wanted.work = 5000;
  wanted.seed = 7;
  estimate.size = sizeof estimate;
  OK(tapewise_batch_order(batch, &wanted, one, FILES, &estimate));
  OK(tapewise_batch_order(batch, &wanted, other, FILES, NULL));
  CHECK(memcmp(one, other, sizeof one) == 0 && !(estimate.flags & TAPEWISE_ESTIMATE_CUT_SHORT));
  wanted.objective = TAPEWISE_OBJECTIVE_MEAN;
  OK(tapewise_batch_order(batch, &wanted, one, FILES, NULL));
  CHECK(is_permutation(one, FILES, FILES));
  tapewise_batch_free(batch);
}

static void what_was_read_is_not_ordered_again(void) {
  uint64_t order[FILES], rest[FILES], head_block;
  tapewise_location head = {0}, end = {0};
  tapewise_estimate nothing = {0};
  tapewise_cartridge *cartridge = lto8();
  tapewise_batch *batch = batch_of(cartridge, FILES);
  OK(tapewise_batch_order(batch, NULL, order, FILES, NULL));
  OK(tapewise_batch_set_read(batch, order, 10));
  CHECK(tapewise_batch_set_read(batch, order, 1) == TAPEWISE_STATUS_USAGE);
  head_block = (order[9] * 7919 % 97) * 200000 + 2000;
  head.at = TAPEWISE_AT_BLOCK;
  head.block = head_block;
  end.at = TAPEWISE_AT_UNLOADED;
  OK(tapewise_batch_set_head(batch, &head, &end));
  CHECK(tapewise_batch_order(batch, NULL, rest, FILES - 11, NULL) == TAPEWISE_STATUS_USAGE);
  CHECK(strstr(tapewise_batch_error(batch), "30 requests wait"));
  OK(tapewise_batch_order(batch, NULL, rest, FILES - 10, NULL));
  memcpy(rest + FILES - 10, order, 10 * sizeof *order);
  CHECK(is_permutation(rest, FILES, FILES));
  OK(tapewise_batch_price(batch, rest, FILES - 10, NULL));
  CHECK(tapewise_batch_price(batch, order, FILES, NULL) == TAPEWISE_STATUS_USAGE);
  CHECK(tapewise_batch_price(batch, rest, FILES - 11, NULL) == TAPEWISE_STATUS_USAGE);
  CHECK(strstr(tapewise_batch_error(batch), "lacks request"));
  OK(tapewise_batch_set_read(batch, rest, FILES - 10));
  nothing.size = sizeof nothing;
  OK(tapewise_batch_order(batch, NULL, NULL, 0, &nothing));
  CHECK(nothing.requests == 0 && nothing.total_us == 0);
  tapewise_batch_free(batch);
  tapewise_cartridge_free(cartridge);
}

static void maps_count(void) {
  static const uint64_t ends[] = {89999, 180123, 270001, 300000};
  tapewise_wrap_end table[4];
  tapewise_place place = {0};
  tapewise_extent extent = {0};
  tapewise_estimate estimate = {0};
  uint64_t order[3];
  tapewise_cartridge *cartridge = lto8();
  tapewise_batch *batch = NULL;
  for (uint32_t wrap = 0; wrap < 4; wrap++) {
    table[wrap].block = ends[wrap];
    table[wrap].wrap = wrap;
    table[wrap].partition = 0;
  }
  estimate.size = sizeof estimate;
  OK(tapewise_cartridge_set_wrap_ends(cartridge, table, 4));
  OK(tapewise_batch_open(cartridge, 262144, TAPEWISE_NO_READ_THROUGH, &batch));
  extent.first_block = 200000;
  extent.bytes = 1;
  OK(tapewise_batch_add(batch, &extent, 1, sizeof extent));
  extent.flags = TAPEWISE_EXTENT_HAS_START | TAPEWISE_EXTENT_HAS_END;
  extent.start_wrap = extent.end_wrap = 1;
  extent.start_lpos = extent.end_lpos = 5000;
  OK(tapewise_batch_add(batch, &extent, 1, sizeof extent));
  OK(tapewise_batch_order(batch, NULL, order, 2, &estimate));
  CHECK(estimate.positions == TAPEWISE_POSITIONS_WRAP_ENDS);
  extent.flags = 0;
  extent.first_block = 300001; /* After the end of data. */
  OK(tapewise_batch_add(batch, &extent, 1, sizeof extent));
  CHECK(tapewise_batch_order(batch, NULL, order, 3, NULL) == TAPEWISE_STATUS_POSITION);
  CHECK(strstr(tapewise_batch_error(batch), "300001"));
  tapewise_batch_free(batch);

  table[2].block = 5; /* The table contradicts itself. */
  OK(tapewise_cartridge_set_wrap_ends(cartridge, table, 4));
  batch = batch_of(cartridge, 2);
  CHECK(tapewise_batch_order(batch, NULL, order, 2, NULL) == TAPEWISE_STATUS_MAP);
  tapewise_batch_free(batch);

  place.wrap = 60000;
  CHECK(tapewise_cartridge_set_places(cartridge, &place, 1, 0) == TAPEWISE_STATUS_MAP);
  place.wrap = 2;
  place.block = 250000;
  place.lpos = 60000;
  OK(tapewise_cartridge_set_places(cartridge, &place, 1, 0));
  batch = batch_of(cartridge, 2);
  OK(tapewise_batch_order(batch, NULL, order, 2, &estimate));
  CHECK(estimate.positions == TAPEWISE_POSITIONS_PLACES);
  tapewise_batch_free(batch);
  OK(tapewise_cartridge_set_layout(cartridge, TAPEWISE_LAYOUT_LTFS));
  CHECK(tapewise_cartridge_set_layout(cartridge, 7) == TAPEWISE_STATUS_USAGE);
  tapewise_cartridge_free(cartridge);
}

static void errors_are_told_and_stay(void) {
  tapewise_cartridge *cartridge = NULL;
  tapewise_batch *batch = NULL;
  const char *first, *again;
  CHECK(tapewise_cartridge_open("lto99", &cartridge) == TAPEWISE_STATUS_PROFILE);
  first = tapewise_cartridge_error(cartridge);
  CHECK(strstr(first, "lto99"));
  CHECK(tapewise_cartridge_set_layout(cartridge, 0) == TAPEWISE_STATUS_PROFILE);
  CHECK(tapewise_batch_open(cartridge, 1, 0, &batch) == TAPEWISE_STATUS_PROFILE);
  CHECK(strstr(tapewise_batch_error(batch), "lto99"));
  CHECK(tapewise_batch_add(batch, NULL, 0, 0) == TAPEWISE_STATUS_PROFILE);
  tapewise_batch_free(batch);
  tapewise_cartridge_free(cartridge);

  cartridge = lto8();
  CHECK(strcmp(tapewise_cartridge_error(cartridge), "") == 0);
  OK(tapewise_batch_open(cartridge, 0, 0, &batch));
  CHECK(tapewise_batch_add(batch, NULL, 3, sizeof(tapewise_extent)) == TAPEWISE_STATUS_USAGE);
  first = tapewise_batch_error(batch);
  CHECK(strstr(first, "null"));
  CHECK(tapewise_batch_set_read(batch, NULL, 1) == TAPEWISE_STATUS_USAGE);
  again = tapewise_batch_error(batch);
  CHECK(strcmp(first, again) != 0 && strstr(first, "extents")); /* The older text is still there. */
  tapewise_batch_free(batch);
  tapewise_cartridge_free(cartridge);

  CHECK(tapewise_cartridge_open("/no/such.toml", &cartridge) == TAPEWISE_STATUS_PROFILE);
  CHECK(strstr(tapewise_cartridge_error(cartridge), "/no/such.toml"));
  tapewise_cartridge_free(cartridge);
}

static void nothing_may_be_null_that_must_not(void) {
  tapewise_cartridge *cartridge = NULL;
  CHECK(tapewise_cartridge_open("lto8", NULL) == TAPEWISE_STATUS_USAGE);
  CHECK(tapewise_cartridge_open(NULL, &cartridge) == TAPEWISE_STATUS_USAGE);
  tapewise_cartridge_free(cartridge);
  CHECK(tapewise_cartridge_set_layout(NULL, 0) == TAPEWISE_STATUS_USAGE);
  CHECK(tapewise_batch_order(NULL, NULL, NULL, 0, NULL) == TAPEWISE_STATUS_USAGE);
  CHECK(*tapewise_cartridge_error(NULL) && *tapewise_batch_error(NULL));
  tapewise_cartridge_free(NULL);
  tapewise_batch_free(NULL);
}

/* A host that knows more, or less, than the library. */
static void sizes_are_heeded(void) {
  struct {
    tapewise_wanted known;
    uint64_t unknown;
  } newer = {0};
  struct {
    uint32_t size, flags;
    uint64_t total_us;
    uint64_t canary;
  } older = {0};
  uint64_t order[2];
  tapewise_cartridge *cartridge = lto8();
  tapewise_batch *batch = batch_of(cartridge, 2);
  newer.known.size = sizeof newer;
  older.size = 16;
  older.canary = 42;
  OK(tapewise_batch_order(batch, &newer.known, order, 2, (tapewise_estimate *)(void *)&older));
  CHECK(older.total_us > 0 && older.canary == 42 && older.size == 16);
  newer.unknown = 1;
  CHECK(tapewise_batch_order(batch, &newer.known, order, 2, NULL) == TAPEWISE_STATUS_USAGE);
  newer.known.size = 0;
  CHECK(tapewise_batch_order(batch, &newer.known, order, 2, NULL) == TAPEWISE_STATUS_USAGE);
  tapewise_batch_free(batch);
  tapewise_cartridge_free(cartridge);
}

int main(void) {
  CHECK(tapewise_abi_version() == TAPEWISE_ABI_VERSION);
  orders_are_permutations_and_prices_agree();
  the_same_work_gives_the_same_order();
  what_was_read_is_not_ordered_again();
  maps_count();
  errors_are_told_and_stay();
  nothing_may_be_null_that_must_not();
  sizes_are_heeded();
  puts("surface: all holds");
  return 0;
}
