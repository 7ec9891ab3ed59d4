/**
 * Reports to load balancers and probes whether this server accepts calls, as {@code grpc.health.v1}
 * (docs/wire-protocol.md 6.1).
 */
@NullMarked
package tern.rpc.health;

import org.jspecify.annotations.NullMarked;
