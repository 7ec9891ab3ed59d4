/**
 * The schedule service. A call is authorized over HTTP, reads rows from an SQL database and counters from Redis, and
 * submits a task to a pool without waiting for it.
 */
@NullMarked
package tern.sample.provider.schedule;

import org.jspecify.annotations.NullMarked;
