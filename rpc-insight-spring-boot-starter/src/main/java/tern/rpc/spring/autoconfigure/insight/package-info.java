/** The reports of the insight starter below {@code /actuator/rpc}. They also work without RPC. */
@NullMarked
package tern.rpc.spring.autoconfigure.insight;

import org.jspecify.annotations.NullMarked;
