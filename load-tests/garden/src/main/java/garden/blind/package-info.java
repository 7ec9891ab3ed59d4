/** The blind half of the garden: faults that nobody reads before the rules are changed. */
@NullMarked
package garden.blind;

import org.jspecify.annotations.NullMarked;
