/** The console: a page in Spring Boot Actuator that shows services and slow calls, and makes calls. */
@NullMarked
package tern.rpc.console;

import org.jspecify.annotations.NullMarked;
