/** Draws comments and sentences of the project to be read by somebody who has not seen the code. */
@NullMarked
package tern.rpc.load.prose;

import org.jspecify.annotations.NullMarked;
