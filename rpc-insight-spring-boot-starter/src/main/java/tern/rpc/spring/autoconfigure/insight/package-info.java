/** The reports of the insight starter under {@code /actuator/rpc}. The reports are also available without RPC. */
@NullMarked
package tern.rpc.spring.autoconfigure.insight;

import org.jspecify.annotations.NullMarked;
