/* SPDX-License-Identifier: MIT */
/* See rnn_space.h. */
#include "rnn_space.h"

#include "saturated.h"

/* Elements that a layer has in `width` numbers for each sample, step and direction. */
static uint64_t elements_of(const struct rnn_call *call, uint64_t width)
{
    return saturated_times(saturated_times(call->directions, width),
                           saturated_times(call->steps, call->batch));
}

/* Each layer keeps its gates and states, and each layer after the first keeps its input. Dropout
 * keeps one bit for each element that it may drop. */
uint64_t rnn_reserve_bytes(const struct rnn_call *call)
{
    enum { HEADER_BYTES = 256, BITS = 8 };
    static const uint64_t states_kept[] = {
        [RNN_RELU] = 1, [RNN_TANH] = 1, [RNN_LSTM] = 5, [RNN_GRU] = 6};
    const uint64_t state = elements_of(call, call->hidden_size), between = call->layers - 1;
    uint64_t elements = saturated_plus(
        saturated_times(saturated_times(call->layers, states_kept[call->cell]), state),
        saturated_times(between, state));
    if (call->projection_size != call->hidden_size)
        elements = saturated_plus(
            elements,
            saturated_times(call->layers,
                            saturated_plus(state, elements_of(call, call->projection_size))));
    const uint64_t bits = call->has_dropout ? saturated_times(between, state) : 0;
    return saturated_plus(
        saturated_plus(saturated_times(elements, call->element_bytes), bits / BITS), HEADER_BYTES);
}

/* The work space holds a copy of the weights in another order, a buffer for a product in each layer
 * and direction, and the states of one layer. */
uint64_t rnn_work_bytes(const struct rnn_call *call)
{
    enum { PRODUCT_BYTES = 8 << 20 };
    const bool is_lstm = call->cell == RNN_LSTM, is_stacked = call->layers > 1;
    const uint64_t states =
        (is_lstm || !is_stacked ? 6 : 5) + (is_lstm && is_stacked && call->has_dropout);
    const uint64_t state = elements_of(call, call->hidden_size);
    const uint64_t products =
        saturated_times(saturated_times(call->layers, call->directions), PRODUCT_BYTES);
    return saturated_plus(saturated_plus(products, call->weight_bytes),
                          saturated_times(saturated_times(states, state), call->element_bytes));
}
