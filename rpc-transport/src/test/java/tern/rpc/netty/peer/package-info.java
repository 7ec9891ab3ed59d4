/**
 * Peers for tests: clients, servers and relays that work at the level of bytes and frames, and real Dubbo instances.
 */
@NullMarked
package tern.rpc.netty.peer;

import org.jspecify.annotations.NullMarked;
