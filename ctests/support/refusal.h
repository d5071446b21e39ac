/* What the system refuses a process, by its name:
 *
 *   memfd-eperm, memfd-enosys  memfd_create fails so, as under the filters of containers
 *   resize-enospc              ftruncate and fallocate fail so, as on a full file system
 *   map-enomem                 mmap fails so for memory that is shared
 *   size                       no file may grow (RLIMIT_FSIZE); who tries is told by a signal that kills
 *   memory                     64 MiB more address space, and no more (RLIMIT_AS)
 *   files                      not one more open file (RLIMIT_NOFILE)
 *   nothing                    nothing
 */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "rondo_test.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_IS(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define IF_HAS(bits, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, then, otherwise)
#define END(action) BPF_STMT(BPF_RET | BPF_K, action)

/* Has the system calls of this thread go through the filter, for good. */
static MAYBE_UNUSED int filter(struct sock_filter *code, unsigned short length) {
    struct sock_fprog program = {length, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Has either of two system calls fail with this error. */
static MAYBE_UNUSED int deny(unsigned first, unsigned second, unsigned error) {
    struct sock_filter code[] = {LOAD(nr), IF_IS(first, 1, 0), IF_IS(second, 0, 1), END(SECCOMP_RET_ERRNO | error),
                                 END(SECCOMP_RET_ALLOW)};
    return filter(code, sizeof code / sizeof *code);
}

/* Has mmap fail with this error where its flags have MAP_SHARED. */
static MAYBE_UNUSED int deny_shared_maps(unsigned error) {
    struct sock_filter code[] = {LOAD(nr), IF_IS(__NR_mmap, 0, 3), LOAD(args[3]), IF_HAS(MAP_SHARED, 0, 1),
                                 END(SECCOMP_RET_ERRNO | error), END(SECCOMP_RET_ALLOW)};
    return filter(code, sizeof code / sizeof *code);
}

static MAYBE_UNUSED int limit(int resource, rlim_t to) {
    struct rlimit l;
    if (getrlimit(resource, &l)) return 0;
    l.rlim_cur = to;
    return setrlimit(resource, &l) == 0;
}

/* The number of the next file to be opened. */
static MAYBE_UNUSED rlim_t next_file(void) {
    int file = open("/dev/null", O_RDONLY);
    close(file);
    return (rlim_t)file;
}

/* A shared mapping of one page of a new memory file; is it to be had? */
static MAYBE_UNUSED int has_shared_memory(void) {
    int file = (int)syscall(SYS_memfd_create, "probe", 0);
    if (file < 0) return 0;
    void *page = MAP_FAILED;
    if (ftruncate(file, 4096) == 0) page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) return 0;
    munmap(page, 4096);
    return 1;
}

/* Refuses it from now on. Is it in force? */
static MAYBE_UNUSED int refuse(const char *what) {
    if (!strcmp(what, "nothing")) return has_shared_memory();
    if (!strcmp(what, "size")) return limit(RLIMIT_FSIZE, 0);
    if (!strcmp(what, "files")) return limit(RLIMIT_NOFILE, next_file()) && !has_shared_memory();
    if (!strcmp(what, "memory")) {
        long pages = 0;
        FILE *f = fopen("/proc/self/statm", "r");
        int read = f && fscanf(f, "%ld", &pages) == 1;
        if (f) fclose(f);
        return read && limit(RLIMIT_AS, (rlim_t)pages * 4096 + (64 << 20));
    }
    int done = 0;
    if (!strcmp(what, "memfd-eperm")) done = deny(__NR_memfd_create, __NR_memfd_create, EPERM);
    if (!strcmp(what, "memfd-enosys")) done = deny(__NR_memfd_create, __NR_memfd_create, ENOSYS);
    if (!strcmp(what, "resize-enospc")) done = deny(__NR_ftruncate, __NR_fallocate, ENOSPC);
    if (!strcmp(what, "map-enomem")) done = deny_shared_maps(ENOMEM);
    return done && !has_shared_memory();
}

#endif
