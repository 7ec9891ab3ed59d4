/**
 * Reports whether this server accepts calls to load balancers and probes, as {@code grpc.health.v1}
 * (docs/wire-protocol.md 6.1).
 */
@NullMarked
package tern.rpc.health;

import org.jspecify.annotations.NullMarked;
