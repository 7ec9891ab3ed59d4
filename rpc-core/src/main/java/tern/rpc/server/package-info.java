/**
 * Serves calls: passes each call from the transport to a worker, which runs the service's method, and sends the answer
 * back.
 */
@NullMarked
package tern.rpc.server;

import org.jspecify.annotations.NullMarked;
