/** The dubbo protocol: 16-byte headers around bodies of one serialization (docs/wire-protocol.md 1). */
@NullMarked
package tern.rpc.netty.dubbo;

import org.jspecify.annotations.NullMarked;
