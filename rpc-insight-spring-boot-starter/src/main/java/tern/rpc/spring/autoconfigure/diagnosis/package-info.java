/**
 * The diagnosis of an application. It runs every second. Its result is available through Actuator and is logged when a
 * miss begins and ends.
 */
@NullMarked
package tern.rpc.spring.autoconfigure.diagnosis;

import org.jspecify.annotations.NullMarked;
