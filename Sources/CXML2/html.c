#include "CXML2.h"
#include <dlfcn.h>
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <string.h>
#include <time.h>

/* The functions with which pages are read. */
#define DM_XML_FUNCTIONS(FUNCTION) \
  FUNCTION(htmlCtxtReadIO) FUNCTION(htmlFreeParserCtxt) FUNCTION(htmlNewParserCtxt) FUNCTION(xmlFreeDoc) FUNCTION(xmlInitParser)

struct XMLFunctions {
#define DM_FIELD(name) __typeof__(name) *name;
  DM_XML_FUNCTIONS(DM_FIELD)
#undef DM_FIELD
};

/* Finds the functions in the system's libxml2, which stays loaded; 0 if there is none. */
static int load(struct XMLFunctions *functions) {
#ifdef DM_STATIC
  return 0; /* A static program cannot load a library. */
#else
  /* Version 2.14 has another number. What is used here is the same in both: the functions, the first two fields of the parser,
     and the fields of the functions that it calls. */
  void *library = dlopen("libxml2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) library = dlopen("libxml2.so.16", RTLD_NOW | RTLD_LOCAL);
  if (!library) return 0;
#define DM_FIND(name) if (!(functions->name = (__typeof__(name) *)dlsym(library, #name))) return 0;
  DM_XML_FUNCTIONS(DM_FIND)
#undef DM_FIND
  functions->xmlInitParser();
  return 1;
#endif
}

static void start(void *context, const xmlChar *name, const xmlChar **attributes) {
  const struct dm_html_events *events = context;
  events->start(events->context, (const char *)name, (const char *const *)attributes);
}

static void end(void *context, const xmlChar *name) {
  const struct dm_html_events *events = context;
  events->end(events->context, (const char *)name);
}

static void text(void *context, const xmlChar *bytes, int count) {
  const struct dm_html_events *events = context;
  events->text(events->context, (const char *)bytes, count);
}

/* The rest of a page, and the processor time of this thread until which it is read. */
struct page {
  const char *bytes;
  int count;
  long long end;
};

static long long processor_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Gives the parser the next bytes; none after the end of the time. The parser compares each attribute of an element with all
   before it, so a page of 1 MiB that is a single element would take half a minute. */
static int read_some(void *context, char *buffer, int size) {
  struct page *page = context;
  if (size > page->count) size = page->count;
  if (size <= 0 || processor_milliseconds() >= page->end) return 0;
  memcpy(buffer, page->bytes, size);
  page->bytes += size;
  page->count -= size;
  return size;
}

int dm_read_html(const char *bytes, int count, const struct dm_html_events *events) {
  struct XMLFunctions xml;
  if (!load(&xml)) return 0;
  htmlParserCtxtPtr parser = xml.htmlNewParserCtxt();
  if (!parser) return -1;
  /* Without functions for the document, the parser makes none: it only calls these. */
  memset(parser->sax, 0, sizeof *parser->sax);
  parser->sax->startElement = start;
  parser->sax->endElement = end;
  parser->sax->characters = text;
  parser->userData = (void *)events;
  struct page page = {bytes, count, processor_milliseconds() + 1000};
  htmlDocPtr document = xml.htmlCtxtReadIO(
    parser, read_some, 0, &page, 0, "UTF-8",
    HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC);
  if (document) xml.xmlFreeDoc(document);
  xml.htmlFreeParserCtxt(parser);
  return 1;
}
