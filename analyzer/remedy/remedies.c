/* SPDX-License-Identifier: MIT */
/* Chooses and computes remedies; see remedies.h. */
#include "remedies.h"

#include <stdlib.h>

#include "analyzer/analysis/study_open.h"
#include "analyzer/replay/replay.h"
#include "analyzer/analysis/fragmentation/frag.h"
#include "analyzer/analysis/leaks.h"
#include "analyzer/oom/oom.h"
#include "analyzer/thresholds/thresholds.h"
#include "analyzer/util/array.h"
#include "analyzer/whatif/whatif.h"
#include "advised.h"
#include "asked.h"
#include "at_moment.h"
#include "evaluation.h"
#include "expanded.h"
#include "torch_setting.h"

/* The parts of which the loaded weights are a share. All numbers up to ten divide it. */
enum { LOADED_PARTS = 5040 };

static const struct remedy_words rows[] = {
#define REMEDY(key, way, sign, text, how, supposes) {#key, way, sign, text, how, supposes},
#include "remedies.def"
};

const struct remedy_words *remedy_words(enum remedy_key key)
{
    return &rows[key];
}

/* --- the questions --- */

enum { QUESTIONS_MAX = REMEDY_COUNT + WITHOUT_LINES_MAX };

struct inquiry {
    const struct study *study;
    struct remedies *remedies;
    const struct failure *failure; /* NULL: no failure */
    const struct lives *lives;
    struct at_moment at;
    struct caught caught;
    struct without without;
    struct without_question items[QUESTIONS_MAX];
    enum remedy_key keys[QUESTIONS_MAX]; /* the remedy of each question */
    uint64_t call_counts[WITHOUT_LINES_MAX];
    bool has_room;  /* nothing failed, and the peak left room: asks only about a checkpoint */
    bool has_model; /* expandable segments may help; the model of the allocator tells */
    struct whatif whatif;
    struct observer model; /* the observer of `whatif` */
    bool is_model_over;
    bool sums_losses;       /* one backward runs for several losses: smaller batches gain nothing */
    bool needs_no_backward; /* a line that holds much memory evaluates, or the program infers */
    bool infers; /* no backward ran, and forward keeps what it kept before and dropped again */
    struct remedy leak; /* against a leak of steps that are no iterations; gain_bytes 0: none */
};

/* True if the model's run is over. Asks the model about the failing device only. A run that is over
 * stays over. */
static bool has_model_ended(struct inquiry *inquiry)
{
    if (inquiry->is_model_over)
        return true;
    const struct account *failing = &inquiry->study->history.accounts[inquiry->failure->account];
    const struct whatif_device *device = inquiry->whatif.devices[DEVICE_SLOT(failing->device)];
    inquiry->is_model_over = device && whatif_device_is_over(device);
    return inquiry->is_model_over;
}

static int show_model_change(void *self, const struct cursor *at, const struct change *change)
{
    struct inquiry *inquiry = self;
    const struct observer *model = &inquiry->model;
    return has_model_ended(inquiry) ? 0 : model->on_change(model->self, at, change);
}

static int show_model_event(void *self, const struct cursor *at)
{
    struct inquiry *inquiry = self;
    const struct observer *model = &inquiry->model;
    return has_model_ended(inquiry) ? 0 : model->on_event(model->self, at);
}

/* Runs the second replay if there is a question or a model. The replay stops at the failure, unless
 * a model watches, because the model also needs the events after the failure. */
static int replay_again(struct inquiry *inquiry, struct err *err)
{
    const struct study *study = inquiry->study;
    if (!inquiry->without.count && !inquiry->has_model)
        return 0;
    if (without_begin(&inquiry->without, err))
        return -1;
    inquiry->model = whatif_observer(&inquiry->whatif);
    const struct observer observers[] = {
        without_observer(&inquiry->without),
        {.self = inquiry, .on_change = show_model_change, .on_event = show_model_event}};
    const struct replay_plan plan = {
        .rule_of = category_rule_of,
        .takes_library_ranges = study->takes_library_ranges,
        .ignores_segments = true,
        .ignores_times = true,
        .events_most = inquiry->failure && !inquiry->has_model ? inquiry->failure->at.index + 1 : 0,
        .observers = {observers, inquiry->has_model ? 2 : 1}};

    return study_replay_again(study, &plan, err);
}

