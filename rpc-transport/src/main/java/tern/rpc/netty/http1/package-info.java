/**
 * The syntax of HTTP/1.1 (RFC 9112): request lines, headers, bodies and answers. Independent of RPC protocols and
 * connections.
 */
@NullMarked
package tern.rpc.netty.http1;

import org.jspecify.annotations.NullMarked;
