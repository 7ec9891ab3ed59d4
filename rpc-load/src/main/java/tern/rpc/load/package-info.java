/**
 * Load at a steady rate. {@link tern.rpc.load.OpenLoopDriver} starts calls on time whether or not earlier ones have
 * ended, and {@link tern.rpc.load.LatencyReport} judges them. Knows nothing of Spring, and nothing of how a call is made.
 */
@NullMarked
package tern.rpc.load;

import org.jspecify.annotations.NullMarked;
