/** The services of the public test suites, provided by Tern, and a client for gRPC's suite. */
@NullMarked
package tern.rpc.interop;

import org.jspecify.annotations.NullMarked;
