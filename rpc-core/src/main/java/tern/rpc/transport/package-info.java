/** The interfaces between calls and bytes. Every transport implements them. */
@NullMarked
package tern.rpc.transport;

import org.jspecify.annotations.NullMarked;
