/**
 * Selects random comments and sentences of the project for a reader who has not seen the code and judges their clarity.
 */
@NullMarked
package tern.rpc.load.prose;

import org.jspecify.annotations.NullMarked;
