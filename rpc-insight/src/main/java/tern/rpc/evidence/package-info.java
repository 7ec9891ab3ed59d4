/**
 * Readers of evidence: counters of the machine and its groups, run queues, pauses, frames of threads, memory of the JVM and
 * flight recordings. They need the JDK only. A reader never throws because a figure is missing.
 */
@NullMarked
package tern.rpc.evidence;

import org.jspecify.annotations.NullMarked;
