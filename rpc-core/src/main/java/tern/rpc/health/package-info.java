/** Tells load balancers and probes whether this server wants calls, as {@code grpc.health.v1} (wire document, 6.1). */
@NullMarked
package tern.rpc.health;

import org.jspecify.annotations.NullMarked;
