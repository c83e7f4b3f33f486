#include <sqlite3.h>

/* sqlite3_db_config() is variadic, which Swift cannot call. */
static inline int dm_sqlite3_set_flag(sqlite3 *db, int flag, int on) {
  return sqlite3_db_config(db, flag, on, (int *)0);
}

/* SQLITE_TRANSIENT is a cast that Swift does not import. */
static inline int dm_sqlite3_bind_text(sqlite3_stmt *s, int i, const char *p, int n) {
  return sqlite3_bind_text(s, i, p, n, SQLITE_TRANSIENT);
}
static inline int dm_sqlite3_bind_blob(sqlite3_stmt *s, int i, const void *p, int n) {
  return sqlite3_bind_blob(s, i, p, n, SQLITE_TRANSIENT);
}
