/** The endpoint, health indicator and info contributor for Spring Boot Actuator. */
@NullMarked
package tern.rpc.spring.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
