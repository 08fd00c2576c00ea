/* SPDX-License-Identifier: MIT */
/*
 * Streams as lanes of numbered work. See progress.h.
 */
#include "progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/printable.h"

#define LANES_MANY 256

struct lane {
    struct stream_name name;
    uint64_t submitted, reached; /* numbers of work */
    struct points after;         /* must be reached before the lane's later work */
    struct questions questions;
};

static struct lane *lanes;
static size_t lane_count;
static uint64_t last_number;

bool progress_is_late(void)
{
    static int late = -1;
    const char *text = getenv("GPUMEMTRACE_EVENTS");
    char shown[64];
    if (late >= 0)
        return late;
    late = text && !strcmp(text, "late");
    if (!text || !*text || late || !strcmp(text, "done"))
        return late;
    snprintf(shown, sizeof shown, "%s", text);
    printable_make(shown);
    fprintf(
        stderr,
        "gpumemtrace simulator: GPUMEMTRACE_EVENTS: '%s' is neither done nor late; using done\n",
        shown);
    return late;
}

/* --- lanes --- */

static struct lane *lane_find(uint64_t id)
{
    for (size_t i = 0; i < lane_count; i++)
        if (lanes[i].name.id == id)
            return &lanes[i];
    return NULL;
}

/* Drops lanes without open work, because programs may create any number of streams. A missing lane
 * counts as reached. */
static void drop_idle_lanes(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < lane_count; i++)
        if (lanes[i].reached < lanes[i].submitted)
            lanes[kept++] = lanes[i];
        else
            free(lanes[i].after.items);
    lane_count = kept;
}

/* Returns the stream's lane; NULL: out of memory, and the stream's work counts as done at once. */
static struct lane *lane_of(struct stream_name stream)
{
    struct lane *lane = lane_find(stream.id), *more;
    if (lane)
        return lane;
    if (lane_count >= LANES_MANY && !(lane_count & (lane_count - 1)))
        drop_idle_lanes();
    more = realloc(lanes, (lane_count + 1) * sizeof *lanes);
    if (!more)
        return NULL;
    lanes = more;
    lanes[lane_count] =
        (struct lane){.name = stream, .submitted = last_number, .reached = last_number};
    return &lanes[lane_count++];
}

/* --- reaching --- */

static void reach(uint64_t id, uint64_t number);

static void reach_all(const struct points *points)
{
    for (size_t i = 0; i < points->count; i++)
        reach(points->items[i].lane, points->items[i].number);
}

/* When work of the legacy stream is done, all earlier work of the context's blocking streams is
 * also done. */
static void reach_beside_legacy(uint64_t context_id, uint64_t number)
{
    for (size_t i = 0; i < lane_count; i++)
        if (lanes[i].name.context_id == context_id && lanes[i].name.is_blocking)
            reach(lanes[i].name.id, number);
}

/* When work of a blocking stream is done, all earlier work of the legacy stream is also done. If
 * the legacy stream also has later work, the points that the earlier work had to wait for are no
 * longer known. */
static void reach_legacy(uint64_t context_id, uint64_t number)
{
    for (size_t i = 0; i < lane_count; i++) {
        if (lanes[i].name.context_id != context_id || !lanes[i].name.is_legacy)
            continue;
        if (lanes[i].submitted <= number)
            reach(lanes[i].name.id, lanes[i].submitted);
        else if (lanes[i].reached < number)
            lanes[i].reached = number;
    }
}

/* The recursion ends even if streams wait for each other, because each call raises `reached` of a
 * lane. */
static void reach(uint64_t id, uint64_t number)
{
    struct lane *lane = lane_find(id);
    if (!lane || lane->reached >= number)
        return;
    lane->reached = number;
    if (lane->name.is_blocking)
        reach_legacy(lane->name.context_id, number);
    if (lane->name.is_legacy)
        reach_beside_legacy(lane->name.context_id, number);
    if (lane->submitted <= number) {
        reach_all(&lane->after);
        lane->after.count = 0;
        lane->questions = (struct questions){0};
    }
}

static bool point_is_reached(struct point point)
{
    const struct lane *lane = lane_find(point.lane);
    return !lane || lane->reached >= point.number;
}

bool progress_was_reached(const struct place *place)
{
    return point_is_reached(place->at);
}

/* --- order between streams --- */

/* Keeps the highest number of each lane; leaves out a point that is reached. false: out of
 * memory. */
static bool points_add(struct points *points, struct point point)
{
    if (point_is_reached(point))
        return true;
    for (size_t i = 0; i < points->count; i++)
        if (points->items[i].lane == point.lane) {
            if (points->items[i].number < point.number)
                points->items[i].number = point.number;
            return true;
        }
    struct point *more = realloc(points->items, (points->count + 1) * sizeof *more);
    if (!more)
        return false;
    points->items = more;
    points->items[points->count++] = point;
    return true;
}

static bool points_add_all(struct points *points, const struct points *others)
{
    bool added = true;
    for (size_t i = 0; i < others->count; i++)
        added = points_add(points, others->items[i]) && added;
    return added;
}

void place_release(struct place *place)
{
    free(place->after.items);
    *place = (struct place){0};
}

void progress_submit(struct stream_name stream)
{
    struct lane *lane = progress_is_late() ? lane_of(stream) : NULL;
    if (lane)
        lane->submitted = ++last_number;
}

bool progress_note(struct stream_name stream, struct place *place)
{
    place_release(place);
    if (!progress_is_late())
        return true;
    progress_submit(stream);
    const struct lane *lane = lane_of(stream);
    if (!lane)
        return false;
    place->at = (struct point){lane->name.id, lane->submitted};
    return points_add_all(&place->after, &lane->after);
}

bool progress_put_after(struct stream_name stream, const struct place *place)
{
    if (!progress_is_late() || progress_was_reached(place))
        return true;
    progress_submit(stream);
    struct lane *lane = lane_of(stream);
    return lane && (lane->name.id == place->at.lane || points_add(&lane->after, place->at)) &&
           points_add_all(&lane->after, &place->after);
}

/* --- the host --- */

void progress_wait_for(const struct place *place)
{
    reach_all(&place->after);
    reach(place->at.lane, place->at.number);
}

static bool is_answered(struct questions *questions)
{
    const bool is_in_a_row = questions->in_all && questions->submitted == last_number;
    questions->submitted = last_number;
    questions->in_a_row = is_in_a_row ? questions->in_a_row + 1 : 1;
    questions->in_all++;
    return questions->in_a_row >= PROGRESS_IN_A_ROW || questions->in_all >= PROGRESS_IN_ALL;
}

bool progress_is_reached(struct place *place)
{
    if (progress_was_reached(place))
        return true;
    if (!is_answered(&place->questions))
        return false;
    progress_wait_for(place);
    return true;
}

bool progress_is_idle(struct stream_name stream)
{
    struct lane *lane = progress_is_late() ? lane_of(stream) : NULL;
    if (!lane || lane->reached >= lane->submitted)
        return true;
    if (!is_answered(&lane->questions))
        return false;
    reach(lane->name.id, lane->submitted);
    return true;
}

void progress_wait_for_stream(struct stream_name stream)
{
    const struct lane *lane = progress_is_late() ? lane_of(stream) : NULL;
    if (lane)
        reach(lane->name.id, lane->submitted);
}

void progress_wait_for_context(const struct context *context)
{
    for (size_t i = 0; i < lane_count; i++)
        if (context && lanes[i].name.context_id == context->life_id)
            reach(lanes[i].name.id, lanes[i].submitted);
}
