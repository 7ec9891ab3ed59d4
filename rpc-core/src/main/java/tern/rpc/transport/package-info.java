/** The seam between calls and bytes: what a transport offers and what it is given. */
@NullMarked
package tern.rpc.transport;

import org.jspecify.annotations.NullMarked;
