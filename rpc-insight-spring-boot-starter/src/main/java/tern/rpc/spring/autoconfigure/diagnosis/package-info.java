/**
 * The diagnosis of an application. It runs every second, is shown by Actuator, and is logged when a miss begins and
 * ends.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.diagnosis;

import org.jspecify.annotations.NullMarked;
