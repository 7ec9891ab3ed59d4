/** Draws random comments and sentences of the project, to be judged by a reader who has not seen the code. */
@NullMarked
package tern.rpc.load.prose;

import org.jspecify.annotations.NullMarked;
