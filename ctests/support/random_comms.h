/* Random communicators, with attributes whose callbacks communicate, and error handlers, set and read back. */
#ifndef RANDOM_COMMS_H
#define RANDOM_COMMS_H

#include "random_calls.h"

/* What a program has of the following, besides calls. */
enum {
    MAKES = 1,      /* makes and frees communicators */
    WORLD = 2,      /* has MPI_COMM_SELF and MPI_COMM_WORLD for itself: their attributes and handlers too */
    ATTRIBUTES = 4, /* with callbacks */
    ERRORS = 8,     /* calls with invalid arguments */
    REDUCES = 16,   /* reductions, scans and barriers too */
    EXCHANGES = 32, /* exchanges between all ranks too */
};

/* The place of a communicator among those of the program, or what else it is: not Rondo's own, at any rate. */
static int place(MPI_Comm comm) {
    for (int i = 0; i < now.slots_used; i++)
        if (now.slots[i].comm == comm) return i;
    return comm == MPI_COMM_NULL ? -1 : -2;
}

/* All ranks of the communicator tell each other something. */
static void talk(MPI_Comm comm, unsigned way) {
    int p, me, data[128] = {0}, sum;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    switch (way % 4) {
    case 0: MPI_Barrier(comm); break;
    case 1:
        data[0] = me + (int)way;
        MPI_Bcast(data, 100, MPI_INT, (int)way / 4 % p, comm);
        break;
    case 2:
        data[me] = me * 3 + (int)way;
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, data, 1, MPI_INT, comm);
        break;
    default:
        sum = me + (int)way;
        MPI_Allreduce(&sum, data, 1, MPI_INT, MPI_SUM, comm);
    }
    add(data, sizeof data);
}

/* ---- attributes ---- */

/* The value of an attribute: a number, and with whom its callbacks talk, and how. */
enum { WITH_NOBODY, WITH_ITS_OWN, WITH_ALL };

static void *value_of(int number, int with) { return (void *)(intptr_t)(number * 4 + with); }

static void callback(MPI_Comm comm, int which, void *value) {
    intptr_t v = (intptr_t)value;
    add_number(which);
    add_number(v);
    add_number(place(comm));
    if (v % 4 == WITH_ITS_OWN) talk(comm, (unsigned)(v / 4));
    /* Open MPI copies attributes in MPI_Comm_create and MPI_Comm_create_group as well: to where some ranks are not. */
    int at = place(comm);
    if (v % 4 == WITH_ALL && at >= 0 && now.slots[at].complete) talk(now.slots[0].comm, (unsigned)(v / 4));
}

static int copied(MPI_Comm comm, int keyval, void *extra, void *value, void *new_value, int *flag) {
    (void)keyval;
    add_number((intptr_t)extra);
    add_number(place(comm));
    *flag = (intptr_t)value / 4 % 3 != 0;
    *(void **)new_value = (void *)((intptr_t)value + 400);
    return MPI_SUCCESS;
}

static int deleted(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)keyval;
    callback(comm, (int)(intptr_t)extra, value);
    return MPI_SUCCESS;
}

static void make_keyvals(void) {
    MPI_Comm_copy_attr_function *copies[KEYVALS] = {MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, copied};
    for (int i = 0; i < KEYVALS; i++)
        MPI_Comm_create_keyval(copies[i], deleted, &now.keyvals[i], (void *)(intptr_t)(i + 10));
}

static void free_keyvals(void) {
    for (int i = 0; i < KEYVALS; i++)
        if (now.keyvals[i] != MPI_KEYVAL_INVALID) MPI_Comm_free_keyval(&now.keyvals[i]);
}

static void read_attribute(MPI_Comm comm, int keyval) {
    void *value = NULL;
    int flag;
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    add_number(flag);
    if (flag) add_number((intptr_t)value);
}

