/**
 * Selects random comments and sentences from the project. A reader who has not seen the code then judges their clarity.
 */
@NullMarked
package tern.rpc.load.prose;

import org.jspecify.annotations.NullMarked;
