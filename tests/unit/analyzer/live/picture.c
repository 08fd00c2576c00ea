/* SPDX-License-Identifier: MIT */
/* The screen of `live`, line by line. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/live/picture.h"
#include "analyzer/util/utf8.h"
#include "tests/unit/unit_test.h"

#define MIB ((uint64_t)1 << 20)

static struct live_view view;
static const struct live_choice bytes_first = {.device = -1};

static int fresh(void **state)
{
    (void)state;
    view = (struct live_view){.program = "python3 train.py",
                              .trace = "train.db",
                              .layer = "pytorch pool",
                              .phase = "train/forward",
                              .is_recording = true,
                              .has_account = true,
                              .now_ns = 12300000000,
                              .events = 99,
                              .live_bytes = 256 * MIB,
                              .peak_bytes = 512 * MIB,
                              .peak_ns = 7000000000,
                              .total_bytes = 1024 * MIB,
                              .parts = {256 * MIB, 128 * MIB, 0, 128 * MIB, 0, 512 * MIB},
                              .held = {.row_count = 2, .has_growth = true},
                              .points = {0, 128 * MIB, 256 * MIB},
                              .phases = {0, 1, 1},
                              .phase_names = {"forward"},
                              .phase_count = 1,
                              .point_count = 3,
                              .point_ns = 1000000000};
    view.held.rows[0] = (struct live_row){192 * MIB, 3, 1 * MIB, "train.py:88 forward", "train"};
    view.held.rows[1] = (struct live_row){64 * MIB, 1, 0, "train.py:12 <module>", ""};
    return 0;
}

/* The lines of the screen, valid until the next call. */
static char **draw(struct live_picture picture)
{
    static char *lines[128];
    static char *text;
    struct err err;
    size_t count = 0;
    free(text);
    picture.choice = &bytes_first;
    text = live_picture(&picture, &view, &err);
    assert_non_null(text);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        lines[count++] = line;
    return lines;
}

static bool shows(char **lines, size_t count, const char *words)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], words))
            return true;
    return false;
}

TEST_WITH(every_size_has_its_rows_and_none_is_too_wide, fresh, NULL)
{
    memset(view.program, 'x', sizeof view.program - 1);
    memset(view.held.rows[0].site, 'y', LIVE_TEXT_BYTES - 1);
    memset(view.layer, 'z', LIVE_TEXT_BYTES - 1);
    for (size_t columns = 20; columns < 300; columns += 7)
        for (size_t rows = 1; rows < 60; rows += 3) {
            const struct live_picture picture = {
                .columns = columns, .rows = rows, .has_blocks = rows % 2, .choice = &bytes_first};
            struct err err;
            char *text = live_picture(&picture, &view, &err), *line = text;
            size_t count = 0;
            for (char *end; (end = strchr(line, '\n')); line = end + 1, count++) {
                *end = '\0';
                line += *line == LIVE_REVERSE || *line == LIVE_BOLD;
                assert_true(utf8_text_columns(line) <= columns);
            }
            assert_int_equal(count, rows);
            assert_int_equal(*line, '\0');
            free(text);
        }
}

TEST_WITH(the_bar_has_each_part_by_its_share_and_a_tick_at_the_peak, fresh, NULL)
{
    char **lines = draw((struct live_picture){.columns = 42, .rows = 24});
    assert_string_equal(lines[3], "[##########=====:::::|                   ]");
    lines = draw((struct live_picture){.columns = 42, .rows = 24, .has_blocks = true});
    assert_string_equal(lines[3], "[██████████▓▓▓▓▓░░░░░|                   ]");
}

TEST_WITH(the_head_names_trace_device_phase_and_sums, fresh, NULL)
{
    char **lines = draw((struct live_picture){.columns = 80, .rows = 24});
    assert_string_equal(lines[0], "\1train.db  python3 train.py"
                                  "                                        "
                                  "running 12.3 s");
    assert_non_null(strstr(lines[1], "device 0, pytorch pool"));
    assert_non_null(strstr(lines[1], "in train/forward, 0 steps"));
    assert_non_null(
        strstr(lines[2], "\2live 256.00 MiB   peak 512.00 MiB at 7.00 s   of 1.00 GiB"));
    assert_string_equal(lines[4], "# live 256.00 MiB   = cached 128.00 MiB   : context 128.00 MiB");
    assert_string_equal(lines[5], "  free 512.00 MiB");
}

