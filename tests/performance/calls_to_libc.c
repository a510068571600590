// What a process copies and how often it reads a clock, counted by standing before libc's functions (LD_PRELOAD).
// The counts are in the file that COUNTS names: copies, bytes copied and clock readings, each a number of 64 bits.
// Copies that the compiler writes in place, of some 128 bytes at most, are calls of nothing and so are not counted.
// cc -shared -fPIC -O2 -fno-builtin -fno-tree-loop-distribute-patterns
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { COPIES, BYTES, CLOCKS, COUNTS };

static uint64_t before_main[COUNTS];
static uint64_t *counts = before_main;

static void add(int count, uint64_t by) { __atomic_fetch_add(&counts[count], by, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void map_counts(void) {
  const char *path = getenv("COUNTS");
  int file = path ? open(path, O_RDWR) : -1;
  if (file < 0) return;
  void *page = mmap(NULL, sizeof before_main, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page != MAP_FAILED) counts = page;
  close(file);
}

void *memmove(void *to, const void *from, size_t size) {
  char *target = to;
  const char *source = from;
  add(COPIES, 1);
  add(BYTES, size);
  if (target < source)
    for (size_t i = 0; i < size; i++) target[i] = source[i];
  else
    for (size_t i = size; i > 0; i--) target[i - 1] = source[i - 1];
  return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size) { return memmove(to, from, size); }

int clock_gettime(clockid_t clock, struct timespec *now) {
  add(CLOCKS, 1);
  return (int)syscall(SYS_clock_gettime, clock, now);
}