static struct without_question *ask(struct inquiry *inquiry, enum remedy_key key,
                                    enum without_rule rule, uint32_t part_of, uint32_t whole)
{
    struct without *without = &inquiry->without;
    inquiry->keys[without->count] = key;
    struct without_question *asked = &inquiry->items[without->count++];
    *asked = (struct without_question){.rule = rule, .part_of = part_of, .whole = whole};
    return asked;
}

/* True if autograd keeps most blocks of forward, and if the places of these blocks held nearly as
 * many blocks before and freed them without any backward. The program then needed no backward. */
static bool infers(const struct inquiry *inquiry)
{
    const uint64_t *born_bytes = inquiry->lives->bytes_by_part;
    uint64_t kept_bytes = 0;
    if (born_bytes[PART_BACKWARD] || born_bytes[PART_OPTIMIZER])
        return false;
    for (size_t i = 0; i < inquiry->at.count; i++) {
        const struct live_block *block = &inquiry->at.items[i];
        const struct place_life life = lives_of(inquiry->lives, block->place);
        const bool is_kept = block->is_of_graph || !inquiry->at.tells_graphs;
        if (block->part == PART_FORWARD && is_kept && life.fall_count > 2 &&
            life.fall_count * 2 >= life.live_count)
            kept_bytes += block->size_bytes;
    }
    return kept_bytes && kept_bytes >= inquiry->at.bytes_by_part[PART_FORWARD] / 2;
}

/* Asks about tensors that are as large as the largest tensor with that sign, and about tensors of
 * half and twice this size, which are the same tensor in another dtype. Logits that were gathered
 * from several devices stay whole, so chunks then divide only the tensors of the loss itself. */
static int ask_sizes(struct inquiry *inquiry, enum remedy_key key, enum torch_meaning sign,
                     uint32_t part_of, uint32_t whole, struct err *err)
{
    struct signed_bytes found, gathered;
    if (at_moment_signed(&inquiry->at, sign, &found, err) ||
        at_moment_signed(&inquiry->at, TORCH_gathered, &gathered, err))
        return -1;
    if (found.bytes <= inquiry->at.live_bytes / SIGN_DIVISOR)
        return 0;
    struct without_question *asked = ask(inquiry, key, WITHOUT_SIZES, part_of, whole);
    asked->sign_stack = found.stack_id;
    asked->sign = sign;
    asked->is_of_sign =
        sign == TORCH_loss && gathered.bytes > inquiry->at.live_bytes / SIGN_DIVISOR;
    asked->sizes[0] = found.largest_bytes;
    asked->sizes[1] = found.largest_bytes / 2;
    asked->sizes[2] = found.largest_bytes * 2;
    return 0;
}

/* Asks about loaded weights that have twins in the model. An Adam checkpoint also has two moments
 * for each weight, and the optimizer takes these over as they are, so they are no gain. If nothing
 * failed, the weights must have been freed unused, because a second model may be loaded, too. */
static int ask_loading(struct inquiry *inquiry, struct err *err)
{
    const struct at_moment *at = &inquiry->at;
    struct signed_bytes loaded;
    uint64_t twin_bytes;
    if (at_moment_signed(at, TORCH_loading, &loaded, err) ||
        at_moment_twins(at, TORCH_loading, &twin_bytes, err))
        return -1;
    if (!twin_bytes || loaded.bytes > COPIES_MOST * twin_bytes + twin_bytes / UNLIKE_DIVISOR ||
        (!inquiry->failure && loaded.unused_bytes < twin_bytes))
        return 0;
    const double share = (double)twin_bytes / (double)loaded.bytes;
    const uint32_t parts = (uint32_t)(share * LOADED_PARTS + 0.5);
    ask(inquiry, REMEDY_load_on_cpu, WITHOUT_SIGN, parts, LOADED_PARTS)->sign = TORCH_loading;
    return 0;
}

