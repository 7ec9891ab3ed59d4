/**
 * The diagnosis of an application. It runs every second. Actuator shows it, and the log contains it when a miss begins
 * and ends.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.diagnosis;

import org.jspecify.annotations.NullMarked;
