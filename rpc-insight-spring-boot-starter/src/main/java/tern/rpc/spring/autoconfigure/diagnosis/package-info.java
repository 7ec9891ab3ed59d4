/**
 * The diagnosis of an application. The diagnosis runs every second. Its result is available through Actuator. The result
 * is also logged when calls begin to miss the latency target, and when they meet it again.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.diagnosis;

import org.jspecify.annotations.NullMarked;
