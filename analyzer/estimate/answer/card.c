/* SPDX-License-Identifier: MIT */
/* Cards by the names of dry runs; see card.h. */
#include "card.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/sim_spec.h"

#define GIB (UINT64_C(1) << 30)

/* PyTorch's default of CUBLAS_WORKSPACE_CONFIG: :4096:2:16:8, and :4096:8 on capability 9.0. */
static uint64_t workspace_bytes(const struct sim_spec *spec)
{
    const bool is_hopper = spec->capability_major == 9 && spec->capability_minor == 0;
    return is_hopper ? 33554432 : 8519680;
}

/* "an" before eight, eleven, eighteen, and eighty to eighty-nine. */
static const char *article(double gib)
{
    const int whole = (int)gib;
    return whole == 8 || whole / 10 == 8 || whole == 11 || whole == 18 ? "an" : "a";
}

/*
 * Names the card. If the user gave a size, the name is the number of GiB. If the user gave the name
 * of a known card, the card's size is added to that name.
 */
static void name_card(struct card *card, const char *text)
{
    const int length = (int)strcspn(text, ",");
    const double gib = (double)card->total_bytes / (double)GIB;
    const bool is_size = *text >= '0' && *text <= '9';
    if (is_size && card->total_bytes % GIB == 0)
        snprintf(card->name, sizeof card->name, "%s %" PRIu64 " GiB card", article(gib),
                 card->total_bytes / GIB);
    else if (is_size)
        snprintf(card->name, sizeof card->name, "%s %.2f GiB card", article(gib), gib);
    else
        snprintf(card->name, sizeof card->name, "card %.*s (%.2f GiB)", length, text, gib);
}

int card_make(struct card *card, const struct sim_spec *spec, const char *text, struct err *err)
{
    if (spec->is_unlimited || spec->device_count > 1)
        return err_set(err, ERR_USAGE, "'%s' is not one card with a size, as 24GiB or h100", text);
    *card = (struct card){.total_bytes = spec->total_bytes,
                          .others_bytes = spec->others_bytes,
                          .context_bytes = spec->context_bytes,
                          .workspace_bytes = workspace_bytes(spec),
                          .cores = {spec->capability_major, (uint64_t)spec->processor_count}};
    name_card(card, text);
    return 0;
}

uint64_t card_free_bytes(const struct card *card)
{
    const uint64_t taken = card->others_bytes + card->context_bytes + card->nccl_bytes;
    return taken < card->total_bytes ? card->total_bytes - taken : 0;
}
