/** What the public test suites call: their services, served by Tern, and the gRPC suite's client on Tern. */
@NullMarked
package tern.rpc.interop;

import org.jspecify.annotations.NullMarked;
