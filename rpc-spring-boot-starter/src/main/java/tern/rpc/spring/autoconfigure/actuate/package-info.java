/** What Spring Boot Actuator shows: endpoint, health and info. */
@NullMarked
package tern.rpc.spring.autoconfigure.actuate;

import org.jspecify.annotations.NullMarked;
