/** Attacks on fresh servers, with honest callers beside them. */
@NullMarked
package tern.rpc.load.attack;

import org.jspecify.annotations.NullMarked;
