/** The sample provider before the gate: what {@code ./mvnw verify -Pload} runs. */
@NullMarked
package tern.rpc.load.sample;

import org.jspecify.annotations.NullMarked;