/* True if the line evaluates a model that other lines train. */
static bool evaluates(const struct inquiry *inquiry, size_t line)
{
    const uint32_t location = inquiry->without.lines[line].location;
    return inquiry->failure && at_moment_keeps_graph(&inquiry->at, location) &&
           evaluation_is(inquiry->lives, &inquiry->at, location, inquiry->call_counts[line]);
}

/* Asks about lines. If nothing is trained, or if a line evaluates, no backward needs the
 * tensors. */
static int ask_lines(struct inquiry *inquiry, struct err *err)
{
    struct without *without = &inquiry->without;
    bool is_asked[WITHOUT_LINES_MAX], any = inquiry->infers;
    if (at_moment_lines(&inquiry->at, without, inquiry->call_counts, err))
        return -1;
    for (size_t i = 0; i < without->line_count; i++) {
        is_asked[i] = inquiry->infers || evaluates(inquiry, i);
        any |= is_asked[i];
    }
    inquiry->needs_no_backward = any;
    for (size_t i = 0; i < without->line_count; i++) {
        without->lines[i].drops_outputs = any;
        const bool is_call = without->lines[i].tells_calls && !inquiry->leak.gain_bytes &&
                             at_moment_keeps_graph(&inquiry->at, without->lines[i].location);
        if (is_asked[i] || (!any && is_call))
            ask(inquiry, any ? REMEDY_no_grad : REMEDY_checkpoint, WITHOUT_CALLS, 1, 1)->line = i;
    }
    return 0;
}

/* Finds a leak of steps that are no iterations, as in a loop without a backward. If it holds half
 * of what is live, it is the cause, and smaller batches would leak as much. */
static int find_leak(struct inquiry *inquiry, struct err *err)
{
    struct remedy leak = {.key = REMEDY_held_over, .gain_known = true};
    struct account_leak found;
    if (inquiry->lives->iterations.number || !inquiry->lives->bytes_by_part[PART_FORWARD] ||
        !inquiry->failure)
        return 0;
    if (account_leak_find(&found, inquiry->study, inquiry->remedies->account, err))
        return -1;
    if (found.leak.verdict == LEAK_FOUND)
        leak.gain_bytes = account_leak_bytes(&found);
    for (size_t i = found.growing.count; i-- > 0;)
        if (found.growing.items[i].is_of_cause) {
            leak.site_id = found.growing.items[i].first->site_id;
            leak.may_have_graph |= found.growing.items[i].is_of_graph;
        }
    if (leak.gain_bytes >= inquiry->at.live_bytes / LEAK_OF_FAILURE_DIVISOR)
        inquiry->leak = leak;
    account_leak_release(&found);
    return 0;
}

static int ask_all(struct inquiry *inquiry, struct err *err)
{
    const struct failure *failure = inquiry->failure;
    if (inquiry->has_room)
        return ask_loading(inquiry, err);
    if (failure &&
        caught_find(&inquiry->caught, &inquiry->study->history, inquiry->at.places, failure, err))
        return -1;
    if (inquiry->caught.count)
        ask(inquiry, REMEDY_caught, WITHOUT_CAUGHT, 1, 1);
    inquiry->infers = infers(inquiry);
    if (at_moment_sums_losses(&inquiry->at, &inquiry->sums_losses, err))
        return -1;
    inquiry->sums_losses &= at_moment_keeps_graph(&inquiry->at, 0);
    if (!inquiry->sums_losses && find_leak(inquiry, err))
        return -1;
    const bool leaks = inquiry->leak.gain_bytes > 0;
    if (!inquiry->sums_losses && !leaks)
        ask(inquiry, REMEDY_smaller_batch, WITHOUT_LINEAR, 1, 2);
    ask(inquiry, REMEDY_smaller_states, WITHOUT_STATES, 3, 4);
    ask(inquiry, REMEDY_data_on_cpu, WITHOUT_PILES, 1, 1);
    ask(inquiry, REMEDY_held_over, WITHOUT_HELD, 1, 1);
    /* The optimizer's step needs the gradients. It is over once forward has allocated again. */
    if (!failure || inquiry->lives->iterations.has_forward)
        ask(inquiry, REMEDY_zero_grad, WITHOUT_STALE, 1, 1);
    /* The same functions also make the states, such as the momentum of SGD, which stay. */
    ask(inquiry, REMEDY_fused_optimizer, WITHOUT_PASSING, 1, 1)->sign = TORCH_foreach;
    if (!leaks && (ask_sizes(inquiry, REMEDY_chunked_loss, TORCH_loss, 7, 8, err) ||
                   ask_sizes(inquiry, REMEDY_flash_attention, TORCH_softmax, 1, 1, err)))
        return -1;
    return ask_loading(inquiry, err) || ask_lines(inquiry, err) ? -1 : 0;
}

