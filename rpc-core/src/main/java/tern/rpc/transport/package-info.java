/** The interfaces that every transport implements. These interfaces separate calls from the bytes on the wire. */
@NullMarked
package tern.rpc.transport;

import org.jspecify.annotations.NullMarked;
