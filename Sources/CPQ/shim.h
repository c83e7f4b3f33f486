#include <dlfcn.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

/* The functions that a hub is called with. */
#define DM_PQ_FUNCTIONS(FUNCTION) \
  FUNCTION(PQbackendPID) FUNCTION(PQclear) FUNCTION(PQconnectPoll) FUNCTION(PQconnectStartParams) FUNCTION(PQconsumeInput) \
  FUNCTION(PQencryptPasswordConn) FUNCTION(PQenterPipelineMode) FUNCTION(PQerrorMessage) FUNCTION(PQescapeIdentifier) \
  FUNCTION(PQescapeLiteral) FUNCTION(PQexitPipelineMode) FUNCTION(PQfinish) FUNCTION(PQflush) FUNCTION(PQfreemem) FUNCTION(PQgetResult) \
  FUNCTION(PQgetisnull) FUNCTION(PQgetlength) FUNCTION(PQgetvalue) FUNCTION(PQhost) FUNCTION(PQisBusy) FUNCTION(PQlibVersion) \
  FUNCTION(PQnotifies) FUNCTION(PQpipelineSync) FUNCTION(PQport) FUNCTION(PQresultErrorField) FUNCTION(PQresultStatus) \
  FUNCTION(PQsendQuery) FUNCTION(PQsendQueryParams) FUNCTION(PQsetErrorVerbosity) FUNCTION(PQsetNoticeProcessor) \
  FUNCTION(PQsetSingleRowMode) FUNCTION(PQsetnonblocking) FUNCTION(PQsocket) FUNCTION(PQsslInUse) FUNCTION(PQstatus)

struct PQFunctions {
#define DM_FIELD(name) __typeof__(name) *_Nonnull name;
  DM_PQ_FUNCTIONS(DM_FIELD)
#undef DM_FIELD
};

/* Finds the functions in the system's libpq, which stays loaded; 0 if there is none, or an older one. A program that is
   linked with libpq loads it at each start, whether or not it calls a hub. */
static inline int dm_load_pq(struct PQFunctions *_Nonnull functions) {
#ifdef DM_STATIC
  return 0; /* A static program cannot load a library. */
#else
  void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
#define DM_FIND(name) if (!(functions->name = (__typeof__(name) *)dlsym(library, #name))) return 0;
  DM_PQ_FUNCTIONS(DM_FIND)
#undef DM_FIND
  return 1;
#endif
}
