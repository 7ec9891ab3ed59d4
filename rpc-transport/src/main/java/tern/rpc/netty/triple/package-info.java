/**
 * Triple, which is gRPC over HTTP/2 with Dubbo's additions, and related protocols over HTTP/2 and HTTP/1.1
 * (docs/wire-protocol.md 3).
 */
@NullMarked
package tern.rpc.netty.triple;

import org.jspecify.annotations.NullMarked;
