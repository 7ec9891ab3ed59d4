/**
 * Divides the extra time of late calls (their time above the usual time) into parts, and compares the durations,
 * numbers and failures of operations with the usual values.
 */
@NullMarked
package tern.rpc.diagnosis.excess;

import org.jspecify.annotations.NullMarked;
