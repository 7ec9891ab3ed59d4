/** The diagnosis of an application: watched second by second, shown by Actuator, logged when a miss begins and ends. */
@NullMarked
package tern.rpc.spring.autoconfigure.diagnosis;

import org.jspecify.annotations.NullMarked;