/* True if the account had allocated any bytes that the question may concern. */
static bool may_concern(const struct inquiry *inquiry, const struct without_question *question)
{
    const uint64_t *born_bytes = inquiry->lives->bytes_by_part;
    switch (question->rule) {
    case WITHOUT_SIGN:
    case WITHOUT_PASSING:
        return places_have(inquiry->at.places, question->sign);
    case WITHOUT_STATES:
        return born_bytes[PART_OPTIMIZER];
    case WITHOUT_STALE:
        return born_bytes[PART_BACKWARD];
    case WITHOUT_PILES:
        return born_bytes[PART_DATA];
    default:
        return born_bytes[PART_DATA] || born_bytes[PART_FORWARD] || born_bytes[PART_BACKWARD];
    }
}

/* Drops the questions about bytes that this account never allocated, because their gain is 0. */
static void drop_idle_questions(struct inquiry *inquiry)
{
    struct without *without = &inquiry->without;
    size_t kept = 0;
    for (size_t i = 0; i < without->count; i++)
        if (may_concern(inquiry, &inquiry->items[i])) {
            inquiry->keys[kept] = inquiry->keys[i];
            inquiry->items[kept++] = inquiry->items[i];
        }
    without->count = kept;
}

/* --- the answers --- */

/* True if the gain is less than the largest call. Checkpointing computes the calls again one at a
 * time, so such a gain is none. */
static bool is_less_than_a_call(const struct inquiry *inquiry, size_t number, uint64_t gain_bytes)
{
    return inquiry->keys[number] == REMEDY_checkpoint &&
           gain_bytes <= inquiry->without.lines[inquiry->items[number].line].most_bytes;
}

static struct remedy answer_of(const struct inquiry *inquiry, size_t number)
{
    const struct without_question *question = &inquiry->items[number];
    const uint64_t need_bytes = inquiry->remedies->need_bytes, high_bytes = question->high_bytes;
    struct remedy remedy = {.key = inquiry->keys[number],
                            .gain_known = true,
                            .gain_bytes = need_bytes > high_bytes ? need_bytes - high_bytes : 0,
                            .may_have_graph = question->is_of_graph || !inquiry->at.tells_graphs,
                            .zeroes = !inquiry->without.stale.are_dropped,
                            .site_id = question->sign_stack ? question->sign_stack
                                                            : question->most_site_id};
    if (question->rule == WITHOUT_CAUGHT) {
        remedy.gain_bytes = question->most_bytes;
        remedy.line = inquiry->caught.location;
    }
    if (question->rule == WITHOUT_CALLS) {
        remedy.line = inquiry->without.lines[question->line].location;
        remedy.callee = at_moment_callee(&inquiry->at, remedy.line);
        remedy.count = inquiry->call_counts[question->line];
    }
    return remedy;
}

/* True if the line's remedy is better than `best`. Lines come in the order of bytes held, with
 * callers first, so a later line wins if it gains nearly as much. */
