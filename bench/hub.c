// A minimal member of a hub, to compare with: what a message costs that is pushed by one and printed by another, without
// a store.
//
//   hub writer CONNINFO CONVERSATION     pushes each line of standard input as a message, and prints it when it is durable
//   hub poller CONNINFO CONVERSATION     prints the texts of new messages
//   hub reader CONNINFO HORIZON          pulls the last entry of each conversation that has moved since, and prints their
//                                        number and the next horizon
#include <err.h>
#include <libpq-fe.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static PGconn *connection;

// Runs the statements that were sent, and returns the result of the first.
static PGresult *results(int count) {
  PGresult *first = NULL;
  for (int synced = 0; synced < count;) {
    PGresult *result = PQgetResult(connection);
    if (!result) continue;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) synced++;
    else if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) errx(1, "%s", PQresultErrorMessage(result));
    else if (!first) first = result, result = NULL;
    PQclear(result);
  }
  return first;
}

static void sent(int is_sent) {
  if (!is_sent || !PQpipelineSync(connection)) errx(1, "%s", PQerrorMessage(connection));
}

static PGresult *run(const char *sql, int count, const char *const *values) {
  sent(PQsendQueryParams(connection, sql, count, NULL, values, NULL, NULL, 0));
  return results(1);
}

static void random_uuid(char *text) {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) err(1, "getrandom");
  for (int i = 0; i < 16; i++)
    text += sprintf(text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static void base64(char *to, const char *from) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  size_t length = strlen(from);
  for (size_t i = 0; i < length; i += 3) {
    unsigned group = 0;
    for (size_t j = 0; j < 3; j++) group = group << 8 | (i + j < length ? (unsigned char)from[i + j] : 0);
    for (size_t j = 0; j < 4; j++) *to++ = i + j > length ? '=' : digits[group >> (18 - 6 * j) & 63];
  }
  *to = 0;
}

static void run_writer(const char *conversation) {
  char *line = NULL, array[64], operations[4096], payload[1024], encoded[2048], nonce[40], id[40];
  size_t capacity = 0;
  snprintf(array, sizeof array, "{%s}", conversation);
  for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
    line[length - 1] = 0;
    random_uuid(nonce), random_uuid(id);
    snprintf(payload, sizeof payload, "{\"v\":1,\"text\":\"%s\"}", line);
    base64(encoded, payload);
    snprintf(
        operations, sizeof operations,
        "[{\"op\":\"say\",\"nonce\":\"%s\",\"conv\":\"%s\",\"id\":\"%s\",\"payload\":\"%s\"}]", nonce, conversation, id, encoded);
    const char *push[] = {operations}, *wake[] = {array};
    sent(PQsendQueryParams(connection, "SELECT error FROM dm1.push($1::jsonb)", 1, NULL, push, NULL, NULL, 0));
    sent(PQsendQueryParams(connection, "SELECT dm1.wake($1::uuid[])", 1, NULL, wake, NULL, NULL, 0));
    PGresult *answer = results(2);
    if (!PQgetisnull(answer, 0, 0)) errx(1, "%s", PQgetvalue(answer, 0, 0));
    PQclear(answer);
    puts(line);
    fflush(stdout);
  }
}

static void run_poller(const char *conversation, const char *channel) {
  char array[64], since[32], sql[128];
  snprintf(array, sizeof array, "{%s}", conversation);
  snprintf(sql, sizeof sql, "LISTEN %s", channel);
  PQclear(run(sql, 0, NULL));
  const char *all[] = {array, "{0}", "{NULL}"};
  const char *pull = "SELECT rev, convert_from(payload, 'UTF8')::json->>'text' FROM dm1.pull($1::uuid[], $2::bigint[], $3::uuid[], 5000)";
  PGresult *entries;
  long last = 0;
  for (int count = 1; count > 0; PQclear(entries)) {
    const char *rest[] = {array, since, all[2]};
    snprintf(since, sizeof since, "{%ld}", last);
    entries = run(pull, 3, rest);
    count = PQntuples(entries);
    if (count > 0) last = atol(PQgetvalue(entries, count - 1, 0));
  }
  puts("ready");
  for (;;) {
    fflush(stdout);
    struct pollfd polled = {.fd = PQsocket(connection), .events = POLLIN};
    if (poll(&polled, 1, -1) < 0 || !PQconsumeInput(connection)) errx(1, "%s", PQerrorMessage(connection));
    bool is_told = false;
    for (PGnotify *notice; (notice = PQnotifies(connection)); PQfreemem(notice)) is_told = true;
    if (!is_told) continue;
    snprintf(since, sizeof since, "{%ld}", last);
    const char *values[] = {array, since, "{NULL}"};
    entries = run(pull, 3, values);
    for (int i = 0; i < PQntuples(entries); i++) {
      last = atol(PQgetvalue(entries, i, 0));
      if (!PQgetisnull(entries, i, 1)) puts(PQgetvalue(entries, i, 1));
    }
    PQclear(entries);
  }
}

static void run_reader(const char *horizon) {
  const char *since[] = {horizon};
  PGresult *moved = run(
      "SELECT h.horizon::text, c.conv, c.rev - 1 FROM dm1.changed($1::xid8) h CROSS JOIN LATERAL unnest(h.conv, h.rev) c (conv, rev)",
      1, since);
  int count = PQntuples(moved);
  for (int i = 0; i < count; i++) {
    char conversation[64], after[64];
    snprintf(conversation, sizeof conversation, "{%s}", PQgetvalue(moved, i, 1));
    snprintf(after, sizeof after, "{%s}", PQgetvalue(moved, i, 2));
    const char *values[] = {conversation, after, "{NULL}"};
    PQclear(run("SELECT * FROM dm1.pull($1::uuid[], $2::bigint[], $3::uuid[], 1000)", 3, values));
  }
  printf("%d %s\n", count, count ? PQgetvalue(moved, 0, 0) : horizon);
}

int main(int argc, char **argv) {
  if (argc != 4) errx(64, "hub writer|poller|reader CONNINFO CONVERSATION|HORIZON");
  connection = PQconnectdb(argv[2]);
  if (PQstatus(connection) != CONNECTION_OK || !PQenterPipelineMode(connection)) errx(1, "%s", PQerrorMessage(connection));
  PGresult *hello = run("SELECT channel FROM dm1.hello(1, 'bench')", 0, NULL);
  if (strcmp(argv[1], "writer") == 0) run_writer(argv[3]);
  else if (strcmp(argv[1], "reader") == 0) run_reader(argv[3]);
  else run_poller(argv[3], PQgetvalue(hello, 0, 0));
}
