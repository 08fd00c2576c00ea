/* SPDX-License-Identifier: MIT */
/*
 * Tests the cache of places in Python's code objects. A dead object's entry is never found, even if
 * its address is used again, the table is full, or other threads read.
 */
#include <pthread.h>
#include <stdbool.h>

#include "interpose/stack/python/code_cache.h"
#include "tests/unit/unit_test.h"

/* An address as malloc returns it. */
static const void *object(uint64_t number)
{
    return (const void *)(uintptr_t)(0x7f0000000000 + number * 192);
}

static int set_up(void **state)
{
    (void)state;
    return code_cache_setup() ? 0 : -1;
}

static void add(uint64_t number, uint64_t place, uint32_t location_id)
{
    code_cache_add(code_cache_key(object(number), place), location_id);
}

static uint32_t find(uint64_t number, uint64_t place)
{
    return code_cache_find(code_cache_key(object(number), place));
}

TEST_WITH(what_was_added_is_found_and_nothing_else, set_up, NULL)
{
    add(1, 0, 11);
    add(1, 7, 12);
    add(2, 7, 13);
    assert_int_equal(find(1, 0), 11);
    assert_int_equal(find(1, 7), 12);
    assert_int_equal(find(2, 7), 13);
    assert_int_equal(find(2, 0), 0);
    assert_int_equal(find(3, 7), 0);
}

TEST_WITH(a_dead_object_takes_all_its_places_with_it, set_up, NULL)
{
    for (uint64_t place = 0; place < 50; place++) {
        add(1, place, (uint32_t)place + 1);
        add(2, place, (uint32_t)place + 101);
    }
    assert_true(code_cache_knows(object(1)));
    code_cache_forget(object(1));
    assert_false(code_cache_knows(object(1)));
    for (uint64_t place = 0; place < 50; place++) {
        assert_int_equal(find(1, place), 0);
        assert_int_equal(find(2, place), place + 101);
    }
}

TEST_WITH(an_address_used_again_has_what_was_added_last, set_up, NULL)
{
    for (uint32_t life = 1; life < 200000; life++) {
        add(life % 5, life % 3, life);
        assert_int_equal(find(life % 5, life % 3), life);
        code_cache_forget(object(life % 5));
        assert_int_equal(find(life % 5, life % 3), 0);
    }
}

TEST_WITH(a_table_that_grows_keeps_the_living_and_not_the_dead, set_up, NULL)
{
    enum { OBJECTS = 20000 };
    for (uint64_t number = 0; number < OBJECTS; number++) {
        add(number, 3, (uint32_t)number + 1);
        if (number % 2)
            code_cache_forget(object(number));
    }
    uint64_t lost = 0;
    for (uint64_t number = 0; number < OBJECTS; number++) {
        const uint32_t found = find(number, 3);
        if (number % 2)
            assert_int_equal(found, 0);
        else if (found)
            assert_int_equal(found, number + 1);
        else
            lost++;
    }
    /* An object is not cached if no slot within reach of its hash is free. That is allowed, but
       must be rare. */
    assert_in_range(lost, 0, OBJECTS / 1000);
}

TEST_WITH(more_than_the_largest_table_holds_starts_afresh, set_up, NULL)
{
    enum { OBJECTS = 700000 };
    for (uint64_t number = 0; number < OBJECTS; number++)
        add(number, 1, (uint32_t)number + 1);
    assert_int_equal(find(OBJECTS - 1, 1), OBJECTS);
    assert_int_equal(find(0, 1), 0);
}

TEST_WITH(what_does_not_fit_into_a_key_is_not_cached, set_up, NULL)
{
    assert_int_equal(code_cache_key(object(1), CODE_CACHE_HEAD), 0);
    assert_int_equal(code_cache_key((const void *)(uintptr_t)((uint64_t)1 << 48), 1), 0);
    assert_int_not_equal(code_cache_key(object(1), CODE_CACHE_HEAD - 1), 0);
}

/* --- readers and writers at once: each thread adds and forgets its own objects only --- */

#define READERS 4
#define LIVES 30000

static pthread_mutex_t writers = PTHREAD_MUTEX_INITIALIZER;

static void *live_and_die(void *argument)
{
    const uint64_t own = (uint64_t)(uintptr_t)argument;
    uint64_t wrong = 0;
    for (uint64_t life = 0; life < LIVES; life++) {
        const uint64_t number = own + READERS * (life % 300);
        const uint32_t id = (uint32_t)(life * READERS + own + 1);
        wrong += find(number, 5) != 0; /* code_cache_knows may still be true in a move */
        pthread_mutex_lock(&writers);
        add(number, 5, id);
        pthread_mutex_unlock(&writers);
        for (int again = 0; again < 10; again++) {
            const uint32_t found = find(number, 5);
            wrong += found && found != id; /* 0 is allowed during a move */
        }
        wrong += !code_cache_knows(object(number));
        pthread_mutex_lock(&writers);
        code_cache_forget(object(number));
        pthread_mutex_unlock(&writers);
    }
    return (void *)(uintptr_t)wrong;
}

TEST_WITH(threads_never_read_what_belongs_to_another_life, set_up, NULL)
{
    pthread_t threads[READERS];
    for (uintptr_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, live_and_die, (void *)i), 0);
    for (int i = 0; i < READERS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_int_equal((uintptr_t)wrong, 0);
    }
}

UNIT_MAIN(NULL, NULL)
