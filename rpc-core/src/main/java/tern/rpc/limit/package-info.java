/** How much of something is let through: calls at once, and lines of log. */
@NullMarked
package tern.rpc.limit;

import org.jspecify.annotations.NullMarked;