static void delete_attribute(MPI_Comm comm, int keyval) {
    int flag;
    void *value;
    if (comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID) return;
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    if (flag) MPI_Comm_delete_attr(comm, keyval);
}

static void attribute(struct slot *slot, int number) {
    int keyval = now.keyvals[draw(KEYVALS)], what = draw_int(4), with = draw_int(slot->complete ? 3 : 2);
    int tag_bound_too = draw(4) == 0;
    if (slot->comm == MPI_COMM_NULL || keyval == MPI_KEYVAL_INVALID) return;
    read_attribute(slot->comm, keyval);
    void *value = NULL;
    int flag;
    MPI_Comm_get_attr(slot->comm, keyval, &value, &flag);
    if (what > 0)
        MPI_Comm_set_attr(slot->comm, keyval, value_of(number, with));
    else if (flag)
        MPI_Comm_delete_attr(slot->comm, keyval);
    read_attribute(slot->comm, keyval);
    int *tag;
    MPI_Comm_get_attr(slot->comm, MPI_TAG_UB, &tag, &flag);
    if (tag_bound_too && flag) add_number(*tag);
}

/* ---- error handlers ---- */

enum { HANDLERS = 5 };

static MPI_Errhandler handlers[HANDLERS];

static void handled(int which, MPI_Comm comm, int code) {
    add_number(which);
    add_number(place(comm));
    add_code(code);
    if (now.talks == comm) talk(comm, (unsigned)which);
}

static void handler_2(MPI_Comm *comm, int *code, ...) { handled(2, *comm, *code); }
static void handler_3(MPI_Comm *comm, int *code, ...) { handled(3, *comm, *code); }
static void handler_4(MPI_Comm *comm, int *code, ...) { handled(4, *comm, *code); }

static void make_handlers(void) {
    handlers[0] = MPI_ERRORS_ARE_FATAL;
    handlers[1] = MPI_ERRORS_RETURN;
    MPI_Comm_create_errhandler(handler_2, &handlers[2]);
    MPI_Comm_create_errhandler(handler_3, &handlers[3]);
    MPI_Comm_create_errhandler(handler_4, &handlers[4]);
}

static void free_handlers(void) {
    for (int i = 2; i < HANDLERS; i++) MPI_Errhandler_free(&handlers[i]);
}

/* Which one a communicator has. The handle got is ours to free, as any other. */
static int handler_of(MPI_Comm comm) {
    MPI_Errhandler got = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(comm, &got);
    int found = -1;
    for (int i = 0; i < HANDLERS; i++)
        if (got == handlers[i]) found = i;
    if (found != 0 && found != 1) MPI_Errhandler_free(&got);
    add_number(found);
    return found;
}

/* Sets one, sometimes under a handle that is then freed: the communicator keeps it. */
static void set_handler(struct slot *slot) {
    int which = draw_int(HANDLERS), freed = draw(4) == 0;
    if (slot->comm == MPI_COMM_NULL) return;
    handler_of(slot->comm);
    if (freed) {
        MPI_Errhandler brief;
        MPI_Comm_create_errhandler(handler_2, &brief);
        MPI_Comm_set_errhandler(slot->comm, brief);
        MPI_Errhandler_free(&brief);
        MPI_Comm_call_errhandler(slot->comm, MPI_ERR_OTHER);
    }
    MPI_Comm_set_errhandler(slot->comm, handlers[which]);
    handler_of(slot->comm);
    if (which > 0) add_code(MPI_Comm_call_errhandler(slot->comm, MPI_ERR_TOPOLOGY));
}

