/** For tests of applications that call or serve: a provider with a script, and a slice of Spring Boot. */
@NullMarked
package tern.rpc.test;

import org.jspecify.annotations.NullMarked;
