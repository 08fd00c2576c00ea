/* SPDX-License-Identifier: MIT */
/*
 * Tests how events get from the slots of the ring into the database: segments, batches, merging,
 * tails.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/drain.h"
#include "trace/ring.h"
#include "trace/store.h"
#include "tests/unit/unit_test.h"

struct bench {
    char folder[64], trace[96], ring_path[112];
    struct ring ring;
    struct store store;
    struct drain *drain;
};

static int set_up_with(void **state, uint64_t max_bytes)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct err err = {0};
    snprintf(bench->folder, sizeof bench->folder, "/tmp/gpumemtrace-ring.XXXXXX");
    assert_non_null(mkdtemp(bench->folder));
    snprintf(bench->trace, sizeof bench->trace, "%s/t.db", bench->folder);
    snprintf(bench->ring_path, sizeof bench->ring_path, "%s-ring.0", bench->trace);
    close(open(bench->trace, O_CREAT | O_EXCL | O_RDWR, 0600));
    if (store_create(&bench->store, bench->trace, &err) ||
        ring_create(&bench->ring, bench->ring_path, max_bytes, &err))
        fail_msg("%s", err.message);
    bench->drain = drain_new(&bench->ring, &bench->store, false);
    assert_non_null(bench->drain);
    *state = bench;
    return 0;
}

static int set_up(void **state)
{
    return set_up_with(state, (uint64_t)16 << 20);
}

static int set_up_one_segment(void **state)
{
    return set_up_with(state, RING_SEGMENT_BYTES);
}

static int tear_down(void **state)
{
    struct bench *bench = *state;
    free(bench->drain);
    store_abandon(&bench->store);
    ring_release(&bench->ring);
    unlink(bench->ring_path);
    unlink(bench->trace);
    rmdir(bench->folder);
    free(bench);
    return 0;
}

static struct ring_slot *push(struct bench *bench, struct ring_segment *segment, uint64_t seq)
{
    struct ring_slot *slot = ring_claim(&bench->ring, segment, 1);
    if (!slot)
        return NULL;
    slot->type = SLOT_EVENT;
    slot->kind = EVENT_ALLOC;
    slot->seq = seq;
    ring_publish(slot);
    return slot;
}

static int64_t query(struct bench *bench, const char *sql)
{
    sqlite3_stmt *select = NULL;
    assert_int_equal(sqlite3_prepare_v2(bench->store.db, sql, -1, &select, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(select), SQLITE_ROW);
    const int64_t value = sqlite3_column_int64(select, 0);
    sqlite3_finalize(select);
    return value;
}

static void drain_ok(struct bench *bench)
{
    struct err err = {0};
    if (drain_all(bench->drain, &err))
        fail_msg("%s", err.message);
}

TEST_WITH(events_of_several_segments_are_stored_once_each, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segments[3];
    for (int i = 0; i < 3; i++)
        assert_non_null(segments[i] = ring_take_segment(&bench->ring));
    for (uint64_t seq = 1; seq <= 3000; seq++)
        assert_non_null(push(bench, segments[seq * 7 % 3], seq));
    drain_ok(bench);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 3000);
    assert_int_equal(query(bench, "SELECT sum(seq) FROM event"), 3000 * 3001 / 2);
}

/* A batch may lack the numbers of some events, which follow in a later batch. */
TEST_WITH(events_keep_their_numbers_whether_or_not_they_follow_the_last_row, set_up, tear_down)
{
    static const uint64_t batches[][6] = {{1, 2, 3}, {5, 6, 8},       {4},
                                          {9, 10},   {7, 11, 12, 14}, {13, 15}};
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
        for (size_t at = 0; batches[i][at]; at++)
            push(bench, segment, batches[i][at])->time_ns = 10 * batches[i][at];
        drain_ok(bench);
    }
    assert_int_equal(query(bench, "SELECT count(*) FROM event WHERE time_ns = 10 * seq"), 15);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 15);
}

