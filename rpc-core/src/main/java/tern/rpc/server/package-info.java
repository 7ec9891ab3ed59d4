/** Serves calls: from the transport through a worker to the service's method and back. */
@NullMarked
package tern.rpc.server;

import org.jspecify.annotations.NullMarked;
