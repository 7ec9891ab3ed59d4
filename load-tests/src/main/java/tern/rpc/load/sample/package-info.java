/** The samples as processes of their own, and the provider before the gate, which {@code ./mvnw verify -Pload} runs. */
@NullMarked
package tern.rpc.load.sample;

import org.jspecify.annotations.NullMarked;
