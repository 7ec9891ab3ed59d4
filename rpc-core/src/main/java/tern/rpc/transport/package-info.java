/** The interface between calls and bytes. Every transport implements it. */
@NullMarked
package tern.rpc.transport;

import org.jspecify.annotations.NullMarked;
