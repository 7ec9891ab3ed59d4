/** The samples as separate processes, and the gate on the provider that {@code ./mvnw verify -Pload} runs. */
@NullMarked
package tern.rpc.load.sample;

import org.jspecify.annotations.NullMarked;
