/** Scheduling, step by step: authorization over HTTP, rows from SQL, counters from Redis, a pool for what can wait. */
@NullMarked
package tern.sample.provider.schedule;

import org.jspecify.annotations.NullMarked;
