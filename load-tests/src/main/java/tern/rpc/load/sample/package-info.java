/**
 * Runs the samples as separate processes. Also contains the provider's performance gate, which {@code ./mvnw verify
 * -Pload} runs.
 */
@NullMarked
package tern.rpc.load.sample;

import org.jspecify.annotations.NullMarked;