TEST_WITH(a_pending_slot_holds_back_its_own_segment_only, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *first = ring_take_segment(&bench->ring);
    struct ring_segment *second = ring_take_segment(&bench->ring);
    struct ring_slot *pending = ring_claim(&bench->ring, first, 1);
    pending->type = SLOT_EVENT;
    pending->kind = EVENT_FREE;
    pending->seq = 1;
    atomic_store(&pending->state, SLOT_PENDING);
    push(bench, first, 2);
    push(bench, second, 3);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 1);
    ring_publish(pending);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 3);
}

TEST_WITH(a_pending_slot_of_the_dead_is_stored_with_result_null, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    struct ring_slot *pending = ring_claim(&bench->ring, segment, 1);
    pending->type = SLOT_EVENT;
    pending->kind = EVENT_FREE;
    pending->seq = 1;
    pending->time_ns = 70;
    atomic_store(&pending->state, SLOT_PENDING);
    bench->drain->dead = true;
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event WHERE result IS NULL"), 1);
    assert_int_equal(drain_remains(bench->drain).in_flight_events, 1);
    assert_int_equal(drain_remains(bench->drain).last_time_ns, 70);

    /* If the process that folds the ring is killed, the next one also counts events that are
     * already stored. */
    free(bench->drain);
    assert_non_null(bench->drain = drain_new(&bench->ring, &bench->store, true));
    drain_ok(bench);
    assert_int_equal(drain_remains(bench->drain).in_flight_events, 1);
}

TEST_WITH(a_drained_full_segment_is_used_again, set_up_one_segment, tear_down)
{
    struct bench *bench = *state;
    uint64_t seq = 0;
    for (int turn = 0; turn < 5; turn++) {
        struct ring_segment *segment = ring_take_segment(&bench->ring);
        assert_non_null(segment);
        while (push(bench, segment, seq + 1))
            seq++;
        drain_ok(bench);
    }
    assert_int_equal(ring_segment_count(&bench->ring), 1);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), (int64_t)seq);
    assert_int_equal(seq, 5 * RING_SEGMENT_SLOTS);
}

TEST_WITH(a_segment_drained_before_its_owner_found_it_full_is_used_again, set_up_one_segment,
          tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    for (uint64_t seq = 1; seq <= RING_SEGMENT_SLOTS; seq++)
        assert_non_null(push(bench, segment, seq));
    drain_ok(bench);
    assert_null(ring_claim(&bench->ring, segment, 1));
    drain_ok(bench);
    assert_ptr_equal(ring_take_segment(&bench->ring), segment);
}

TEST_WITH(a_segment_without_room_for_the_next_record_is_used_again, set_up_one_segment, tear_down)
{
    struct bench *bench = *state;
    uint64_t seq = 0;
    for (int turn = 0; turn < 2; turn++) {
        struct ring_segment *segment = ring_take_segment(&bench->ring);
        assert_non_null(segment);
        for (uint32_t slot = 0; slot < RING_SEGMENT_SLOTS - 1; slot++)
            assert_non_null(push(bench, segment, ++seq));
        assert_null(ring_claim(&bench->ring, segment, 2));
        drain_ok(bench);
    }
    assert_int_equal(ring_segment_count(&bench->ring), 1);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), (int64_t)seq);
}

TEST_WITH(beyond_the_limit_there_is_no_segment, set_up_one_segment, tear_down)
{
    struct bench *bench = *state;
    assert_non_null(ring_take_segment(&bench->ring));
    assert_null(ring_take_segment(&bench->ring));
}

TEST_WITH(a_segment_left_by_a_thread_goes_on_under_the_next_owner, set_up, tear_down)
{
    struct bench *bench = *state;
    for (uint32_t thread_id = 1; thread_id <= 2; thread_id++) {
        struct ring_segment *segment = ring_take_segment(&bench->ring);
        struct ring_slot *owner = ring_claim(&bench->ring, segment, 1);
        owner->type = SLOT_OWNER;
        owner->seq = thread_id;
        ring_publish(owner);
        push(bench, segment, thread_id);
        ring_leave_segment(&bench->ring, segment);
        if (thread_id == 1)
            drain_ok(bench);
    }
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT sum(seq = thread_id) FROM event"), 2);
    assert_int_equal(ring_segment_count(&bench->ring), 1);
}

