#include <dlfcn.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
/* The checks of types are macros of the names of functions, which are members of a struct here. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* The functions with which pages are fetched. */
#define DM_CURL_FUNCTIONS(FUNCTION) \
  FUNCTION(curl_easy_cleanup) FUNCTION(curl_easy_getinfo) FUNCTION(curl_easy_init) FUNCTION(curl_easy_perform) \
  FUNCTION(curl_easy_setopt) FUNCTION(curl_free) FUNCTION(curl_global_init) FUNCTION(curl_slist_append) \
  FUNCTION(curl_slist_free_all) FUNCTION(curl_url) FUNCTION(curl_url_cleanup) FUNCTION(curl_url_get) FUNCTION(curl_url_set)

struct CurlFunctions {
#define DM_FIELD(name) __typeof__(name) *_Nonnull name;
  DM_CURL_FUNCTIONS(DM_FIELD)
#undef DM_FIELD
};

/* Finds the functions in the system's libcurl, which stays loaded, and starts it; 0 if there is none, or an older one. */
static inline int dm_load_curl(struct CurlFunctions *_Nonnull functions) {
#ifdef DM_STATIC
  return 0; /* A static program cannot load a library. */
#else
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
#define DM_FIND(name) if (!(functions->name = (__typeof__(name) *)dlsym(library, #name))) return 0;
  DM_CURL_FUNCTIONS(DM_FIND)
#undef DM_FIND
  return functions->curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
#endif
}

/* curl_easy_setopt(3) and curl_easy_getinfo(3) are variadic, and Swift does not call such functions. */
static inline CURLcode dm_curl_set(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle, CURLoption option,
                                   long value) {
  return curl->curl_easy_setopt(handle, option, value);
}
static inline CURLcode dm_curl_set_text(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle,
                                        CURLoption option, const char *_Nonnull value) {
  return curl->curl_easy_setopt(handle, option, value);
}
static inline CURLcode dm_curl_set_pointer(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle,
                                           CURLoption option, const void *_Nullable value) {
  return curl->curl_easy_setopt(handle, option, value);
}
typedef size_t (*dm_curl_write)(char *_Nullable bytes, size_t size, size_t count, void *_Nullable context);
static inline CURLcode dm_curl_set_write(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle,
                                         CURLoption option, dm_curl_write _Nonnull function) {
  return curl->curl_easy_setopt(handle, option, function);
}
typedef curl_socket_t (*dm_curl_open)(void *_Nullable context, curlsocktype purpose, struct curl_sockaddr *_Nullable address);
static inline CURLcode dm_curl_set_open(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle,
                                        dm_curl_open _Nonnull function) {
  return curl->curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, function);
}
static inline long dm_curl_number(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle, CURLINFO info) {
  long value = 0;
  return curl->curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}
static inline const char *_Nullable dm_curl_text(const struct CurlFunctions *_Nonnull curl, CURL *_Nonnull handle,
                                                 CURLINFO info) {
  char *value = 0;
  return curl->curl_easy_getinfo(handle, info, &value) == CURLE_OK ? value : 0;
}

/* Writes the bytes of an internet address, and its port. Returns how many bytes it has, 4 or 16; 0 for an address of
   another kind. */
static inline int dm_address(const struct curl_sockaddr *_Nonnull address, unsigned char bytes[_Nonnull 16],
                             unsigned short *_Nonnull port) {
  if (address->family == AF_INET && address->addrlen >= sizeof(struct sockaddr_in)) {
    struct sockaddr_in ip;
    memcpy(&ip, &address->addr, sizeof ip);
    memcpy(bytes, &ip.sin_addr, 4);
    *port = ntohs(ip.sin_port);
    return ip.sin_family == AF_INET ? 4 : 0;
  }
  if (address->family == AF_INET6 && address->addrlen >= sizeof(struct sockaddr_in6)) {
    struct sockaddr_in6 ip;
    /* 'addr' is declared shorter than it is: see CURLOPT_OPENSOCKETFUNCTION(3). */
    memcpy(&ip, (const char *)address + offsetof(struct curl_sockaddr, addr), sizeof ip);
    memcpy(bytes, &ip.sin6_addr, 16);
    *port = ntohs(ip.sin6_port);
    return ip.sin6_family == AF_INET6 ? 16 : 0;
  }
  return 0;
}

/* Makes the socket that CURLOPT_OPENSOCKETFUNCTION(3) asks for, closed on exec. */
static inline curl_socket_t dm_open_socket(const struct curl_sockaddr *_Nonnull address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
