/** The endpoint, health and info for Spring Boot Actuator. */
@NullMarked
package tern.rpc.spring.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
