/** Attacks new servers while legitimate callers use them. */
@NullMarked
package tern.rpc.load.attack;

import org.jspecify.annotations.NullMarked;
