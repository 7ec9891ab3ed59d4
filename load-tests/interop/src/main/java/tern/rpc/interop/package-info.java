/** Tern's implementations of the services in the public test suites, and a client for gRPC's suite. */
@NullMarked
package tern.rpc.interop;

import org.jspecify.annotations.NullMarked;