static bool is_better_line(const struct remedy *remedy, const struct remedy *best)
{
    return remedy->gain_bytes >= best->gain_bytes - best->gain_bytes / SAME_GAIN_DIVISOR;
}

static void keep_answer(struct remedies *remedies, const struct remedy *remedy)
{
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].key == remedy->key) {
            if (is_better_line(remedy, &remedies->items[i]))
                remedies->items[i] = *remedy;
            return;
        }
    remedies->items[remedies->count++] = *remedy;
}

/* True for a remedy about memory that an allocator caches. It ranks first, because it needs no
 * change of the program. */
bool remedy_is_of_allocator(const struct remedy *remedy)
{
    return remedy->key == REMEDY_expandable_segments || remedy->key == REMEDY_empty_cache;
}

/* Returns the rank of a remedy. Dropping a caught exception ranks next after the allocator's
 * remedies. A remedy whose gain is not that of the peak (is_early) ranks last. */
static int rank_of(const struct remedy *remedy)
{
    if (remedy->is_early)
        return 3;
    return remedy_is_of_allocator(remedy) ? 0 : remedy->key == REMEDY_caught ? 1 : 2;
}

ORDER_BY(compare_gains, struct remedy, RISING_IN(rank_of), FALLING(gain_bytes), RISING(key));

static bool has_trained(const struct inquiry *inquiry)
{
    const uint64_t *born_bytes = inquiry->lives->bytes_by_part;
    return born_bytes[PART_BACKWARD] || born_bytes[PART_OPTIMIZER];
}

/* True if the first step of a training failed, or the forward of one whose earlier steps had
 * shorter forwards. In this case a gain is right for the failure, but not for the later peak,
 * because the trace does not show what the rest of the step needs. */
static bool fails_new_step(const struct inquiry *inquiry)
{
    const struct at_moment *at = &inquiry->at;
    const struct lives *lives = inquiry->lives;
    const bool is_new =
        !lives->iterations.number || (lives->iterations.part == PART_FORWARD &&
                                      lives->forward_bytes > lives->most_forward_bytes);
    const bool may_train = at->bytes_by_part[PART_INIT] && at->bytes_by_part[PART_FORWARD] &&
                           at->tells_graphs && at_moment_keeps_graph(at, 0);
    return inquiry->failure && is_new && !inquiry->needs_no_backward && !inquiry->leak.gain_bytes &&
           (may_train || has_trained(inquiry));
}

/* True if the remedy concerns little of what was live when this account's own request failed. Then
 * it only lowers an earlier peak, and the request would fail again. */
static bool misses_failure(const struct inquiry *inquiry, size_t number)
{
    const struct remedies *remedies = inquiry->remedies;
    const struct without_question *question = &inquiry->items[number];
    const uint64_t gone_bytes = without_share(question, question->most_bytes);
    return inquiry->failure && inquiry->failure->account == remedies->account &&
           gone_bytes <= remedies->need_bytes / NOTABLE_GAIN_DIVISOR;
}

static void keep_answers(const struct inquiry *inquiry)
{
    struct remedies *remedies = inquiry->remedies;
    const bool is_early = fails_new_step(inquiry);
    for (size_t i = 0; i < inquiry->without.count; i++) {
        struct remedy remedy = answer_of(inquiry, i);
        remedy.has_trained = has_trained(inquiry);
        remedy.is_early = is_early && remedy.key != REMEDY_caught;
        if (remedy.gain_bytes > remedies->need_bytes / NOTABLE_GAIN_DIVISOR &&
            !is_less_than_a_call(inquiry, i, remedy.gain_bytes) && !misses_failure(inquiry, i) &&
            !asked_refutes(&remedies->asked, remedy.key))
            keep_answer(remedies, &remedy);
    }
}

/* Advises a backward for each loss. The gain is unknown: with this remedy, gradients live between
 * the losses, and they may not have been allocated yet. */