TEST_WITH(sites_have_share_blocks_and_growth, fresh, NULL)
{
    char **lines = draw((struct live_picture){.columns = 80, .rows = 24});
    assert_true(
        shows(lines, 24, " 192.00 MiB   75.0 %        3    +1.00 MiB  train.py:88 forward"));
    assert_true(
        shows(lines, 24, "  64.00 MiB   25.0 %        1               train.py:12 <module>"));
}

TEST_WITH(a_long_site_leaves_its_figures_whole, fresh, NULL)
{
    strcpy(view.held.rows[0].site, "a_script_of_a_long_name.py:7 <module>, in Linear.forward");
    char **lines = draw((struct live_picture){.columns = 80, .rows = 24});
    assert_true(shows(lines, 24, " 192.00 MiB   75.0 %        3    +1.00 MiB  a_script_of_a"));
    assert_true(shows(lines, 24, "…"));
}

TEST_WITH(a_narrow_window_goes_without_share_and_blocks_so_that_sites_are_told_apart, fresh, NULL)
{
    strcpy(view.held.rows[0].site, "model.py:21 Block.forward, in Linear.forward");
    strcpy(view.held.rows[1].site, "model.py:20 Block.forward, in GELU.forward");
    char **lines = draw((struct live_picture){.columns = 50, .rows = 24});
    assert_true(shows(lines, 24, " 192.00 MiB    +1.00 MiB  model.py:21 "));
    assert_true(shows(lines, 24, "  64.00 MiB               model.py:20 "));
    assert_true(shows(lines, 24, "      Bytes       A step  Site"));
}

TEST_WITH(it_says_what_it_cannot_know, fresh, NULL)
{
    view.behind_ns = 3000000000;
    view.held.at_ns = view.now_ns - 4000000000;
    view.lost_events = 7;
    char **lines = draw((struct live_picture){.columns = 100, .rows = 24});
    assert_true(
        shows(lines, 24, "99 events, 0 a second, 7 lost; 3.00 s behind; sites of 4.00 s ago"));
    view.is_held = true;
    lines = draw((struct live_picture){.columns = 100, .rows = 24});
    assert_true(shows(lines, 24, "a call has not returned"));
    view.is_recording = false;
    lines = draw((struct live_picture){.columns = 100, .rows = 24});
    assert_true(shows(lines, 1, "stopped without an end after 12.3 s"));
    view.is_complete = true;
    lines = draw((struct live_picture){.columns = 100, .rows = 24});
    assert_true(shows(lines, 1, "ended after 12.3 s"));
}

TEST_WITH(names_cannot_drive_the_terminal, fresh, NULL)
{
    strcpy(view.held.rows[0].site, "evil \x1b[2J\x02 name");
    char **lines = draw((struct live_picture){.columns = 80, .rows = 24});
    assert_true(shows(lines, 24, "evil ?[2J? name"));
}

static void assert_plain_line(const char *expected)
{
    char *line = NULL;
    size_t bytes;
    FILE *out = open_memstream(&line, &bytes);
    assert_non_null(out);
    live_plain_line(out, &view);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(line, expected);
    free(line);
}

TEST_WITH(a_plain_line_says_it_all, fresh, NULL)
{
    assert_plain_line("running 12.3 s: device 0, pytorch pool: live 256.00 MiB, peak 512.00 MiB at "
                      "7.00 s, in train/forward, 99 events, 0 a second, 0 lost\n");
    strcpy(view.phase, "evil\n\x1b[2J");
    view.behind_ns = 3000000000;
    assert_plain_line("running 12.3 s: device 0, pytorch pool: live 256.00 MiB, peak 512.00 MiB at "
                      "7.00 s, in evil??[2J, 99 events, 0 a second, 0 lost; 3.00 s behind\n");
    view.has_account = false;
    assert_plain_line("running 12.3 s: no GPU memory was allocated yet\n");
}

UNIT_MAIN(NULL, NULL)
