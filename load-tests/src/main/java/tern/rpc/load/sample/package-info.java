/**
 * Runs the samples as separate processes, and contains the performance gate for the provider that {@code ./mvnw verify
 * -Pload} runs.
 */
@NullMarked
package tern.rpc.load.sample;

import org.jspecify.annotations.NullMarked;
