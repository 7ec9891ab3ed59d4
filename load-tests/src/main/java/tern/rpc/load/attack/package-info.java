/** Attacks fresh servers while honest callers use them. */
@NullMarked
package tern.rpc.load.attack;

import org.jspecify.annotations.NullMarked;
