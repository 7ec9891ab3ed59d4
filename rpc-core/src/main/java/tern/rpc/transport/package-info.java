/** The interface between calls and bytes, which every transport implements. */
@NullMarked
package tern.rpc.transport;

import org.jspecify.annotations.NullMarked;
