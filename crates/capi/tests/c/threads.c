/* The library starts no thread, survives a fork after it was loaded and used, and serves four threads, each with
 * handles of its own: all find the same order. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tapewise.h>
#include <unistd.h>

enum { FILES = 60, THREADS = 4 };

static void need(int holds, const char *what) {
  if (!holds) {
    fprintf(stderr, "%s\n", what);
    _exit(1);
  }
}

static void find(const tapewise_cartridge *cartridge, uint64_t *order) {
  tapewise_extent extents[FILES];
  tapewise_batch *batch;
  memset(extents, 0, sizeof extents);
  for (uint64_t at = 0; at < FILES; at++) {
    extents[at].first_block = at * 7919 % 97 * 200000;
    extents[at].blocks = 2000;
  }
  need(tapewise_batch_open(cartridge, 524288, 0, &batch) == TAPEWISE_STATUS_OK, "open");
  need(tapewise_batch_add(batch, extents, FILES, sizeof *extents) == TAPEWISE_STATUS_OK, "add");
  need(tapewise_batch_order(batch, NULL, order, FILES, NULL) == TAPEWISE_STATUS_OK, "order");
  tapewise_batch_free(batch);
}

static void *in_a_thread(void *order) {
  tapewise_cartridge *cartridge;
  need(tapewise_cartridge_open("lto8", &cartridge) == TAPEWISE_STATUS_OK, "cartridge");
  find(cartridge, order);
  tapewise_cartridge_free(cartridge);
  return NULL;
}

static int threads_of_this_process(void) {
  int count = 0;
  DIR *tasks = opendir("/proc/self/task");
  need(tasks != NULL, "no /proc/self/task");
  for (struct dirent *task = readdir(tasks); task; task = readdir(tasks)) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

int main(void) {
  uint64_t here[FILES], there[THREADS][FILES];
  pthread_t threads[THREADS];
  tapewise_cartridge *cartridge;
  int status = 0;
  need(tapewise_cartridge_open("lto8", &cartridge) == TAPEWISE_STATUS_OK, "cartridge");
  find(cartridge, here);
  need(threads_of_this_process() == 1, "a thread was started");

  pid_t child = fork();
  if (child == 0) {
    find(cartridge, there[0]);
    need(memcmp(here, there[0], sizeof here) == 0, "another order in the child");
    _exit(0);
  }
  need(child > 0 && waitpid(child, &status, 0) == child, "no child");
  need(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child failed");
  tapewise_cartridge_free(cartridge);

  for (int at = 0; at < THREADS; at++) need(!pthread_create(&threads[at], NULL, in_a_thread, there[at]), "thread");
  for (int at = 0; at < THREADS; at++) {
    need(!pthread_join(threads[at], NULL), "join");
    need(memcmp(here, there[at], sizeof here) == 0, "another order in a thread");
  }
  puts("threads: all holds");
  return 0;
}
