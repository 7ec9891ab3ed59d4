/** Samples the stacks of running calls and of other threads while calls miss the latency target. */
@NullMarked
package tern.rpc.diagnosis.sample;

import org.jspecify.annotations.NullMarked;
