/**
 * Reads evidence: counters of the machine and its control groups, run queues, pauses, stack frames, memory of the JVM,
 * and flight recordings. This package needs only the JDK. A reader throws no exception if a value is missing.
 */
@NullMarked
package tern.rpc.evidence;

import org.jspecify.annotations.NullMarked;
