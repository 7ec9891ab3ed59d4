/** Services that gRPC's own generator made, exported as they are. The only package that needs {@code io.grpc}. */
@NullMarked
package tern.rpc.grpc;

import org.jspecify.annotations.NullMarked;