TEST_WITH(a_text_over_several_slots_comes_back_whole, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    char text[200];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 26);
    const unsigned slots = record_text_slots(sizeof text);
    struct ring_slot *slot = ring_claim(&bench->ring, segment, 1 + slots);
    for (unsigned i = 0; i < slots; i++) {
        const size_t done = (size_t)i * SLOT_TEXT_BYTES;
        const size_t part =
            sizeof text - done < SLOT_TEXT_BYTES ? sizeof text - done : SLOT_TEXT_BYTES;
        memcpy(slot[1 + i].text, text + done, part);
    }
    slot->type = SLOT_STRING;
    slot->seq = 9;
    slot->call_id = sizeof text;
    ring_publish(slot);
    push(bench, segment, 1);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT length(text) FROM string WHERE string_id=9"), 200);
    assert_int_equal(query(bench, "SELECT unicode(substr(text,200,1)) FROM string"), text[199]);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 1);
}

TEST_WITH(a_batch_that_cannot_be_stored_moves_no_tail, set_up, tear_down)
{
    struct bench *bench = *state;
    struct err err = {0};
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    push(bench, segment, 1);
    sqlite3_exec(bench->store.db, "PRAGMA query_only=1", NULL, NULL, NULL);
    assert_int_equal(drain_batch(bench->drain, &err), -1);
    assert_true(strlen(err.message) > 0);
    assert_int_equal(atomic_load(&segment->tail), 0);
    sqlite3_exec(bench->store.db, "PRAGMA query_only=0", NULL, NULL, NULL);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 1);
}

TEST_WITH(events_already_stored_are_skipped, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    push(bench, segment, 1);
    push(bench, segment, 2);
    drain_ok(bench);
    /* The state after a kill between COMMIT and the move of the tail. */
    atomic_store(&segment->tail, 0);
    push(bench, segment, 3);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 3);
}

TEST_WITH(a_forked_child_does_not_have_its_parents_ring_in_memory, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_segment *segment = ring_take_segment(&bench->ring);
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(msync(segment, RING_SEGMENT_BYTES, MS_ASYNC) == -1 && errno == ENOMEM ? 5 : 9);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

TEST_WITH(a_ring_of_another_process_that_lives_is_not_taken, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring other;
    struct err err = {0};
    bool recording = false;
    assert_int_equal(ring_open(&other, bench->ring_path, &recording, &err), 0);
    assert_true(recording);
    ring_release(&other);
}

/* --- a writer that is slower than the program --- */

#define WAITING_SEGMENTS (3 * RING_RESIDENT_SEGMENTS)

static int set_up_large(void **state)
{
    return set_up_with(state, (WAITING_SEGMENTS + 1) * RING_SEGMENT_BYTES);
}

/* Fills WAITING_SEGMENTS segments, two at a time in turn, as two threads would. Returns the
   number of events. */
static uint64_t fill_waiting_segments(struct bench *bench)
{
    uint64_t seq = 0;
    for (int pair = 0; pair < WAITING_SEGMENTS / 2; pair++) {
        struct ring_segment *first = ring_take_segment(&bench->ring);
        struct ring_segment *second = ring_take_segment(&bench->ring);
        while (push(bench, first, seq + 1)) {
            seq++;
            if (push(bench, second, seq + 1))
                seq++;
        }
        assert_null(push(bench, second, seq + 1));
    }
    return seq;
}

/* Returns the bytes of the ring's file that this process has in memory. */
static uint64_t resident_bytes(const struct bench *bench)
{
    char line[4096 + 256];
    uint64_t bytes = 0;
    bool is_ring = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        unsigned long long kib;
        uint64_t from, to;
        if (sscanf(line, "%" SCNx64 "-%" SCNx64, &from, &to) == 2)
            is_ring = strstr(line, bench->ring.path) != NULL;
        else if (is_ring && sscanf(line, "Rss: %llu kB", &kib) == 1)
            bytes += (uint64_t)kib << 10;
    }
    fclose(file);
    return bytes;
}

TEST_WITH(segments_that_wait_are_in_the_file_and_not_in_memory, set_up_large, tear_down)
{
    struct bench *bench = *state;
    const uint64_t most = (RING_RESIDENT_SEGMENTS + 4 * DRAIN_FULL_SEGMENTS) * RING_SEGMENT_BYTES;
    fill_waiting_segments(bench);
    assert_in_range(resident_bytes(bench), 1, most);
    drain_ok(bench);
    assert_in_range(resident_bytes(bench), 1, most);
}

