/** Draws comments and sentences of the project for a reader who has not seen the code. */
@NullMarked
package tern.rpc.load.prose;

import org.jspecify.annotations.NullMarked;
