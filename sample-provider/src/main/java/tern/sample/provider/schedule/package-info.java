/**
 * Scheduling in steps: authorization over HTTP, rows from SQL, counters from Redis, and a pool for work after the
 * answer.
 */
@NullMarked
package tern.sample.provider.schedule;

import org.jspecify.annotations.NullMarked;
