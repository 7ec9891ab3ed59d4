/**
 * Generates load at a constant rate. {@link tern.rpc.load.OpenLoopDriver} starts each call at its intended time,
 * whether or not earlier calls have ended. {@link tern.rpc.load.LatencyReport} compares the result with a target. This
 * package is independent of Spring and of the protocols that the calls use.
 */
@NullMarked
package tern.rpc.load;

import org.jspecify.annotations.NullMarked;
