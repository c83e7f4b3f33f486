/* sqlite3_preupdate_hook() is declared only if this is set; Debian's library has it. */
#define SQLITE_ENABLE_PREUPDATE_HOOK 1
#include <sqlite3.h>

/* Turns off the statistics of memory, which nothing reads and for which each allocation takes a mutex. Has no effect
   once the library is in use (sqlite.org/c3ref/c_config_covering_index_scan.html, SQLITE_CONFIG_MEMSTATUS). */
static inline int dm_sqlite3_keep_no_statistics(void) { return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

/* sqlite3_db_config() is variadic, which Swift cannot call. */
static inline int dm_sqlite3_set_flag(sqlite3 *db, int flag, int on) {
  return sqlite3_db_config(db, flag, on, (int *)0);
}

/* SQLITE_TRANSIENT is a cast that Swift does not import. */
static inline int dm_sqlite3_bind_text(sqlite3_stmt *s, int i, const char *p, int n) {
  return sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}
static inline void dm_sqlite3_result_text(sqlite3_context *c, const char *p, int n) {
  sqlite3_result_text(c, p, n, SQLITE_TRANSIENT);
}
static inline int dm_sqlite3_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}
