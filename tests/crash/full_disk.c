/* Makes writes fail, for tests: loaded before libc (LD_PRELOAD), it stands between a program and its files.

   FULL_DISK="FOLDER\nTOLD\nNTH\nHOW" in the environment says which: files in FOLDER, from the NTH write on.
   HOW is `full` (ENOSPC from then on), `broken` (EIO, that one only), or `short` (half of it is written,
   ENOSPC from then on). A write is write, pwrite, writev, fsync, fdatasync, and opening a file to write
   that is not there yet. TOLD grows by a byte with each. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum how { FINE, FAILS, HALF };

static long counted;

/* What is to become of a write to a path; sets errno where it fails. */
static enum how judged(const char *path) {
  const char *said = getenv("FULL_DISK");
  if (said == NULL) return FINE;
  const char *told = strchr(said, '\n');
  if (told == NULL || strncmp(path, said, told - said) != 0) return FINE;
  const char *nth = strchr(told + 1, '\n');
  const char *how = strchr(nth + 1, '\n') + 1;
  char place[4096];
  snprintf(place, sizeof place, "%.*s", (int)(nth - told - 1), told + 1);
  int out = syscall(SYS_openat, AT_FDCWD, place, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (out >= 0) {
    syscall(SYS_write, out, ".", 1);
    syscall(SYS_close, out);
  }
  long now = __atomic_add_fetch(&counted, 1, __ATOMIC_SEQ_CST), at = atol(nth + 1);
  if (now < at || (now > at && *how == 'b')) return FINE;
  errno = *how == 'b' ? EIO : ENOSPC;
  return now == at && *how == 's' ? HALF : FAILS;
}

static enum how judged_file(int file) {
  char link[64], path[4096];
  if (getenv("FULL_DISK") == NULL) return FINE;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return FINE;
  path[length] = 0;
  return judged(path);
}

ssize_t write(int file, const void *from, size_t length) {
  enum how how = judged_file(file);
  if (how == FAILS) return -1;
  return syscall(SYS_write, file, from, how == HALF ? length / 2 : length);
}

ssize_t pwrite64(int file, const void *from, size_t length, off64_t at) {
  enum how how = judged_file(file);
  if (how == FAILS) return -1;
  return syscall(SYS_pwrite64, file, from, how == HALF ? length / 2 : length, at);
}

ssize_t pwrite(int file, const void *from, size_t length, off_t at) {
  return pwrite64(file, from, length, at);
}

ssize_t writev(int file, const struct iovec *from, int count) {
  return judged_file(file) == FINE ? syscall(SYS_writev, file, from, count) : -1;
}

int fsync(int file) { return judged_file(file) == FINE ? syscall(SYS_fsync, file) : -1; }

int fdatasync(int file) { return judged_file(file) == FINE ? syscall(SYS_fdatasync, file) : -1; }

static int opened(const char *path, int flags, mode_t mode) {
  struct stat there;
  if ((flags & O_CREAT) && stat(path, &there) != 0 && judged(path) != FINE) return -1;
  return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened(path, flags | O_LARGEFILE, mode);
}
