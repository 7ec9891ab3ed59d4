/** The open half of the garden: faults whose answers everybody may read. */
@NullMarked
package garden.open;

import org.jspecify.annotations.NullMarked;
