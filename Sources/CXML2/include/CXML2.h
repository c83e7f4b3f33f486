#ifndef DM_CXML2_H
#define DM_CXML2_H

/* What is called while a page is read, in the order of the page. */
struct dm_html_events {
  void *_Nullable context;
  /* The start of an element. `attributes` has names and values in turn, and ends with NULL; a value may be NULL. */
  void (*_Nonnull start)(void *_Nullable context, const char *_Nonnull name,
                         const char *_Nullable const *_Nullable attributes);
  void (*_Nonnull end)(void *_Nullable context, const char *_Nonnull name);
  void (*_Nonnull text)(void *_Nullable context, const char *_Nonnull bytes, int count);
};

/* Reads a page of HTML, whose text is UTF-8, and which may be incomplete or wrong. It runs no scripts and opens nothing.
   After a second of processor time, the rest of the page is not read.
   Returns 1; 0 if libxml2 is not installed; -1 without memory. */
int dm_read_html(const char *_Nonnull bytes, int count, const struct dm_html_events *_Nonnull events);

#endif
