/** The syntax of HTTP/1.1 (RFC 9112): heads and bodies of requests, and answers. It knows no protocol and no connection. */
@NullMarked
package tern.rpc.netty.http1;

import org.jspecify.annotations.NullMarked;
