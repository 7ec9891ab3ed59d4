/**
 * Breaks the time of late calls above their usual time down into parts, and compares operations with their usual times,
 * numbers and failures.
 */
@NullMarked
package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.NullMarked;