static void advise_each_backward(const struct inquiry *inquiry)
{
    struct remedies *remedies = inquiry->remedies;
    if (inquiry->sums_losses && !inquiry->needs_no_backward)
        remedies->items[remedies->count++] =
            (struct remedy){.key = REMEDY_each_backward, .has_trained = has_trained(inquiry)};
}

/* --- the allocator --- */

/* Finds the bytes that expandable segments would have saved on the same card. Returns false unless
 * the model of the allocator repeats the recorded run, and serves the failed request with
 * expandable segments. They must also leave room for what the program would have asked next: the
 * pool has held as many live bytes before, or the gain is a large share of the need. */
static bool find_expandable_gain(const struct inquiry *inquiry, struct remedy *remedy)
{
    const struct failure *failure = inquiry->failure;
    const int slot = DEVICE_SLOT(inquiry->study->history.accounts[failure->account].device);
    const struct whatif_device *device = inquiry->whatif.devices[slot];
    if (!device || device->recorded.difference.kind != DIFFERENCE_NONE)
        return false;
    const struct whatif_run *run = &device->runs[0];
    const uint64_t need_bytes =
        device->recorded.allocator.peak_reserved_bytes + failure->event.size_bytes;
    const bool fails_again =
        run->failure.at.index != INDEX_NONE ||
        (run->last_same_index != INDEX_NONE && run->last_same_index >= failure->at.index);
    remedy->gain_known = need_bytes > run->allocator.peak_reserved_bytes;
    remedy->gain_bytes = remedy->gain_known ? need_bytes - run->allocator.peak_reserved_bytes : 0;
    return !fails_again && (inquiry->at.live_bytes <= inquiry->lives->peak_bytes ||
                            remedy->gain_bytes >= need_bytes / ROOMY_DIVISOR);
}

/* Asks about expandable segments if memory lay idle in PyTorch's pool but not in one piece. The
 * model of the allocator computes the gain if it knows the trace's settings. */
static void ask_allocator(struct inquiry *inquiry, const struct oom *oom)
{
    static const struct whatif_ask ask = {.change = "expandable_segments"};
    struct remedies *remedies = inquiry->remedies;
    const struct study *study = inquiry->study;
    struct err ignored = {0};
    inquiry->has_model =
        oom->verdict == OOM_FRAGMENTED &&
        torch_setting(remedies->setting, study, remedies->account, remedies->moment.index) &&
        !whatif_init(&inquiry->whatif, &study->trace, &ask, 1, &ignored);
    inquiry->whatif.ends_with_runs = true;
}

static void advise_expandable_segments(struct inquiry *inquiry)
{
    struct remedies *remedies = inquiry->remedies;
    struct remedy remedy = {.key = REMEDY_expandable_segments};
    if (inquiry->has_model && !asked_refutes(&remedies->asked, remedy.key) &&
        find_expandable_gain(inquiry, &remedy))
        remedies->items[remedies->count++] = remedy;
}

/* Advises to empty the cache if the driver refused a library's request while the pool could have
 * given back enough memory. */
static int advise_empty_cache(struct inquiry *inquiry, struct err *err)
{
    struct remedies *remedies = inquiry->remedies;
    const struct failure *failure = inquiry->failure;
    struct frag frag;
    if (!failure || failure->account == remedies->account)
        return 0;
    if (frag_at(&frag, &inquiry->study->history, remedies->account, failure->at.index, err))
        return -1;
    if (!frag.reserved_known || frag.free_bytes - frag.stranded_bytes < failure->event.size_bytes)
        return 0;
    remedies->items[remedies->count++] =
        (struct remedy){.key = REMEDY_empty_cache,
                        .gain_known = true,
                        .gain_bytes = frag.free_bytes - frag.stranded_bytes,
                        .site_id = failure->site_id};
    return 0;
}

/* --- the entry --- */

