/**
 * Watches the process and the machine: processors, collector, memory, threads, JVM operations and other processes. Also
 * holds the flight recorder.
 */
@NullMarked
package tern.rpc.diagnosis.machine;

import org.jspecify.annotations.NullMarked;