TEST_WITH(what_a_dead_producer_left_leaves_memory_as_it_is_stored, set_up_large, tear_down)
{
    struct bench *bench = *state;
    struct err err = {0};
    const uint64_t most = (RING_RESIDENT_SEGMENTS + DRAIN_FULL_SEGMENTS) * RING_SEGMENT_BYTES;
    const uint64_t events = fill_waiting_segments(bench);
    bench->drain->dead = true;
    while (drain_batch(bench->drain, &err) > 0)
        assert_in_range(resident_bytes(bench), 1, most);
    assert_int_equal(drain_remains(bench->drain).in_flight_events, 0);
    assert_in_range(resident_bytes(bench), 1, most);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), (int64_t)events);
}

TEST_WITH(segments_that_wait_are_stored_in_their_order, set_up_large, tear_down)
{
    struct bench *bench = *state;
    struct err err = {0};
    const uint64_t events = fill_waiting_segments(bench);
    for (int64_t stored = 0; stored < (int64_t)events;) {
        assert_in_range(drain_batch(bench->drain, &err), 0, 1);
        assert_true(query(bench, "SELECT max(seq) FROM event") > stored);
        stored = query(bench, "SELECT max(seq) FROM event");
        assert_int_equal(query(bench, "SELECT count(*) FROM event"), stored);
    }
    assert_int_equal(ring_segment_count(&bench->ring), WAITING_SEGMENTS);
    assert_non_null(ring_take_segment(&bench->ring));
    assert_int_equal(ring_segment_count(&bench->ring), WAITING_SEGMENTS);
}

TEST_WITH(full_segments_that_a_call_holds_back_let_the_others_pass, set_up, tear_down)
{
    struct bench *bench = *state;
    struct ring_slot *held[2 * DRAIN_FULL_SEGMENTS];
    uint64_t seq = 0;
    for (unsigned i = 0; i < 2 * DRAIN_FULL_SEGMENTS; i++) {
        struct ring_segment *segment = ring_take_segment(&bench->ring);
        held[i] = ring_claim(&bench->ring, segment, 1);
        while (push(bench, segment, seq + 1))
            seq++;
    }
    struct ring_segment *free_one = ring_take_segment(&bench->ring);
    while (push(bench, free_one, seq + 1))
        seq++;
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), RING_SEGMENT_SLOTS);
    for (unsigned i = 0; i < 2 * DRAIN_FULL_SEGMENTS; i++) {
        held[i]->kind = EVENT_NONE;
        ring_publish(held[i]);
    }
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), (int64_t)seq);
}

/* --- a producer and the drain at once, for the thread sanitizer too --- */

#define RACE_EVENTS 200000

static _Atomic uint64_t race_seq;

static void *produce(void *argument)
{
    struct bench *bench = argument;
    struct ring_segment *segment = NULL;
    for (int i = 0; i < RACE_EVENTS;) {
        if (!segment && !(segment = ring_take_segment(&bench->ring)))
            continue;
        struct ring_slot *slot = ring_claim(&bench->ring, segment, 1);
        if (!slot) {
            segment = NULL;
            continue;
        }
        slot->type = SLOT_EVENT;
        slot->kind = EVENT_ALLOC;
        slot->seq = atomic_fetch_add(&race_seq, 1) + 1;
        ring_publish(slot);
        i++;
    }
    ring_leave_segment(&bench->ring, segment);
    return NULL;
}

TEST_WITH(producers_and_the_drain_lose_nothing, set_up, tear_down)
{
    struct bench *bench = *state;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, produce, bench), 0);
    while (atomic_load(&race_seq) < 3 * RACE_EVENTS)
        drain_ok(bench);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    drain_ok(bench);
    assert_int_equal(query(bench, "SELECT count(*) FROM event"), 3 * RACE_EVENTS);
    assert_int_equal(query(bench, "SELECT max(seq) FROM event"), 3 * RACE_EVENTS);
}

UNIT_MAIN(NULL, NULL)
