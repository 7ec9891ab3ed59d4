/**
 * The schedule service. A call is authorized over HTTP, reads rows from SQL and counters from Redis, and leaves a task
 * to a pool after the answer.
 */
@NullMarked
package tern.sample.provider.schedule;

import org.jspecify.annotations.NullMarked;