static int judge_request(struct inquiry *inquiry, struct err *err)
{
    const struct history *history = &inquiry->study->history;
    const int device = history->accounts[inquiry->failure->account].device;
    struct oom oom;
    if (oom_explain(&oom, history, inquiry->failure, err))
        return -1;
    ask_allocator(inquiry, &oom);
    return asked_find(&inquiry->remedies->asked, &inquiry->at, inquiry->lives, &inquiry->caught,
                      &oom, study_card_bytes(inquiry->study, device), err);
}

/* The first replay decides which questions to ask; the second one answers them. */
static int inquire(struct inquiry *inquiry, struct lives_watch *watch, struct err *err)
{
    struct remedies *remedies = inquiry->remedies;
    const struct study *study = inquiry->study;
    const uint64_t moment = remedies->moment.index;
    const bool is_own = inquiry->failure && inquiry->failure->account == remedies->account;
    inquiry->lives = lives_at(watch, &study->history, remedies->account, inquiry->failure, err);
    if (!inquiry->lives)
        return -1;
    inquiry->at =
        (struct at_moment){.history = &study->history,
                           .places = &watch->places,
                           .symbols = study->symbols,
                           .categories = &study->categories,
                           .tells_graphs = watch->has_graphs || trace_tells_autograd(&study->trace),
                           .lives = inquiry->lives,
                           .iteration_index = inquiry->lives->iteration_index};
    if (at_moment_find(&inquiry->at, remedies->account, moment, is_own ? inquiry->failure : NULL,
                       err))
        return -1;
    remedies->need_bytes = inquiry->at.live_bytes > inquiry->lives->peak_bytes
                               ? inquiry->at.live_bytes
                               : inquiry->lives->peak_bytes;
    inquiry->without =
        (struct without){.places = &watch->places,
                         .lives = inquiry->lives,
                         .categories = &study->categories,
                         .account = remedies->account,
                         .moment = moment,
                         .failure = inquiry->failure,
                         .caught = &inquiry->caught,
                         .needs_optimizer = inquiry->lives->optimized_iterations_count > 1,
                         .items = inquiry->items};
    if (ask_all(inquiry, err) || (is_own && judge_request(inquiry, err)))
        return -1;
    larger_blocks_find(&remedies->larger, &inquiry->at, inquiry->lives);
    drop_idle_questions(inquiry);
    return replay_again(inquiry, err);
}

static bool choose_moment(struct inquiry *inquiry, const struct lives_watch *watch)
{
    struct remedies *remedies = inquiry->remedies;
    struct advised advised = {0};
    const bool is_needed = advised_moment(&advised, inquiry->study);
    inquiry->has_room = !is_needed && !advised.failure;
    if (inquiry->has_room && !advised_loading(&advised, inquiry->study, watch))
        return false;
    inquiry->failure = advised.failure;
    remedies->account = advised.account;
    remedies->moment = advised.moment;
    remedies->has_failed = advised.failure;
    return is_needed || inquiry->has_room;
}

int remedies_find(struct remedies *remedies, const struct study *study, struct lives_watch *watch,
                  struct err *err)
{
    struct inquiry *inquiry = calloc(1, sizeof *inquiry);
    *remedies = (struct remedies){0};
    if (!inquiry)
        return err_set(err, ERR_SYSTEM, "out of memory for the remedies");
    inquiry->study = study;
    inquiry->remedies = remedies;
    remedies->needed = choose_moment(inquiry, watch);
    int status = remedies->needed ? inquire(inquiry, watch, err) : 0;
    if (!status && remedies->needed) {
        asked_learn(&remedies->asked, &inquiry->without, remedies->need_bytes);
        keep_answers(inquiry);
        if (inquiry->leak.gain_bytes)
            keep_answer(remedies, &inquiry->leak);
        advise_each_backward(inquiry);
        advise_expandable_segments(inquiry);
        status = advise_empty_cache(inquiry, err);
    }
    SORT(remedies->items, remedies->count, compare_gains);
    whatif_release(&inquiry->whatif);
    without_release(&inquiry->without);
    at_moment_release(&inquiry->at);
    free(inquiry);
    return status ? status : expanded_find(remedies, study, err);
}
