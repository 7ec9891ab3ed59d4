/** The reports of the starter for insight under {@code /actuator/rpc}, also without RPC. */
@NullMarked
package tern.rpc.spring.autoconfigure.insight;

import org.jspecify.annotations.NullMarked;
