/** Draws the documentation's pictures. */
@NullMarked
package tern.rpc.load.picture;

import org.jspecify.annotations.NullMarked;
