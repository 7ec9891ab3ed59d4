/** Support for tests of providers and consumers: a scripted provider, and a test slice for Spring Boot. */
@NullMarked
package tern.rpc.test;

import org.jspecify.annotations.NullMarked;
