/** The dubbo protocol: frames with a 16-byte header and a serialized body (docs/wire-protocol.md 1). */
@NullMarked
package tern.rpc.netty.dubbo;

import org.jspecify.annotations.NullMarked;
