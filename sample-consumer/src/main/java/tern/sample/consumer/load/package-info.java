/**
 * Load at a steady rate. {@link tern.sample.consumer.load.OpenLoopDriver} starts calls on time whether or not earlier
 * ones have ended, and {@link tern.sample.consumer.load.LatencyReport} judges them. Knows nothing of Spring.
 */
@NullMarked
package tern.sample.consumer.load;

import org.jspecify.annotations.NullMarked;
