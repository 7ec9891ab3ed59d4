/** Support for tests of providers and consumers: a provider with a script, and a test slice for Spring Boot. */
@NullMarked
package tern.rpc.test;

import org.jspecify.annotations.NullMarked;