/* Invalid calls under a handler for which the program goes on, and then the handler from before. */
static void errors(struct slot *slot) {
    int which = 1 + draw_int(HANDLERS - 1), times = 1 + draw_int(3), back = draw_int(2);
    if (slot->comm == MPI_COMM_NULL) return;
    int world = now.verbs & WORLD;
    MPI_Errhandler before;
    MPI_Comm_get_errhandler(slot->comm, &before);
    MPI_Comm_set_errhandler(slot->comm, handlers[which]);
    if (world) { /* on one of these are the errors without a communicator */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[which]);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handlers[which]);
    }
    now.talks = draw(3) == 0 && !host.mute_handlers ? slot->comm : MPI_COMM_NULL;
    for (int i = 0; i < times; i++) invalid(slot->comm, world);
    now.talks = MPI_COMM_NULL;
    handler_of(slot->comm);
    if (back) MPI_Comm_set_errhandler(slot->comm, before);
    if (before != MPI_ERRORS_RETURN && before != MPI_ERRORS_ARE_FATAL) MPI_Errhandler_free(&before);
    handler_of(slot->comm);
}

/* ---- communicators ---- */

static MPI_Comm of_group(MPI_Comm parent, int all_call) {
    int p, me, members, list[128], among = 0;
    MPI_Group group, part;
    MPI_Comm result = MPI_COMM_NULL;
    MPI_Comm_size(parent, &p);
    MPI_Comm_rank(parent, &me);
    members = 1 + draw_int(p);
    int tag = draw_int(1000);
    for (int i = 0; i < p; i++) list[i] = i;
    for (int i = 0; i < members; i++) { /* members of all, in any order */
        int other = i + draw_int(p - i), swapped = list[i];
        list[i] = list[other];
        list[other] = swapped;
        among |= list[i] == me;
    }
    MPI_Comm_group(parent, &group);
    MPI_Group_incl(group, members, list, &part);
    if (all_call)
        MPI_Comm_create(parent, part, &result);
    /* Open MPI's messages for MPI_Comm_create_group have tags of the program's, which a receive from anybody takes. */
    if (!all_call && host.open_mpi) MPI_Barrier(parent);
    if (!all_call && among)
        MPI_Comm_create_group(parent, part, tag, &result);
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    return result;
}

/* One more communicator, of one that is there. */
static void make_comm(void) {
    struct slot *of = &now.slots[draw((uint64_t)now.slots_used)], made = {MPI_COMM_NULL, 0, 0};
    int parts = 1 + draw_int(3), down = draw_int(2), kind = draw_int(6);
    made.complete = of->complete && kind < 4;
    if (of->comm != MPI_COMM_NULL) {
        int me, color;
        MPI_Request request;
        MPI_Comm_rank(of->comm, &me);
        color = me % parts;
        switch (kind) {
        case 0: MPI_Comm_dup(of->comm, &made.comm); break;
        case 1: /* with a collective on its way */
            MPI_Comm_idup(of->comm, &made.comm, &request);
            of->idup = 1;
            collective(of->comm);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            break;
        case 2:
        case 3: MPI_Comm_split(of->comm, color, down ? -me : me, &made.comm); break;
        case 4:
            if (parts == 1)
                MPI_Comm_split(of->comm, me % 2 ? MPI_UNDEFINED : 1, me, &made.comm);
            else
                made.comm = of_group(of->comm, 1);
            break;
        default: made.comm = of_group(of->comm, 0);
        }
    }
    now.slots[now.slots_used++] = made;
    if (made.comm == MPI_COMM_NULL) return;
    handler_of(made.comm);
    for (int i = 0; i < KEYVALS; i++)
        if (now.keyvals[i] != MPI_KEYVAL_INVALID) read_attribute(made.comm, now.keyvals[i]);
}

static void free_comm(int which) {
    struct slot *gone = &now.slots[which];
    /* Most collectives in callbacks of Intel MPI's MPI_Comm_free hang, so there are none: they come here. */
    for (int i = 0; i < KEYVALS && host.intel; i++) delete_attribute(gone->comm, now.keyvals[i]);
    if (gone->comm != MPI_COMM_NULL) MPI_Comm_free(&gone->comm);
    add_number(gone->comm == MPI_COMM_NULL);
    *gone = now.slots[--now.slots_used];
}

#endif
