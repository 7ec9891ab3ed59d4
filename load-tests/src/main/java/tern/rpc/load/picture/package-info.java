/** Draws the pictures of the documentation. */
@NullMarked
package tern.rpc.load.picture;

import org.jspecify.annotations.NullMarked;
