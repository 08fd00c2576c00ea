/* SPDX-License-Identifier: MIT */
/* link: sqlite */
/*
 * Steps through every row and column of the table event, and prints the number of rows and the CPU
 * seconds. This is the lower bound for reading a trace, with which the analyzer is compared.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *select = NULL;
    uint64_t rows = 0, sum = 0;
    const double start = cpu_s();
    if (argc < 2 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(db, "SELECT * FROM event ORDER BY seq", -1, &select, NULL) != SQLITE_OK)
        return 2;
    const int columns = sqlite3_column_count(select);
    for (; sqlite3_step(select) == SQLITE_ROW; rows++)
        for (int i = 0; i < columns; i++)
            sum += (uint64_t)sqlite3_column_int64(select, i);
    sqlite3_finalize(select);
    sqlite3_close(db);
    printf("rows %llu seconds %.3f sum %llu\n", (unsigned long long)rows, cpu_s() - start,
           (unsigned long long)sum);
    return 0;
}
