// The program's memory comes from jemalloc, and in huge pages where the system grants them. The trees and
// tables of a large text are many small pieces read in no order: by pages of 4 KiB most of the time of
// reading and of transforming goes into translating addresses, and into faults for pages that are touched
// first.
//
// jemalloc reads this symbol when it starts; MALLOC_CONF in the environment has the last word.
extern "C" {
const char* malloc_conf = "thp:always,metadata_thp:auto";
}
