/**
 * The schedule service. Its steps are authorization over HTTP, rows from SQL, counters from Redis, and a task for a
 * pool after the answer.
 */
@NullMarked
package tern.sample.provider.schedule;

import org.jspecify.annotations.NullMarked;
