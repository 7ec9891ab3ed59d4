/** Exports services whose code the gRPC compiler generated. Only this package depends on {@code io.grpc}. */
@NullMarked
package tern.rpc.grpc;

import org.jspecify.annotations.NullMarked;
