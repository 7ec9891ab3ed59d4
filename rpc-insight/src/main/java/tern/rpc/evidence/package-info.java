/**
 * Readers of evidence: counters of the machine and its groups, run queues, pauses, frames of threads, memory of the JVM
 * and flight recordings. They need only the JDK. A reader does not throw if a figure is missing.
 */
@NullMarked
package tern.rpc.evidence;

import org.jspecify.annotations.NullMarked;
