/** Finds the addresses of providers that run in containers. */
@NullMarked
package tern.rpc.spring.autoconfigure.connection;

import org.jspecify.annotations.NullMarked;
